import { elapsed, type Instant } from '@portcullis/kit/time'

import { type AcceptedAlgorithms, type Algorithm, isFor } from '../algorithms/algorithms.ts'
import {
  type Detail,
  duration,
  listed,
  type NumberedDetail,
  numberOf,
  printable,
  shown,
} from '../refusal/text.ts'
import { countUntried, type KeyRing, type VerificationKey, type WhyUnproven } from './key-source.ts'

// What refusals tell developers that are about keys. Of the keys in use they keep numbers and names.

export interface Unproven {
  readonly ring: KeyRing
  /** Of the header. */
  readonly kid: string | undefined
  readonly algorithm: Algorithm
  /** The rule of the verifier. */
  readonly accepted: AcceptedAlgorithms
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
export function unknownKey(unproven: Unproven): NumberedDetail {
  const { ring, kid, algorithm, why, arrived } = unproven
  const count = ring.keys.length
  const age = ageOf(ring, arrived)
  const { isNamed, isForNone, names, isSilent } = othersOf(unproven)
  const skipped = kid === undefined ? undefined : skippedReason(ring, kid)
  // Whoever keeps the error keeps what this function uses. So it uses no key, and nothing that has one.
  const sentence = () => {
    const keys = describe(count, age)
    const key = `the key with kid ${shown(kid)}`
    const advice = isSilent ? adviceOnSilentKeys(algorithm) : ''
    if (isNamed) {
      return `${key} is for ${names}; the header's alg means ${algorithm}${advice}`
    }
    if (skipped !== undefined) return `${key} cannot be used: ${printable(skipped, 200)}`
    if (isForNone) {
      const [none, they] =
        count === 1 ? [`${keys} is not`, 'it is'] : [`none of ${keys} is`, 'they are']
      return `${none} for ${algorithm}: ${they} for ${names}${advice}`
    }
    return `kid ${shown(kid)} is not ${count === 1 ? 'that of' : 'among'} ${keys}`
  }
  return () => ({ text: `${sentence()}${because(why)}`, numbers: agesOf(age) })
}

/** What a sentence says of the keys that are not for the algorithm. */
interface Others {
  /** One of them has the `kid` of the token: the sentence is about that one. */
  readonly isNamed: boolean
  /** No key is for the algorithm: it is about all of them. */
  readonly isForNone: boolean
  /** What those are for. Empty if it is about none, as with the random `kid`s of a flood. */
  readonly names: string
  /** Whether one of those would fit, if a verifier listed the algorithm. */
  readonly isSilent: boolean
}

function othersOf({ ring, kid, algorithm, accepted }: Unproven): Others {
  let isForNone = true
  let named: VerificationKey | undefined
  for (const key of ring.keys) {
    if (isFor(key, algorithm, accepted)) isForNone = false
    else if (kid !== undefined && key.kid === kid) named ??= key
  }
  const all = isForNone ? ring.keys : []
  const asked = named === undefined ? all : [named]
  return {
    isNamed: named !== undefined,
    isForNone,
    names: namesOf(asked, accepted),
    isSilent: asked.some(({ prepared }) => prepared.has(algorithm)),
  }
}

/** A key is for what the verifier takes it for; to one with a list, that list says no more about it. */
function namesOf(keys: readonly VerificationKey[], accepted: AcceptedAlgorithms): string {
  const names = new Set<Algorithm>()
  for (const key of keys) {
    for (const name of key.prepared.keys()) {
      if (accepted !== undefined || isFor(key, name, accepted)) names.add(name)
    }
  }
  return [...names].join(', ')
}

/** For keys that would fit, if a verifier listed the algorithm. */
function adviceOnSilentKeys(algorithm: Algorithm): string {
  return `; an RSA key that states no alg is for RS512 only: if your issuer signs with ${algorithm}, state algorithms: ['${algorithm}']`
}

/** For `signature`: keys fit, and none made it. @param tried How many of them. */
export function otherSignature(
  { ring, kid, why, arrived }: Unproven,
  tried: number,
): NumberedDetail {
  const count = ring.keys.length
  const age = ageOf(ring, arrived)
  return () => {
    const name = kid === undefined ? 'without a kid' : `with kid ${shown(kid)}`
    const which = count === 1 ? '' : `${tried} of `
    const text = `no key made the signature of the token ${name}: tried ${which}${describe(count, age)}${because(why)}`
    return { text, numbers: agesOf(age) }
  }
}

const RETIRED_ENTRY = 'an entry of that key for this tenant has left the document'

/** A key that made the signature, and is for tokens of other issuers. */
export interface OtherMaker {
  /** Of its entry in the key document. */
  readonly issuer: string | undefined
  /** What a key for all tenants states. */
  readonly template: string
}

/** For `unknown_key`. */
export function keyOfOthers(
  { ring, kid, why, arrived }: Unproven,
  { issuer, template }: OtherMaker,
): NumberedDetail {
  const age = ageOf(ring, arrived)
  const isMore = countUntried(ring.keys) > 0
  return () => {
    const key = kid === undefined ? 'a key' : `the key with kid ${shown(kid)}`
    const found = issuer === undefined ? 'states no issuer' : `states the issuer ${spelled(issuer)}`
    // The key itself is in the document: what has left is its entry for these tokens.
    const reason = why === 'retired' ? `; ${RETIRED_ENTRY}` : because(why)
    const others = isMore ? '; more keys fit than are tried for one token' : ''
    const text = `${key} made the signature and ${found}; expected ${spelled(template)}, or the same with the tenant of the token${others}${reason}`
    return { text, numbers: agesOf(age) }
  }
}

/** Issuers of tenants begin alike, and have the tenant behind that. */
function spelled(issuer: string): string {
  return listed([issuer], 1, 96)
}

/** For `timeout`: functions of the user take longer than the key may be used. */
export const endedProofs: Detail = () =>
  'the key that proved the token could not be used any longer each time that the schema or the revocations had answered'

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
  return age <= 0 ? `${keys}, fetched since the token came` : keys
}

/** How old the keys were when the token came. */
function agesOf(age: number | undefined): { readonly keysAge?: number } {
  return age === undefined || age <= 0 ? {} : { keysAge: age }
}

function skippedReason({ skipped }: KeyRing, kid: string): string | undefined {
  return skipped?.entries.find((entry) => entry.kid === kid)?.reason
}

/** For `keys_unavailable`. @param failure In words, if an attempt has failed. @param pause Seconds until the next one. */
export function noKeys(
  failure: string | undefined,
  origin: string | undefined,
  pause: number,
): NumberedDetail {
  return () => {
    const what = printable(failure ?? 'no keys have been fetched yet', 300)
    const where = origin === undefined ? '' : ` (${printable(origin, 100)})`
    return { text: `${what}${where}`, numbers: { nextAttemptIn: Math.max(0, pause) } }
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
