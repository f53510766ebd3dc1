import { type AuthError, byIssuer, createVerifier, localKeys } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import request, { type Response as Answer } from 'supertest'
import { describe, expect, test } from 'vitest'

import type { Application, AppSpec } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { sendRaw } from './raw.ts'
import { bearer, LIFETIME, proven, unproven, verifier as first } from './tokens.ts'

// What every adapter must do with `byIssuer`: the same as with one verifier. That both of its forms judge alike is core's to prove.

const A = 'https://auth.test'
const B = 'https://b.test'
const DOWN = 'https://down.test'

const b = await createTestIssuer({ issuer: B, audience: 'api', lifetime: LIFETIME })
const stranger = await createTestIssuer({ issuer: 'https://nobody.test', audience: 'api' })
const second = createVerifier({ keys: localKeys(b.publicJwk), issuer: B, audience: 'api' })
const verifiers = new Map([
  [A, first],
  [B, second],
])
const verifier = byIssuer(async (issuer) => {
  if (issuer === DOWN) throw new Error('secret')
  return verifiers.get(issuer)
})

const ofA = await bearer()
const ofB = { authorization: `Bearer ${await b.token({ claims: { sub: 'bob' } })}` }
const ofNobody = `Bearer ${await stranger.token()}`
const ofDown = `Bearer ${await b.token({ claims: { iss: DOWN } })}`

const UNPROVEN =
  'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"'

async function get(app: Application, headers: object = {}, path = '/'): Promise<Answer> {
  return await request(app.url)
    .get(path)
    .set({ ...headers })
}

describe.each(frameworks)('$name, byIssuer', ({ createApp }) => {
  const refusals: AuthError[] = []
  const spec: AppSpec = {
    guards: [{ verifier, options: { onRefusal: (error) => refusals.push(error) } }],
    routes: [
      { path: '/', handle: (view) => view.getAuth(verifier).claims },
      { path: '/other', handle: (view) => view.getAuth(first).claims },
    ],
    maxHeaderSize: 65_536,
    silent: true,
  }

  test('lets tokens of each issuer in, also those that are remembered', async () => {
    await using app = await createApp(spec)
    for (let each = 0; each < 2; each++) {
      await expect(get(app, ofA)).resolves.toMatchObject({ status: 200, body: { sub: 'ada' } })
      await expect(get(app, ofB)).resolves.toMatchObject({ status: 200, body: { sub: 'bob' } })
    }
  })

  test('proves a request for itself, and not for the verifiers behind it', async () => {
    await using app = await createApp(spec)
    await expect(get(app, ofA, '/other')).resolves.toMatchObject({ status: 500 })
  })

  test('wants a token', async () => {
    await using app = await createApp(spec)
    const { status, headers } = await get(app)
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="api"'])
  })

  test('gives all that prove nothing the same octets, also tokens of issuers that nobody knows', async () => {
    await using app = await createApp(spec)
    const texts = [ofNobody, ...unproven.map(({ token }) => `Bearer ${token}`)]
    const answers = await Promise.all(
      texts.map(async (text) => await sendRaw(app.port, [`Authorization: ${text}`])),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.text).toContain(UNPROVEN)
  })

  test.each(proven.filter(({ reason }) => reason === 'expired'))(
    '$name: 401 $reason, as with one verifier',
    async ({ token, reason, description }) => {
      await using app = await createApp(spec)
      const { status, headers } = await get(app, { authorization: `Bearer ${token}` })
      const isReadable = refusals.at(-1)?.reason === reason
      expect([status, isReadable, headers['www-authenticate']]).toEqual([
        401,
        true,
        UNPROVEN.replace('The access token is not valid', description),
      ])
    },
  )

  test('a token that names no known issuer is unknown_key, where one verifier says issuer', async () => {
    await using app = await createApp(spec)
    for (const { token } of proven.filter(({ reason }) => reason === 'issuer')) {
      await get(app, { authorization: `Bearer ${token}` })
      expect(refusals.at(-1)?.reason).toBe('unknown_key')
    }
  })

  test('an outage of one issuer: 503 with Retry-After, and the others are let in', async () => {
    await using app = await createApp(spec)
    const { status, headers, text } = await get(app, { authorization: ofDown })
    expect([status, headers['retry-after'], headers['www-authenticate']]).toEqual([
      503,
      '1',
      undefined,
    ])
    expect(text).not.toContain('secret')
    await expect(get(app, ofA)).resolves.toMatchObject({ status: 200 })
  })
})
