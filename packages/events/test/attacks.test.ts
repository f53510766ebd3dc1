import { discoverKeys, localKeys } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { AUDIENCE, clock, eventScene, ISSUER, issuer, logoutScene, transmitter } from './scene.ts'

const ELSEWHERE = 'https://169.254.169.254/keys'

describe('no URL of an event is fetched', () => {
  const service = tokenService(issuer)

  /** Keys of a provider, which note what they ask for. */
  function keysThatNote() {
    const asked: string[] = []
    const keys = discoverKeys(ISSUER, {
      clock,
      async fetch(url, init) {
        asked.push(url)
        return url === `${ISSUER}/.well-known/openid-configuration`
          ? Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` })
          : await service.fetch(service.keyUrl, init)
      },
    })
    return { asked, keys }
  }
  const KNOWN = [`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]

  test.each<[string, Parameters<typeof transmitter.logoutToken>[0]]>([
    ['jku', { header: { jku: ELSEWHERE } }],
    ['x5u', { header: { x5u: ELSEWHERE } }],
    ['kid', { header: { kid: ELSEWHERE } }],
    ['iss', { claims: { iss: ELSEWHERE } }],
    ['sub', { sub: ELSEWHERE }],
  ])('%s of a log-out token', async (_, options) => {
    const { asked, keys } = keysThatNote()
    const { send } = logoutScene({ keys })
    await send(await transmitter.logoutToken({ sid: 's-1' }))
    await send(await transmitter.logoutToken({ sid: 's-1', ...options }))
    expect(new Set(asked)).toEqual(new Set(KNOWN))
  })

  test.each([
    { format: 'uri', uri: ELSEWHERE },
    { format: 'did', url: ELSEWHERE },
    { format: 'iss_sub', iss: ELSEWHERE, sub: 'ada' },
    { format: 'jwt_id', iss: ELSEWHERE, jti: 'j' },
    { format: 'opaque', id: ELSEWHERE },
  ])('a subject: %j', async (subject) => {
    const { asked, keys } = keysThatNote()
    const { send } = eventScene({ keys })
    await send(await transmitter.securityEvent({ type: 'session-revoked', subject }))
    expect(new Set(asked)).toEqual(new Set(KNOWN))
  })
})

test('a key in the header of an event is never used', async () => {
  const forger = await createTestIssuer({ clock, issuer: ISSUER, algorithm: 'ES256' })
  const forgery = eventTransmitter(forger, { audience: AUDIENCE })
  const { send, store } = logoutScene({ keys: localKeys(issuer.publicJwk) })
  const header = { jwk: forger.publicJwk }
  expect(await send(await forgery.logoutToken({ sid: 's-1', header }))).toMatchObject({
    status: 400,
  })
  expect(store.calls).toBe(0)
})

test('who forges a token learns no more than its form: the answers are the same bytes', async () => {
  const forger = await createTestIssuer({ clock, issuer: ISSUER, algorithm: 'ES256' })
  const forgery = eventTransmitter(forger, { audience: AUDIENCE })
  const { send } = logoutScene({ keys: localKeys(issuer.publicJwk) })
  const [header = '', payload = '', signature = ''] = (
    await transmitter.logoutToken({ sid: 's-1' })
  ).split('.')
  const answers = [
    await send(await forgery.logoutToken({ sid: 's-1' })),
    await send(
      await forgery.logoutToken({ sid: 's-1', claims: { aud: 'other', iss: 'x', exp: 1 } }),
    ),
    await send(await forgery.logoutToken({ header: { kid: 'unknown' }, omit: ['events'] })),
    await send(`${header}.${payload}.${signature.slice(0, -4)}AAAA`),
    ...(await Promise.all(
      ['RS256', 'HS256', 'none', 'another'].map(async (alg) => {
        const stated = Buffer.from(JSON.stringify({ alg, typ: 'logout+jwt' })).toString('base64url')
        return await send(`${stated}.${payload}.${signature}`)
      }),
    )),
  ]
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
})

test('nor whether we know the key that it names', async () => {
  const forger = await createTestIssuer({ clock, issuer: ISSUER, algorithm: 'ES256' })
  const forgery = eventTransmitter(forger, { audience: AUDIENCE })
  const { kid = '' } = issuer.publicJwk
  const { send, told } = logoutScene({ keys: localKeys({ keys: [issuer.publicJwk] }) })
  const answers = [
    await send(await forgery.logoutToken({ header: { kid } })),
    await send(await forgery.logoutToken({ header: { kid: 'another' } })),
  ]
  expect(told.map(({ error }) => (error as { reason: string }).reason)).toEqual([
    'signature',
    'unknown_key',
  ])
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
})

test('a token that is too long is refused before it is judged', async () => {
  const { send, store } = logoutScene()
  const claims = { padding: 'a'.repeat(20_000) }
  const { status, body } = await send(await transmitter.logoutToken({ sid: 's-1', claims }))
  expect([status, body]).toEqual([
    400,
    '{"error":"invalid_request","error_description":"The token is too large"}',
  ])
  expect(store.calls).toBe(0)
})

test('a polluted prototype neither mends an event nor gives it a subject', async () => {
  const { send, store } = eventScene()
  const missing = await transmitter.securityEvent({ type: 'session-revoked' })
  const email = await transmitter.securityEvent({
    type: 'session-revoked',
    subject: { format: 'email', email: 'ada@api.test' },
  })
  const names = [
    'sub_id',
    'sub',
    'sid',
    'jti',
    'id',
    'user',
    'session',
    'iss',
    'logout_token',
    'err',
  ]
  for (const name of names) {
    Reflect.defineProperty(Object.prototype, name, {
      __proto__: null,
      value: name === 'sub_id' ? { format: 'opaque', id: 'ada' } : 'ada',
      configurable: true,
      writable: true,
    } as PropertyDescriptor)
    try {
      expect((await send(missing)).status).not.toBe(202)
      expect((await send(email)).status).not.toBe(202)
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
  }
  expect(store.calls).toBe(0)
})
