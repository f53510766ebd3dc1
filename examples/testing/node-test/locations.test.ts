import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createVerifier, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/koa'
import { assertChallenge, createTestIssuer, manualClock, stubVerifier } from '@portcullis/testing'
import Koa from 'koa'
import request from 'supertest'

// The app under test takes its verifier, so that a test can give it another.
function createApp(verifier: Verifier): Koa {
  const app = new Koa()
  app.use(authenticate(verifier)).use(authorize(scope('locations:write')))
  app.use((context) => {
    context.body = { savedBy: getAuth(context).claims.sub }
  })
  return app
}

test('a service that verifies real tokens', async (t) => {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const app = createApp(createVerifier(issuer.verifierOptions)).callback()
  const bearer = await issuer.bearer({ claims: { sub: 'ada', scope: 'locations:write' } })

  await t.test('saves for a token with the scope', async () => {
    const response = await request(app).post('/').set(bearer).expect(200)
    assert.deepEqual(response.body, { savedBy: 'ada' })
  })

  await t.test('refuses the token once it has expired', async () => {
    await clock.advance(310)
    const response = await request(app).post('/').set(bearer)
    assertChallenge(response, { status: 401, error: 'invalid_token', reason: 'expired' })
  })
})

test('a service that is told who calls', async (t) => {
  await t.test('saves for the scope', async () => {
    const verifier = stubVerifier({ claims: { sub: 'ada', scope: 'locations:write' } })
    await request(createApp(verifier).callback())
      .post('/')
      .set('authorization', 'Bearer any')
      .expect(200)
  })

  await t.test('is unavailable while keys are', async () => {
    const app = createApp(stubVerifier.refusing('unreachable')).callback()
    const response = await request(app).post('/').set('authorization', 'Bearer any').expect(503)
    assert.equal(response.headers['retry-after'], '1')
  })
})
