import type { Auth } from './auth.ts'
import { parseBearer, type RequestHeaders } from './bearer.ts'
import { AuthError, type PresentationOptions } from './errors.ts'
import {
  checkOptions,
  hasMethods,
  isBoolean,
  isFunction,
  type OptionCheck,
  oneOf,
} from './options.ts'
import { checkRequirements, type Requirement } from './requirement.ts'
import type { Verifier } from './verifier.ts'

// All that an adapter needs. What it adds is how its framework attaches an `Auth` and sends a refusal, nothing else.

/** How a guard treats requests. */
export interface GuardOptions<Subject = object> extends PresentationOptions {
  /**
   * Lets a request without a bearer token through, as anonymous. A bad token is still refused.
   * @default false
   */
  optional?: boolean | undefined
  /**
   * Where the framework's request or state shows the `Auth`.
   * @default 'auth'
   */
  property?: string | undefined
  /** Is told of each refusal once, for logs. What it throws becomes a warning of the process and changes nothing. */
  onRefusal?: ((error: AuthError, subject: Subject) => unknown) | undefined
}

interface Guard {
  readonly verifier: Verifier<unknown>
  readonly auth: Auth<unknown> | undefined
  /** How it presents its refusals, and to whom it reports them. */
  readonly options: GuardOptions<never>
  /** The guard that the request passed before this one. */
  readonly outer: Guard | undefined
}

/**
 * The guard that a request has passed. Nothing in it may lead back to the request: a minor garbage collection takes that
 * for a use, and every request would live until the next major one, which halves what a server can do.
 */
const guards = new WeakMap<object, Guard>()

/**
 * Checks what a guard is made of, at start-up.
 *
 * @throws TypeError
 */
export function checkGuardOptions(verifier: unknown, options: object): void {
  if (!hasMethods(verifier, 'verify')) {
    throw new TypeError('authenticate: the first argument must be a verifier')
  }
  checkOptions('authenticate', options, {
    optional: isBoolean,
    realm: isHeaderText,
    resourceMetadata: (value) =>
      isHeaderText(value) ?? (URL.canParse(String(value)) ? undefined : 'must be a URL'),
    respond: oneOf('forward', 'problem'),
    onRefusal: isFunction,
    property: (value) =>
      typeof value === 'string' && /^[A-Za-z]\w*$/.test(value)
        ? undefined
        : 'must be the name of a property',
  })
}

/**
 * Verifies the token of a request, and remembers the outcome for {@link authorizeRequest} and {@link getAuth}.
 *
 * Every request needs a token: a CORS preflight is one like any other.
 *
 * @param subject What `onRefusal` is told was refused: the framework's own request or context.
 * @returns What the token proves, or `undefined` for an anonymous request where `optional` allows one.
 * @throws AuthError with the challenge of this guard.
 */
export async function authenticateRequest<Subject extends object>(
  verifier: Verifier<unknown>,
  request: RequestHeaders,
  options: GuardOptions<Subject>,
  subject: Subject,
): Promise<Auth<unknown> | undefined> {
  try {
    const token = findToken(request, options)
    const auth = token === undefined ? undefined : await verifier.verify(token)
    guards.set(request, { verifier, auth, options, outer: guards.get(request) })
    return auth
  } catch (error) {
    throw refused(error, subject, options)
  }
}

/**
 * Checks what a route requires of a request that {@link authenticateRequest} has let through.
 *
 * @param subject As it was given there.
 * @throws AuthError `insufficient_scope`, or `missing_token` for an anonymous request.
 * @throws TypeError if no guard has seen the request.
 */
export async function authorizeRequest(
  request: object,
  requirements: readonly Requirement[],
  subject: object,
): Promise<void> {
  const { auth, options } = guardOf(request)
  try {
    if (auth === undefined) throw new AuthError('missing_token', 'missing_header')
    // A schema may have made something else of the claims: requirements look at own members, whatever their types.
    await checkRequirements(auth as Auth, requirements)
  } catch (error) {
    throw refused(error, subject as never /* the one that these options came with */, options)
  }
}

/**
 * What the token of a guarded request proves.
 *
 * @param verifier If given, the one that must have proven it.
 * @throws TypeError if no such guard has seen the request, or if it was let through as anonymous.
 */
export function getAuth(request: object): Auth
export function getAuth<ClaimsType>(
  request: object,
  verifier: Verifier<ClaimsType> | undefined,
): Auth<ClaimsType>
export function getAuth(request: object, verifier?: Verifier<unknown>): Auth<unknown> {
  const auth = findAuth(request, verifier)
  if (auth === undefined) {
    throw new TypeError('getAuth: the request is anonymous; use findAuth on an optional route')
  }
  return auth
}

/**
 * What the token of a guarded request proves, or `undefined` for an anonymous one.
 *
 * @throws TypeError if no such guard has seen the request.
 */
export function findAuth(request: object): Auth | undefined
export function findAuth<ClaimsType>(
  request: object,
  verifier: Verifier<ClaimsType> | undefined,
): Auth<ClaimsType> | undefined
export function findAuth(request: object, verifier?: Verifier<unknown>): Auth<unknown> | undefined {
  const guard = withVerifier(guardOf(request), verifier)
  if (guard === undefined) {
    throw new TypeError('no guard with this verifier has seen the request')
  }
  return guard.auth
}

/** The refusal that an error is, which is the HTTP answer as well; `undefined` if it is something else. */
export function refusal(error: unknown): AuthError | undefined {
  return error instanceof AuthError ? error : undefined
}

function findToken(request: RequestHeaders, options: GuardOptions<never>): string | undefined {
  try {
    return parseBearer(request)
  } catch (error) {
    const isAnonymous = error instanceof AuthError && error.code === 'missing_token'
    if (isAnonymous && options.optional === true) return undefined
    throw error
  }
}

function guardOf(request: object): Guard {
  const guard = guards.get(request)
  if (guard === undefined) {
    throw new TypeError('no guard has seen the request: authenticate(verifier) must come before')
  }
  return guard
}

function withVerifier(
  guard: Guard | undefined,
  verifier: Verifier<unknown> | undefined,
): Guard | undefined {
  const isIt = guard === undefined || verifier === undefined || guard.verifier === verifier
  return isIt ? guard : withVerifier(guard.outer, verifier)
}

/** The error as this guard presents it, reported; anything else as it is. */
function refused<Subject>(
  error: unknown,
  subject: Subject,
  options: GuardOptions<Subject>,
): unknown {
  if (!(error instanceof AuthError)) return error
  const presented = error.presentedBy(options)
  // Written here: what cannot be, such as a scope that is no text, is then a fault of this request and of no callback.
  void presented.headers
  void report(presented, subject, options)
  return presented
}

async function report<Subject>(
  error: AuthError,
  subject: Subject,
  { onRefusal }: GuardOptions<Subject>,
): Promise<void> {
  try {
    await onRefusal?.(error, subject)
  } catch (fault) {
    process.emitWarning(fault instanceof Error ? fault : 'onRefusal failed')
  }
}

const isHeaderText: OptionCheck = (value) =>
  typeof value === 'string' && /^[\u0020-\u007E]+$/.test(value)
    ? undefined
    : 'must be a string of printable ASCII characters'
