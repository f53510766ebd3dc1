import { type AcceptedAlgorithms, type Algorithm, purposesOf } from '../algorithms.ts'
import type { KeyRing, VerificationKey, WhyUnproven } from '../keys/key-source.ts'
import { elapsed, type Instant } from '../time.ts'
import { type Detail, duration, numberOf, printable, shown } from './text.ts'

// What refusals tell developers that are about keys. Of the keys in use they keep numbers and names.

/** A token that no key proves. */
export interface Unproven {
  readonly ring: KeyRing
  /** Of the header. */
  readonly kid: string | undefined
  readonly algorithm: Algorithm
  /** The rule of the verifier. */
  readonly accepted: AcceptedAlgorithms
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
    'a key that has left the document made the signature: most likely the token is older than the rotation',
  answered: 'newer keys were fetched for this token, and none of them made its signature',
}

/** For `unknown_key` and `algorithm`: no key fits. */
export function unknownKey(unproven: Unproven): Detail {
  const { ring, kid, algorithm, why, arrived } = unproven
  const count = ring.keys.length
  const age = ageOf(ring, arrived)
  const others = ring.keys.filter((key) => !purposes(key, unproven).includes(algorithm))
  const named = kid === undefined ? undefined : others.find((key) => key.kid === kid)
  const asked = named === undefined ? others : [named]
  const names = [...new Set(asked.flatMap((each) => purposes(each, unproven)))].join(', ')
  const isSilent = asked.some(({ prepared }) => prepared.has(algorithm))
  const isForNone = others.length === count
  const skipped = kid === undefined ? undefined : skippedReason(ring, kid)
  return () => {
    const key = `the key with kid ${shown(kid)}`
    const advice = isSilent ? adviceOnSilentKeys(algorithm) : ''
    if (named !== undefined) {
      return `${key} is for ${names}; the header's alg means ${algorithm}${advice}${because(why)}`
    }
    if (skipped !== undefined) {
      return `${key} cannot be used: ${printable(skipped, 200)}${because(why)}`
    }
    const keys = describe(count, age)
    if (kid === undefined || isForNone) {
      const [none, they] =
        count === 1 ? [`${keys} is not`, 'it is'] : [`none of ${keys} is`, 'they are']
      return `${none} for ${algorithm}: ${they} for ${names}${advice}${because(why)}`
    }
    return `kid ${shown(kid)} is not ${count === 1 ? 'that of' : 'among'} ${keys}${because(why)}`
  }
}

/** A key is for what the verifier takes it for; to one with a list, that list says no more about it. */
function purposes(key: VerificationKey, { accepted }: Unproven): readonly Algorithm[] {
  return accepted === undefined ? purposesOf(key, accepted) : [...key.prepared.keys()]
}

/** For keys that would fit, if a verifier listed the algorithm. */
function adviceOnSilentKeys(algorithm: Algorithm): string {
  return `; an RSA key that states no alg is for RS512 only: if your issuer signs with ${algorithm}, state algorithms: ['${algorithm}']`
}

/** For `signature`: keys fit, and none made it. */
export function otherSignature({ ring, kid, tried, why, arrived }: Unproven): Detail {
  const count = ring.keys.length
  const age = ageOf(ring, arrived)
  return () => {
    const name = kid === undefined ? 'without a kid' : `with kid ${shown(kid)}`
    const which = count === 1 ? '' : `${tried} of `
    return `no key made the signature of the token ${name}: tried ${which}${describe(count, age)}${because(why)}`
  }
}

export const withdrawnKey: Detail = () =>
  'the key that proved the token has left the document while its claims were judged'

function because(why: WhyUnproven | undefined): string {
  return why === undefined ? '' : `; ${REASONS[why]}`
}

/** Seconds. */
function ageOf({ fetchedAt }: KeyRing, arrived: Instant): number | undefined {
  return fetchedAt === undefined ? undefined : elapsed(fetchedAt, arrived)
}

function describe(count: number, age: number | undefined): string {
  const keys = count === 1 ? 'the only key' : `the ${numberOf(count, 'key')}`
  if (age === undefined) return keys
  return age <= 0
    ? `${keys}, fetched since the token came`
    : `${keys}, fetched ${duration(age)} ago`
}

/** Why the entry of the document with that `kid` is no key of ours. */
function skippedReason({ skipped }: KeyRing, kid: string): string | undefined {
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

/** For a connection that stays open. */
export function noVerdict(patience: number): Detail {
  return () =>
    `the verifier gave no verdict on the token for ${duration(patience)}: does its schema settle?`
}
