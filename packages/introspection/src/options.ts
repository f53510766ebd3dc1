import type { Clock, KeySource, SchemaOptions, VerifierOptions } from '@portcullis/core'
import { checkStated, foreignness, ruleChecks } from '@portcullis/core/verifier'
import { type ClientKey, isClientKey } from '@portcullis/kit/client-authentication'
import { platformFetch } from '@portcullis/kit/http'
import { isJsonObject } from '@portcullis/kit/json'
import {
  checkOptions,
  countUpTo,
  hasMethods,
  isBoolean,
  isClock,
  isFunction,
  isText,
  oneOf,
  type OptionCheck,
  ownMembers,
  seconds,
  urlComplaint,
} from '@portcullis/kit/options'
import { systemClock } from '@portcullis/kit/time'

import type { IntrospectionFetch } from './exchange.ts'
import { isForm, type TokenForm } from './form.ts'
import type { Kinds } from './kind.ts'

// The options of `introspected`: their types, their checks at start-up, and their defaults.

/** Options of `introspected`. All times are seconds. */
export interface IntrospectedOptions extends Pick<
  VerifierOptions,
  | 'audience'
  | 'clockTolerance'
  | 'maxTokenAge'
  | 'requiredClaims'
  | 'maxTokenSize'
  | 'revocations'
  | 'confirmation'
> {
  /**
   * Who issues the tokens: the value of `iss` in every answer, and where the metadata are that name the endpoint. `null` accepts any
   * `iss`, and answers without one; then `endpoint` must be stated.
   * @see RFC 8414 section 3
   */
  issuer: string | null
  /** The introspection endpoint: https, or this machine. By default the one that the metadata of the issuer name. */
  endpoint?: string | undefined
  /** What the issuer calls this API. */
  clientId: string
  /** Its secret there. */
  clientSecret?: string | undefined
  /**
   * `{ key, kid, certificate }`, a private `CryptoKey`, and the PEM of its certificate for `x5t#S256` and `x5t`: signs an assertion for
   * each call (`private_key_jwt`), in place of `clientSecret`.
   */
  clientKey?: ClientKey | undefined
  /**
   * How this API proves who it is; with `clientKey` by default `private_key_jwt`. With `tls_client_auth` its certificate does, which
   * `fetch` has to present.
   * @default 'client_secret_basic'
   * @see RFC 6749 section 2.3.1; RFC 7523; RFC 8705 section 2
   */
  clientAuthentication?:
    | 'client_secret_basic'
    | 'client_secret_post'
    | 'private_key_jwt'
    | 'tls_client_auth'
    | undefined
  /**
   * Proves signed answers: `discoverKeys(issuer)`. With it every answer must be signed (RFC 9701).
   */
  keys?: KeySource | undefined
  /**
   * What an answer must name as the kind of its token, in any case, in place of `Bearer` and `DPoP`: as `token_type`, `typ` or
   * `token_use`. Beside it `access_token` and `access` are accepted as `token_use`, and `at+jwt` as `typ`; whatever else one of the three
   * names is refused. `null` accepts also answers that name no kind.
   * @see RFC 7662 section 2.2
   */
  type?: string | readonly string[] | null | undefined
  /**
   * How long an answer is used: a token that is revoked at the issuer works for so long. Seconds, as all times here, 1 to 3600.
   * @default 30
   */
  maxAge?: number | undefined
  /**
   * How much longer than `maxAge` an answer is used while the endpoint is down. A revoked token works for so much longer then.
   * @default 0
   * @see RFC 5861 section 4
   */
  staleIfError?: number | undefined
  /**
   * The deadline of one call. Also how long a caller waits in all.
   * @default 5
   */
  timeout?: number | undefined
  /**
   * How many calls may run at the same time for tokens that were not seen before, and as many again that last longer than a second.
   * @default 16
   */
  maxCalls?: number | undefined
  /**
   * The same for tokens that were active before: more than the users of a process x seconds of a call / `maxAge`.
   * @default 128
   */
  maxRenewals?: number | undefined
  /**
   * How many calls may begin in a second for tokens that were not seen before.
   * @default 100
   */
  maxRate?: number | undefined
  /** How every token of the issuer looks: `{ length: [20, 256], prefix: 'oat_', alphabet: '...' }`. Whatever looks otherwise is refused without a call. Tokens such as `12|abc`, which RFC 6750 does not write so, need an `alphabet`: guards take no others. */
  form?: TokenForm | undefined
  /**
   * Of how many active tokens the answers are held (fewer if they have more than 2048 bytes on average), and how many tokens are
   * remembered that are not active.
   * @default { max: 10_000 }
   */
  remember?: { readonly max: number } | undefined
  /**
   * Permits `http:` to other machines. Whoever controls the network then reads tokens and the secret, and decides who gets in.
   * @default false
   */
  allowInsecure?: boolean | undefined
  /**
   * Whether an answer must have `exp`. Without one, `maxAge` alone bounds how long it is used.
   * @default false
   */
  requireExpiry?: boolean | undefined
  /**
   * Your own, for a proxy, a certificate or a test.
   * @default globalThis.fetch
   */
  fetch?: IntrospectionFetch | undefined
  /** The clock, for tests. By default the system's. */
  clock?: Clock | undefined
}

