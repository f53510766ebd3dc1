import {
  type Auth,
  authenticateRequest,
  authorizeRequest,
  getAuth,
  type GuardOptions,
  type ProtectedResourceMetadata,
  refusal,
  type Requirement,
  type Verifier,
} from '@portcullis/core'
import {
  checkGuardOptions,
  checkMetadata,
  checkRequirementList,
  hasPassed,
  isAtOnce,
} from '@portcullis/core/adapter'
import { guardMark, requiredBy } from '@portcullis/kit/routes'
import fastifyPlugin from 'fastify-plugin'

import { markGuard } from './guard-marks.ts'
import type { Hook, Plugin, Reply, Request, Scope, ScopeHook } from './instance.ts'
import { checkRegistration, failBoot, isOnRegister, isScope, misuse } from './registration.ts'
import { isOfRoute, isOpen, uncover } from './route.ts'

// The guard for Fastify 5 and 4: a plugin for scopes, and hooks for routes. Every decision about tokens is core's.

export { findAuth, getAuth } from '@portcullis/core'
export type { Hook, Plugin, Reply, Request, Scope } from './instance.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * What the token of this request proves. Inside the scope of a guard it throws if the request is anonymous. Outside of
     * it there is no such property, so use `getAuth` there.
     */
    readonly auth: Auth
  }
  interface FastifyContextConfig {
    /** `false` opens this route inside a guarded scope. */
    auth?: false
  }
}

/**
 * Guards everything in the scope in which it is registered: routes, not-found handlers and middleware. It runs before the
 * body is read. A request goes on only with a token that the verifier accepts. `config: { auth: false }` opens a route, and
 * what middleware answers at its URL, but no not-found handler.
 *
 * A CORS preflight has no token and is refused, so register CORS plugins before the guard.
 *
 * @throws TypeError for a wrong or misspelt option. Also if it is used as a hook, or is itself registered: write
 *   `register(authenticate(verifier, options))`.
 */
export function authenticate<FastifyRequest extends Request = Request>(
  verifier: Verifier<unknown>,
  options?: GuardOptions<FastifyRequest>,
): Plugin<NoInfer<FastifyRequest>>
export function authenticate(
  verifier: Verifier<unknown>,
  options: GuardOptions<Request> = {},
  registered?: unknown,
): Plugin | Promise<never> {
  if (isScope(verifier)) {
    const error = misuse('authenticate got a Fastify instance in place of a verifier')
    // With `register(authenticate)` Fastify calls this, with a callback at the end. It waits for a plugin that throws, and
    // not for one that rejects.
    if (typeof registered === 'function') return Promise.reject(error)
    throw error
  }
  const guard = checkGuardOptions(verifier, options, 'fastify')
  const { property = 'auth' } = guard
  const authenticated = (request: Request) => {
    uncover(request, property)
    return authenticateRequest(verifier, request.raw, guard, request)
  }
  /** Without a promise where there is an answer at once: after one, Fastify would go on later. */
  const check = (request: Request, reply: Reply, done: () => void): unknown => {
    const answer = authenticated(request)
    if (!isAtOnce(answer)) return settled(answer, request, reply)
    done()
    return undefined
  }
  return fastifyPlugin(
    async function guardScope(
      this: unknown,
      scope: Scope,
      ...[registration, callback]: [registration?: object, callback?: unknown]
    ) {
      if (isOnRegister(this, scope, callback)) {
        failBoot(scope)
        return
      }
      checkRegistration(scope, registration)
      decorateOnce(scope, property)
      const onRequest: ScopeHook = (request, reply, done) => {
        if (!isOpen(request)) return check(request, reply, done)
        uncover(request, property)
        guardNotFound(reply, async () => {
          await settled(authenticated(request), request, reply)
          return hasPassed(request, guard)
        })
        done()
        return undefined
      }
      scope.addHook('onRequest', markGuard(onRequest, guardMark(guard.optional)))
      // `reply.callNotFound()` from a route outside of this scope can lead to the not-found handler of this scope. Of all hooks
      // Fastify then runs only these.
      const preHandler: ScopeHook = (request, reply, done) => {
        if (hasPassed(request, guard) || isOfRoute(request)) {
          uncover(request, property)
          done()
          return undefined
        }
        return check(request, reply, done)
      }
      // In a list of routes it proves no more than that bad tokens are refused, which the other hook has done.
      scope.addHook('preHandler', markGuard(preHandler, guardMark(true)))
    },
    { name: '@portcullis/fastify', fastify: '4.x || 5.x' },
  )
}

/** The hook is not enough: Fastify 4 loses the hooks of a not-found handler that was set after the route. */
function guardNotFound(reply: Reply, admits: () => Promise<boolean>): void {
  const { callNotFound } = reply
  reply.callNotFound = () => {
    void admits()
      .then((isAdmitted) => (isAdmitted ? callNotFound.call(reply) : undefined))
      .catch((error: unknown) => reply.send(error))
    return reply
  }
}

async function settled(answer: unknown, request: Request, reply: Reply): Promise<unknown> {
  try {
    await answer
    return undefined
  } catch (error) {
    return refuse(error, request, reply)
  }
}

/**
 * A hook for one route or a scope. It requires something of a token that {@link authenticate} has accepted. All requirements
 * must be met.
 */
export function authorize(...requirements: [Requirement, ...Requirement[]]): Hook {
  checkRequirementList('authorize', requirements)
  const hook: Hook = async (request, reply) => {
    if (isScope(request)) {
      // Mistake `authorize(...) is a hook and no plugin`: In Fastify: `addHook('onRequest', authorize(...))`, or `{ onRequest:
      // authorize(...) }` of a route.
      throw new TypeError(
        "authorize(...) is a hook and no plugin: write addHook('onRequest', authorize(...))",
      )
    }
    if (isOpen(request)) return undefined
    try {
      await authorizeRequest(request, requirements)
      return undefined
    } catch (error) {
      return refuse(error, request, reply)
    }
  }
  return markGuard(hook, { requirements: requiredBy(requirements) })
}

/**
 * Serves protected resource metadata (RFC 9728) to everybody, also in a guarded scope.
 *
 * @throws TypeError for anything that `protectedResourceMetadata` did not return.
 */
export function serveMetadata(metadata: ProtectedResourceMetadata): Plugin {
  checkMetadata('serveMetadata', metadata)
  const { path, body } = metadata
  return fastifyPlugin(
    async (scope: Scope) => {
      scope.get(path, { config: { auth: false } }, async (_request, reply) => {
        reply.headers({ 'Content-Type': 'application/json' })
        // A buffer, because Fastify adds a charset to the type of a string.
        return Buffer.from(body)
      })
    },
    { name: '@portcullis/fastify/metadata', fastify: '4.x || 5.x' },
  )
}

/** Another guard uses the property of the first one. A property of somebody else with this name makes Fastify fail at boot. */
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

/** On the reply as well as on the error: many error handlers ignore the headers of an error. */
function refuse(error: unknown, request: Request, reply: Reply): unknown {
  const answer = refusal(error)
  if (answer === undefined) throw error
  const { status, headers, body, code, reason } = answer
  // Without `detail`, which shows claims and costs time also where nothing is logged: `onRefusal` is there for it.
  request.log[status >= 500 ? 'error' : 'info']({ code, reason }, 'request refused')
  reply.headers(headers)
  if (body === undefined) throw error
  reply.code(status)
  // A buffer, because Fastify adds a charset to the type of a string.
  return reply.send(Buffer.from(body))
}
