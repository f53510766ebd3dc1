import type { WaitUntil } from '@portcullis/kit/calls'
import { checkArgument, isTextList, own } from '@portcullis/kit/options'

import type { Auth } from '../claims/auth.ts'
import { AuthError } from '../refusal/errors.ts'
import type { Scheme } from '../refusal/presentation.ts'
import { anonymous } from '../requirement/details.ts'
import {
  checkRequirementList,
  checkRequirements,
  isRequirementList,
  type Requirement,
} from '../requirement/requirement-list.ts'
import { findInternals } from '../verifier/internals.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { type FetchRequest, type RequestHeaders, schemeOf } from './bearer.ts'
import { findCredentials, findText } from './credentials.ts'
import {
  Checked,
  checkGuardOptions,
  type GuardOptions,
  type RequestOptions,
  splitRequestOptions,
} from './guard-options.ts'
import { findPassedGuard, guardOf, setPassedGuard } from './passed-guards.ts'
import {
  asksForPossession,
  isProvenByKey,
  type RequestParts,
  verifyFor,
  verifyProven,
} from './proven-request.ts'
import { presentRefusal } from './refused-request.ts'
import { checkResource, type ClientAudience } from './resource.ts'

// Everything that the adapters share. An adapter adds how its framework shows an `Auth` and how it sends a refusal.

/**
 * Verifies the token of a request, and remembers the result for {@link authorizeRequest} and {@link getAuth}.
 *
 * Every request needs a token, also a CORS preflight. It does NOT read the body, and does NOT follow the `signal` of a
 * `Request`: a wait for keys ends after the `timeout` of the keys.
 *
 * On Cloudflare Workers state `waitUntil`, so that keys are renewed behind a response.
 *
 * @param request A request of `node:http` or a `Request` of the Fetch standard.
 * @param options Options from {@link checkGuardOptions}. Other options are allowed, but are checked at each call.
 * @returns What the token proves; `undefined` for a request without a token, if `optional` allows it.
 * @throws AuthError with the challenge of this guard.
 * @throws TypeError for a wrong or misspelt option.
 */
export function authenticateRequest<ClaimsType, Request extends RequestHeaders | FetchRequest>(
  verifier: Verifier<ClaimsType>,
  request: Request,
  options?: RequestOptions<Request>,
): Promise<Auth<ClaimsType> | undefined>
/**
 * The same for adapters.
 *
 * @param subject The object that the framework gives to handlers instead of the request. `onRefusal` gets it, and the other
 *   functions find the result by it.
 * @param incoming The request of `node:http` with the TLS connection, if that is another object.
 * @param waitUntil Lets work go on behind the response, on runtimes that end it with the request.
 * @returns A promise, or the `Auth` itself if the token was accepted before and the options were checked.
 */
export function authenticateRequest<ClaimsType, Subject extends object>(
  verifier: Verifier<ClaimsType>,
  request: RequestHeaders | FetchRequest,
  options: GuardOptions<Subject> | undefined,
  subject: Subject,
  incoming?: object,
  waitUntil?: WaitUntil,
): Auth<ClaimsType> | Promise<Auth<ClaimsType> | undefined>
export function authenticateRequest(
  verifier: Verifier<unknown>,
  request: RequestHeaders | FetchRequest,
  options: GuardOptions<never> = {},
  subject?: object,
  incoming: object = request,
  waitUntil?: WaitUntil,
): Auth<unknown> | Promise<Auth<unknown> | undefined> {
  if (subject !== undefined) checkObject('the fourth argument', subject)
  if (incoming !== request) checkObject('the fifth argument', incoming)
  const parts = { request, subject: subject ?? request, incoming, waitUntil }
  const atOnce = subject && authenticateAtOnce(verifier, parts, options)
  return atOnce ?? authenticateAnew(verifier, parts, options)
}

/**
 * Whether {@link authenticateRequest} has answered at once. Only what an `Auth` has of its own counts, so that anything else is
 * waited for: the global `Promise` may be another one than that of asynchronous functions.
 */
export function isAtOnce<ClaimsType>(
  answer: Auth<ClaimsType> | Promise<Auth<ClaimsType> | undefined>,
): answer is Auth<ClaimsType> {
  return Object.hasOwn(answer, 'token')
}

/** A token that was accepted before needs no promise, nor is its form checked again: what was proven has the right one. */
function authenticateAtOnce(
  verifier: Verifier<unknown>,
  { request, subject, waitUntil }: RequestParts,
  options: GuardOptions<never>,
): Auth<unknown> | undefined {
  try {
    const text = Checked.takesRemembered(options) ? findText(request, options) : undefined
    const auth = text === undefined ? undefined : findInternals(verifier)?.recall(text, waitUntil)
    if (auth !== undefined) setPassedGuard(subject, verifier, auth, options)
    return auth
  } catch {
    // The longer way meets the same fault, and rejects: callers await one error at one place.
  }
  return undefined
}

