import { ownMembers } from '@portcullis/kit/options'

import { methodsOf } from '../keys/key-source.ts'
import { verdicts } from '../report/diagnostics.ts'
import { createKeyProver } from './key-prover.ts'
import { verifierOf } from './proven-verifier.ts'
import {
  checkVerifierOptions,
  type SchemaOptions,
  type VerifierOptions,
} from './verifier-options.ts'
import { partsOf } from './verifier-parts.ts'
import type { Verifier } from './verifier.ts'

// The verifier of JWTs: its options, and what it is made of.

/**
 * Creates the verifier of one API. `keys`, `issuer` and `audience` must be stated, because it is dangerous to forget them.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createVerifier<Output>(
  options: VerifierOptions & SchemaOptions<Output>,
): Verifier<Output>
export function createVerifier(options: VerifierOptions): Verifier
export function createVerifier(
  options: VerifierOptions & Partial<SchemaOptions<unknown>>,
): Verifier<unknown> {
  return create(options, () => verdicts.isObserved(), true)
}

/**
 * The same for what is signed and no access token, such as an answer of an issuer or an event: no verdict of it is published,
 * because whoever counts those counts requests. A claim that is `null` is absent.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createUnobservedVerifier(options: VerifierOptions): Verifier {
  return create(options, () => false, false) as Verifier // without a schema the claims are as they were signed
}

function create(
  options: VerifierOptions & Partial<SchemaOptions<unknown>>,
  isObserved: () => boolean,
  isAccessToken: boolean,
): Verifier<unknown> {
  checkVerifierOptions(options)
  const stated = ownMembers(options)
  const keys = methodsOf(stated.keys)
  const parts = partsOf(stated, isAccessToken, () => keys.now())
  const prover = createKeyProver(stated, parts)
  return verifierOf(prover, { parts, isObserved, memory: prover })
}
