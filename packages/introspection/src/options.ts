import type { Algorithm, Clock, KeySource, VerifierOptions } from '@portcullis/core'
import type { ClientKey } from '@portcullis/kit/client-authentication'

import type { IntrospectionFetch } from './exchange.ts'
import type { TokenForm } from './form.ts'

// The options of `introspected`, as its user states them.

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
   * The accepted algorithms of signed answers, with `keys`.
   * @default what keys state
   */
  algorithms?: readonly Algorithm[] | undefined
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
