import { refusal, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth } from '@portcullis/fastify'
import { fastify, type FastifyInstance } from 'fastify'

export function createApp(verifier: Verifier): FastifyInstance {
  const app = fastify()
  app.setErrorHandler(async (error, _request, reply) => {
    const refused = refusal(error)
    if (!refused) throw error
    return await reply.code(refused.status).send({ code: refused.code })
  })
  app.register(async (open) => {
    await open.register(authenticate(verifier, { optional: true }))
    open.get('/hello', async (request) => ({
      hello: findAuth(request)?.claims.sub ?? 'stranger',
    }))
  })
  app.register(async (places) => {
    await places.register(authenticate(verifier))
    places.get('/places', async (request) => ({ readBy: request.auth.claims.sub }))
    places.post(
      '/places',
      { onRequest: authorize(scope('places:write')) },
      async (request, reply) => await reply.code(201).send({ savedBy: request.auth.claims.sub }),
    )
  })
  return app
}
