import { manualClock } from '@portcullis/testing'

import { ALGORITHMS as TABLE } from '../../src/algorithms/algorithms.ts'
import { dpopProofs } from '../../src/dpop/dpop-proofs.ts'
import { type PresentedProof, proofMethods } from '../../src/dpop/proof-check.ts'
import type { DpopProofsOptions } from '../../src/dpop/proof-options.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import {
  createProofMaker,
  type Draft,
  NOW,
  ORIGIN,
  type ProofMaker,
  requestWith,
} from './proof-maker.ts'

/** What proofs are made with here: all but what differs from another one by its hash alone, and what not every platform has. */
export const ALGORITHMS: readonly string[] = [...TABLE.keys()].filter(
  (alg) => !/^(?:RS384|PS384|ML-DSA-)/.test(alg),
)
const makers = new Map(
  await Promise.all(ALGORITHMS.map(async (alg) => [alg, await createProofMaker(alg)] as const)),
)
export const client = makerOf('ES256')

export function makerOf(alg: string): ProofMaker {
  const maker = makers.get(alg)
  if (maker === undefined) throw new Error(`no maker of ${alg}`)
  return maker
}

export function guarding(
  options: Partial<DpopProofsOptions> = {},
): ReturnType<typeof proofMethods> {
  return proofMethods(dpopProofs({ origin: ORIGIN, clock: manualClock(NOW), ...options }))
}

/** The reason of the refusal, or `accepted`. Anything but an `AuthError` fails the test. */
export async function verdictOf(checked: Promise<unknown> | undefined): Promise<string> {
  try {
    await checked
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return error.reason
    throw error
  }
}

export async function verdictOnDraft(
  draft: Draft,
  options?: Partial<DpopProofsOptions>,
  request?: Partial<PresentedProof>,
  maker: ProofMaker = client,
): Promise<string> {
  return await verdictOf(guarding(options).check(requestWith(maker.proof(draft), request)))
}
