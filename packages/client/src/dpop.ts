import { createDpopKey, type DpopAlgorithm, type DpopKey } from './dpop-key.ts'
import { TokenClientError } from './errors.ts'
import type { HeaderLookup } from './http-time.ts'
import { MAX_CLOCK_CORRECTION } from './lifetime.ts'
import type { Clock } from './time.ts'

/** What a proof is for. */
interface ProofRequest {
  readonly method: string
  readonly url: string
  /** The token that it is sent with; `undefined` at the token endpoint. A stated member, which a polluted prototype cannot be. */
  readonly token: string | undefined
}

/** The key of a client, the proofs that it makes, and the nonces that servers want in them. */
export interface Dpop {
  /** The thumbprint of the key, which is made when it is first needed, and kept. */
  jkt(): Promise<string>
  /** @param nonce By default the last one of that server. */
  proof(server: string, request: ProofRequest, nonce?: string): Promise<string>
  /**
   * Remembers the nonce in an answer for the next proof that goes to this server.
   *
   * @returns It; `undefined` if the answer has none.
   * @see RFC 9449 section 8.2
   */
  learnNonce(server: string, headers: HeaderLookup): string | undefined
  /**
   * @param skew Seconds that the token service's clock is ahead of ours: proofs are judged by such clocks.
   * @returns Whether a proof that was refused for its time may be accepted now.
   */
  correctClock(skew: number): boolean
}

/** RFC 9449 section 8.1; longer ones are ignored, since every later request would carry them. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/

/** Seconds. What judges proofs tolerates about as much. */
const TOLERATED = 5

/** @param createKey A test can make it fail. */
export function createDpop(
  algorithm: DpopAlgorithm,
  clock: Clock,
  createKey: typeof createDpopKey = createDpopKey,
): Dpop {
  let key: Promise<DpopKey> | undefined
  let skew = 0
  /** By server: the token endpoint, and the origins that the options list. So no answer adds an entry for a stranger. */
  const nonces = new Map<string, string>()

  async function theKey(): Promise<DpopKey> {
    const attempt = (key ??= createKey(algorithm))
    try {
      return await attempt
    } catch {
      // The next caller tries again, unless one has already begun to.
      if (key === attempt) key = undefined
      throw new TokenClientError('service_unavailable', 'the key for DPoP proofs could not be made')
    }
  }

  return {
    jkt: async () => (await theKey()).jkt,
    async proof(server, { method, url, token }, nonce = nonces.get(server)) {
      const own = await theKey()
      const { origin, pathname } = new URL(url)
      return await own.sign({
        jti: globalThis.crypto.randomUUID(),
        htm: method,
        htu: `${origin}${pathname}`,
        iat: Math.floor(clock.now() + skew),
        ...(token === undefined ? {} : { ath: await hashOf(token) }),
        ...(nonce === undefined ? {} : { nonce }),
      })
    },
    learnNonce(server, headers) {
      const nonce = headers.get('dpop-nonce')
      if (nonce === null || !NONCE.test(nonce)) return undefined
      nonces.set(server, nonce)
      return nonce
    },
    correctClock(seconds) {
      const before = skew
      skew = Math.abs(seconds) > MAX_CLOCK_CORRECTION ? 0 : seconds
      return Math.abs(skew - before) > TOLERATED
    },
  }
}

/** The claim `ath`. */
async function hashOf(token: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-256', Buffer.from(token))
  return Buffer.from(digest).toString('base64url')
}
