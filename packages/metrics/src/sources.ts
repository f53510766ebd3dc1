import { OTHER } from './words.ts'

// What a program has, by the names that it gives to each: the only names of sources that labels ever have.

/** `remoteKeys` and `discoverKeys` return one. */
export interface MeasuredKeys {
  status(): {
    readonly freshness: string
    readonly age: number | undefined
    readonly thumbprints: readonly string[]
    readonly skippedKeys: number
    readonly untriedKeys: number
    readonly lastFailure: object | undefined
  }
}

/** `redisRevocations` returns one. */
export interface MeasuredRevocations {
  status(): {
    readonly state: string
    readonly age: number | undefined
    readonly entries: number
    readonly failures: number
  }
}

/** `pollEvents` returns one. */
export interface MeasuredPoll {
  status(): { readonly state: string; readonly failures: number }
}

/** `createTokenClient` and `createOAuthClient` return one. */
export interface MeasuredClient {
  status(): object
}

export interface StatusOf {
  readonly keys: ReturnType<MeasuredKeys['status']>
  readonly revocations: ReturnType<MeasuredRevocations['status']>
  readonly polls: ReturnType<MeasuredPoll['status']>
}

/**
 * What is measured, each with a name of yours, such as `{ keys: { main: keys } }`. A name is a letter and up to 31 letters,
 * digits, `_` or `-`; `other` is for what you have not named. All members are optional.
 */
export interface Sources {
  readonly keys?: Readonly<Record<string, MeasuredKeys>> | undefined
  readonly revocations?: Readonly<Record<string, MeasuredRevocations>> | undefined
  readonly polls?: Readonly<Record<string, MeasuredPoll>> | undefined
  readonly clients?: Readonly<Record<string, MeasuredClient>> | undefined
  /** What `createVerifier`, `byIssuer` or `introspected` returned. */
  readonly verifiers?: Readonly<Record<string, object>> | undefined
  /** What `receiveLogout` or `receiveEvents` returned. */
  readonly receivers?: Readonly<Record<string, object>> | undefined
  /** What `redisReplays` returned. */
  readonly replays?: Readonly<Record<string, object>> | undefined
}

/** Checked sources, and the name of each. */
export interface NamedSources extends Required<{
  [Kind in keyof Sources]: Readonly<Record<string, object>>
}> {
  readonly keys: Readonly<Record<string, MeasuredKeys>>
  readonly revocations: Readonly<Record<string, MeasuredRevocations>>
  readonly polls: Readonly<Record<string, MeasuredPoll>>
  readonly clients: Readonly<Record<string, MeasuredClient>>
  /** Of what a message names as its source: the stated name, or `other`. */
  readonly nameOf: (source: unknown) => string
}

const KINDS = ['keys', 'revocations', 'polls', 'clients', 'verifiers', 'receivers', 'replays']
const WITH_STATUS: ReadonlySet<string> = new Set(['keys', 'revocations', 'polls', 'clients'])
const NAME = /^[a-z][\w-]{0,31}$/i
/** A label with more values than this is no label. */
const MOST = 100

/** @throws TypeError for what is misspelt, and for a name that is no name. */
export function checkSources(sources: Sources): NamedSources {
  if (typeof sources !== 'object' || (sources as unknown) === null || Array.isArray(sources)) {
    // Mistake error-sources-must-be-an-object `sources: must be an object, such as`: Give one object of sources, as the
    // message shows.
    throw new TypeError('sources: must be an object, such as { keys: { main: keys } }')
  }
  const stated: Readonly<Record<string, unknown>> = { ...sources }
  for (const kind of Object.keys(stated)) {
    if (!KINDS.includes(kind)) {
      // Mistake `unknown kind of sources: …`: The message lists the kinds, such as `keys` and `revocations`.
      throw new TypeError(`unknown kind of sources: ${kind}; there are ${KINDS.join(', ')}`)
    }
  }
  const checked = Object.fromEntries(KINDS.map((kind) => [kind, checkNamed(kind, stated[kind])]))
  const names = new WeakMap<object, string>()
  for (const named of Object.values(checked)) {
    for (const [name, source] of Object.entries(named)) {
      // Otherwise what it does would be counted under one of them alone.
      const known = names.get(source)
      if (known !== undefined) {
        // Mistake error-sources-are-the-same-source `sources: … and … are the same source`: Give each source one name,
        // whatever its kind.
        throw new TypeError(`sources: ${known} and ${name} are the same source`)
      }
      names.set(source, name)
    }
  }
  return {
    ...(checked as unknown as Omit<NamedSources, 'nameOf'>), // each has been checked above
    nameOf: (source) => names.get(source as object) ?? OTHER,
  }
}

function checkNamed(kind: string, named: unknown): Readonly<Record<string, object>> {
  if (named === undefined) return {}
  if (typeof named !== 'object' || named === null) {
    // Mistake `sources: … must be an object with a name for each`: `{ keys: { main: keys } }`, not `{ keys }`.
    throw new TypeError(`sources: ${kind} must be an object with a name for each`)
  }
  const entries = Object.entries(named)
  // Mistake `sources: … has more than … names`: Each name is a value of a label. Give names to those that you look at.
  if (entries.length > MOST) throw new TypeError(`sources: ${kind} has more than ${MOST} names`)
  for (const [name, source] of entries) {
    if (!NAME.test(name) || name === OTHER) {
      // Mistake error-sources-a-name-must-be `sources: a name in … must be a letter and up to 31 letters`: Write a short name,
      // not a URL. `other` is for what has no name.
      throw new TypeError(
        `sources: a name in ${kind} must be a letter and up to 31 letters, digits, _ or -, and not "other"`,
      )
    }
    if (!isSource(source, WITH_STATUS.has(kind))) {
      // Mistake `sources: ….… must be what a function of Portcullis returned`: Such as `{ keys: { main: remoteKeys(url) } }`.
      throw new TypeError(`sources: ${kind}.${name} must be what a function of Portcullis returned`)
    }
  }
  return Object.fromEntries(entries)
}

function isSource(source: unknown, hasStatus: boolean): boolean {
  if (source === null || (typeof source !== 'object' && typeof source !== 'function')) return false
  return !hasStatus || typeof Reflect.get(source, 'status') === 'function'
}
