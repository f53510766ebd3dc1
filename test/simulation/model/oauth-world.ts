import { createOAuthClient, OAuthError, type OnBehalf } from '@portcullis/client/oauth'
import { type ManualClock, manualClock } from '@portcullis/testing'

// A client of OAuth with callers of its own and on behalf of subjects, and an authorization server that fails in every way.

/** How the server answers until it is told otherwise. */
export type ServerMood =
  | 'ok'
  /** A JWT with milliseconds as `expires_in`, and no `token_type`. */
  | 'gateway'
  | 'hang'
  | 'reset'
  | 'refuse'
  /** The same with status 200. */
  | 'refuse_mildly'
  | 'busy'
  | 'nonsense'

/** Seconds. */
export const LIFETIME = 100
export const TIMEOUT = 10
const RETRY_AFTER = 20

interface Grant {
  readonly subject: string
  readonly end: number
}

interface Asked {
  readonly subject: string
  readonly time: number
  readonly mood: ServerMood
}

interface Outcome {
  readonly subject: string
  /** The token's grant, or the status of the error. */
  readonly result: Grant | number
  /** By the wall clock. */
  readonly time: number
  /** By the monotonic clock. */
  readonly waited: number
}

export interface OAuthWorld {
  readonly clock: ManualClock
  readonly asked: readonly Asked[]
  readonly outcomes: readonly Outcome[]
  /** The largest number of requests for one subject that were under way at once. */
  readonly mostAtOnce: () => number
  mood: ServerMood
  /** Whether the server has ended the idle connection that the next request takes. */
  hasEndedConnection: boolean
  /** Ends of the subjects, by the wall clock. */
  readonly subjects: ReadonlyMap<string, number>
  /** Callers who come at once, each with a handle of its own; `own` is the client itself. */
  call(subject: string, callers: number): void
  /** A caller who leaves at once. */
  leave(subject: string): Promise<void>
  /** Until every caller has an outcome. */
  settle(): Promise<void>
  close(): Promise<void>
}

export const OWN = 'own'
const START = 1_767_225_600

/** @param remember By default there is room for all. */
export function createOAuthWorld(
  ends: Readonly<Record<string, number>>,
  remember?: { readonly max: number; readonly bytes: number },
): OAuthWorld {
  const clock = manualClock(START)
  const subjects = new Map(Object.entries(ends).map(([name, left]) => [name, START + left]))
  const grants = new Map<string, Grant>()
  const asked: Asked[] = []
  const outcomes: Outcome[] = []
  const underWay = new Map<string, number>()
  const waiting = new Set<Promise<void>>()
  let mostAtOnce = 0

  async function answer(subject: string): Promise<Response> {
    const { mood, hasEndedConnection } = world
    world.hasEndedConnection = false
    if (hasEndedConnection) throw new TypeError('fetch failed')
    asked.push({ subject, time: clock.monotonic(), mood })
    if (mood === 'hang') return await new Promise<never>(() => undefined)
    if (mood === 'reset') throw new TypeError('fetch failed')
    if (mood === 'refuse') return Response.json({ error: 'invalid_grant' }, { status: 400 })
    if (mood === 'refuse_mildly') return Response.json({ error: 'invalid_grant' })
    if (mood === 'nonsense') return new Response('<!doctype html>')
    if (mood === 'busy') {
      return new Response(null, { status: 429, headers: { 'retry-after': String(RETRY_AFTER) } })
    }
    const iat = clock.now()
    const end = iat + LIFETIME
    const name = `token-${grants.size}`
    const token = mood === 'gateway' ? jwtOf({ iat, exp: end, jti: name }) : name
    grants.set(token, { subject, end })
    return mood === 'gateway'
      ? Response.json({ access_token: token, expires_in: LIFETIME * 1000 })
      : Response.json({ access_token: token, token_type: 'Bearer', expires_in: LIFETIME })
  }

  async function fetch(_url: string, { body, signal }: RequestInit): Promise<Response> {
    if (typeof body !== 'string') throw new TypeError('no form')
    const subject = new URLSearchParams(body).get('subject_token') ?? OWN
    const count = (underWay.get(subject) ?? 0) + 1
    underWay.set(subject, count)
    mostAtOnce = Math.max(mostAtOnce, count)
    const leave = () => void underWay.set(subject, (underWay.get(subject) ?? 0) - 1)
    signal?.addEventListener('abort', leave, { once: true })
    const response = await answer(subject).finally(() => {
      signal?.removeEventListener('abort', leave)
      leave()
    })
    return response
  }

  const client = createOAuthClient({
    tokenEndpoint: 'https://as.test/token',
    clientId: 'shop',
    clientSecret: 'secret',
    origins: [],
    timeout: TIMEOUT,
    remember,
    clock,
    fetch,
  })

  function handleFor(subject: string): Pick<OnBehalf, 'get'> {
    const exp = subjects.get(subject)
    if (exp === undefined) return client
    return client.onBehalfOf(authOf(subject, exp), { audience: 'orders' })
  }

  async function callOnce(subject: string): Promise<void> {
    const since = clock.monotonic()
    const result = await handleFor(subject)
      .get()
      .then((token) => grants.get(token) ?? { subject: 'nobody', end: 0 }, statusOf)
    outcomes.push({ subject, result, time: clock.now(), waited: clock.monotonic() - since })
  }

  const world: OAuthWorld = {
    clock,
    asked,
    outcomes,
    subjects,
    mood: 'ok',
    hasEndedConnection: false,
    mostAtOnce: () => mostAtOnce,
    call(subject, callers) {
      for (let caller = 0; caller < callers; caller++) {
        const call = callOnce(subject)
        waiting.add(call)
        void call.finally(() => waiting.delete(call))
      }
    },
    async leave(subject) {
      const leaving = new AbortController()
      const gone = handleFor(subject).get({ signal: leaving.signal })
      leaving.abort()
      await gone.catch(statusOf)
    },
    async settle() {
      // The longest time that a caller may wait.
      await clock.advance(TIMEOUT + 2)
      if (waiting.size > 0) throw new Error(`${waiting.size} callers wait for ever`)
    },
    close: async () => {
      await client.close()
    },
  }
  return world
}

/** What a verifier gives whose schema makes new claims each time, without `exp`: what was signed is noted beside them. */
function authOf(token: string, exp: number): { token: string; claims: object } {
  const auth = { token, claims: { sub: token } }
  const value = { of: auth, signed: { token, claims: { exp } } }
  return Object.defineProperty(auth, Symbol.for('@portcullis/core signed'), { value })
}

/** Without a real signature. */
function jwtOf(claims: object): string {
  return `${encoded({ alg: 'ES256' })}.${encoded(claims)}.c2ln`
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

function statusOf(error: unknown): number {
  if (error instanceof OAuthError) return error.status
  throw error
}
