import {
  type Auth,
  authenticateRequest,
  authorizeRequest,
  checkGuardOptions,
  checkRequirementList,
  getAuth,
  type GuardOptions,
  type ProtectedResourceMetadata,
  refusal,
  type RequestHeaders,
  type Requirement,
  type Verifier,
} from '@portcullis/core'
import fastifyPlugin from 'fastify-plugin'

export { findAuth, getAuth } from '@portcullis/core'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * What the token of this request proves. Throws inside the scope of a guard that has let the request through without
     * one; outside of it there is no such property, so use `getAuth` there.
     */
    readonly auth: Auth
  }
  interface FastifyContextConfig {
    /** `false` opens a route inside a guarded scope. */
    auth?: false
  }
}

/** As much of Fastify's request as is used, so that those over HTTP/1 and HTTP/2 both fit. */
export interface Request {
  readonly raw: RequestHeaders
  readonly is404: boolean
  readonly routeOptions: { readonly config?: unknown }
  readonly log: Record<'info' | 'error', (details: object, message: string) => void>
}

export interface Reply {
  headers(headers: Record<string, string>): unknown
  code(status: number): unknown
  send(payload: unknown): unknown
}

export type Hook = (request: Request, reply: Reply) => Promise<unknown>

/** As much of a Fastify instance as is used. */
export interface Scope {
  hasDecorator(name: symbol): boolean
  decorate(name: symbol, value: unknown): unknown
  decorateRequest(name: string, value: { getter(this: Request): Auth }): unknown
  addHook(name: 'onRequest', hook: Hook): unknown
  get(path: string, options: object, handler: Hook): unknown
}

export type Plugin = (scope: Scope) => Promise<void>

/**
 * Guards the scope that it is registered in, before a body is read: a request goes on only with a token that the
 * verifier accepts. Routes with `config: { auth: false }` are open, unknown ones stay 404.
 *
 * A CORS preflight needs a token like any request, so CORS plugins are registered before.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function authenticate(
  verifier: Verifier<unknown>,
  options: GuardOptions<Request> = {},
): Plugin {
  const guard = checkGuardOptions(verifier, options)
  const { property = 'auth' } = guard
  return fastifyPlugin(
    async (scope: Scope) => {
      decorateOnce(scope, property)
      scope.addHook('onRequest', async (request, reply) => {
        if (isOpen(request)) return undefined
        try {
          await authenticateRequest(verifier, request.raw, guard, request)
          return undefined
        } catch (error) {
          return refuse(error, request, reply)
        }
      })
    },
    { name: '@portcullis/fastify', fastify: '4.x || 5.x' },
  )
}

/**
 * A hook, for one route or a scope, that requires something of a token that {@link authenticate} has let through. All
 * requirements must be met.
 */
export function authorize(...requirements: readonly Requirement[]): Hook {
  checkRequirementList('authorize', requirements)
  return async (request, reply) => {
    if (isOpen(request)) return undefined
    try {
      await authorizeRequest(request, requirements)
      return undefined
    } catch (error) {
      return refuse(error, request, reply)
    }
  }
}

/** Serves protected resource metadata, to everybody: also inside a guarded scope. */
export function serveMetadata({ path, body }: ProtectedResourceMetadata): Plugin {
  return fastifyPlugin(
    async (scope: Scope) => {
      scope.get(path, { config: { auth: false } }, async (_request, reply) => {
        reply.headers({ 'Content-Type': 'application/json' })
        // As octets: to a text Fastify would add a charset.
        return Buffer.from(body)
      })
    },
    { name: '@portcullis/fastify/metadata', fastify: '4.x || 5.x' },
  )
}

/** A second guard, or one in a nested scope, finds the property decorated; a foreign one fails in Fastify, at boot. */
function decorateOnce(scope: Scope, property: string): void {
  const mark = Symbol.for(`@portcullis/fastify ${property}`)
  if (scope.hasDecorator(mark)) return
  scope.decorate(mark, true)
  scope.decorateRequest(property, {
    getter() {
      return getAuth(this)
    },
  })
}

function isOpen({ is404, routeOptions }: Request): boolean {
  const { config } = routeOptions
  const isOptedOut =
    typeof config === 'object' && config !== null && Reflect.get(config, 'auth') === false
  return is404 || isOptedOut
}

/** The challenge goes on the reply and on the error: a user's error handler tends to drop the one. */
function refuse(error: unknown, request: Request, reply: Reply): unknown {
  const answer = refusal(error)
  if (answer === undefined) throw error
  const { status, headers, body, code, reason } = answer
  request.log[status >= 500 ? 'error' : 'info']({ code, reason }, 'request refused')
  reply.headers({ ...headers })
  if (body === undefined) throw error
  reply.code(status)
  // As octets: to a text Fastify would add a charset.
  return reply.send(Buffer.from(body))
}
