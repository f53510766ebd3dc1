import type { WaitUntil } from '@portcullis/kit/calls'
import { isJsonObject } from '@portcullis/kit/json'
import {
  checkArgument,
  checkOptions,
  hasMethods,
  isAbsoluteUrl,
  isBoolean,
  isFunction,
  isText,
  isTextList,
  type OptionCheck,
  oneOf,
  ownMembers,
} from '@portcullis/kit/options'

import { PROFILE_NAMES } from '../algorithms/profiles.ts'
import type { DpopProofs } from '../dpop/proof-check.ts'
import { foreignness } from '../ground/copy.ts'
import { isScope } from '../ground/scopes.ts'
import type { MutualTls } from '../possession/mutual-tls.ts'
import type { AuthError } from '../refusal/errors.ts'
import type { PresentationOptions } from '../refusal/presentation.ts'
import { checkOurVerifier } from '../verifier/internals.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { Marked } from './marked.ts'
import { checkProfile, profileOf, shownProofs } from './profile.ts'
import { frozenTokenHeader, isTokenHeader, type TokenHeader } from './token-header.ts'

// The options that every guard has: their types, and their checks at start-up.

/** How a guard treats requests. */
export interface GuardOptions<Subject = object> extends PresentationOptions {
  /**
   * The header that has the token, in place of `Authorization`, which is then not read: `{ header: 'x-access-token' }`. Not
   * together with `dpop`.
   */
  credentials?: TokenHeader | undefined
  /** Accepts tokens that are bound to a key of the client, with DPoP proofs: `dpopProofs({ origin })`. RFC 9449. */
  dpop?: DpopProofs | undefined
  /** Accepts tokens that are bound to a certificate of the client: `mutualTls()`. RFC 8705. */
  mutualTls?: MutualTls | undefined
  /**
   * Lets a request without a token, or of another scheme, through as anonymous. A bad token is still refused.
   * @default false
   */
  optional?: boolean | undefined
  /**
   * Holds the guard to FAPI 2.0: every token must be bound, by `dpop` or `mutualTls`, and the verifier must state `algorithms`
   * of the profile, and `revocations`.
   */
  profile?: 'fapi2' | undefined
  /**
   * The property of the framework's request, context or state that gets the `Auth`.
   * @default 'auth'
   */
  property?: string | undefined
  /** Called once for each refusal, for logs. If it throws, the process emits a warning, and the answer is the same. */
  onRefusal?: ((error: AuthError, subject: Subject) => unknown) | undefined
}

/** Options of one request. */
export interface RequestOptions<Subject = object> extends GuardOptions<Subject> {
  /**
   * Lets work go on behind the response, such as a renewal of the keys: `(work) => ctx.waitUntil(work)` on Cloudflare Workers,
   * which end it with the request otherwise. Called during this call alone, and not kept.
   */
  waitUntil?: WaitUntil | undefined
}

/** What is known of options from {@link checkGuardOptions}, in private fields: nobody else can read or write them. */
export class Checked extends Marked {
  readonly #takesRemembered: boolean
  readonly #framework: string | undefined
  readonly #shown: PresentationOptions

  constructor(options: GuardOptions<never>, framework: string | undefined) {
    super(options)
    const [{ dpop, mutualTls }, profile] = [options, profileOf(options)]
    this.#takesRemembered = !profile && dpop?.required !== true && mutualTls?.required !== true
    this.#framework = framework
    this.#shown = profile
      ? ownMembers({ ...options, dpop: shownProofs(options, profile) })
      : options
  }

  /** A caller without types may pass anything. */
  static has(options: unknown): boolean {
    return typeof options === 'object' && options !== null && #framework in options
  }

  /** Whether a token that was accepted before is enough. */
  static takesRemembered(options: object): boolean {
    return #takesRemembered in options && options.#takesRemembered
  }

  /** What the debug log calls the framework of the guard with these options. */
  static frameworkOf(options: object): string | undefined {
    return #framework in options ? options.#framework : undefined
  }

  /** What its refusals look like. */
  static shownBy(options: GuardOptions<never>): PresentationOptions {
    return #shown in options ? options.#shown : options
  }
}

