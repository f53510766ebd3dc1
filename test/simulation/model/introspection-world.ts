import { AuthError, type Verifier } from '@portcullis/core'
import { introspected } from '@portcullis/introspection'
import { type ManualClock, manualClock } from '@portcullis/testing'

// A verifier of opaque tokens, an issuer that answers well, late, wrongly or not at all, and the true time.

export const MAX_AGE = 20
export const MAX_CALLS = 3
export const MAX_RENEWALS = 2
export const MAX_RATE = 4
export const TIMEOUT = 5

/** How the issuer answers. `slow` takes two seconds, and says what was true when it was asked. */
export type Mode = 'well' | 'slow' | 'hang' | 'broken' | 'gone' | 'busy' | 'wrong' | 'odd'

/** These fail about tokens that nobody has issued, and about no other. */
const CALM: ReadonlySet<Mode> = new Set(['well', 'slow', 'odd'])

/** How the issuer answers about one token, whatever it does for the others. */
export type Poison = 'refuses' | 'breaks' | 'resets' | 'hangs'

/** What happens to time. `suspend`: only the wall clock goes on. `set`: how far it is ahead from then on. */
export type TimeEvent =
  | { readonly pass: number }
  | { readonly suspend: number }
  | { readonly set: number }

/** How one question about a token ended. */
export interface Verdict {
  readonly token: string
  readonly word: string
  /** True times, in seconds. */
  readonly askedAt: number
  readonly settledAt: number
  /** How long before it a call had failed, by the clock that stops with the machine. */
  readonly failedAgo: number
  /** When it was asked, whether it had been accepted before, and for how long nothing but single tokens had failed, nor has since. */
  readonly wasKnown: boolean
  readonly calmFor: number
}

export interface IntrospectionWorld {
  readonly clock: ManualClock
  /** In the order in which they were settled. */
  readonly verdicts: readonly Verdict[]
  /** How many have no verdict yet. */
  waiting(): number
  mode: Mode
  /** Whether the issuer has ended the idle connection that the next request takes. */
  hasEndedConnection: boolean
  /** When the issuer ended a token. */
  readonly ended: ReadonlyMap<string, number>
  /** Tokens about which the issuer fails. */
  readonly poisoned: ReadonlyMap<string, Poison>
  /** What was seen of calls. */
  readonly seen: {
    /** The most calls at once for one token, for invented ones, and for genuine ones. */
    readonly ofOne: number
    readonly ofInvented: number
    readonly ofGenuine: number
    /** How many calls have begun, and when each for an invented token did. */
    readonly calls: number
    readonly inventedAt: readonly number[]
  }
  verify(token: string, abortAfter?: number): void
  end(token: string): void
  poison(token: string, how: Poison): void
  happen(event: TimeEvent): Promise<void>
  truth(): number
}

