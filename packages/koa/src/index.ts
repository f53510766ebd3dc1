import type { IncomingMessage } from 'node:http'

import {
  type Auth,
  authenticateRequest,
  authorizeRequest,
  type Claims,
  type GuardOptions,
  type ProtectedResourceMetadata,
  refusal,
  type RequestHeaders,
  type Requirement,
  type Verifier,
} from '@portcullis/core'
import {
  checkGuardOptions,
  checkMetadata,
  checkRequirementList,
  isAtOnce,
  propertySetter,
} from '@portcullis/core/adapter'
import { guardMark, requiredBy } from '@portcullis/kit/routes'

import { markGuard } from './guard-marks.ts'

// The guard for Koa 3 and 2: how it is given a request, shows an `Auth` and sends a refusal. Every decision about tokens is core's.

export { findAuth, getAuth } from '@portcullis/core'

/** The state after a guard: for `new Koa<AuthState>()` and for routers. With a schema, the type parameter is its output. */
export interface AuthState<ClaimsType = Claims> {
  auth: Auth<ClaimsType>
}

/** The part of Koa's context that is used, so that the types of Koa 3 and 2 both fit. */
export interface Context {
  readonly req: IncomingMessage & RequestHeaders
  readonly state: object
  readonly method: string
  readonly path: string
  status: number
  body: unknown
  set(headers: Readonly<Record<string, string>>): void
}

/** The type parameter is the context that `onRefusal` gets, such as `Koa.Context`. */
export type Middleware<KoaContext extends Context = Context> = (
  context: KoaContext,
  next: () => Promise<unknown>,
) => Promise<unknown>

/**
 * Guards the middleware after it: a request goes on only with a token that the verifier accepts.
 *
 * A CORS preflight has no token and is refused, so CORS middleware must come before.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function authenticate<KoaContext extends Context = Context>(
  verifier: Verifier<unknown>,
  options: GuardOptions<KoaContext> = {},
): Middleware<NoInfer<KoaContext>> {
  const guard = checkGuardOptions(verifier, options, 'koa')
  const { property = 'auth' } = guard
  const show = propertySetter(property)
  async function admit(
    context: KoaContext,
    answer: unknown,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    try {
      const auth = await answer
      if (!show(context.state, auth))
        throw new TypeError(`authenticate: cannot set state.${property}`)
    } catch (error) {
      refuse(error, context)
      return undefined
    }
    return await next()
  }
  const middleware: Middleware<NoInfer<KoaContext>> = (context, next) => {
    const answer = authenticateRequest(verifier, context.req, guard, context)
    // Where nothing has to be waited for, a promise of its own would cost more than the rest of the guard.
    return isAtOnce(answer) && show(context.state, answer) ? next() : admit(context, answer, next)
  }
  return markGuard(middleware, guardMark(guard.optional))
}

/** Requires something of a token that {@link authenticate} has accepted. All requirements must be met. */
export function authorize(...requirements: [Requirement, ...Requirement[]]): Middleware {
  checkRequirementList('authorize', requirements)
  const middleware: Middleware = async (context, next) => {
    try {
      await authorizeRequest(context, requirements)
    } catch (error) {
      refuse(error, context)
      return
    }
    await next()
  }
  return markGuard(middleware, { requirements: requiredBy(requirements) })
}

/**
 * Serves protected resource metadata (RFC 9728) to everybody. Put it before the guard.
 *
 * @throws TypeError for anything that `protectedResourceMetadata` did not return.
 */
export function serveMetadata(metadata: ProtectedResourceMetadata): Middleware {
  checkMetadata('serveMetadata', metadata)
  const { path, body } = metadata
  return async function serveProtectedResource(context, next) {
    if (context.path !== path || !['GET', 'HEAD'].includes(context.method)) {
      await next()
      return
    }
    context.set({ 'Content-Type': 'application/json' })
    context.body = body
  }
}

/**
 * The challenge is set on the context as well as on the error. Many error handlers ignore the headers of an error, and
 * Koa's own removes those of the context before it sends an error.
 */
function refuse(error: unknown, context: Context): void {
  const answer = refusal(error)
  if (answer === undefined) throw error
  context.set(answer.headers)
  if (answer.body === undefined) throw error
  context.status = answer.status
  context.body = answer.body
}
