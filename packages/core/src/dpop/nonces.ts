import { createHmac, timingSafeEqual } from 'node:crypto'
import { types } from 'node:util'

import type { OptionCheck } from '@portcullis/kit/options'

import { decodeBase64url } from '../ground/base64url.ts'

// Server nonces for DPoP. Nothing is stored: each process can check what another one made with the same secret.

/** How the processes of a service make and check nonces. */
export interface NonceOptions {
  /**
   * A secret of at least 32 bytes, the same in all processes. It may be a list: the first makes nonces, and all are accepted.
   * To change it, add the new secret last; when every process has it, move it to the front; and remove the old one after
   * `maxAge`.
   */
  secret: string | Uint8Array | readonly (string | Uint8Array)[]
  /**
   * How long a nonce can be used. Seconds, 1 to 600.
   * @default 300
   */
  maxAge?: number | undefined
}

/** Nonces that nobody has to remember: each is the time that it was made at, with a MAC. */
export interface Nonces {
  make(now: number): string
  /** `missing` if there is none, `invalid` for any that is too old or was not made with one of our secrets. */
  validity(nonce: unknown, now: number): 'valid' | 'missing' | 'invalid'
}

/** Octets. */
const TIME_LENGTH = 6
/** Octets: half of what SHA-256 gives, which RFC 2104 section 5 allows. A nonce travels in every proof. */
const MAC_LENGTH = 16
/** Characters. */
const NONCE_LENGTH = Math.ceil(((TIME_LENGTH + MAC_LENGTH) * 4) / 3)
/** In every MAC, so that one made with the same secret for something else is no nonce. */
const PURPOSE = 'portcullis DPoP nonce 1'

const MIN_SECRET_LENGTH = 32

/** @param tolerance Seconds that the clocks of a fleet may differ. @see RFC 9449 section 8 */
export function createNonces({ secret, maxAge = 300 }: NonceOptions, tolerance: number): Nonces {
  // Copied: the caller's octets may change later.
  const secrets = listOf(secret).map((each) => Buffer.from(each))
  const [first = Buffer.alloc(0)] = secrets
  /** Of the second that it was last asked for: responses come faster. */
  let last: { readonly second: number; readonly nonce: string } | undefined

  return {
    make(now) {
      const second = wholeSeconds(now)
      if (last?.second !== second) {
        const time = Buffer.alloc(TIME_LENGTH)
        time.writeUIntBE(second, 0, TIME_LENGTH)
        last = { second, nonce: Buffer.concat([time, macOf(first, time)]).toString('base64url') }
      }
      return last.nonce
    },
    validity(nonce, now) {
      if (nonce === undefined) return 'missing'
      const octets =
        typeof nonce === 'string' && nonce.length === NONCE_LENGTH
          ? decodeBase64url(nonce)
          : undefined
      if (octets === undefined) return 'invalid'
      const time = octets.subarray(0, TIME_LENGTH)
      const mac = octets.subarray(TIME_LENGTH)
      const age = now - time.readUIntBE(0, TIME_LENGTH)
      const isTimely = age <= maxAge + tolerance && age >= -tolerance
      const isOurs = secrets.some((each) => timingSafeEqual(macOf(each, time), mac))
      return isTimely && isOurs ? 'valid' : 'invalid'
    },
  }
}

/** Whatever the clock shows, a header can be written. A nonce of the year 1970 is accepted by nobody. */
function wholeSeconds(now: number): number {
  return Math.min(Math.max(Math.floor(now) || 0, 0), 2 ** (8 * TIME_LENGTH) - 1)
}

function macOf(secret: Buffer, time: Buffer): Buffer {
  const mac = createHmac('sha256', secret).update(PURPOSE).update(time).digest()
  return mac.subarray(0, MAC_LENGTH)
}

function listOf(secret: unknown): readonly (string | Uint8Array)[] {
  return (Array.isArray(secret) ? secret : [secret]) as (string | Uint8Array)[]
}

/** The complaint does not repeat the secret. */
export const isNonceSecret: OptionCheck = (value) => {
  const list = listOf(value)
  return list.length > 0 && list.every(isSecret)
    ? undefined
    : `must be a secret of at least ${MIN_SECRET_LENGTH} bytes, or a list of them`
}

function isSecret(value: unknown): boolean {
  return (
    (typeof value === 'string' || types.isUint8Array(value)) &&
    Buffer.byteLength(value) >= MIN_SECRET_LENGTH
  )
}