/** @param genuine Tokens that are active until they are ended. */
export function createIntrospectionWorld(
  genuine: readonly string[],
  staleIfError: number,
): IntrospectionWorld {
  const clock = manualClock()
  const start = clock.now()
  let suspended = 0
  const truth = () => clock.monotonic() + suspended
  const ended = new Map<string, number>()
  const verdicts: Verdict[] = []
  const running = new Map<string, number>()
  const seen = { ofOne: 0, ofInvented: 0, ofGenuine: 0, calls: 0, inventedAt: new Array<number>() }
  const poisoned = new Map<string, Poison>()
  const known = new Set<string>()
  let waiting = 0
  let failedAt = -Infinity
  let mode: Mode = 'well'
  let calmSince = -Infinity
  let hasAnswered = false
  /** When the first request of a call was lost, by its token. */
  const lostAt = new Map<string, number>()

  function isGenuine(token: string): boolean {
    return genuine.includes(token)
  }

  function callsFor(isMeant: (token: string) => boolean): number {
    return [...running].reduce((sum, [token, count]) => sum + (isMeant(token) ? count : 0), 0)
  }

  function begin(token: string): void {
    running.set(token, (running.get(token) ?? 0) + 1)
    seen.ofOne = Math.max(seen.ofOne, running.get(token) ?? 0)
    seen.ofGenuine = Math.max(seen.ofGenuine, callsFor(isGenuine))
    seen.ofInvented = Math.max(
      seen.ofInvented,
      callsFor((each) => !isGenuine(each)),
    )
    // A call is one of two requests if the first was lost.
    if (lostAt.get(token) === clock.monotonic()) return
    seen.calls++
    if (!isGenuine(token)) seen.inventedAt.push(clock.monotonic())
  }

  function end(token: string): void {
    const left = (running.get(token) ?? 0) - 1
    if (left > 0) running.set(token, left)
    else running.delete(token)
  }

  async function answer(token: string, signal: AbortSignal): Promise<Response> {
    const body =
      isGenuine(token) && !ended.has(token)
        ? { active: true, iss: ISSUER, token_type: 'Bearer', sub: token }
        : { active: false }
    const how = poisoned.get(token)
    if (mode === 'hang' || how === 'hangs') await after(1e6, signal)
    if (mode === 'slow') await after(2, signal)
    if (mode === 'gone') throw connectionError('ECONNREFUSED')
    if (mode === 'broken' || how === 'breaks') return new Response('', { status: 500 })
    if (mode === 'busy') return new Response('', { status: 429, headers: { 'retry-after': '10' } })
    if (how === 'resets') throw connectionError('ECONNRESET')
    if (how === 'refuses') return new Response('', { status: 401 })
    if (mode === 'wrong') return Response.json({ active: 'true', iss: ISSUER })
    if (mode === 'odd' && !isGenuine(token)) return new Response('', { status: 400 })
    return Response.json(body)
  }

  async function after(seconds: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.after(seconds, resolve)
      signal.addEventListener('abort', () => {
        cancel()
        reject(new Error('aborted'))
      })
    })
  }

  const verifier: Verifier = introspected({
    issuer: ISSUER,
    audience: null,
    endpoint: `${ISSUER}/introspect`,
    clientId: 'api',
    clientSecret: 'secret',
    maxAge: MAX_AGE,
    staleIfError,
    maxCalls: MAX_CALLS,
    maxRenewals: MAX_RENEWALS,
    maxRate: MAX_RATE,
    timeout: TIMEOUT,
    clock,
    async fetch(_url, init) {
      const token = init.body?.get('token') ?? ''
      begin(token)
      const isRepeated = lostAt.delete(token)
      const isLost = world.hasEndedConnection
      world.hasEndedConnection = false
      // One request is sent again, and no more: a call that loses both has met an endpoint that fails.
      const isLostForGood = isLost && (isRepeated || !hasAnswered)
      if (isLostForGood) calmSince = clock.monotonic()
      const isFailing = (mode !== 'well' && mode !== 'slow') || poisoned.has(token) || isLostForGood
      try {
        if (isLost) throw connectionError('ECONNRESET')
        const response = await answer(token, init.signal)
        hasAnswered ||= response.ok
        return response
      } catch (error) {
        if (hasAnswered && !isRepeated) lostAt.set(token, clock.monotonic())
        throw error
      } finally {
        end(token)
        if (isFailing) failedAt = clock.monotonic()
      }
    },
  })

  const world: IntrospectionWorld = {
    clock,
    verdicts,
    waiting: () => waiting,
    get mode() {
      return mode
    },
    set mode(next) {
      if (!CALM.has(mode)) calmSince = clock.monotonic()
      mode = next
    },
    hasEndedConnection: false,
    ended,
    poisoned,
    seen,
    verify(token, abortAfter) {
      const controller = new AbortController()
      const askedAt = truth()
      const asked = { calmSince, at: clock.monotonic() }
      const wasKnown = known.has(token)
      waiting++
      if (abortAfter !== undefined) {
        clock.after(abortAfter, () => {
          controller.abort(new Error('aborted'))
        })
      }
      const settle = (word: string) => {
        waiting--
        const failedAgo = clock.monotonic() - failedAt
        const isCalm = CALM.has(mode) && calmSince === asked.calmSince
        const calmFor = isCalm ? asked.at - calmSince : 0
        if (word === 'accepted') known.add(token)
        if (word === 'invalid_token inactive') known.delete(token)
        verdicts.push({ token, word, askedAt, settledAt: truth(), failedAgo, wasKnown, calmFor })
      }
      verifier.verify(token, { signal: controller.signal }).then(
        () => {
          settle('accepted')
        },
        (error: unknown) => {
          settle(error instanceof AuthError ? `${error.code} ${error.reason}` : String(error))
        },
      )
    },
    end(token) {
      if (!ended.has(token)) ended.set(token, truth())
    },
    poison(token, how) {
      poisoned.set(token, how)
    },
    async happen(event) {
      if ('pass' in event) await clock.advance(event.pass)
      else if ('set' in event) clock.set(start + truth() + event.set)
      else {
        suspended += event.suspend
        clock.set(clock.now() + event.suspend)
      }
      await clock.advance(0)
    },
    truth,
  }
  return world
}

function connectionError(code: string): Error {
  return Object.assign(new TypeError('fetch failed'), { code })
}

const ISSUER = 'https://issuer.test'
