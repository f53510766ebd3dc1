import type { Algorithm } from '../algorithms.ts'
import type { KeyRing, WhyUnproven } from '../keys/key-source.ts'
import { elapsed, type Instant } from '../time.ts'
import { type Detail, duration, numberOf, printable, shown } from './text.ts'

// What refusals tell developers that are about keys. Of the keys in use they keep numbers and names.

/** What no key proves. */
export interface Unproven {
  /** Of the header. */
  readonly kid: string | undefined
  readonly algorithm: Algorithm
  /** How many keys were tried. */
  readonly tried: number
  readonly why: WhyUnproven | undefined
  readonly arrived: Instant
}

const REASONS: Readonly<Record<WhyUnproven, string>> = {
  paced: 'newer keys were not asked for, because unproven tokens have asked too often lately',
  pointless: 'newer keys were not asked for, because the token would be refused with any key',
  repeated: 'newer keys were not asked for, because this token has asked for them lately',
  retired:
    'a key that has left the document made the signature: the token is older than the rotation',
  answered: 'newer keys were fetched for this token, and none of them made its signature',
}

/** For `unknown_key`: no key fits. */
export function unknownKey(ring: KeyRing, { kid, algorithm, why, arrived }: Unproven): Detail {
  const keys = keysOf(ring, arrived)
  const named = kid === undefined ? undefined : ring.keys.find((key) => key.kid === kid)
  const stated = named && [...named.prepared.keys()]
  const skipped = skippedReason(ring, kid)
  const isForAny = ring.keys.some(({ prepared }) => prepared.has(algorithm))
  return () => {
    const reason = because(why)
    if (stated !== undefined) {
      return `the key with kid ${shown(kid)} is for ${stated.join(', ')}; the header's alg means ${algorithm}${reason}`
    }
    if (skipped !== undefined) {
      return `the key with kid ${shown(kid)} cannot be used: ${printable(skipped, 200)}${reason}`
    }
    if (kid === undefined || !isForAny) return `none of ${keys()} is for ${algorithm}${reason}`
    return `kid ${shown(kid)} is not among ${keys()}${reason}`
  }
}

/** For `signature`: keys fit, and none made it. */
export function otherSignature(ring: KeyRing, { kid, tried, why, arrived }: Unproven): Detail {
  const keys = keysOf(ring, arrived)
  return () => {
    const name = kid === undefined ? 'without a kid' : `with kid ${shown(kid)}`
    const which = tried === 1 ? 'the key that fits it did' : `the ${tried} keys that fit it did`
    return `the signature of the token ${name} is not what ${which} make; there are ${keys()}${because(why)}`
  }
}

export const withdrawnKey: Detail = () =>
  'the key that proved the token has left the document while the schema was at work'

function because(why: WhyUnproven | undefined): string {
  return why === undefined ? '' : `; ${REASONS[why]}`
}

function keysOf({ keys: { length }, fetchedAt }: KeyRing, arrived: Instant): Detail {
  const age = fetchedAt && elapsed(fetchedAt, arrived)
  return () => {
    const count = length === 1 ? 'the 1 key' : `the ${numberOf(length, 'key')}`
    if (age === undefined) return count
    return age <= 0
      ? `${count}, fetched since the token came`
      : `${count}, fetched ${duration(age)} ago`
  }
}

/** Why the entry of the document with that `kid` is no key of ours. */
function skippedReason({ skipped }: KeyRing, kid: string | undefined): string | undefined {
  if (kid === undefined) return undefined
  return skipped?.entries.find((entry) => entry.kid === kid)?.reason
}

/**
 * For `keys_unavailable`.
 *
 * @param failure What went wrong, in words; `undefined` if no attempt has failed.
 * @param origin Where the keys come from.
 * @param pause Seconds until the next attempt.
 */
export function noKeys(
  failure: string | undefined,
  origin: string | undefined,
  pause: number,
): Detail {
  return () => {
    const what = printable(failure ?? 'no keys have been fetched yet', 300)
    const where = origin === undefined ? '' : ` (${printable(origin, 100)})`
    return `${what}${where}; the next attempt can start ${pause > 0 ? `in ${duration(pause)}` : 'now'}`
  }
}

export function waitedTooLong(patience: number): Detail {
  return () => `no keys came while the token waited for them for ${duration(patience)}`
}

export const roomIsFull: Detail = () =>
  'too many tokens wait for keys, so that this one could not wait as well'
