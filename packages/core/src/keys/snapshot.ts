import { isJsonObject, type JsonObject, member } from '@portcullis/kit/json'
import { own } from '@portcullis/kit/options'
import type { Instant } from '@portcullis/kit/time'

import { type CacheState, INITIAL_STATE } from './cache-state.ts'
import type { EntryRules, StatedRules } from './entry-rules.ts'
import { type KeyDocument, readUsableKeys } from './key-document.ts'
import { valueOf } from './key-material.ts'
import type { VerificationKey } from './key-source.ts'
import { lifetime } from './lifetime.ts'
import type { FetchedRing } from './ring.ts'
import { freshness, type RotationPolicy } from './rotation.ts'

// What a deployment saves of a key cache, and what of it a process may begin with. Nothing here throws: a file that is
// out of date or broken must not keep a process from starting. Times are seconds.

/** The keys of one source at one time, as JSON. Whoever can write it decides whose tokens are accepted. */
export interface KeysSnapshot {
  readonly version: 1
  /** The key URL, or the issuer of `discoverKeys`. */
  readonly url: string
  /** The start of the attempt that brought the keys: seconds since 1970-01-01T00:00:00Z. */
  readonly fetchedAt: number
  /** How long the answer said that it may be cached, if it did. Seconds. */
  readonly freshnessLifetime?: number
  /** The `ifStated` by which the entries were chosen, if there was one: what else those stated is not kept. */
  readonly ifStated?: readonly (readonly [name: string, values: readonly string[]])[]
  /** One JWK, or a JWK set, with public members only. */
  readonly document: JsonObject
}

export interface SavedKeys extends KeyDocument {
  readonly fetchedAt: number
  readonly freshnessLifetime: number | undefined
}

/** As strictly as what decides about trust. @param url Keys of another one are a stranger's. @returns Or why it is not used: in words. */
export function readSnapshot(
  snapshot: unknown,
  url: string,
  entryRules: EntryRules,
): SavedKeys | string {
  if (!isJsonObject(snapshot)) return 'it is no object'
  if (member(snapshot, 'version') !== 1) return 'its version is not 1'
  if (member(snapshot, 'url') !== url) return 'it is of another URL'
  const ifStated = own(entryRules, 'ifStated')
  if (JSON.stringify(valueOf(snapshot, 'ifStated')) !== JSON.stringify(ifStated)) {
    return 'its entries were chosen by another ifStated'
  }
  const fetchedAt = member(snapshot, 'fetchedAt')
  if (!isSeconds(fetchedAt)) return 'its fetchedAt is no number of seconds'
  const freshnessLifetime = valueOf(snapshot, 'freshnessLifetime')
  if (freshnessLifetime !== undefined && !isSeconds(freshnessLifetime)) {
    return 'its freshnessLifetime is no number of seconds'
  }
  const document = readUsableKeys(member(snapshot, 'document'), entryRules)
  return typeof document === 'string' ? document : { ...document, fetchedAt, freshnessLifetime }
}

export interface Beginning {
  readonly state: CacheState
  /** `undefined`: without a snapshot. */
  readonly snapshot: 'used' | { readonly complaint: string } | undefined
}

/** @param saved What was read of a snapshot, if there is one: the keys, or why it is not used. */
export function beginWith(
  saved: SavedKeys | string | undefined,
  now: Instant,
  policy: RotationPolicy,
): Beginning {
  if (saved === undefined) return { state: INITIAL_STATE, snapshot: undefined }
  const ring = typeof saved === 'string' ? saved : ringOf(saved, now, policy)
  return typeof ring === 'string'
    ? { state: INITIAL_STATE, snapshot: { complaint: ring } }
    : { state: { ...INITIAL_STATE, ring }, snapshot: 'used' }
}

/** Its age runs from the recorded fetch, by wall clocks alone: one from the future tells nothing. @returns Or why it is not used. */
function ringOf(
  { keys, bare, skipped, fetchedAt, freshnessLifetime }: SavedKeys,
  now: Instant,
  policy: RotationPolicy,
): FetchedRing | string {
  const age = now.wall - fetchedAt
  if (age < 0) return 'it is from the future: the clocks differ'
  const ring: FetchedRing = {
    keys,
    bare,
    skipped,
    maxAge: lifetime(freshnessLifetime, policy),
    freshnessLifetime,
    fetchedAt: { wall: fetchedAt, monotonic: now.monotonic - age },
    overlapping: [],
    isSaved: true,
  }
  return freshness(ring, now, policy) === 'empty' ? 'it is too old' : ring
}

export interface SnapshotOrigin {
  /** A key URL or an issuer. Developers are shown its origin. */
  readonly url: string
  readonly ifStated?: StatedRules | undefined
}

/** The keys of the document, without those that only `overlap` keeps. @returns `undefined` if nobody may use the ring any more. */
export function snapshotOf(
  ring: FetchedRing | undefined,
  { url, ifStated }: SnapshotOrigin,
  now: Instant,
  policy: RotationPolicy,
): KeysSnapshot | undefined {
  if (ring === undefined || freshness(ring, now, policy) === 'empty') return undefined
  const { bare, freshnessLifetime } = ring
  const jwks = (ring.overlapping[0]?.ringWithout ?? ring).keys.map(jwkOf)
  const [first] = jwks
  return {
    version: 1,
    url,
    fetchedAt: wallTimeOf(ring.fetchedAt, now),
    ...(freshnessLifetime === undefined ? {} : { freshnessLifetime }),
    ...(ifStated === undefined ? {} : { ifStated }),
    document: bare && first !== undefined ? first : { keys: jwks },
  }
}

/** The public JWK of a key, with all that its entry stated of it: what a key is for must not change on the way. */
function jwkOf({ publicJwk, kid, use, stated, issuer }: VerificationKey): JsonObject {
  return {
    ...publicJwk,
    ...(kid === undefined ? {} : { kid }),
    ...(use === 'sig' ? {} : { use }),
    ...(stated === undefined ? {} : { alg: stated }),
    ...(issuer === undefined ? {} : { issuer }),
  }
}

/** When that was, as the wall clock shows it now: it may have been set since. To the millisecond, so that copies agree. */
function wallTimeOf(then: Instant, now: Instant): number {
  const time = Math.min(then.wall, now.wall - (now.monotonic - then.monotonic))
  return Math.round(time * 1000) / 1000
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
