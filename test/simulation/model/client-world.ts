import { createHash } from 'node:crypto'

import { createTokenClient, TokenClientError } from '@portcullis/client'
import { type ManualClock, manualClock } from '@portcullis/testing'

// A client with a clock that may be wrong, a token service, and APIs that judge tokens and proofs by the true time.

export const SERVICE = 'https://auth.test'
export const LIFETIME = 60
/** What judges proofs tolerates. Seconds. */
const TOLERANCE = 5

const LOGIN_TIMEOUT = 10

/** What an answer has for its `Date`: the true time, that many seconds off, or nothing. */
export type DateHeader = number | 'none'

/** What happens to the machine. `suspend`: only its wall clock goes on. `set`: how far its wall clock is ahead from then on. */
export type ClockEvent =
  | { readonly pass: number }
  | { readonly suspend: number }
  | { readonly set: number }

interface ServerState {
  date: DateHeader
  /** Happens once, before the next request arrives, and after it was answered. */
  before: ClockEvent | undefined
  after: ClockEvent | undefined
  /** What proofs must have. */
  nonce: string | undefined
  /** Whether every proof is refused. */
  refusesProofs: boolean
  /** Whether it has ended the idle connection that the next request takes. */
  hasEndedConnection: boolean
}

interface ApiCall {
  readonly server: string
  readonly answer: 'ok' | 'dead token' | 'refused proof' | 'nonce'
  /** Which login gave the token, from 1. */
  readonly login: number
  /** Seconds since the end of the token, 0 or more. */
  readonly dead: number
  /** How far the machine's clock is ahead, and how far it was when the token came. */
  readonly offset: number
  readonly offsetBefore: number
}

export interface ClientWorld {
  readonly clock: ManualClock
  readonly calls: readonly ApiCall[]
  /** The status of each answer to a login. */
  readonly logins: readonly number[]
  server(origin: string): ServerState
  happen(event: ClockEvent): Promise<void>
  /** The status that a caller got, or the code of its error. */
  call(origin: string, body?: () => NonNullable<RequestInit['body']>): Promise<number | string>
  get(): Promise<string>
  truth(): number
  /** How far the machine's clock is ahead. */
  offset(): number
  close(): Promise<void>
}

export function createClientWorld(origins: readonly string[], lifetime = LIFETIME): ClientWorld {
  const clock = manualClock()
  let suspended = 0
  const start = clock.now()
  const truth = () => start + clock.monotonic() + suspended
  const offset = () => clock.now() - truth()
  const servers = new Map([SERVICE, ...origins].map((name) => [name, honest()]))
  const calls: ApiCall[] = []
  const logins: number[] = []
  /** For each token: when it is over, and how far our clock was ahead when it came. */
  const tokens = new Map<
    string,
    { readonly login: number; readonly expiry: number; offset: number }
  >()

  function server(origin: string): ServerState {
    const state = servers.get(origin)
    if (state === undefined) throw new TypeError(`no server ${origin}`)
    return state
  }

  async function happen(event: ClockEvent): Promise<void> {
    if ('pass' in event) return await clock.advance(event.pass)
    if ('set' in event) clock.set(truth() + event.set)
    else {
      suspended += event.suspend
      clock.set(clock.now() + event.suspend)
    }
  }

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    const { origin } = new URL(url)
    const state = server(origin)
    const { before, after } = state
    if (state.hasEndedConnection) {
      state.hasEndedConnection = false
      throw new TypeError('fetch failed')
    }
    state.before = undefined
    if (before !== undefined) await happen(before)
    const headers = new Headers(init.headers)
    const response = origin === SERVICE ? login(headers, state) : api(origin, headers, state)
    if (state.date !== 'none') {
      response.headers.set('date', new Date((truth() + state.date) * 1000).toUTCString())
    }
    state.after = undefined
    if (after !== undefined) await happen(after)
    const given = tokens.get(await response.clone().text())
    if (given !== undefined) given.offset = offset()
    return response
  }

  function login(headers: Headers, state: ServerState): Response {
    const error = refusalOf(headers.get('dpop') ?? '', state)
    logins.push(error === undefined ? 200 : 400)
    if (error !== undefined) {
      const init = { status: 400, headers: { 'dpop-nonce': state.nonce ?? '' } }
      return Response.json({ error }, init)
    }
    const [header = ''] = (headers.get('dpop') ?? '').split('.')
    const jkt = createHash('sha256')
      .update(JSON.stringify(read(header)['jwk']))
      .digest('base64url')
    const expiry = truth() + lifetime
    const claims = { iat: truth(), exp: expiry, jti: logins.length, cnf: { jkt } }
    const token = [{ alg: 'RS512' }, claims, 'signature'].map((part) => encode(part)).join('.')
    tokens.set(token, { login: logins.length, expiry, offset: offset() })
    return new Response(token)
  }

  function api(origin: string, headers: Headers, state: ServerState): Response {
    const token = tokens.get(headers.get('authorization')?.slice(5) ?? '')
    if (token === undefined) throw new TypeError('a token that nobody gave')
    const dead = Math.max(0, truth() - token.expiry)
    const error = refusalOf(headers.get('dpop') ?? '', state)
    const isDead = dead > TOLERANCE
    const refusal = error === 'use_dpop_nonce' ? 'nonce' : 'refused proof'
    const answer = isDead ? 'dead token' : error === undefined ? 'ok' : refusal
    const { login: number, offset: offsetBefore } = token
    calls.push({ server: origin, answer, login: number, dead, offset: offset(), offsetBefore })
    if (answer === 'ok') return new Response('ok')
    const challenge = `DPoP error="${isDead ? 'invalid_token' : String(error)}"`
    const nonce = state.nonce === undefined ? {} : { 'dpop-nonce': state.nonce }
    return new Response(null, { status: 401, headers: { 'www-authenticate': challenge, ...nonce } })
  }

  function refusalOf(proof: string, { nonce, refusesProofs }: ServerState): string | undefined {
    const claims = read(proof.split('.')[1] ?? '')
    if (nonce !== undefined && claims['nonce'] !== nonce) return 'use_dpop_nonce'
    const isInTime = Math.abs(Number(claims['iat']) - truth()) <= TOLERANCE
    return isInTime && !refusesProofs ? undefined : 'invalid_dpop_proof'
  }

  const client = createTokenClient({
    authUrl: SERVICE,
    loginId: 'demo',
    password: 'secret',
    origins: [...origins],
    dpop: true,
    clock: {
      ...clock,
      after(seconds, fn) {
        const cancel = clock.after(seconds, fn)
        // Nobody else lets the time go on while a caller waits for a pause to end.
        if (seconds < LOGIN_TIMEOUT) void clock.advance(seconds)
        return cancel
      },
    },
    timeout: LOGIN_TIMEOUT,
    fetch,
  })
  return {
    clock,
    calls,
    logins,
    server,
    happen,
    async call(origin, body) {
      const init = body && { method: 'POST', body: body(), duplex: 'half' as const }
      try {
        return (await client.fetch(origin, init)).status
      } catch (error) {
        if (error instanceof TokenClientError) return error.code
        throw error
      }
    },
    get: async () => await client.get(),
    truth,
    offset,
    close: async () => {
      await client.close()
    },
  }
}

function honest(): ServerState {
  return {
    date: 0,
    before: undefined,
    after: undefined,
    nonce: undefined,
    refusesProofs: false,
    hasEndedConnection: false,
  }
}

function read(part: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
  return { ...(value as object) /* what our client wrote */ }
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
