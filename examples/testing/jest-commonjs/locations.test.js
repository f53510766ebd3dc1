const { createVerifier, scope } = require('@portcullis/core')
const { authenticate, authorize } = require('@portcullis/fastify')
const { assertChallenge, createTestIssuer, manualClock } = require('@portcullis/testing')
const fastify = require('fastify')

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

let issuer
let save

beforeAll(async () => {
  issuer = await createTestIssuer({ clock: manualClock() })
  const app = await createApp(createVerifier(issuer.verifierOptions))
  save = (headers) => app.inject({ method: 'POST', url: '/v1/clientLocations', headers })
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
