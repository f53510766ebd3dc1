import { type ClientKey, isClientKey } from '@portcullis/kit/client-authentication'
import { platformFetch } from '@portcullis/kit/http'
import {
  type OptionCheck,
  checkOptions,
  isBoolean,
  isClock,
  isFunction,
  isText,
  mustBe,
  ownMembers,
  secureUrl,
} from '@portcullis/kit/options'
import { type Clock, systemClock } from '@portcullis/kit/time'

import type { DpopOptions } from '../dpop/dpop-options.ts'
import type { Dpop } from '../dpop/dpop.ts'
import type { Credential } from '../login/login-exchange.ts'
import {
  dpopOf,
  isCredential,
  isDpopOption,
  isOriginList,
  isTimeout,
  isUrlOption,
  originSet,
} from '../login/option-checks.ts'
import type { ClientFetch } from '../request/token-request.ts'
import type { ClientCredentials } from './client-authentication.ts'
import { isScope, isResources, isTexts, type Target } from './target.ts'

// The options of `createOAuthClient`: their types, checks and defaults.

export interface OAuthClientOptions {
  /**
   * The issuer, exactly as its metadata write it. They are read at the first use and again after an hour (RFC 8414, then, but not
   * after 429, OpenID Connect Discovery), and name the token endpoint. It is the audience of the assertions of `privateKey`.
   * @see RFC 8414; OpenID Connect Discovery 1.0
   */
  issuer?: string | undefined
  /**
   * The URL of the token endpoint, for servers without metadata: it or `issuer` is required. https, or this machine. Without `issuer` it is the audience
   * of the assertions of `privateKey`.
   */
  tokenEndpoint?: string | URL | undefined
  /** The `client_id`. */
  clientId: string
  /** One of `clientSecret`, `privateKey`, `clientAssertion` and `certificate` is required. A function is called for each request. */
  clientSecret?: Credential | undefined
  /**
   * How `clientSecret` is sent. In the header it is encoded as a form, and `-`, `.`, `_` and `~` stay as they are.
   * @default 'client_secret_basic'
   * @see RFC 6749 section 2.3.1
   */
  clientAuthentication?: 'client_secret_basic' | 'client_secret_post' | undefined
  /** Signs an assertion for each request: `private_key_jwt`, RFC 7523. */
  privateKey?: ClientKey | undefined
  /**
   * An assertion that something else has made: a function, which is called for each request, or `{ file }`, which is read for each,
   * such as the token of a Kubernetes service account.
   * @see RFC 7523 section 2.2
   */
  clientAssertion?: (() => string | Promise<string>) | { readonly file: string } | undefined
  /** Says that the connections of `fetch` have the certificate of this client. RFC 8705 section 2. */
  certificate?: true | undefined
  /** What tokens of the client itself may do, separated by spaces; `onBehalfOf` has its own. RFC 6749 section 3.3 */
  scope?: string | undefined
  /** For whom the token is: absolute URIs. RFC 8707 */
  resource?: string | readonly string[] | undefined
  /** The same for issuers that want a name of their own. */
  audience?: string | readonly string[] | undefined
  /**
   * The origins to which `fetch` may send the token, such as `https://orders.example.com`. `[]` for a client that only uses
   * `get`.
   * @see RFC 6454 section 4
   */
  origins: readonly string[]
  /**
   * Asks for tokens that are bound to a key of this client, and proves the key at each request. A token that is not bound is
   * refused.
   * @default false
   * @see RFC 9449
   */
  dpop?: boolean | DpopOptions | undefined
  /**
   * How many exchanged tokens of `onBehalfOf` are remembered, and their bytes with those of the subjects' tokens. The ones that
   * were used least recently are forgotten first.
   * @default { max: 10_000, bytes: 33_554_432 }
   */
  remember?: { readonly max: number; readonly bytes: number } | undefined
  /**
   * Deadline of one exchange with all its attempts, from the first one. Seconds.
   * @default 10
   */
  timeout?: number | undefined
  /**
   * Permits `http:` to other machines. Then anybody on the network between can read the secret.
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
}

const isAssertion = mustBe('{ file }, or a function that gives an assertion', (value) => {
  const { file, ...others } = membersIn(value)
  const isFile = isText(file) === undefined && Object.keys(others).length === 0
  return typeof value === 'function' || isFile
})

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0

const isRemember = mustBe('{ max, bytes }, two whole numbers from 0', (value) => {
  const { max, bytes, ...others } = membersIn(value)
  return isCount(max) && isCount(bytes) && Object.keys(others).length === 0
})

const METHODS: readonly unknown[] = ['client_secret_basic', 'client_secret_post']

const CHECKS: Readonly<Record<keyof OAuthClientOptions, OptionCheck>> = {
  issuer: isUrlOption,
  tokenEndpoint: isUrlOption,
  clientId: isText,
  clientSecret: isCredential,
  clientAuthentication: mustBe(METHODS.join(' or '), (value) => METHODS.includes(value)),
  privateKey: isClientKey,
  clientAssertion: isAssertion,
  certificate: mustBe('true, or left out', (value) => value === true),
  scope: isScope,
  resource: isResources,
  audience: isTexts,
  origins: isOriginList,
  dpop: isDpopOption,
  remember: isRemember,
  timeout: isTimeout,
  allowInsecure: isBoolean,
  fetch: isFunction,
  clock: isClock,
}

const CALLER = 'createOAuthClient'
const REQUIRED = ['clientId', 'origins']

export interface OAuthSettings {
  /** Where it asks; without an endpoint the metadata of the issuer name it. */
  readonly issuer: string | undefined
  readonly tokenEndpoint: string | undefined
  readonly clientId: string
  readonly credentials: ClientCredentials
  readonly hasCertificate: boolean
  readonly target: Target
  readonly origins: ReadonlySet<string>
  readonly dpop: Dpop | undefined
  readonly remember: { readonly max: number; readonly bytes: number }
  readonly timeout: number
  readonly allowInsecure: boolean
  readonly fetch: ClientFetch
  readonly clock: Clock
}

