import { isJsonObject } from '@portcullis/kit/json'
import {
  checkArgument,
  checkOptions,
  countUpTo,
  hasMethods,
  isBoolean,
  isClock,
  isText,
  isTextList,
  oneOf,
  type OptionCheck,
  ownMembers,
  seconds,
} from '@portcullis/kit/options'
import type { Clock } from '@portcullis/kit/time'

import { isAlgorithmNames } from '../algorithms/accepted-algorithms.ts'
import type { Algorithm } from '../algorithms/algorithms.ts'
import { isRequiredClaims, namesOf, type RequiredClaimValue } from '../claims/required-claims.ts'
import { isSchema, type Schema } from '../claims/schema.ts'
import { checkIssuerTemplate, isIssuerTemplate, type IssuerTemplate } from '../claims/tenants.ts'
import { foreignness } from '../ground/copy.ts'
import { isKeySource, type KeySource } from '../keys/key-source.ts'
import type { Revocations } from '../revocation/revocations.ts'

// The options of `createVerifier`: their types, their checks at start-up, and the rules that follow from them.

export interface VerifierOptions {
  /** Where the public keys come from: `remoteKeys(url)`, `discoverKeys(issuer)`, `fileKeys(path)` or `localKeys(keys)`. */
  keys: KeySource
  /**
   * The accepted values of `iss`. `null` accepts any value, and tokens without `iss`. A template is for the tenants of one provider.
   * @see RFC 8725 section 3.8
   */
  issuer: string | readonly string[] | IssuerTemplate | null
  /**
   * The values of `aud` that name this API. `null` accepts any value, and tokens without `aud`. A list that has `null` beside these
   * accepts tokens without `aud`: whoever holds one for another API of the issuer gets in.
   * @see RFC 8725 section 3.9
   */
  audience: string | readonly (string | null)[] | null
  /**
   * The accepted signature algorithms: RS, PS and ES with 256, 384 or 512, EdDSA, Ed25519; from Node 24.6 also ML-DSA-44, ML-DSA-65
   * and ML-DSA-87. By default each trusted key says what it is for: the `alg` that it states. An RSA key
   * that states none is for RS512, and every other key for the one algorithm that its kind fits.
   * @default what keys state
   * @see RFC 8725 section 3.1
   */
  algorithms?: readonly Algorithm[] | undefined
  /**
   * Other names of algorithms in headers of tokens, such as `{ RSA512: 'RS512' }`. The key sources have the same option for
   * names in keys.
   */
  algorithmNames?: Readonly<Record<string, Algorithm>> | undefined
  /**
   * How far the issuer's clock may differ from ours when judging exp, nbf and iat. Seconds, 0 to 600.
   * @default 5
   * @see RFC 7519 section 4.1.4
   */
  clockTolerance?: number | undefined
  /**
   * Whether a token without `exp` is refused. If not, it is valid for as long as its key is trusted.
   * @default true
   */
  requireExpiry?: boolean | undefined
  /** The greatest age of a token by `iat`, in seconds. With this option `iat` is required. */
  maxTokenAge?: number | undefined
  /**
   * Claims that every token must have: their names, for any value, or an object with the value of each, or a list of which it
   * must have one. Texts, numbers and booleans are compared exactly, and a list in the token equals none. `true` is short for
   * what says something: `true`, a number other than 0, or a text other than `""` and `"false"`. So `sub: true` and
   * `email_verified: true` both mean what they say. `[true]` is the boolean alone. `{ pathUnder: 'spiffe://example.org/' }` is a text
   * that begins so and has a path behind it.
   */
  requiredClaims?: readonly string[] | Readonly<Record<string, RequiredClaimValue>> | undefined
  /**
   * The media type that the header's `typ` must name, such as `at+jwt`, or several of which it must name one. If it is not stated,
   * everything is accepted but what names another kind of token, such as `logout+jwt` or `dpop+jwt`, and security events. A list that
   * has `null` beside these accepts tokens without `typ` as well.
   * @see RFC 8725 section 3.11; RFC 9068 section 4
   */
  type?: string | readonly (string | null)[] | undefined
  /**
   * The longest token that is read. Bytes, at most 65536.
   * @default 16384
   */
  maxTokenSize?: number | undefined
  /**
   * How many verified tokens are remembered, so that their signatures are not checked again (fewer if they have more than
   * 2048 characters on average). The key and the times of a remembered token are checked at each use. `false` turns this off.
   * @default { max: 1000 }
   */
  remember?: { readonly max: number } | false | undefined
  /**
   * Knows which tokens were revoked, and is asked at each use of a token: `localRevocations()`, `redisRevocations(...)`, or your own.
   * `null` says that there are none.
   */
  revocations?: Revocations | null | undefined
  /**
   * Whether the sender of a token with `cnf` must prove to have the key or certificate that the token is bound to. With
   * `ignore`, anybody who has a stolen token can use it.
   * @default 'require'
   * @see RFC 7800 section 3; RFC 9449 section 6; RFC 8705 section 3
   */
  confirmation?: 'require' | 'ignore' | undefined
  /** The clock that exp, nbf and iat are compared with. By default that of the key source. */
  clock?: Clock | undefined
}

export interface SchemaOptions<Output> {
  /**
   * Checks the claims and gives them a type, after all other checks. It runs at each use of a token, and its output is
   * neither shared nor frozen. The output is for handlers: requirements and revocations still read the claims as they were
   * signed, also those that the schema removes.
   */
  schema: Schema<Output>
}

