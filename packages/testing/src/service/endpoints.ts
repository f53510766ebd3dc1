import { checkOptions, isFunction, isObject, isSeconds, isString, isText } from '../options.ts'
import type { Backend } from './backend.ts'
import { readLoginProof } from './login-proof.ts'
import { type Endpoint, type Entry, MAX_TEXT } from './request-log.ts'

// What the token service answers at its two endpoints: logins and the key document.

export interface Login {
  readonly password: string
  /** Claims that are added to the tokens of this login. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  /** Seconds from `iat` to `exp` in this login's tokens; by default the issuer's. */
  readonly lifetime?: number | undefined
}

export interface TokenServiceOptions {
  /**
   * Who can log in, by `loginId`.
   * @default { demo: { password: 'demo' } }
   */
  logins?: Readonly<Record<string, Login>> | undefined
  /**
   * Where the token is in the answer to a login: plain text, a JSON string, or a field of a JSON object.
   * @default 'text'
   */
  response?: 'text' | 'json' | { readonly field: string } | undefined
  /**
   * Returns the nonce that the DPoP proof of a login must have. It is called for each login. By default no nonce is needed.
   * With or without it, a login with a proof gets a token that is bound to the key of the proof.
   */
  dpopNonce?: (() => string) | undefined
}

export const PATHS: Readonly<Record<Endpoint, string>> = {
  keys: '/tokenservice/pubkey.json',
  token: '/tokenservice/token/api',
}

const ENDPOINTS = ['keys', 'token'] as const
const MAX_FORM_OCTETS = 64 * 1024

/** Answers requests as the service does. The signal is aborted when the client gives up. */
export type Handler = (request: Request, signal: AbortSignal | undefined) => Promise<Response>

/** @throws TypeError for a wrong or misspelt option. */
export function createHandler(backend: Backend, options: TokenServiceOptions): Handler {
  checkServiceOptions(options)
  const { logins = { demo: { password: 'demo' } }, response: format = 'text', dpopNonce } = options
  const known = new Map(Object.entries(logins))
  const { clock, keys, outages, log } = backend

  function publish({ method }: Request): Response {
    return method === 'GET' ? Response.json(keys.document) : refuse(405, 'GET')
  }

  async function logIn(request: Request, form: URLSearchParams): Promise<Response> {
    const loginId = form.get('loginId')
    const password = form.get('password')
    if (loginId === null || password === null) return refuse(400)
    const login = known.get(loginId)
    if (login === undefined || login.password !== password) return refuse(401)
    const boundTo = await readLoginProof(request, clock, dpopNonce?.())
    if (boundTo instanceof Response) return boundTo
    const { claims, lifetime } = login
    const token = await backend.token({
      boundTo,
      claims: { sub: loginId, ...claims },
      expiresIn: lifetime,
    })
    return tokenResponse(token, format)
  }

  async function respond(
    request: Request,
    entry: Entry,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const { endpoint } = entry
    if (endpoint === undefined) return refuse(404)
    const pass = async (answer: () => Response | Promise<Response>) =>
      await outages.answer(endpoint, { signal, answer })
    if (endpoint === 'keys') return await pass(() => publish(request))
    // Read before the outage answers, so that the log has the loginId in any case.
    const form = await readForm(request)
    if (form instanceof Response) return await pass(() => form)
    entry.loginId = form.get('loginId')?.slice(0, MAX_TEXT)
    return await pass(async () => await logIn(request, form))
  }

  return async (request, signal) => {
    const { pathname } = new URL(request.url)
    const entry = log.enter(
      ENDPOINTS.find((endpoint) => PATHS[endpoint] === pathname),
      request.headers.get('user-agent') ?? undefined,
    )
    try {
      const response = await respond(request, entry, signal)
      // By the issuer's clock, not the machine's, because clients compare it with theirs.
      response.headers.set('date', new Date(clock.now() * 1000).toUTCString())
      entry.status = response.status
      return response
    } finally {
      log.finish(entry)
    }
  }
}

/** The form of a login, or why it is refused. */
async function readForm(request: Request): Promise<URLSearchParams | Response> {
  if (request.method !== 'POST') return refuse(405, 'POST')
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return refuse(415)
  const body = await request.text()
  return body.length > MAX_FORM_OCTETS ? refuse(413) : new URLSearchParams(body)
}

function tokenResponse(
  token: string,
  format: NonNullable<TokenServiceOptions['response']>,
): Response {
  if (format === 'text') return new Response(token, { headers: { 'content-type': 'text/plain' } })
  return Response.json(format === 'json' ? token : { [format.field]: token })
}

function refuse(status: number, allow?: string): Response {
  return new Response(null, { status, headers: allow === undefined ? {} : { allow } })
}

function checkServiceOptions(options: TokenServiceOptions): void {
  checkOptions('tokenService', options, {
    logins: isObject,
    response: (value) =>
      value === 'text' || value === 'json' || isFieldName(value)
        ? undefined
        : "must be 'text', 'json' or { field: a name }",
    dpopNonce: isFunction,
  })
  for (const [loginId, login] of Object.entries(options.logins ?? {})) {
    const caller = `tokenService: the login ${JSON.stringify(loginId)}`
    checkOptions(caller, login, { password: isString, claims: isObject, lifetime: isSeconds })
    if (login.password === undefined) throw new TypeError(`${caller}: password must be stated`)
  }
}

function isFieldName(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).join(',') === 'field' &&
    isText(Reflect.get(value, 'field')) === undefined
  )
}
