import type { Algorithm } from '@portcullis/core'
import { checkArgument, checkOptions, isClock, isText, oneOf } from '@portcullis/kit/options'
import type { JWK } from 'jose'

import { type Clock, systemClock } from '../clock.ts'
import { ALGORITHMS } from '../issuer-options.ts'
import { checkPlatform } from '../keys/ml-dsa.ts'
import { createSigningKey, optionalMembersOf } from '../keys/signing-key.ts'
import type { BadProof } from './bad-proof.ts'
import { createBadProofs } from './bad-proofs.ts'
import { makeProof, type ProofOptions } from './proof.ts'

// A client with a key for DPoP, for tests.

export interface DpopClientOptions {
  /** The clock for the `iat` of its proofs. By default the system's. */
  clock?: Clock | undefined
  /**
   * The algorithm of its proofs. ML-DSA needs a platform whose WebCrypto has it, such as Node 24.7 or later.
   * @default 'ES256'
   */
  algorithm?: Algorithm | undefined
}

/** A client that has a key, and proves it at each request (DPoP). */
export interface DpopClient {
  /** The thumbprint of its key: `issuer.token({ boundTo: client })` binds a token to it. */
  readonly jkt: string
  readonly publicJwk: Readonly<JWK>
  /** Makes a proof, valid or not. Each call makes a new one. */
  proof(options: ProofOptions): Promise<string>
  /** Returns the token and a new proof as headers, for supertest, inject and fetch. Each proof is accepted once. */
  headers(
    options: ProofOptions & { token: string },
  ): Promise<{ authorization: string; dpop: string }>
  /**
   * Proofs of every kind that a server with the default algorithms must refuse for this request with this token, which must be bound
   * to this client, each with its headers and the `code` and `reason`. Use them at once: a proof is accepted for about a minute.
   *
   * Proofs with a bad nonce need `nonce`, one that the server accepts. For `replayed_proof` send the same `headers(...)` twice.
   */
  badProofs(
    request: Pick<ProofOptions, 'method' | 'url' | 'nonce'> & { token: string },
  ): Promise<readonly BadProof[]>
}

/**
 * Creates a client with a new key, for tests of APIs that accept DPoP-bound tokens.
 *
 * @throws TypeError for a wrong or misspelt option.
 * @see RFC 9449
 */
export async function dpopClient(options: DpopClientOptions = {}): Promise<DpopClient> {
  checkOptions('dpopClient', options, { clock: isClock, algorithm: oneOf(...ALGORITHMS) })
  const { clock = systemClock, algorithm = 'ES256' } = options
  await checkPlatform('dpopClient', algorithm)
  const key = await createSigningKey(algorithm, optionalMembersOf(algorithm))
  const maker = { clock, key }
  return {
    jkt: key.thumbprint,
    publicJwk: key.publicJwk,
    proof: async (proofOptions) => await makeProof(maker, proofOptions),
    async headers(proofOptions) {
      checkArgument('headers', 'token', isText(proofOptions.token))
      const dpop = await makeProof(maker, proofOptions)
      return { authorization: `DPoP ${proofOptions.token}`, dpop }
    },
    badProofs: async (request) => await createBadProofs(maker, request),
  }
}