/** Options of every verifier that have a meaning for tokens without a key. */
export type ProvenRules = Pick<
  VerifierOptions,
  | 'audience'
  | 'clockTolerance'
  | 'requireExpiry'
  | 'maxTokenAge'
  | 'requiredClaims'
  | 'maxTokenSize'
  | 'revocations'
  | 'confirmation'
  | 'clock'
> &
  Partial<SchemaOptions<unknown>> & {
    /** No template: what a key says of its tenants is said of keys alone. */
    issuer: Exclude<VerifierOptions['issuer'], IssuerTemplate>
  }

const isRevocations: OptionCheck = (value) => {
  const isSource =
    hasMethods(value, 'statusOf') &&
    ['ready', 'subscribe', 'whyUnknown'].every(
      (name) => Reflect.get(Object(value), name) === undefined || hasMethods(value, name),
    )
  return isSource
    ? foreignness(value)
    : 'must have the function statusOf, as localRevocations() has; ready, subscribe and whyUnknown are functions, if they are there'
}

const oneOrMore: OptionCheck = (value) =>
  value === null || isText(value) === undefined || isTextList(value) === undefined
    ? undefined
    : 'must be a string, a list of strings, or null to accept any'

/** `null` in a list is for tokens without an audience; a list of `null` alone would refuse all others, which nobody means. */
const isAudience: OptionCheck = (value) => oneOrMore(withoutNull(value))

function withoutNull(value: unknown): unknown {
  return Array.isArray(value) ? Array.from<unknown>(value).filter((each) => each !== null) : value
}

/** Octets. No token is longer, whatever the options of its verifier. */
export const LONGEST_TOKEN = 65_536

export const isTokenSize: OptionCheck = countUpTo(LONGEST_TOKEN, 'bytes')

/** Checks of the options that every verifier has, whatever proves its tokens. */
export const ruleChecks: Readonly<
  Record<
    Exclude<
      keyof VerifierOptions | keyof SchemaOptions<unknown>,
      'keys' | 'algorithms' | 'algorithmNames' | 'remember'
    >,
    (value: unknown) => string | undefined
  >
> = {
  issuer: oneOrMore,
  audience: isAudience,
  clockTolerance: seconds(0, 600),
  requireExpiry: isBoolean,
  maxTokenAge: seconds(1, 315_360_000),
  requiredClaims: isRequiredClaims,
  type: (value) =>
    isText(value) === undefined || isTextList(value) === undefined
      ? undefined
      : 'must be a string or a list of strings',
  maxTokenSize: isTokenSize,
  revocations: (value) => (value === null ? undefined : isRevocations(value)),
  confirmation: oneOf('require', 'ignore'),
  clock: isClock,
  schema: isSchema,
}

/** @throws TypeError for a wrong, misspelt or missing option. */
export function checkVerifierOptions(options: VerifierOptions): void {
  checkOptions('createVerifier', options, {
    keys: isKeySource,
    ...ruleChecks,
    type: (value) => ruleChecks.type(withoutNull(value)),
    // `checkIssuerTemplate` knows its members.
    issuer: (value) => (isIssuerTemplate(value) ? undefined : ruleChecks.issuer(value)),
    algorithms: () => undefined, // `acceptedAlgorithms` knows the names
    algorithmNames: isAlgorithmNames,
    remember: isRemember,
  })
  const stated = ownMembers(options)
  // Mistake `createVerifier: keys must be stated`: Give `keys: remoteKeys(url)`, `discoverKeys(issuer)` or `localKeys(keys)`.
  if (stated.keys === undefined) throw new TypeError('createVerifier: keys must be stated')
  checkStated('createVerifier', stated)
  const { issuer, requiredClaims = [] } = stated
  if (isIssuerTemplate(issuer)) {
    checkIssuerTemplate(issuer, namesOf(requiredClaims))
  }
}

/** @throws TypeError if what would be dangerous to forget was left out. */
export function checkStated(
  factory: string,
  stated: { readonly issuer?: unknown; readonly audience?: unknown },
): void {
  for (const name of ['issuer', 'audience'] as const) {
    if (stated[name] === undefined) {
      // Mistake `…: … must be stated`: The option has no default, because a wrong guess would be dangerous. Write it, as the
      // README of that package says. `revokes` of `receiveLogout` and `receiveEvents` is `'session'` or `'subject'`.
      // Mistake `…: … must be stated, null to accept any`: To leave out `issuer` or `audience` is dangerous. `issuer` is the
      // `iss` of your tokens, and `audience` their `aud`: `echo "$TOKEN" | npx @portcullis/cli decode` shows both. State `null`
      // for what your tokens do not have.
      throw new TypeError(`${factory}: ${name} must be stated, null to accept any`)
    }
  }
}

/** @throws TypeError for what is no object: a caller without types may pass anything. */
export function checkVerifyOptions(options: unknown): void {
  const isObject = options === undefined || (typeof options === 'object' && options !== null)
  checkArgument('verify', 'options', isObject ? undefined : 'must be an object')
}

export const isRemember: OptionCheck = (value) =>
  value === false || isMax(value)
    ? undefined
    : 'must be false or { max }, a number of tokens from 1 to 1000000'

/** `{ max }` and nothing else. */
function isMax(value: unknown): boolean {
  if (!isJsonObject(value) || Object.keys(value).join(' ') !== 'max') return false
  const { max } = value
  return Number.isInteger(max) && Number(max) >= 1 && Number(max) <= 1_000_000
}
