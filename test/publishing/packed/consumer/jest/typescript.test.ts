import { createVerifier, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/fastify'
import {
  assertChallenge,
  createTestIssuer,
  manualClock,
  type TestIssuer,
} from '@portcullis/testing'
import { fastify, type FastifyInstance } from 'fastify'

// The app under test takes its verifier, so that a test can give it another.
async function createApp(verifier: Verifier): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(authenticate(verifier))
  const onRequest = authorize(scope('locations:write'))
  app.post('/v1/clientLocations', { onRequest }, (request) => ({
    savedBy: request.auth.claims.sub,
  }))
  return app
}

let issuer: TestIssuer
let app: FastifyInstance

const save = (headers: Record<string, string>) =>
  app.inject({ method: 'POST', url: '/v1/clientLocations', headers })

beforeAll(async () => {
  issuer = await createTestIssuer({ clock: manualClock() })
  app = await createApp(createVerifier(issuer.verifierOptions))
})

test('saves for a token with the scope', async () => {
  const bearer = await issuer.bearer({ claims: { sub: 'ada', scope: 'locations:write' } })
  const response = await save(bearer)
  expect([response.statusCode, response.json()]).toEqual([200, { savedBy: 'ada' }])
})

test('refuses every bad token', async () => {
  for (const { token, code, reason } of await issuer.badTokens()) {
    const response = await save({ authorization: `Bearer ${token}` })
    assertChallenge(response, { status: 401, error: code, reason })
  }
})
