import type { IncomingMessage, ServerResponse } from 'node:http'

import type { ProtectedResourceMetadata } from '@portcullis/core'
import { checkMetadata } from '@portcullis/core/adapter'

// Serves the document of RFC 9728 before all guards, since clients read it without a token.

/** Middleware of Nest's: on Express and on Fastify it gets the request and the response of Node. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Serves protected resource metadata (RFC 9728) to everybody, as middleware for `app.use(...)`, which runs before all guards.
 *
 * @throws TypeError for anything that `protectedResourceMetadata` did not return.
 */
export function serveMetadata(metadata: ProtectedResourceMetadata): Middleware {
  checkMetadata('serveMetadata', metadata)
  const { path, body } = metadata
  return (request, response, next) => {
    const { method = '', url = '' } = request
    if (url.split('?')[0] !== path || !['GET', 'HEAD'].includes(method)) {
      next()
      return
    }
    response.setHeader('Content-Type', 'application/json')
    response.end(body)
  }
}
