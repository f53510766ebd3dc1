import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/fastify'
import { fastify } from 'fastify'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

const verifier = createVerifier({
  keys: remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`),
  issuer: null, // the service documents no issuer
  audience: null, // and no audience
  algorithms: ['RS512'], // and signs with RS512 alone
})
export const app = fastify()

app.get('/health', async () => ({ status: 'ok' }))

await app.register(
  async (v1) => {
    await v1.register(authenticate(verifier, { respond: 'problem' }))
    v1.addHook('onRequest', authorize(scope('locations:write')))
    v1.post('/clientLocations', async (request) => {
      const { claims } = request.auth
      return { savedBy: claims.sub, location: request.body }
    })
  },
  { prefix: '/v1' },
)

export const { server } = app
try {
  const url = await app.listen({ port: Number(PORT), host: '127.0.0.1' })
  console.log(`api            ${url}`)
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  console.error(`api: ${message} (PORT sets another port)`)
  process.exit(1)
}
