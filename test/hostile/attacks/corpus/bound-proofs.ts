import { calculateJwkThumbprint } from 'jose'

import { type ProofRow, proofs, type ProvenRequest } from './proofs.ts'
import type { KeyPair, TokenMaker } from './token-maker.ts'

/** A proof of the corpus with a token that is bound to its key, so that nothing but the proof can be wrong. */
export interface BoundProof {
  readonly row: ProofRow
  readonly token: string
  readonly jkt: string
}

/** The whole corpus of proofs for a request. A token for each key that there is. */
export async function boundProofs(
  maker: TokenMaker,
  request: Omit<ProvenRequest, 'token'>,
  tokenFor: (jkt: string) => string | Promise<string>,
): Promise<readonly BoundProof[]> {
  async function proofsOf(key: KeyPair): Promise<readonly BoundProof[]> {
    const jkt = await calculateJwkThumbprint(key.jwk)
    const token = await tokenFor(jkt)
    return proofs(maker, { ...request, token })
      .filter((row) => row.key === key)
      .map((row) => ({ row, token, jkt }))
  }

  const keys = new Set(proofs(maker, { ...request, token: '' }).map(({ key }) => key))
  return (await Promise.all([...keys].map(proofsOf))).flat()
}
