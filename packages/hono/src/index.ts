import {
  type Auth,
  authenticateRequest,
  authorizeRequest,
  type Claims,
  type GuardOptions,
  type ProtectedResourceMetadata,
  refusal,
  refusalResponse,
  type Requirement,
  type Verifier,
} from '@portcullis/core'
import {
  checkGuardOptions,
  checkMetadata,
  checkRequirementList,
  isAtOnce,
} from '@portcullis/core/adapter'
import { guardMark, requiredBy } from '@portcullis/kit/routes'
import type { Context, MiddlewareHandler, Next } from 'hono'

import { markGuard } from './guard-marks.ts'

// The guard for Hono 4: how it is given a request, shows an `Auth` and sends a refusal. Every decision about tokens is core's.

export { findAuth, getAuth } from '@portcullis/core'

/**
 * The variables after a guard: for `new Hono<{ Variables: AuthVariables }>()`. With a schema, the type parameter is its
 * output.
 */
export interface AuthVariables<ClaimsType = Claims> {
  auth: Auth<ClaimsType>
}

/**
 * Guards the routes after it: a request goes on only with a token that the verifier accepts.
 *
 * A CORS preflight has no token and is refused, so CORS middleware must come before.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function authenticate<ClaimsType>(
  verifier: Verifier<ClaimsType>,
  options?: GuardOptions<Context> & {
    optional?: false | undefined
    property?: 'auth' | undefined
  },
): MiddlewareHandler<{ Variables: AuthVariables<ClaimsType> }>
export function authenticate<ClaimsType>(
  verifier: Verifier<ClaimsType>,
  options: GuardOptions<Context> | undefined,
): MiddlewareHandler<{ Variables: Partial<AuthVariables<ClaimsType>> }>
export function authenticate(
  verifier: Verifier<unknown>,
  options: GuardOptions<Context> = {},
): MiddlewareHandler {
  const guard = checkGuardOptions(verifier, options, 'hono')
  const { property = 'auth' } = guard
  async function admit(context: Context, answer: unknown, next: Next): Promise<Response | void> {
    try {
      context.set(property, await answer)
      withdrawRefusal(context)
    } catch (error) {
      return refuse(error, context)
    }
    return await next()
  }
  const middleware: MiddlewareHandler = (context, next) => {
    const incoming = guard.mutualTls && incomingOf(context)
    // Read when there is work: where a runtime has none, it throws.
    const waitUntil = (work: Promise<unknown>) => {
      context.executionCtx.waitUntil(work)
    }
    const { raw } = context.req
    const answer = authenticateRequest(verifier, raw, guard, context, incoming, waitUntil)
    if (!isAtOnce(answer) || replaced.has(context)) return admit(context, answer, next)
    // Where nothing has to be waited for, a promise of its own would cost as much as the guard.
    context.set(property, answer)
    return next()
  }
  return markGuard(middleware, guardMark(guard.optional))
}

/** The request of node that came over the connection: `@hono/node-server` keeps it beside the `Request`. */
function incomingOf({ env }: Context): object | undefined {
  const bindings: unknown = env
  if (typeof bindings !== 'object' || bindings === null) return undefined
  const incoming: unknown = Object.hasOwn(bindings, 'incoming')
    ? Reflect.get(bindings, 'incoming')
    : undefined
  return typeof incoming === 'object' && incoming !== null ? incoming : undefined
}

/** Requires something of a token that {@link authenticate} has accepted. All requirements must be met. */
export function authorize(...requirements: [Requirement, ...Requirement[]]): MiddlewareHandler {
  checkRequirementList('authorize', requirements)
  const middleware: MiddlewareHandler = async (context, next) => {
    try {
      await authorizeRequest(context, requirements)
      withdrawRefusal(context)
    } catch (error) {
      return refuse(error, context)
    }
    return await next()
  }
  return markGuard(middleware, { requirements: requiredBy(requirements) })
}

/**
 * Serves protected resource metadata (RFC 9728) to everybody. Put it before the guard.
 *
 * @throws TypeError for anything that `protectedResourceMetadata` did not return.
 */
export function serveMetadata(metadata: ProtectedResourceMetadata): MiddlewareHandler {
  checkMetadata('serveMetadata', metadata)
  const { path, body } = metadata
  return async function serveProtectedResource(context, next) {
    const { path: asked, method } = context.req
    if (asked !== path || !['GET', 'HEAD'].includes(method)) return await next()
    context.header('Content-Type', 'application/json')
    return context.body(body)
  }
}

/** What a response had in the place of the headers of a refusal: all refusals of a context together. */
const replaced = new WeakMap<Context, Map<string, string | null>>()

/**
 * The challenge is set on the context as well as on the error, since error handlers ignore the headers of an error. Hono's
 * own asks the error for its response, and prints an error that has none.
 */
function refuse(error: unknown, context: Context): Response {
  const answer = refusal(error)
  if (answer === undefined) throw error
  const before = replaced.get(context) ?? new Map<string, string | null>()
  replaced.set(context, before)
  // On `res`, not with `header()`: Hono adds these even to a `Response` that an error handler makes by itself.
  const { headers } = context.res
  for (const [name, value] of Object.entries(answer.headers)) {
    if (!before.has(name)) before.set(name, headers.get(name))
    headers.set(name, value)
  }
  if (answer.body !== undefined) return refusalResponse(answer)
  throw Object.defineProperty(answer, 'getResponse', {
    // Without a prototype, or an inherited `get` would make the descriptor invalid.
    __proto__: null,
    value: () => refusalResponse(answer),
    configurable: true,
  } as PropertyDescriptor)
}

/** Where a request has two ways in, as with `some` of hono/combine, a refusal may come before an acceptance. */
function withdrawRefusal(context: Context): void {
  const before = replaced.get(context)
  if (before === undefined) return
  replaced.delete(context)
  const { headers } = context.res
  for (const [name, value] of before) {
    if (value === null) headers.delete(name)
    else headers.set(name, value)
  }
}
