import { AuthError, createVerifier, remoteKeys } from '@portcullis/core'
import type { ManualClock } from '@portcullis/testing'
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWK,
  jwtVerify,
} from 'jose'

import type { KeyEndpoint } from './key-endpoint.ts'

/** A verification under way. */
export interface Verification {
  /** Seconds of the clock. */
  readonly startedAt: number
  /** `accepted`, or why not. */
  readonly verdict: Promise<string>
  /** When the wait for keys was over, if it is. Seconds of the clock. */
  readonly keysKnownAt: () => number | undefined
}

/** A way to verify tokens with keys from a URL, with the defaults of its library. */
export interface Peer {
  readonly name: string
  verify(token: string): Verification
  /** What the endpoint has to serve for it. */
  document(jwk: JWK): JWK | JSONWebKeySet
  /** Whether it can wait for something else than the endpoint in virtual time. */
  readonly hasTimers: boolean
}

export type PeerFactory = (endpoint: KeyEndpoint, clock: ManualClock) => Peer

const URL_OF_KEYS = 'https://auth.test/tokenservice/pubkey.json'

export const portcullis: PeerFactory = (endpoint, clock) => {
  const keys = remoteKeys(URL_OF_KEYS, { fetch: endpoint.fetch, clock })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  return {
    name: 'Portcullis',
    verify(token) {
      const startedAt = clock.monotonic()
      let knownAt: number | undefined
      const settle = () => {
        knownAt = clock.monotonic()
      }
      const proof = verifier.verify(token)
      // Its signatures are checked at once when there are keys, so the verdict shows when that was.
      void proof.then(settle, settle)
      return { startedAt, verdict: verdictOf(proof), keysKnownAt: () => knownAt }
    },
    document: (jwk) => jwk,
    hasTimers: true,
  }
}

export const jose: PeerFactory = (endpoint, clock) => {
  const findKey = createRemoteJWKSet(new URL(URL_OF_KEYS), { [customFetch]: endpoint.fetch })
  return {
    name: 'jose',
    verify(token) {
      const startedAt = clock.monotonic()
      let knownAt: number | undefined
      const proof = jwtVerify(
        token,
        async (header, jws) => {
          try {
            return await findKey(header, jws)
          } finally {
            knownAt = clock.monotonic()
          }
        },
        // As much as Portcullis checks by default.
        {
          algorithms: ['RS512'],
          requiredClaims: ['exp'],
          clockTolerance: 5,
          currentDate: new Date(clock.now() * 1000),
        },
      )
      return { startedAt, verdict: verdictOf(proof), keysKnownAt: () => knownAt }
    },
    document: (jwk) => ({ keys: [jwk] }),
    hasTimers: false,
  }
}

async function verdictOf(proof: Promise<unknown>): Promise<string> {
  try {
    await proof
    return 'accepted'
  } catch (error) {
    return nameOf(error)
  }
}

function nameOf(error: unknown): string {
  if (error instanceof AuthError) return `${error.status} ${error.code} (${error.reason})`
  if (error instanceof errors.JOSEError) return error.code
  return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
}
