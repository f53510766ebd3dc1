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
export interface GuardOptions<Request = RequestHeaders> extends PresentationOptions {
  /**
   * Lets a request without a bearer token through, as anonymous. A bad token is still refused.
   * @default false
   */
  optional?: boolean | undefined
  /** Is told of each refusal once, for logs. What it throws becomes a warning of the process and changes nothing. */
  onRefusal?: ((error: AuthError, request: Request) => unknown) | undefined
}

/** A refusal as an HTTP answer. Without a `body` the framework writes one. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

interface Guard {
  readonly verifier: Verifier
  readonly auth: Auth | undefined
  /** Presents and reports an error as this guard does. */
  readonly refuse: (error: unknown) => unknown
  /** The guard that the request passed before this one. */
  readonly outer: Guard | undefined
}

const guards = new WeakMap<object, Guard>()

/**
 * Checks the options of a guard at start-up, with those that an adapter adds.
 *
 * @throws TypeError
 */
export function checkGuardOptions(
  verifier: unknown,
  options: object,
  more: Readonly<Record<string, OptionCheck>> = {},
): void {
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
    ...more,
  })
}

/**
 * Verifies the token of a request, and remembers the outcome for {@link authorizeRequest} and {@link getAuth}.
 *
 * Every request needs a token: a CORS preflight is one like any other.
 *
 * @returns What the token proves, or `undefined` for an anonymous request where `optional` allows one.
 * @throws AuthError with the challenge of this guard.
 */
export async function authenticateRequest<Request extends RequestHeaders>(
  verifier: Verifier,
  request: Request,
  options: GuardOptions<Request> = {},
): Promise<Auth | undefined> {
  const refuse = (error: unknown) => refused(error, request, options)
  try {
    const token = findToken(request, options)
    const auth = token === undefined ? undefined : await verifier.verify(token)
    guards.set(request, { verifier, auth, refuse, outer: guards.get(request) })
    return auth
  } catch (error) {
    throw refuse(error)
  }
}

/**
 * Checks what a route requires of a request that {@link authenticateRequest} has let through.
 *
 * @throws AuthError `insufficient_scope`, or `missing_token` for an anonymous request.
 * @throws TypeError if no guard has seen the request.
 */
export async function authorizeRequest(
  request: object,
  requirements: readonly Requirement[],
): Promise<void> {
  const { auth, refuse } = guardOf(request)
  try {
    if (auth === undefined) throw new AuthError('missing_token', 'missing_header')
    await checkRequirements(auth, requirements)
  } catch (error) {
    throw refuse(error)
  }
}

/**
 * What the token of a guarded request proves.
 *
 * @param verifier If given, the one that must have proven it.
 * @throws TypeError if no such guard has seen the request, or if it was let through as anonymous.
 */
export function getAuth(request: object, verifier?: Verifier): Auth {
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
export function findAuth(request: object, verifier?: Verifier): Auth | undefined {
  const guard = withVerifier(guardOf(request), verifier)
  if (guard === undefined) {
    throw new TypeError('no guard with this verifier has seen the request')
  }
  return guard.auth
}

/**
 * The HTTP answer to a request that was refused, or `undefined` if the error is something else.
 *
 * @see RFC 6750 section 3
 */
export function refusal(error: unknown): Refusal | undefined {
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

function withVerifier(guard: Guard | undefined, verifier: Verifier | undefined): Guard | undefined {
  const isIt = guard === undefined || verifier === undefined || guard.verifier === verifier
  return isIt ? guard : withVerifier(guard.outer, verifier)
}

/** The error as this guard presents it, reported; anything else as it is. */
function refused<Request>(
  error: unknown,
  request: Request,
  options: GuardOptions<Request>,
): unknown {
  if (!(error instanceof AuthError)) return error
  const presented = error.presentedBy(options)
  void report(presented, request, options)
  return presented
}

async function report<Request>(
  error: AuthError,
  request: Request,
  { onRefusal }: GuardOptions<Request>,
): Promise<void> {
  try {
    await onRefusal?.(error, request)
  } catch (fault) {
    process.emitWarning(fault instanceof Error ? fault : 'onRefusal failed')
  }
}

const isHeaderText: OptionCheck = (value) =>
  typeof value === 'string' && /^[\u0020-\u007E]+$/.test(value)
    ? undefined
    : 'must be a string of printable ASCII characters'
