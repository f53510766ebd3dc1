import { beginFlight, type Flight } from '@portcullis/kit/calls'
import { type Clock, type Instant, instant } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import type { HeaderLookup } from '../answer/http-time.ts'
import { believed } from '../answer/lifetime.ts'
import { createDpopKey, DPOP_ALGORITHMS, type DpopKey } from './dpop-key.ts'
import { dpopAlgorithm, type DpopAlgorithm } from './dpop-options.ts'

// Makes DPoP proofs, and remembers what they need of each server: its nonce, and how its clock differs.

interface ProofRequest {
  readonly method: string
  readonly url: string
  /** The token that it is sent with; `undefined` at the token endpoint. A stated member, which a polluted prototype cannot be. */
  readonly token: string | undefined
}

/** A proof as it is sent, and when it was made: by the wall clock of whoever judges it, as far as we know that. */
export interface Proof {
  readonly text: string
  readonly madeAt: Instant
}

export interface Dpop {
  /** The thumbprint of the key, which is made when it is first needed, and kept. */
  jkt(): Promise<string>
  /** @param nonce By default the last one of that server. */
  proof(server: string, request: ProofRequest, nonce?: string): Promise<Proof>
  /** Remembers and returns the nonce in an answer, for the next proof that goes to this server. RFC 9449 section 8.2 */
  learnNonce(server: string, headers: HeaderLookup): string | undefined
  /** Dates proofs by the clock of the token service, `skew` seconds ahead of ours, except for servers with a correction. */
  learnClock(skew: number): void
  /**
   * How proofs may be dated otherwise than the one that a server refused: by its answer, which is `skew` seconds ahead of us, by the clock
   * of the token service, or by ours. Each may be wrong: a proxy may have written the `Date`. `undefined` if none would differ.
   */
  betterCorrection(refused: Proof, skew: number): number | undefined
  /** For this server and no other: what it says may not spoil what others accept. `undefined` ends the correction. */
  correct(server: string, seconds: number | undefined): void
}

export const DPOP_FORMS: string = `true, false or { algorithm }, which is one of ${DPOP_ALGORITHMS.join(', ')}`

export function isDpop(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return (
    Object.keys(value).every((name) => name === 'algorithm') &&
    DPOP_ALGORITHMS.includes(dpopAlgorithm(value))
  )
}

/** RFC 9449 section 8.1; longer ones are ignored, since every later request would carry them. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/

/** Seconds. */
const KEY_PATIENCE = 10

/** Seconds. Less than what judges of proofs tolerate, and more than the error of a time that was measured. */
const NOTABLE_DIFFERENCE = 2

/** @param createKey A test can make it fail. */
export function createDpop(
  algorithm: DpopAlgorithm,
  clock: Clock,
  createKey: typeof createDpopKey = createDpopKey,
): Dpop {
  let key: DpopKey | undefined
  let making: Flight<'made' | 'unmade'> | undefined
  let serviceSkew = 0
  // By server: the token endpoint, and the origins that the options list. So no answer adds an entry for a stranger.
  const nonces = new Map<string, string>()
  const corrections = new Map<string, number>()

  async function theKey(): Promise<DpopKey> {
    while (key === undefined) {
      const own = making?.isOrphaned() === false ? making : begin()
      // `undefined`: it has ended with another request, so this one begins.
      if ((await own.wait()) === 'unmade') {
        const message = 'the key for DPoP proofs could not be made'
        throw new TokenClientError('service_unavailable', message)
      }
    }
    return key
  }

  function begin(): Flight<'made' | 'unmade'> {
    const own = beginFlight(
      async () => {
        const made = await createKey(algorithm).catch(nothing)
        // Another may have been made in its place.
        if (making === own) {
          key = made
          // The next caller tries again.
          making = undefined
        }
        return made === undefined ? 'unmade' : 'made'
      },
      { clock, timeout: KEY_PATIENCE, waitUntil: undefined },
    )
    making = own
    return own
  }

  function correctedBy(seconds: number): Instant {
    const { wall, monotonic } = instant(clock)
    return { wall: wall + seconds, monotonic }
  }

  return {
    jkt: async () => (await theKey()).jkt,
    async proof(server, { method, url, token }, nonce = nonces.get(server)) {
      const own = await theKey()
      const { origin, pathname } = new URL(url)
      const madeAt = correctedBy(corrections.get(server) ?? serviceSkew)
      const text = await own.sign({
        jti: globalThis.crypto.randomUUID(),
        htm: method,
        htu: `${origin}${pathname}`,
        iat: Math.floor(madeAt.wall),
        ...(token === undefined ? {} : { ath: await hashOf(token) }),
        ...(nonce === undefined ? {} : { nonce }),
      })
      return { text, madeAt }
    },
    learnNonce(server, headers) {
      const nonce = headers.get('dpop-nonce')
      if (nonce === null || !NONCE.test(nonce)) return undefined
      nonces.set(server, nonce)
      return nonce
    },
    learnClock(skew) {
      serviceSkew = believed(skew)
    },
    betterCorrection({ madeAt }, skew) {
      return [believed(skew), serviceSkew, 0].find((correction) => {
        const now = correctedBy(correction)
        const jump = now.wall - madeAt.wall - (now.monotonic - madeAt.monotonic)
        return Math.abs(jump) > NOTABLE_DIFFERENCE
      })
    },
    correct(server, seconds) {
      // One that equals the token service's follows that from now on.
      if (seconds === undefined || seconds === serviceSkew) corrections.delete(server)
      else corrections.set(server, seconds)
    },
  }
}

function nothing(): undefined {}

async function hashOf(token: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-256', Buffer.from(token))
  return Buffer.from(digest).toString('base64url')
}
