import { createVerifier, scope } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/fastify'
import { assertChallenge, createTestIssuer, manualClock } from '@portcullis/testing'
import fastify from 'fastify'

// The app under test takes its verifier, so that a test can give it another.
async function createApp(verifier) {
  const app = fastify()
  await app.register(authenticate(verifier))
  app.post(
    '/v1/clientLocations',
    { onRequest: authorize(scope('locations:write')) },
    (request) => ({
      savedBy: request.auth.claims.sub,
    }),
  )
  return app
}

const issuer = await createTestIssuer({ clock: manualClock() })
const app = await createApp(createVerifier(issuer.verifierOptions))
const save = (headers) => app.inject({ method: 'POST', url: '/v1/clientLocations', headers })

test('saves for a token with the scope', async () => {
  const bearer = await issuer.bearer({ claims: { sub: 'ada', scope: 'locations:write' } })
  const response = await save(bearer)
  expect([response.statusCode, response.json()]).toEqual([200, { savedBy: 'ada' }])
})

test('asks for a token where there is none', async () => {
  assertChallenge(await save({}), { status: 401, error: null })
})

test.each(await issuer.badTokens())(
  'refuses a bad token: $name',
  async ({ token, code, reason }) => {
    const response = await save({ authorization: `Bearer ${token}` })
    assertChallenge(response, { status: 401, error: code, reason })
  },
)
