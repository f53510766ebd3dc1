import type { AuthError, GuardOptions } from '@portcullis/core'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import type { AppSpec } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { sendRaw } from './raw.ts'
import { bearer, unproven, verifier } from './tokens.ts'

// A guard with `credentials` takes the token from the stated header, and from nowhere else, in every framework.

const HEADER = 'x-access-token'
const good = await bearer()
const token = good.authorization.slice('Bearer '.length)

function guarded(options: GuardOptions, refusals: AuthError[] = []): AppSpec {
  const onRefusal = (error: AuthError) => refusals.push(error)
  return {
    guards: [{ verifier, options: { ...options, onRefusal } }],
    routes: [{ path: '/', handle: () => ({}) }],
    maxHeaderSize: 65_536,
  }
}

describe.each(frameworks)('$name, with the token in a stated header', ({ createApp }) => {
  test('the token is accepted, a new one and a remembered one, whatever the case of the name', async () => {
    await using app = await createApp(guarded({ credentials: { header: 'X-Access-Token' } }))
    for (const name of [HEADER, HEADER, 'X-ACCESS-TOKEN']) {
      const response = await request(app.url).get('/').set(name, token)
      expect(response.status).toBe(200)
    }
  })

  test('with the scheme Bearer, the value needs it', async () => {
    const credentials = { header: HEADER, scheme: 'Bearer' } as const
    await using app = await createApp(guarded({ credentials }))
    const statuses: number[] = []
    for (const value of [good.authorization, good.authorization, token, `Basic ${token}`]) {
      statuses.push((await request(app.url).get('/').set(HEADER, value)).status)
    }
    expect(statuses).toEqual([200, 200, 401, 401])
  })

  test('the Authorization header is ignored: 401 without the stated one, also for a remembered token', async () => {
    const refusals: AuthError[] = []
    await using app = await createApp(guarded({ credentials: { header: HEADER } }, refusals))
    expect((await request(app.url).get('/').set(HEADER, token)).status).toBe(200)
    const response = await request(app.url).get('/').set(good)
    expect(response.status).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Bearer realm="api"')
    const both = { authorization: 'Bearer a.b.c', [HEADER]: token }
    expect((await request(app.url).get('/').set(both)).status).toBe(200)
    expect(refusals.map(({ code, reason }) => [code, reason])).toEqual([
      ['missing_token', 'missing_header'],
    ])
  })

  test('a repeated header is 400, also with a remembered token', async () => {
    const refusals: AuthError[] = []
    await using app = await createApp(guarded({ credentials: { header: HEADER } }, refusals))
    expect((await request(app.url).get('/').set(HEADER, token)).status).toBe(200)
    const answer = await sendRaw(app.port, [`${HEADER}: ${token}`, `X-Access-Token: ${token}`])
    expect(answer.status).toBe(400)
    expect(refusals.map(({ code, reason }) => [code, reason])).toEqual([
      ['invalid_request', 'repeated_credentials'],
    ])
  })

  test.each(['', good.authorization, '\u00E9'])(
    'another form is 401, also where anonymous requests are allowed: %j',
    async (value) => {
      const options = { credentials: { header: HEADER }, optional: true }
      await using app = await createApp(guarded(options))
      const response = await request(app.url).get('/').set(HEADER, value)
      expect(response.status).toBe(401)
      expect((await request(app.url).get('/').set(good)).status).toBe(200)
    },
  )

  test.each(unproven.slice(0, 1))('a token that proves nothing is 401 $reason', async (bad) => {
    const refusals: AuthError[] = []
    await using app = await createApp(guarded({ credentials: { header: HEADER } }, refusals))
    expect((await request(app.url).get('/').set(HEADER, bad.token)).status).toBe(401)
    expect(refusals.map(({ reason }) => reason)).toEqual([bad.reason])
  })

  test('guards with different headers do not take each other\u2019s token', async () => {
    const [first, second] = [{ header: 'x-first' }, { header: 'x-second' }]
    const guards = [first, second].map((credentials) => ({ verifier, options: { credentials } }))
    await using app = await createApp({ guards, routes: [{ path: '/', handle: () => ({}) }] })
    expect((await request(app.url).get('/').set('x-first', token)).status).toBe(401)
    const both = { 'x-first': token, 'x-second': token }
    expect((await request(app.url).get('/').set(both)).status).toBe(200)
  })
})
