import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt'
import { fastify, type FastifyInstance } from 'fastify'
import buildGetJwks from 'get-jwks'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    user: { sub: string; scope?: string }
  }
}

export async function createApp(issuer: string): Promise<FastifyInstance> {
  const getJwks = buildGetJwks()
  const app = fastify()
  await app.register(fastifyJwt, {
    decode: { complete: true },
    secret: async (_request: unknown, token: TokenOrHeader) => {
      if (!('header' in token)) throw new TypeError('decode must be complete')
      const { kid, alg } = token.header as { kid: string; alg: string }
      return await getJwks.getPublicKey({ kid, alg, domain: issuer })
    },
    verify: { allowedIss: issuer, allowedAud: 'places', algorithms: ['RS256'] },
  })
  app.get('/health', () => '"well"')
  app.get('/hello', async (request) => {
    const isAnonymous = request.headers.authorization === undefined
    if (!isAnonymous) await request.jwtVerify()
    return { hello: isAnonymous ? 'stranger' : request.user.sub }
  })
  await app.register(async (guarded) => {
    guarded.addHook('onRequest', async (request) => await request.jwtVerify())
    guarded.get('/places', (request) => ({ readBy: request.user.sub }))
    guarded.post('/places', async (request, reply) => {
      const { sub, scope = '' } = request.user
      if (!scope.split(' ').includes('places:write')) return await reply.code(403).send()
      return await reply.code(201).send({ savedBy: sub })
    })
  })
  return app
}