/** @throws TypeError that names the option and, since it may be a secret, not its value. */
export function checkOAuthClientOptions(options: OAuthClientOptions): OAuthSettings {
  checkOptions(CALLER, options, CHECKS, REQUIRED)
  const own = ownMembers(options)
  const { issuer, tokenEndpoint, clientId, clientSecret, certificate } = own
  const { clientAuthentication = 'client_secret_basic', dpop = false } = own
  const { timeout = 10, allowInsecure = false, fetch = platformFetch, clock = systemClock } = own
  const { scope, resource, audience, remember = { max: 10_000, bytes: 33_554_432 } } = own
  const privateKey = own.privateKey && ownMembers(own.privateKey)
  const assertion = own.clientAssertion
  const clientAssertion = typeof assertion === 'object' ? ownMembers(assertion) : assertion
  const proofs = [clientSecret, privateKey, clientAssertion, certificate]
  if (proofs.filter((each) => each !== undefined).length !== 1) {
    // Mistake `…: state one of clientSecret, privateKey, clientAssertion and certificate`: State one of them: it proves to the
    // server who the client is.
    throw new TypeError(
      `${CALLER}: state one of clientSecret, privateKey, clientAssertion and certificate`,
    )
  }
  if (own.clientAuthentication !== undefined && clientSecret === undefined) {
    // Mistake `…: clientAuthentication is for clientSecret`: It says how the secret is sent. Leave it out.
    throw new TypeError(`${CALLER}: clientAuthentication is for clientSecret`)
  }
  if (issuer === undefined && tokenEndpoint === undefined) {
    // Mistake `…: state issuer or tokenEndpoint`: `createOAuthClient` reads the metadata of `issuer`. A server without metadata
    // needs `tokenEndpoint`.
    throw new TypeError(`${CALLER}: state issuer or tokenEndpoint`)
  }
  if (issuer !== undefined) checkIssuer(issuer, allowInsecure)
  return {
    issuer,
    tokenEndpoint: tokenEndpoint && endpointUrl(tokenEndpoint, allowInsecure),
    clientId,
    credentials: { clientSecret, clientAuthentication, privateKey, clientAssertion },
    hasCertificate: certificate === true,
    target: ownMembers({ scope, resource, audience }),
    origins: originSet(CALLER, own.origins, allowInsecure),
    dpop: dpopOf(dpop, clock),
    remember: ownMembers(remember),
    timeout,
    allowInsecure,
    fetch,
    clock,
  }
}

/** RFC 8414 section 2 */
function checkIssuer(issuer: string, allowInsecure: boolean): void {
  secureUrl(CALLER, 'issuer', issuer, allowInsecure)
  if (/[?#]/.test(issuer)) {
    // Mistake `…: issuer must have neither a query nor a fragment`: Write the issuer as its metadata have it.
    throw new TypeError(`${CALLER}: issuer must have neither a query nor a fragment`)
  }
}

/** RFC 6749 section 3.2 */
function endpointUrl(tokenEndpoint: string | URL, allowInsecure: boolean): string {
  const { href } = secureUrl(CALLER, 'tokenEndpoint', tokenEndpoint, allowInsecure)
  // Mistake `…: tokenEndpoint must have no fragment`: Write the URL as the documents of the server have it.
  if (href.includes('#')) throw new TypeError(`${CALLER}: tokenEndpoint must have no fragment`)
  return href
}

function membersIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? ownMembers({ ...value }) : ownMembers({})
}
