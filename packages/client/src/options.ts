import { DPOP_FORMS, dpopAlgorithm, type DpopOptions, isDpop } from './dpop-options.ts'
import { createDpop } from './dpop.ts'
import { type Clock, systemClock } from './time.ts'
import type { Credential, Fetch, TokenEndpoint } from './token-request.ts'
import type { ResponseFormat } from './token-response.ts'

// The options of `createTokenClient` and of `get`: their types, checks and defaults.

export interface TokenClientOptions {
  /** The base URL of the token service: logins go to `/tokenservice/token/api` below it. https, or this machine. */
  authUrl: string | URL
  loginId: Credential
  password: Credential
  /**
   * The origins to which `fetch` may send the token, such as `https://api.example.com`. `[]` for a client that only uses
   * `get`.
   * @see RFC 6454 section 4
   */
  origins: readonly string[]
  /** @default 'auto' */
  response?: ResponseFormat | undefined
  /**
   * Deadline of one login with all its attempts, from the first one. Seconds. A caller who comes soon after a failure may
   * wait one second more.
   * @default 10
   */
  timeout?: number | undefined
  /**
   * Permits `http:` to other machines. Then anybody on the network between can read the password.
   * @default false
   */
  allowInsecure?: boolean | undefined
  /** @default globalThis.fetch */
  fetch?: Fetch | undefined
  clock?: Clock | undefined
  /** Verifies each new token before its first use: a verifier of `createVerifier` of `@portcullis/core`. */
  verifier?: TokenVerifier | undefined
  /**
   * Asks for tokens that are bound to a key of this client, and proves the key at each request of `fetch`. So a stolen token
   * is useless. A token that is not bound is refused.
   * @default false
   * @see RFC 9449
   */
  dpop?: boolean | DpopOptions | undefined
}

export interface TokenVerifier {
  /** @param options With `dpop`: the thumbprint of the key that the token must be bound to. */
  verify(token: string, options?: { possession: { jkt: string } }): Promise<unknown>
}

type Check = (value: unknown) => string | undefined

const mustBe = (description: string, holds: (value: unknown) => boolean): Check => {
  return (value) => (holds(value) ? undefined : `must be ${description}`)
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isFunction = (value: unknown) => typeof value === 'function'
const isCredential = mustBe(
  'a string that is not empty, or a function that gives one',
  (value) => isText(value) || isFunction(value),
)

const IS_NO_URL = 'is not an absolute URL: is an environment variable unset?'

const CHECKS: Readonly<Record<keyof TokenClientOptions, Check>> = {
  authUrl: (value) => (isText(value) || value instanceof URL ? undefined : IS_NO_URL),
  loginId: isCredential,
  password: isCredential,
  origins: mustBe(
    'a list of origins, [] for a client that only uses get',
    (value) => Array.isArray(value) && value.every(isText),
  ),
  response: mustBe(
    "'auto', { field } or a function",
    (value) => value === 'auto' || isFunction(value) || isText(Reflect.get(Object(value), 'field')),
  ),
  timeout: mustBe('a number of seconds from 0.1 to 300', (value) => isSeconds(value, 0.1, 300)),
  allowInsecure: mustBe('true or false', (value) => typeof value === 'boolean'),
  fetch: mustBe('a function', isFunction),
  clock: mustBe('an object with the functions now, monotonic and after', (value) =>
    hasMethods(value, 'now', 'monotonic', 'after'),
  ),
  verifier: mustBe('a verifier', (value) => hasMethods(value, 'verify')),
  dpop: mustBe(DPOP_FORMS, isDpop),
}

const REQUIRED: ReadonlySet<string> = new Set(['authUrl', 'loginId', 'password', 'origins'])

/** What a client works with. */
export interface TokenClientSettings {
  readonly endpoint: TokenEndpoint
  readonly origins: ReadonlySet<string>
  readonly timeout: number
  readonly verifier: TokenVerifier | undefined
}

/**
 * Checks the options at start-up, so that a mistake never waits for the first login, and fills in the defaults.
 *
 * @throws TypeError that names the option and, since it may be a secret, not its value.
 */
export function checkTokenClientOptions(options: TokenClientOptions): TokenClientSettings {
  checkEach(options)
  // What a polluted `Object.prototype` has is no option.
  const own: TokenClientOptions = Object.assign(Object.create(null) as object, options)
  const {
    authUrl,
    loginId,
    password,
    response = 'auto',
    timeout = 10,
    allowInsecure = false,
    // Looked up at each call, so that replacing the global works.
    fetch = async (url, init) => await globalThis.fetch(url, init),
    clock = systemClock,
    verifier,
    dpop = false,
  } = own
  const origins = originSet(own.origins, allowInsecure)
  const url = tokenUrl(authUrl, allowInsecure)
  const endpoint = {
    url,
    loginId,
    password,
    response,
    fetch,
    clock,
    dpop: dpop === false ? undefined : createDpop(dpopAlgorithm(dpop), clock),
  }
  return { endpoint, origins, timeout, verifier }
}

function checkEach(options: TokenClientOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('createTokenClient: options must be an object')
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(CHECKS, name)) {
      const known = Object.keys(CHECKS).join(', ')
      throw new TypeError(`createTokenClient: unknown option ${name}, known are ${known}`)
    }
  }
  for (const [name, check] of Object.entries(CHECKS)) {
    const value: unknown = Object.hasOwn(options, name) ? Reflect.get(options, name) : undefined
    const isLeftOut = value === undefined && !REQUIRED.has(name)
    const complaint = isLeftOut ? undefined : check(value)
    if (complaint !== undefined) throw new TypeError(`createTokenClient: ${name} ${complaint}`)
  }
}

