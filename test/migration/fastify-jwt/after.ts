import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize, findAuth } from '@portcullis/fastify'
import { fastify, type FastifyInstance } from 'fastify'

export async function createApp(issuer: string): Promise<FastifyInstance> {
  const keys = remoteKeys(`${issuer}/.well-known/jwks.json`)
  const verifier = createVerifier({ keys, issuer, audience: 'places', algorithms: ['RS256'] })
  const app = fastify()
  app.get('/health', () => '"well"')
  await app.register(async (open) => {
    await open.register(authenticate(verifier, { optional: true }))
    open.get('/hello', (request) => ({ hello: findAuth(request)?.claims.sub ?? 'stranger' }))
  })
  await app.register(async (guarded) => {
    await guarded.register(authenticate(verifier))
    guarded.get('/places', (request) => ({ readBy: request.auth.claims.sub }))
    const onRequest = authorize(scope('places:write'))
    guarded.post('/places', { onRequest }, async (request, reply) => {
      return await reply.code(201).send({ savedBy: request.auth.claims.sub })
    })
  })
  return app
}