/** Many parsers of challenges misread an escape: for them a quote ends the text, and a backslash is one. */
const isHeaderText: OptionCheck = (value) => {
  if (typeof value !== 'string' || !/^[\u0020-\u007E]+$/.test(value)) {
    return 'must be a string of printable ASCII characters'
  }
  return /["\\]/.test(value)
    ? 'must have no quotes and no backslashes: many clients misread them in a challenge'
    : undefined
}

const isUrl: OptionCheck = (value) => isHeaderText(value) ?? isAbsoluteUrl(value)

const isMetadata: OptionCheck = (value) => {
  if (typeof value !== 'object' || value === null || value instanceof URL) return isUrl(value)
  const { url, scopes = [] } = ownMembers(value) as { url?: unknown; scopes?: unknown }
  return isUrl(url) === undefined && Array.isArray(scopes) && scopes.every(isScope)
    ? undefined
    : 'must be a URL or what protectedResourceMetadata() returns'
}

/** `required` must be there: one that is left out could come from `Object.prototype`, at any time. */
const isDpop: OptionCheck = (value) =>
  hasMethods(value, 'check', 'remember', 'nonce') &&
  hasRequired(value) &&
  isTextList(Reflect.get(Object(value), 'algorithms')) === undefined
    ? foreignness(value)
    : 'must be what dpopProofs() returns'

const isMutualTls: OptionCheck = (value) =>
  hasMethods(value, 'thumbprintOf') && hasRequired(value)
    ? undefined
    : 'must be what mutualTls() returns'

function hasRequired(value: unknown): boolean {
  return typeof Reflect.get(Object(value), 'required') === 'boolean'
}

const CHECKS: Readonly<Record<keyof GuardOptions<never>, OptionCheck>> = {
  optional: isBoolean,
  credentials: isTokenHeader,
  realm: isHeaderText,
  scope: (value) => (isScope(value) ? undefined : 'must be a space-separated list of scopes'),
  resourceMetadata: isMetadata,
  dpop: isDpop,
  mutualTls: isMutualTls,
  profile: oneOf(...PROFILE_NAMES),
  respond: oneOf('forward', 'problem'),
  onRefusal: isFunction,
  property: (value) =>
    typeof value === 'string' && /^[A-Za-z]\w*$/.test(value)
      ? undefined
      : 'must be the name of a property',
}

/** What is stated for one request, and what a guard is made of. @throws TypeError for what is no function. */
export function splitRequestOptions<Subject>(options: RequestOptions<Subject>): {
  readonly guard: GuardOptions<Subject>
  readonly waitUntil: WaitUntil | undefined
} {
  // A caller without types may pass anything.
  const given: unknown = options
  const isStated = isJsonObject(given) && Object.hasOwn(given, 'waitUntil')
  if (!isStated) return { guard: options, waitUntil: undefined }
  const { waitUntil, ...guard } = options
  checkOptions('authenticateRequest', { waitUntil }, { waitUntil: isFunction })
  return { guard, waitUntil }
}

/**
 * Checks the arguments of a guard, at start-up.
 *
 * @param framework What `NODE_DEBUG=portcullis` calls the framework, such as `express`.
 * @returns A copy of the options with nothing but their own members. It also stands for this guard in `hasPassed`.
 * @throws TypeError
 */
export function checkGuardOptions<Options extends object>(
  verifier: unknown,
  options: Options,
  framework?: string,
): Options {
  if (!hasMethods(verifier, 'verify')) {
    // Mistake `…: the first argument must be a verifier`: Give what `createVerifier`, `byIssuer`, `byForm` or `introspected`
    // returned.
    throw new TypeError(
      'authenticate: the first argument must be a verifier: write authenticate(verifier, options)',
    )
  }
  checkOurVerifier('authenticate', 'the verifier', verifier as Verifier<unknown>)
  checkOptions('authenticate', options, CHECKS)
  if (framework !== undefined) {
    checkArgument('checkGuardOptions', 'the name of the framework', isText(framework))
  }
  const { credentials, dpop } = ownMembers<GuardOptions<never>>(options)
  if (credentials !== undefined && dpop !== undefined) {
    // Mistake error-authenticate-credentials-and-dpop-exclude-each-other-a-dpop-token-is-in-the-authorization-header
    // `authenticate: credentials and dpop exclude each other`: Leave one out: a `DPoP` token is in the `Authorization` header.
    throw new TypeError(
      'authenticate: credentials and dpop exclude each other: a DPoP token is in the Authorization header',
    )
  }
  checkProfile(verifier as Verifier<unknown>, options)
  const guard = ownMembers(
    credentials === undefined
      ? options
      : { ...options, credentials: frozenTokenHeader(credentials) },
  )
  // Adds the fields to `guard`, and returns it: see `Marked`.
  void new Checked(guard, framework)
  return Object.freeze(guard)
}