interface CallOptions {
  readonly minValidity?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Checks the options of one `get`. Reads own members alone: a polluted `Object.prototype` must not set them.
 *
 * @throws TypeError
 */
export function checkGetOptions(options: CallOptions): CallOptions {
  for (const name of Object.keys(options)) {
    if (name !== 'minValidity' && name !== 'signal') {
      throw new TypeError(`get: unknown option ${name}, known are minValidity, signal`)
    }
  }
  const minValidity = Object.hasOwn(options, 'minValidity') ? options.minValidity : undefined
  const signal = Object.hasOwn(options, 'signal') ? options.signal : undefined
  if (minValidity !== undefined && !isSeconds(minValidity, 0, 86_400)) {
    throw new TypeError('get: minValidity must be a number of seconds from 0 to 86400')
  }
  return { minValidity, signal }
}

/**
 * The URL to log in at.
 *
 * @throws TypeError, without the URL: it may hold credentials.
 */
export function tokenUrl(authUrl: string | URL, allowInsecure: boolean): string {
  const url = secureUrl('authUrl', authUrl, allowInsecure)
  // Not `search` and `hash`: those are empty for a bare `?` or `#`, which would swallow the path.
  if (/[?#]/.test(url.href)) {
    throw new TypeError('createTokenClient: authUrl must have neither a query nor a fragment')
  }
  return `${url.href.replace(/\/$/, '')}/tokenservice/token/api`
}

/**
 * The origins that may get the token, as `URL` writes them.
 *
 * @throws TypeError
 */
export function originSet(origins: readonly string[], allowInsecure: boolean): ReadonlySet<string> {
  return new Set(
    origins.map((text) => {
      const url = secureUrl('each of origins', text, allowInsecure)
      if (url.href !== `${url.origin}/`) {
        throw new TypeError(`createTokenClient: each of origins must be an origin, without a path`)
      }
      return url.origin
    }),
  )
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

function secureUrl(name: string, text: string | URL, allowInsecure: boolean): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : undefined
  // A template writes "undefined" for a variable that is not set, as a host or before a port.
  if (url === undefined || url.hostname === 'undefined' || url.protocol === 'undefined:') {
    throw new TypeError(`createTokenClient: ${name} ${IS_NO_URL}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`createTokenClient: ${name} must not contain credentials`)
  }
  const isSecure = url.protocol === 'https:'
  const isAllowed = url.protocol === 'http:' && (LOOPBACK.has(url.hostname) || allowInsecure)
  if (!isSecure && !isAllowed) {
    throw new TypeError(
      `createTokenClient: ${name} must begin with https: (allowInsecure: true permits http: beyond the loopback)`,
    )
  }
  return url
}

function isSeconds(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max
}

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => isFunction(Reflect.get(Object(value), name)))
}