export interface CheckedOptions {
  readonly issuer: string | null
  readonly endpoint: string | undefined
  readonly clientId: string
  readonly keys: KeySource | undefined
  readonly types: Kinds
  readonly clockTolerance: number
  readonly maxAge: number
  readonly staleIfError: number
  readonly timeout: number
  readonly maxCalls: number
  readonly maxRenewals: number
  readonly maxRate: number
  readonly form: TokenForm
  readonly max: number
  readonly allowInsecure: boolean
  readonly fetch: IntrospectionFetch
  readonly clock: Clock
}

const isUrl: OptionCheck = (value) =>
  typeof value === 'string' ? urlComplaint(value, true) : 'must be a string'

/** No request has one, so that the URL of an answer would be another one. */
function withoutFragment(url: string): string {
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

const isMax: OptionCheck = (value) =>
  isJsonObject(value) &&
  Object.keys(value).join(' ') === 'max' &&
  countUpTo(1_000_000)(value['max']) === undefined
    ? undefined
    : 'must be { max }, a number of tokens from 1 to 1000000'

const METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth']

/** @throws TypeError for a wrong, misspelt or missing option; it shows no secret. */
export function checkIntrospectedOptions(
  options: IntrospectedOptions & Partial<SchemaOptions<unknown>>,
): CheckedOptions {
  checkOptions('introspected', options, {
    ...ruleChecks,
    type: (value) =>
      value === null || ruleChecks.type(value) === undefined
        ? undefined
        : 'must be a string, a list of strings, or null to accept answers that name no kind',
    issuer: (value) => (value === null ? undefined : isUrl(value)),
    endpoint: isUrl,
    clientId: isText,
    clientSecret: isText,
    clientKey: isClientKey,
    clientAuthentication: oneOf(...METHODS),
    keys: (value) =>
      hasMethods(value, 'now', 'current', 'wait', 'suspect')
        ? foreignness(value)
        : 'must be a key source, such as discoverKeys(issuer)',
    maxAge: seconds(1, 3600),
    staleIfError: seconds(0, 86_400),
    timeout: seconds(0.1, 60),
    maxCalls: countUpTo(1000),
    maxRenewals: countUpTo(1000),
    maxRate: countUpTo(100_000),
    form: isForm,
    remember: isMax,
    allowInsecure: isBoolean,
    fetch: isFunction,
    clock: isClock,
  } satisfies Record<keyof IntrospectedOptions | keyof SchemaOptions<unknown>, OptionCheck>)
  const stated = ownMembers(options)
  checkStated('introspected', stated)
  const { issuer, endpoint, keys, type, allowInsecure = false, clientId } = stated
  // Mistake `introspected: clientId must be stated`: State what the issuer calls this API, which must be registered there as a
  // client.
  if (clientId === undefined) throw new TypeError('introspected: clientId must be stated')
  if (issuer === null && endpoint === undefined) {
    // Mistake `introspected: with issuer: null, endpoint must be stated`: There are no metadata that name the endpoint: give its
    // URL.
    throw new TypeError('introspected: with issuer: null, endpoint must be stated')
  }
  if (issuer === null && keys !== undefined) {
    // Mistake `introspected: with keys, issuer must be stated`: A signed answer names its issuer, which is compared with this
    // option.
    throw new TypeError('introspected: with keys, issuer must be stated')
  }
  const complaint = urlComplaint(endpoint ?? issuer ?? '', allowInsecure)
  if (complaint !== undefined) {
    throw new TypeError(
      `introspected: ${endpoint === undefined ? 'issuer' : 'endpoint'} ${complaint}`,
    )
  }
  return {
    issuer,
    endpoint: endpoint && withoutFragment(endpoint),
    clientId,
    keys,
    types: type === undefined || type === null ? type : [type].flat(),
    clockTolerance: stated.clockTolerance ?? 5,
    maxAge: stated.maxAge ?? 30,
    staleIfError: stated.staleIfError ?? 0,
    timeout: stated.timeout ?? 5,
    maxCalls: stated.maxCalls ?? 16,
    maxRenewals: stated.maxRenewals ?? 128,
    maxRate: stated.maxRate ?? 100,
    form: ownMembers(stated.form ?? {}),
    max: stated.remember?.max ?? 10_000,
    allowInsecure,
    fetch: stated.fetch ?? platformFetch,
    clock: stated.clock ?? systemClock,
  }
}