async function authenticateAnew(
  verifier: Verifier<unknown>,
  received: RequestParts,
  given: GuardOptions<never>,
): Promise<Auth<unknown> | undefined> {
  const parts = withHeaders(received)
  const { request, subject } = parts
  const isKnown = Checked.has(given)
  const { guard, waitUntil = parts.waitUntil } = isKnown
    ? { guard: given, waitUntil: undefined }
    : splitRequestOptions(given)
  const options = isKnown ? guard : checkGuardOptions(verifier, guard)
  // Options that are made anew for each request name no guard.
  const guardId = isKnown ? options : verifier
  try {
    const found = findCredentials(verifier, request, options)
    const auth =
      found &&
      (await (asksForPossession(options)
        ? verifyProven(verifier, { ...parts, waitUntil }, options, found)
        : verifyFor(verifier, found.token, { waitUntil })))
    setPassedGuard(subject, verifier, auth, options, guardId)
    return auth
  } catch (error) {
    const scheme = own(options, 'dpop') && schemeOf(request)
    throw presentRefusal(error, subject, options, { request, scheme })
  }
}

/** Callers without types pass headers alone, or an event whose `headers` are `null`. @throws TypeError for what is no request. */
function withHeaders(parts: RequestParts): RequestParts {
  const headers: unknown = Reflect.get(Object(parts.request), 'headers')
  if (headers === null) return { ...parts, request: { headers: {} } }
  if (isObject(headers)) return parts
  const complaint = 'must be a request, which has headers: pass the request, not its headers'
  checkArgument('authenticateRequest', 'the second argument', complaint)
  return parts
}

function checkObject(argument: string, value: unknown): void {
  checkArgument('authenticateRequest', argument, isObject(value) ? undefined : 'must be an object')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Whether the guard with these options, from {@link checkGuardOptions}, has let the request through. */
export function hasPassed(subject: object, options: object): boolean {
  let guard = findPassedGuard(subject)
  while (guard !== undefined && guard.options !== options) guard = guard.previous
  return guard !== undefined
}

/**
 * Checks the requirements of a route, after {@link authenticateRequest} has accepted the request.
 *
 * @param subject The framework's own request or context, as it was given to {@link authenticateRequest}.
 * @throws AuthError `insufficient_scope` or `insufficient_user_authentication`; `missing_token` for a request without a
 *   token.
 * @throws TypeError if no guard has accepted the request.
 */
export async function authorizeRequest(
  subject: object,
  requirements: readonly Requirement[],
): Promise<void> {
  if (!isRequirementList(requirements)) checkRequirementList('authorizeRequest', requirements)
  const { auth, options, verifier } = guardOf(subject)
  try {
    if (auth === undefined) throw new AuthError('missing_token', 'missing_header', anonymous)
    await checkRequirements(auth, requirements, { output: auth.claims, verifier })
  } catch (error) {
    throw presentRefusal(error, subject, options, { scheme: schemeFor(auth) })
  }
}

/**
 * Checks that a token which {@link authenticateRequest} has accepted is for this audience, whatever else its verifier accepts.
 *
 * @param subject As it was given to {@link authenticateRequest}.
 * @param audience What `aud` must name: one of these texts.
 * @param instead Also accepts a token that names no audience at all, by its client and its scope.
 * @throws AuthError `invalid_token` with the reason `audience`; `missing_token` for a request without a token.
 * @throws TypeError if no guard has accepted the request.
 * @see RFC 8707 section 2; RFC 7519 section 4.1.3
 */
export function requireAudience(
  subject: object,
  audience: string | readonly string[],
  instead?: ClientAudience,
): void {
  const names = [audience].flat()
  const complaint = isTextList(names) && 'must be a string, or a list of strings'
  checkArgument('requireAudience', 'the audience', complaint)
  const { auth, options } = guardOf(subject)
  try {
    if (auth === undefined) throw new AuthError('missing_token', 'missing_header', anonymous)
    checkResource(auth, names, instead)
  } catch (error) {
    throw presentRefusal(error, subject, options, { scheme: schemeFor(auth) })
  }
}

/** The scheme in which a token that was accepted has come. */
function schemeFor(auth: Auth<unknown> | undefined): Scheme {
  return auth !== undefined && isProvenByKey(auth) ? 'DPoP' : 'Bearer'
}
