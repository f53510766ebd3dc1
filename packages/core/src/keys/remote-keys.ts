import { createHash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import { AuthError } from '../errors.ts'
import { checkOptions, isBoolean, isClock, isFunction, seconds } from '../options.ts'
import { type Clock, elapsed, type Instant, instant, systemClock } from '../time.ts'
import {
  badDocument,
  type Fetch,
  type FetchFailure,
  fetchJson,
  type JsonDocument,
  withDeadline,
} from './fetch-json.ts'
import { identifyKeys, readKeyDocument } from './jwk.ts'
import type { Caller, KeyRing, KeySource, Suspicion, VerificationKey } from './key-source.ts'
import {
  afterFailure,
  afterHelp,
  afterOverlap,
  afterSuccess,
  type CacheState,
  expiredRing,
  type FetchedRing,
  type Freshness,
  freshness,
  INITIAL_STATE,
  lifetime,
  nextAttempt,
  type RotationPolicy,
  type Trigger,
  turn,
  unprovenToken,
} from './rotation.ts'

/** Seconds everywhere. */
export interface RemoteKeysOptions {
  /**
   * How long fetched keys are used without asking again. Spread by 10 % for each process.
   * @default 300, or the document's `Cache-Control: max-age` less `Age`, between 60 and 3600. A stated value is only
   *   ever shortened by it.
   */
  maxAge?: number | undefined
  /**
   * How much longer they are used while a refresh runs behind the requests.
   * @default 300
   * @see RFC 5861 section 3
   */
  staleWhileRevalidate?: number | undefined
  /**
   * How much longer than `maxAge` they are used while the key endpoint is down. The sum is the longest that a
   * withdrawn key stays trusted.
   * @default 3600
   * @see RFC 5861 section 4
   */
  staleIfError?: number | undefined
  /**
   * How long a key stays trusted after a document came that lacks it: for services that cannot publish two keys, and
   * for balancers in front of servers with different keys.
   * @default 0
   */
  overlap?: number | undefined
  /**
   * Deadline of one attempt, headers and body together, and of one caller's wait.
   * @default 5
   */
  timeout?: number | undefined
  /**
   * Allows `http:` to a host that is not the loopback. Whoever controls the network then controls the keys.
   * @default false
   */
  allowInsecure?: boolean | undefined
  /** @default globalThis.fetch */
  fetch?: Fetch | undefined
  clock?: Clock | undefined
}

/** Public keys behind a URL. */
export interface RemoteKeys extends KeySource {
  /**
   * Fetches now, for a webhook that announces a rotation. An attempt under way is followed by one more.
   *
   * @throws AuthError `keys_unavailable` if that attempt fails, or may not start within a second.
   */
  refresh(): Promise<void>
  /** The state of the cache, for readiness probes and logs. */
  status(): RemoteKeysStatus
}

/** Times are seconds. */
export interface RemoteKeysStatus {
  readonly freshness: Freshness
  /** Since the start of the attempt that brought the keys. */
  readonly age: number | undefined
  readonly maxAge: number | undefined
  /** RFC 7638 thumbprints of the trusted keys. */
  readonly thumbprints: readonly string[]
  /** Thumbprints of the last keys that left: known, not trusted. */
  readonly retired: readonly string[]
  readonly fetching: boolean
  /** Why the last attempt failed, if it did. */
  readonly lastFailure:
    | { readonly reason: FetchFailure['failure']; readonly detail: string; readonly age: number }
    | undefined
  /** From now until the next attempt may start. */
  readonly nextAttempt: number
}

const MAX_WAITING_OCTETS = 16 * 1024 * 1024
const MAX_REMEMBERED_QUESTIONS = 5000

/**
 * Public keys behind a URL that serves one bare JSON Web Key or a JWK set, cached and followed through rotations.
 *
 * Nothing is fetched before the first use, and there is nothing to close.
 *
 * @throws TypeError for a URL that is neither https nor loopback, and for a wrong option.
 * @see RFC 7517 sections 4 and 5
 */
export function remoteKeys(url: string | URL, options: RemoteKeysOptions = {}): RemoteKeys {
  checkRemoteKeysOptions('remoteKeys', options)
  const { fetch = lateBoundFetch, allowInsecure = false } = options
  const href = checkUrl('remoteKeys', url, allowInsecure)
  return followKeys((signal) => fetchJson(href, { fetch, signal }), options)
}

/** The cache itself, over any way to load a key document. */
function followKeys(
  load: (signal: AbortSignal) => Promise<JsonDocument | FetchFailure>,
  {
    maxAge,
    staleWhileRevalidate = 300,
    staleIfError = 3600,
    overlap = 0,
    timeout = 5,
    clock = systemClock,
  }: RemoteKeysOptions,
): RemoteKeys {
  const policy: RotationPolicy = { maxAge, staleWhileRevalidate, staleIfError, overlap }
  const spread = Math.random()
  /** Which tokens have asked, and when they were answered: questions, not verdicts. */
  const asked = new LRUCache<string, Instant>({ max: MAX_REMEMBERED_QUESTIONS })
  let state: CacheState = INITIAL_STATE
  /** Resolves when the attempt under way has settled, which is when the state changes. */
  let flight: Promise<void> | undefined
  let waitingOctets = 0

  function now(): Instant {
    return instant(clock)
  }

  function start(trigger: Trigger): Promise<void> {
    const startedAt = now()
    flight = withDeadline(clock, timeout, fetchDocument).then((outcome) => {
      const attempt = { trigger, startedAt, settledAt: now() }
      state =
        outcome.failure === undefined
          ? afterSuccess(state, attempt, outcome, policy)
          : afterFailure(state, attempt, outcome, Math.random())
      flight = undefined
    })
    return flight
  }

  async function fetchDocument(signal: AbortSignal): Promise<FetchedDocument | FetchFailure> {
    const answer = await load(signal)
    if (answer.failure !== undefined) return answer
    const document = readKeyDocument(answer.value)
    if (document === undefined) return badDocument('the document is neither a JWK nor a JWK set')
    const keys = await identifyKeys(document)
    if (keys.length === 0) return badDocument('the document has no usable key')
    return { keys, bare: document.bare, maxAge: lifetime(maxAge, answer.headers, spread) }
  }

  function ringAt(moment: Instant): FetchedRing | undefined {
    state = afterOverlap(state, moment, policy)
    return freshness(state.ring, moment, policy) === 'empty' ? undefined : state.ring
  }

  function current(caller: Caller): KeyRing | Promise<KeyRing> {
    const ring = ringAt(caller.arrived)
    if (ring === undefined) return firstRing(caller)
    const word = freshness(ring, caller.arrived, policy)
    if (word === 'fresh') return ring
    const mayWait = word === 'expired' && !isRoomFull(caller)
    if (mayWait && expiredRing(state, caller.arrived, policy) === 'wait') return firstRing(caller)
    if (maySend('age', caller.arrived)) void start('age')
    return ring
  }

  /** What there is after one attempt, be it this caller's or one under way. */
  async function firstRing(caller: Caller): Promise<KeyRing> {
    const attempt = flight ?? (maySend('age', caller.arrived) ? start('age') : undefined)
    if (attempt !== undefined) await inWaitingRoom(caller, async () => await attempt)
    const ring = ringAt(now())
    if (ring === undefined) throw unavailable('age')
    return ring
  }

  function maySend(trigger: Trigger, moment: Instant): boolean {
    return flight === undefined && turn(state.pace, trigger, moment) === 'start'
  }

  async function suspect(
    suspicion: Suspicion,
    caller: Caller,
  ): Promise<VerificationKey | undefined> {
    const moment = now()
    // First, because a flood of forged tokens ends here.
    const mayAsk = flight !== undefined || turn(state.pace, 'suspicion', moment) !== 'refrain'
    if (!mayAsk && unprovenToken(state) === 'refused') return undefined
    const question = createHash('sha256').update(suspicion.token).digest('base64url')
    if (isExplained(suspicion, question, moment)) return undefined
    if (!mayAsk) throw unavailable('suspicion')
    return await inWaitingRoom(caller, async (place) => {
      const proof = await askAgain(suspicion, caller, place)
      if (proof === undefined && !place.left) asked.set(question, now())
      return proof
    })
  }

  /** Whether something other than an unseen rotation accounts for a token that no key proves. */
  function isExplained(
    { couldBeAccepted, findProof, ring }: Suspicion,
    question: string,
    moment: Instant,
  ): boolean {
    const askedAt = asked.get(question)
    return (
      !couldBeAccepted() ||
      (askedAt !== undefined && elapsed(askedAt, moment) < (state.ring?.maxAge ?? 0)) ||
      findProof({ keys: state.retired, bare: ring.bare }) !== undefined
    )
  }

  async function askAgain(
    { findProof, ring }: Suspicion,
    caller: Caller,
    place: Place,
  ): Promise<VerificationKey | undefined> {
    let tried = ring.keys
    while (!place.left) {
      const moment = now()
      const newer = ringAt(moment)
      if (newer !== undefined && newer.keys !== tried) {
        tried = newer.keys
        const proof = findProof(newer)
        if (proof !== undefined) {
          state = afterHelp(state)
          return proof
        }
      }
      // Only an attempt that started after the token came is an answer: an older one may have missed the rotation.
      const isAnswered = startedSince(caller.arrived)
      const next = turn(state.pace, 'suspicion', moment)
      if (isAnswered || (flight === undefined && next === 'refrain')) {
        if (unprovenToken(state) === 'unavailable') throw unavailable('suspicion')
        return undefined
      }
      await (flight ?? (next === 'start' ? start('suspicion') : slot('suspicion', moment)))
    }
    return undefined
  }

  function startedSince(moment: Instant): boolean {
    return state.last !== undefined && state.last.startedAt.monotonic >= moment.monotonic
  }

  async function slot(trigger: Trigger, moment: Instant): Promise<void> {
    const wait = nextAttempt(state.pace, trigger) - moment.monotonic
    await new Promise<void>((resolve) => {
      clock.after(wait, resolve)
    })
  }

  async function refresh(): Promise<void> {
    const called = now()
    while (!startedSince(called)) {
      const moment = now()
      const next = turn(state.pace, 'refresh', moment)
      if (flight === undefined && next === 'refrain') throw unavailable('refresh')
      await (flight ?? (next === 'start' ? start('refresh') : slot('refresh', moment)))
    }
    if (unprovenToken(state) === 'unavailable') throw unavailable('refresh')
  }

  function isRoomFull({ tokenSize }: Caller): boolean {
    return waitingOctets + tokenSize > MAX_WAITING_OCTETS
  }

  /** One caller's wait: bounded in time and in room. Whoever leaves cancels nothing for the others. */
  async function inWaitingRoom<Result>(
    caller: Caller,
    wait: (place: Place) => Promise<Result>,
  ): Promise<Result> {
    const { tokenSize, signal } = caller
    signal?.throwIfAborted()
    if (isRoomFull(caller)) throw new AuthError('keys_unavailable', 'timeout', { retryAfter: 1 })
    const place: Place = { left: false }
    let leave: (() => void) | undefined
    const gone = new Promise<never>((_, reject) => {
      const abort = () => {
        reject(signal?.reason as Error)
      }
      const cancel = clock.after(timeout, () => {
        reject(new AuthError('keys_unavailable', 'timeout', { retryAfter: 1 }))
      })
      signal?.addEventListener('abort', abort)
      leave = () => {
        cancel()
        signal?.removeEventListener('abort', abort)
      }
    })
    waitingOctets += tokenSize
    try {
      return await Promise.race([wait(place), gone])
    } finally {
      place.left = true
      waitingOctets -= tokenSize
      leave?.()
    }
  }

  function unavailable(trigger: Trigger): AuthError {
    const failure = state.last?.failure
    return new AuthError('keys_unavailable', failure?.failure ?? 'timeout', {
      retryAfter: nextAttempt(state.pace, trigger) - clock.monotonic(),
      cause: failure && new Error(failure.detail),
    })
  }

  function status(): RemoteKeysStatus {
    const moment = now()
    const { ring, retired, last, pace } = afterOverlap(state, moment, policy)
    return {
      freshness: freshness(ring, moment, policy),
      age: ring && elapsed(ring.fetchedAt, moment),
      maxAge: ring?.maxAge,
      thumbprints: (ring?.keys ?? []).map(({ thumbprint }) => thumbprint),
      retired: retired.map(({ thumbprint }) => thumbprint),
      fetching: flight !== undefined,
      lastFailure: last?.failure && {
        reason: last.failure.failure,
        detail: last.failure.detail,
        age: elapsed(last.settledAt, moment),
      },
      nextAttempt: Math.max(0, nextAttempt(pace, 'age') - moment.monotonic),
    }
  }

  return { now, current, suspect, refresh, status }
}

interface FetchedDocument extends KeyRing {
  readonly failure?: undefined
  readonly maxAge: number
}

interface Place {
  left: boolean
}

const lateBoundFetch: Fetch = async (url, init) => await globalThis.fetch(url, init)

function checkRemoteKeysOptions(factory: string, options: RemoteKeysOptions): void {
  checkOptions(factory, options, {
    maxAge: seconds(1, 86_400),
    staleWhileRevalidate: seconds(0, 86_400),
    staleIfError: seconds(0, 604_800),
    overlap: seconds(0, 86_400),
    timeout: seconds(0.1, 60),
    allowInsecure: isBoolean,
    fetch: isFunction,
    clock: isClock,
  })
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** @throws TypeError, without the URL: it may hold credentials. */
function checkUrl(factory: string, url: string | URL, allowInsecure: boolean): string {
  if (!URL.canParse(String(url))) throw new TypeError(`${factory}: the URL cannot be read`)
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.password !== '') {
    throw new TypeError(`${factory}: the URL must not contain credentials`)
  }
  const isPlain = parsed.protocol === 'http:'
  if (parsed.protocol !== 'https:' && !isPlain) {
    throw new TypeError(`${factory}: the URL must begin with https:`)
  }
  if (isPlain && !LOOPBACK.has(parsed.hostname) && !allowInsecure) {
    throw new TypeError(
      `${factory}: the URL must begin with https: (allowInsecure: true permits http: beyond the loopback)`,
    )
  }
  parsed.hash = ''
  return parsed.href
}
