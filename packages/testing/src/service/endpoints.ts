import {
  type OptionCheck,
  checkOptions,
  isBoolean,
  isFunction,
  isText,
  mustBe,
} from '@portcullis/kit/options'

import { isObject, isSeconds, isString, isTextList } from '../options.ts'
import { urlAsked } from './asked-url.ts'
import type { Backend } from './backend.ts'
import { METHODS, type ServiceClient } from './clients.ts'
import { readForm, refuse } from './form.ts'
import { createGrants, GRANT_TYPES } from './grants.ts'
import { readLoginProof } from './login-proof.ts'
import type { Paths, Respond } from './recorded.ts'
import { MAX_TEXT } from './request-log.ts'

// What the token service answers: logins, the key document, and for clients of OAuth its metadata and grants.

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
  /** Returns the nonce that the DPoP proof of a login must have, for each login. By default none. A proof binds the token to its key. */
  dpopNonce?: (() => string) | undefined
  /**
   * Whether it has metadata (RFC 8414, OpenID Connect Discovery) and a key set beside the single key, so that `discoverKeys` finds its
   * keys. Their `issuer` is that of the test issuer, or else the URL of the service.
   * @default true with `clients`, otherwise false
   */
  metadata?: boolean | undefined
  /**
   * Clients of OAuth, by `client_id`. With this option the service is an authorization server as well: it has metadata
   * (RFC 8414) and a token endpoint, for client credentials and for the exchange of its own tokens (RFC 8693, or the
   * `jwt-bearer` of RFC 7523). In the log and for outages the grants count as `token`.
   * @default {}
   */
  clients?: Readonly<Record<string, ServiceClient>> | undefined
}

export const PATHS: Readonly<Record<'keys' | 'keySet' | 'token' | 'grants', string>> = {
  keys: '/tokenservice/pubkey.json',
  keySet: '/tokenservice/jwks.json',
  token: '/tokenservice/token/api',
  grants: '/token',
}

/** OpenID Connect Discovery 1.0 section 4; RFC 8414 section 3 */
const METADATA = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']

/** Of a service whose keys are found by its metadata. */
export const DISCOVERED: Readonly<Record<'keys' | 'metadata', readonly string[]>> = {
  keys: [PATHS.keys, PATHS.keySet],
  metadata: METADATA,
}

export function pathsOf({ clients, metadata = clients !== undefined }: TokenServiceOptions): Paths {
  const { keys, token, grants } = PATHS
  const tokens = clients === undefined ? token : [token, grants]
  return metadata ? { ...DISCOVERED, token: tokens } : { keys, token: tokens }
}

export function respondAsTokenService(backend: Backend, options: TokenServiceOptions): Respond {
  const { logins = { demo: { password: 'demo' } }, response: format = 'text', dpopNonce } = options
  const known = new Map(Object.entries(logins))
  const grants = options.clients && createGrants(backend, options.clients, dpopNonce)
  const { clock, keys, outages } = backend

  function publish({ method, url }: Request): Response {
    if (method !== 'GET') return refuse(405, 'GET')
    const { document } = keys.state
    const isSet = new URL(url).pathname !== PATHS.keySet || 'keys' in document
    return Response.json(isSet ? document : { keys: [document] })
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

  return async (request, entry, signal) => {
    const { endpoint } = entry
    if (endpoint === undefined || endpoint === 'introspection') return refuse(404)
    const pass = async (answer: () => Response | Promise<Response>) =>
      await outages.answer(endpoint, { signal, answer })
    if (endpoint === 'keys') return await pass(() => publish(request))
    if (endpoint === 'metadata') return await pass(() => describe(request, backend, options))
    // Read before the outage answers, so that the log has the loginId in any case.
    const form = await readForm(request)
    if (form instanceof Response) return await pass(() => form)
    entry.loginId = form.get('loginId')?.slice(0, MAX_TEXT)
    const isGrant = new URL(request.url).pathname === PATHS.grants
    return await pass(async () =>
      isGrant && grants !== undefined ? await grants(request, form) : await logIn(request, form),
    )
  }
}

function describe(
  request: Request,
  { defaults: { issuer } }: Backend,
  { clients }: TokenServiceOptions,
): Response {
  if (request.method !== 'GET') return refuse(405, 'GET')
  const { origin } = urlAsked(request)
  const oauth = {
    token_endpoint: `${origin}${PATHS.grants}`,
    grant_types_supported: GRANT_TYPES,
    token_endpoint_auth_methods_supported: METHODS,
  }
  return Response.json({
    // Clients find the token endpoint by the URL that they were given.
    issuer: clients === undefined ? (issuer ?? origin) : origin,
    jwks_uri: `${origin}${PATHS.keySet}`,
    response_types_supported: [],
    ...(clients !== undefined && oauth),
  })
}

function tokenResponse(token: string, format: NonNullable<TokenServiceOptions['response']>) {
  if (format === 'text') return new Response(token, { headers: { 'content-type': 'text/plain' } })
  return Response.json(format === 'json' ? token : { [format.field]: token })
}

/** @param checks Of further options of the caller. */
export function checkServiceOptions(
  caller: string,
  options: Omit<TokenServiceOptions, 'clients' | 'metadata'>,
  checks: Readonly<Record<string, OptionCheck>> = {},
): void {
  checkOptions(caller, options, {
    ...checks,
    logins: isObject,
    response: mustBe("'text', 'json' or { field: a name }", isResponse),
    dpopNonce: isFunction,
  })
  for (const [loginId, login] of Object.entries(options.logins ?? {})) {
    const where = `${caller}: the login ${JSON.stringify(loginId)}`
    checkOptions(where, login, { password: isString, claims: isObject, lifetime: isSeconds })
    if (login.password === undefined) throw new TypeError(`${where}: password must be stated`)
  }
}

export function checkTokenServiceOptions(options: TokenServiceOptions): void {
  checkServiceOptions('tokenService', options, { clients: isObject, metadata: isBoolean })
  for (const [clientId, client] of Object.entries(options.clients ?? {})) {
    checkOptions(`tokenService: the client ${JSON.stringify(clientId)}`, client, {
      secret: isText,
      publicJwk: isPublicJwk,
      claims: isObject,
      lifetime: isSeconds,
      targets: isTextList,
      scopes: isTextList,
    })
  }
}

export const isPublicJwk: OptionCheck = mustBe('a public JWK', (value) => {
  const kty: unknown = Reflect.get(Object(value) as object, 'kty')
  return typeof kty === 'string' && kty !== 'oct'
})

function isResponse(value: unknown): boolean {
  if (value === 'text' || value === 'json') return true
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).join(',') === 'field' &&
    isText(Reflect.get(value, 'field')) === undefined
  )
}
