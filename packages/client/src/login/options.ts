import { platformFetch } from '@portcullis/kit/http'
import {
  seconds,
  type OptionCheck,
  checkOptions,
  hasMethods,
  isBoolean,
  isClock,
  isFunction,
  isText,
  mustBe,
  ownMembers,
  secureUrl,
} from '@portcullis/kit/options'
import { type Clock, systemClock } from '@portcullis/kit/time'

import type { ResponseFormat } from '../answer/token-response.ts'
import type { DpopOptions } from '../dpop/dpop-options.ts'
import { createRetry } from '../request/retry.ts'
import type { ClientFetch } from '../request/token-request.ts'
import { type Credential, loginExchange } from './login-exchange.ts'
import type { LoginPlan, TokenVerifier } from './login.ts'
import {
  dpopOf,
  isCredential,
  isDpopOption,
  isOriginList,
  isTimeout,
  isUrlOption,
  originSet,
} from './option-checks.ts'
import type { GetOptions } from './token-client.ts'

// The options of `createTokenClient` and of `get`: their types, checks and defaults.

export interface TokenClientOptions {
  /** The base URL of the token service: logins go to `/tokenservice/token/api` below it. https, or this machine. */
  authUrl: string | URL
  /** A text, or a function that returns one or a promise of one. */
  loginId: Credential
  /** The same. */
  password: Credential
  /**
   * The origins to which `fetch` may send the token, such as `https://api.example.com`. `[]` for a client that only uses
   * `get`.
   * @see RFC 6454 section 4
   */
  origins: readonly string[]
  /**
   * Where the token is in the answer. `'auto'`: the text, a JSON string, or a usual field of an object. Or `{ field: 'id' }`, or a
   * function: `(_body, { headers }) => headers.get('x-token')`.
   * @default 'auto'
   */
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
  /**
   * Your own, for a proxy, a certificate or a test.
   * @default globalThis.fetch
   */
  fetch?: ClientFetch | undefined
  /** The clock, for tests. By default the system's. */
  clock?: Clock | undefined
  /** Verifies each new token before its first use: a verifier of `createVerifier` of `@portcullis/core`. */
  verifier?: TokenVerifier | undefined
  /**
   * Asks for tokens that are bound to a key of this client, and proves the key at each request of `fetch`. So a stolen token
   * is useless. A token that is not bound is refused. `{ algorithm }` chooses the key: ES256 by default, or Ed25519, PS256, RS256, or
   * ES384, which a guard has to list in its `algorithms`.
   * @default false
   * @see RFC 9449
   */
  dpop?: boolean | DpopOptions | undefined
}

const CHECKS: Readonly<Record<keyof TokenClientOptions, OptionCheck>> = {
  authUrl: isUrlOption,
  loginId: isCredential,
  password: isCredential,
  origins: isOriginList,
  response: mustBe(
    "'auto', { field } or a function",
    (value) =>
      value === 'auto' ||
      typeof value === 'function' ||
      isText(Reflect.get(Object(value), 'field')) === undefined,
  ),
  timeout: isTimeout,
  allowInsecure: isBoolean,
  fetch: isFunction,
  clock: isClock,
  verifier: mustBe('a verifier', (value) => hasMethods(value, 'verify')),
  dpop: isDpopOption,
}

const CALLER = 'createTokenClient'
const REQUIRED = ['authUrl', 'loginId', 'password', 'origins']

type TokenClientSettings = Omit<LoginPlan, 'closing'> & { readonly origins: ReadonlySet<string> }

/** @throws TypeError that names the option and, since it may be a secret, not its value. */
export function checkTokenClientOptions(options: TokenClientOptions): TokenClientSettings {
  checkOptions(CALLER, options, CHECKS, REQUIRED)
  const own = ownMembers(options)
  const {
    authUrl,
    loginId,
    password,
    response = 'auto',
    timeout = 10,
    allowInsecure = false,
    fetch = platformFetch,
    clock = systemClock,
    verifier,
    dpop = false,
  } = own
  const origins = originSet(CALLER, own.origins, allowInsecure)
  const url = tokenUrl(authUrl, allowInsecure)
  const exchange = loginExchange({ url, loginId, password, response })
  const endpoint = { exchange, fetch, retry: createRetry(), clock, dpop: dpopOf(dpop, clock) }
  return { endpoint, origins, timeout, verifier }
}

/** Reads own members alone: a polluted `Object.prototype` must not set them. @throws TypeError */
export function checkGetOptions(options: GetOptions): GetOptions {
  checkOptions('get', options, { minValidity: seconds(0, 86_400), signal: () => undefined })
  const { minValidity, signal } = ownMembers(options)
  return { minValidity, signal }
}

/** @throws TypeError, without the URL: it may hold credentials. */
export function tokenUrl(authUrl: string | URL, allowInsecure: boolean): string {
  const url = secureUrl(CALLER, 'authUrl', authUrl, allowInsecure)
  // Not `search` and `hash`: those are empty for a bare `?` or `#`, which would swallow the path.
  if (/[?#]/.test(url.href)) {
    // Mistake `createTokenClient: authUrl must have neither a query nor a fragment`: Give the base URL of the token service:
    // `/tokenservice/token/api` is added to it.
    throw new TypeError('createTokenClient: authUrl must have neither a query nor a fragment')
  }
  return `${url.href.replace(/\/$/, '')}/tokenservice/token/api`
}
