import { type Auth, scope } from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/fastify'
import fastify, { type FastifyRequest } from 'fastify'

import type { Guarded } from './guarded.js'

export const guarded: Guarded = async (verifier, onRefusal) => {
  const app = fastify()
  const guard = authenticate(verifier, {
    onRefusal: (error, request: FastifyRequest) => {
      onRefusal(error.reason, request.url)
    },
  })
  await app.register(guard)
  app.get('/', { onRequest: authorize(scope('read')) }, async (request) => {
    const auth: Auth = request.auth
    return JSON.stringify(getAuth(request) === auth && auth.claims.sub)
  })
  // The same guard fits a server of another kind.
  await fastify({ http2: true }).register(guard, { prefix: '/http2' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app.server
}
