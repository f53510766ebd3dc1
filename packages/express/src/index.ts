import type { IncomingMessage, ServerResponse } from 'node:http'

import {
  authenticateRequest,
  authorizeRequest,
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
  isAtOnce,
  propertySetter,
} from '@portcullis/core/adapter'
import { guardMark, requiredBy } from '@portcullis/kit/routes'

import { markGuard } from './guard-marks.ts'

// The guard for Express 5 and 4: how it is given a request, shows an `Auth` and sends a refusal. Every decision about tokens is core's.

export { findAuth, getAuth } from '@portcullis/core'

/**
 * Middleware of Express 5 and 4. It uses only types of `node:http`, so that the types of both versions accept it. The type
 * parameter is the request that `onRefusal` gets, such as `express.Request`.
 */
export type Middleware<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Guards the routes after it: a request goes on only with a token that the verifier accepts.
 *
 * A CORS preflight has no token and is refused, so CORS middleware must come before.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function authenticate<Request extends IncomingMessage = IncomingMessage>(
  verifier: Verifier<unknown>,
  options: GuardOptions<Request> = {},
): Middleware<NoInfer<Request>> {
  const guard = checkGuardOptions(verifier, options, 'express')
  const { property = 'auth' } = guard
  const show = propertySetter(property)
  const middleware: Middleware<NoInfer<Request>> = (request, response, next) => {
    function pass(auth: unknown): void {
      // Mistake `…: cannot set`: Something has frozen the request or the state, or has defined that property before.
      const isShown = show(request, auth)
      next(isShown ? undefined : new TypeError(`authenticate: cannot set request.${property}`))
    }
    const answer = authenticateRequest(verifier, request, guard, request)
    if (isAtOnce(answer)) pass(answer)
    else {
      answer.then(pass, (error: unknown) => {
        refuse(error, response, next)
      })
    }
  }
  return markGuard(middleware, guardMark(guard.optional))
}

/** Requires something of a token that {@link authenticate} has accepted. All requirements must be met. */
export function authorize(...requirements: [Requirement, ...Requirement[]]): Middleware {
  checkRequirementList('authorize', requirements)
  const middleware: Middleware = (request, response, next) => {
    authorizeRequest(request, requirements).then(
      () => {
        next()
      },
      (error: unknown) => {
        refuse(error, response, next)
      },
    )
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
  return function serveProtectedResource(request, response, next) {
    const { method = '', url = '' } = request
    if (url.split('?')[0] !== path || !['GET', 'HEAD'].includes(method)) {
      next()
      return
    }
    response.setHeader('Content-Type', 'application/json')
    response.end(body)
  }
}

/**
 * The challenge is set on the response as well as on the error. Many error handlers ignore the headers of an error, and
 * Express itself removes those of the response before it sends an error.
 */
function refuse(error: unknown, response: ServerResponse, next: (error: unknown) => void): void {
  const answer = refusal(error)
  if (answer === undefined || response.headersSent) {
    next(error)
    return
  }
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  if (answer.body === undefined) {
    next(error)
    return
  }
  response.statusCode = answer.status
  response.end(answer.body)
}
