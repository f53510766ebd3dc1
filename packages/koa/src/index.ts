import type { IncomingMessage } from 'node:http'

import {
  type Auth,
  authenticateRequest,
  authorizeRequest,
  type Claims,
  checkGuardOptions,
  checkRequirementList,
  findAuth as findAuthOf,
  getAuth as getAuthOf,
  type GuardOptions,
  type ProtectedResourceMetadata,
  refusal,
  type RequestHeaders,
  type Requirement,
  type Verifier,
} from '@portcullis/core'

/** The state behind a guard: for `new Koa<AuthState>()` and for routers. With a schema, its output is the type parameter. */
export interface AuthState<ClaimsType = Claims> {
  auth: Auth<ClaimsType>
}

/** As much of Koa's context as is used, so that the types of Koa 3 and 2 both fit. */
export interface Context {
  readonly req: IncomingMessage & RequestHeaders
  readonly state: object
  readonly method: string
  readonly path: string
  status: number
  body: unknown
  set(headers: Record<string, string>): void
}

export type Middleware = (context: Context, next: () => Promise<unknown>) => Promise<void>

/**
 * Guards the middleware behind it: a request goes on only with a token that the verifier accepts.
 *
 * A CORS preflight needs a token like any request, so CORS middleware goes before.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function authenticate(
  verifier: Verifier<unknown>,
  options: GuardOptions<Context> = {},
): Middleware {
  const { property = 'auth' } = options
  checkGuardOptions(verifier, options)
  return async (context, next) => {
    try {
      const auth = await authenticateRequest(verifier, context.req, options, context)
      Reflect.set(context.state, property, auth)
    } catch (error) {
      refuse(error, context)
      return
    }
    await next()
  }
}

/** Requires something of a token that {@link authenticate} has let through. All requirements must be met. */
export function authorize(...requirements: readonly Requirement[]): Middleware {
  checkRequirementList('authorize', requirements)
  return async (context, next) => {
    try {
      await authorizeRequest(context.req, requirements, context)
    } catch (error) {
      refuse(error, context)
      return
    }
    await next()
  }
}

/** Serves protected resource metadata, to everybody: it goes before the guard. */
export function serveMetadata({ path, body }: ProtectedResourceMetadata): Middleware {
  return async (context, next) => {
    if (context.path !== path || !['GET', 'HEAD'].includes(context.method)) {
      await next()
      return
    }
    context.set({ 'Content-Type': 'application/json' })
    context.body = body
  }
}

/**
 * What the token of a guarded request proves.
 *
 * @param verifier If given, the one that must have proven it.
 * @throws TypeError if no such guard has seen the request, or if it was let through as anonymous.
 */
export function getAuth(context: Pick<Context, 'req'>): Auth
export function getAuth<ClaimsType>(
  context: Pick<Context, 'req'>,
  verifier: Verifier<ClaimsType> | undefined,
): Auth<ClaimsType>
export function getAuth(
  context: Pick<Context, 'req'>,
  verifier?: Verifier<unknown>,
): Auth<unknown> {
  return getAuthOf(context.req, verifier)
}

/**
 * What the token of a guarded request proves, or `undefined` for an anonymous one.
 *
 * @throws TypeError if no such guard has seen the request.
 */
export function findAuth(context: Pick<Context, 'req'>): Auth | undefined
export function findAuth<ClaimsType>(
  context: Pick<Context, 'req'>,
  verifier: Verifier<ClaimsType> | undefined,
): Auth<ClaimsType> | undefined
export function findAuth(
  context: Pick<Context, 'req'>,
  verifier?: Verifier<unknown>,
): Auth<unknown> | undefined {
  return findAuthOf(context.req, verifier)
}

/** The challenge goes on the context and on the error: Koa's own error handler drops the one, a user's tends to drop the other. */
function refuse(error: unknown, context: Context): void {
  const answer = refusal(error)
  if (answer === undefined) throw error
  context.set({ ...answer.headers })
  if (answer.body === undefined) throw error
  context.status = answer.status
  context.body = answer.body
}
