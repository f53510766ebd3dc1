import { createVerifier, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/express'
import { assertChallenge, createTestIssuer, manualClock } from '@portcullis/testing'
import express, { type Express } from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'

// The app under test takes its verifier, so that a test can give it another.
function createApp(verifier: Verifier): Express {
  const app = express().set('env', 'test').use(authenticate(verifier))
  app.post('/v1/clientLocations', authorize(scope('locations:write')), (req, res) => {
    res.json({ savedBy: getAuth(req).claims.sub })
  })
  return app
}

const clock = manualClock()
const issuer = await createTestIssuer({ clock, issuer: 'https://auth.test', audience: 'locations' })
const app = createApp(createVerifier(issuer.verifierOptions))
const save = () => request(app).post('/v1/clientLocations')

test('saves for a token with the scope', async () => {
  const bearer = await issuer.bearer({ claims: { sub: 'ada', scope: 'locations:write' } })
  const response = await save().set(bearer).expect(200)
  expect(response.body).toEqual({ savedBy: 'ada' })
})

test('refuses a token without the scope, and says which', async () => {
  const response = await save().set(await issuer.bearer({ claims: { scope: 'locations:read' } }))
  const [error, required] = ['insufficient_scope', 'locations:write']
  assertChallenge(response, { status: 403, error, scope: required })
})

test('asks for a token where there is none', async () => {
  assertChallenge(await save(), { status: 401, error: null })
})

// Node itself answers a header of that size, with 431.
const bad = (await issuer.badTokens()).filter(({ reason }) => reason !== 'too_large')

test.each(bad)('refuses a bad token: $name', async ({ token, code, reason }) => {
  const response = await save().set('authorization', `Bearer ${token}`)
  assertChallenge(response, { status: 401, error: code, reason })
})

// What changes the issuer or the time has both to itself, so that the tests may run in any order.
test('follows a rotation, and sits out an outage', async () => {
  const time = manualClock()
  const changing = await createTestIssuer({ clock: time })
  const guarded = createApp(createVerifier(changing.verifierOptions))
  const claims = { scope: 'locations:write' }
  const status = async () => {
    const bearer = await changing.bearer({ claims })
    return (await request(guarded).post('/v1/clientLocations').set(bearer)).status
  }
  expect(await status()).toBe(200)
  await time.advance(60)
  await changing.rotate({ kid: 'same' })
  expect(await status()).toBe(200)
  changing.outage(503)
  await time.advance(240)
  expect(await status()).toBe(200)
})
