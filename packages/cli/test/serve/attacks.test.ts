import { describe, expect, test } from 'vitest'

import { setUp } from './service-for-test.ts'

const at = await setUp()
const guarded = await setUp({}, 'geheim')

const basic = (userAndPassword: string) =>
  `Basic ${Buffer.from(userAndPassword).toString('base64')}`

describe('on the loopback, the Host header', () => {
  test.each([
    '127.0.0.1:4010',
    '127.0.0.1',
    '127.9.9.9:1',
    'localhost:4010',
    'LOCALHOST',
    '[::1]:4010',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])('may be %s', async (host) => {
    expect((await at.ask('state', { headers: { host } })).status).toBe(200)
  })

  test.each([
    'evil.test',
    'evil.test:4010',
    'localhost.evil.test:4010',
    '127.0.0.1.evil.test',
    'evil.test:80@127.0.0.1',
    '192.168.0.1:4010',
    '0.0.0.0:4010',
    '2130706433',
    '127.1',
    'localhost:4010:1',
    'localhost, evil.test',
    '',
  ])('must not be %j: 403, and nothing happens', async (host) => {
    const own = await at.state()
    for (const body of [undefined, {}]) {
      const path = body === undefined ? 'state' : 'rotate'
      expect((await at.ask(path, { headers: { host }, body })).status).toBe(403)
    }
    expect((await at.state())['keys']).toEqual(own['keys'])
  })
})

describe('a page of another site', () => {
  test.each<[name: string, headers: Record<string, string>]>([
    ['with another origin', { origin: 'https://evil.test' }],
    ['with no origin of its own', { origin: 'null' }],
    ['of another port of this machine', { origin: 'http://127.0.0.1:3000' }],
    ['by another name of this machine', { origin: 'http://localhost:4010' }],
    ['with an origin that begins alike', { origin: 'http://127.0.0.1:4010.evil.test' }],
    ['that is cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['that is same-site', { 'sec-fetch-site': 'same-site' }],
    ['that says something else', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ])('%s can neither read nor post', async (_name, headers) => {
    expect((await at.ask('state', { headers })).status).toBe(403)
    expect((await at.ask('rotate', { headers, body: {} })).status).toBe(403)
    expect((await at.ask('stream', { headers })).status).toBe(403)
  })

  test('cannot post by what looks as if the user had typed the address', async () => {
    const headers = { 'sec-fetch-site': 'none' }
    expect((await at.ask('state', { headers })).status).toBe(200)
    expect((await at.ask('rotate', { headers, body: {} })).status).toBe(403)
  })

  test('is not told in a preflight that it may', async () => {
    const response = await at.ask('rotate', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.test', 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(403)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data', ''])(
    'cannot send a form as %j, even if its browser says nothing of it',
    async (type) => {
      const response = await at.ask('rotate', { headers: { 'content-type': type }, body: '{}' })
      expect(response.status).toBe(415)
    },
  )

  test('the pages of the service itself may', async () => {
    const headers = { origin: 'http://127.0.0.1:4010', 'sec-fetch-site': 'same-origin' }
    expect((await at.ask('fault/clear', { headers, body: {} })).status).toBe(200)
  })
})

describe('where others reach it', () => {
  test.each<[name: string, authorization: string | undefined]>([
    ['no secret', undefined],
    ['a wrong one', 'Bearer other'],
    ['a part of it', 'Bearer gehei'],
    ['more than it', 'Bearer geheim2'],
    ['nothing after the scheme', 'Bearer '],
    ['another scheme', 'Digest geheim'],
    ['no user and no password', 'Basic geheim'],
    ['the secret as a user', basic('geheim:')],
    ['a wrong password', basic('ada:geheim2')],
  ])('%s: 401', async (_name, authorization) => {
    const headers = authorization === undefined ? {} : { authorization }
    expect((await guarded.ask('state', { headers })).status).toBe(401)
    expect((await guarded.ask('rotate', { headers, body: {} })).status).toBe(401)
  })

  test.each([
    ['as a bearer token', 'Bearer geheim'],
    ['as the password of any user, as browsers send it', basic('ada:geheim')],
    ['as the password of no user', basic(':geheim')],
  ])(
    'the secret %s lets in under any host, but not a page of another site',
    async (_name, authorization) => {
      const headers = { authorization, host: 'auth:4010' }
      expect((await guarded.ask('state', { headers })).status).toBe(200)
      const own = { ...headers, origin: 'http://auth:4010' }
      expect((await guarded.ask('fault/clear', { headers: own, body: {} })).status).toBe(200)
      for (const crossed of [{ origin: 'https://evil.test' }, { 'sec-fetch-site': 'cross-site' }]) {
        const other = { ...headers, ...crossed }
        expect((await guarded.ask('state', { headers: other })).status).toBe(403)
        expect((await guarded.ask('rotate', { headers: other, body: {} })).status).toBe(403)
      }
    },
  )

  test('a form of another site is not taken, where its browser says nothing of it', async () => {
    const headers = { authorization: basic('ada:geheim'), 'content-type': 'text/plain' }
    expect((await guarded.ask('rotate', { headers, body: '{}' })).status).toBe(415)
  })

  test('the health needs no secret, and says nothing else', async () => {
    expect(await (await guarded.ask('health')).json()).toEqual({
      status: 'ok',
      program: 'portcullis serve',
    })
  })
})

describe('a body', () => {
  test.each<[name: string, body: string, status: number]>([
    ['that is no JSON', '{', 400],
    ['that is empty', '', 400],
    ['that is no object', '[]', 400],
    ['null', 'null', 400],
    ['of 64 KiB', `{${' '.repeat(65_534)}}`, 200],
    ['that is larger', `{${' '.repeat(65_535)}}`, 413],
    ['nested deep', `{"claims":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 400],
  ])('%s: %i', async (_name, body, status) => {
    expect((await at.ask('mint', { body })).status).toBe(status)
  })

  const operations = 'mint rotate complete rollback fault verdicts fault/clear'.split(' ')
  test.each(operations)(
    'of %s is bounded, an object, and has known members alone',
    async (path) => {
      const own = await setUp()
      const body = `{"${'x'.repeat(65_535)}":1}`
      const response = await own.ask(path, { body })
      expect(response.status).toBe(413)
      expect(await response.json()).toEqual({ error: 'the body must have at most 65536 bytes' })
      for (const wrong of ['[]', '5', '"text"', '{"nonsense":1}']) {
        expect((await own.ask(path, { body: wrong })).status).toBe(400)
      }
      expect(own.service.log.after(0)).toEqual([])
    },
  )

  test.each<[name: string, body: string]>([
    ['a bad kind under a header that cannot sign', '{"kind":"expired","header":{"alg":"HS256"}}'],
    ['a bad kind under no algorithm', '{"kind":"expired","header":{"alg":null}}'],
    ['an extension that is none', '{"header":{"crit":[{}]}}'],
  ])('with %s is refused with 400', async (_name, body) => {
    expect((await at.ask('mint', { body })).status).toBe(400)
  })

  test.each(['claims', 'header'])(
    'whose %s are nested deep makes a token or none',
    async (name) => {
      const body = `{"${name}":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`
      expect([200, 400]).toContain((await at.ask('mint', { body })).status)
    },
  )

  test('in invalid UTF-8 is refused', async () => {
    const request = new Request('http://127.0.0.1/control/mint', {
      method: 'POST',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      body: new Uint8Array([0x22, 0xff, 0x22]),
    })
    expect((await at.control(request, at.end.signal, '127.0.0.1'))?.status).toBe(400)
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'with a member %s is refused, wherever that is read',
    async (name) => {
      for (const path of ['mint', 'rotate', 'complete', 'rollback', 'fault', 'fault/clear']) {
        expect((await at.ask(path, { body: `{"${name}":{"kind":503}}` })).status).toBe(400)
      }
      expect(Object.prototype).not.toHaveProperty('kind')
    },
  )

  test('with claims of such names makes a token that has them, and changes nothing here', async () => {
    const body = '{"claims":{"__proto__":{"admin":true}}}'
    const response = await at.ask('mint', { body })
    expect(response.status).toBe(200)
    const { token } = (await response.json()) as { token: string }
    expect(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).toContain('__proto__')
    expect({}).not.toHaveProperty('admin')
  })

  test.each(['', '__proto__', 'toString', 'constructor', '../state', 'state/', 'STATE'])(
    'to %j, which is no operation: 404',
    async (path) => {
      const response = await at.ask(path.replace('..', '%2e%2e%2f'), { body: {} })
      expect([404, 405]).toContain(response.status)
    },
  )

  test('by another method: 405', async () => {
    expect((await at.ask('rotate')).status).toBe(405)
    expect((await at.ask('health', { body: {} })).status).toBe(405)
    expect((await at.ask('health', { method: 'DELETE' })).headers.get('allow')).toBe('GET')
    expect((await at.ask('state', { body: {} })).status).toBe(405)
    expect((await at.ask('rotate')).headers.get('allow')).toBe('POST')
  })
})

describe('reported verdicts', () => {
  const verdict = { code: 'invalid_token', reason: 'expired', detail: 'it has expired' }

  test.each<[error: string, body: object]>([
    [
      'verdicts must be a list of at most 100',
      { verdicts: Array.from({ length: 101 }, () => verdict) },
    ],
    ['code must be a text', { verdicts: [{ code: 5 }] }],
    ['code must have at most 64 characters', { verdicts: [{ code: 'x'.repeat(65) }] }],
    ['detail must have at most 1000 characters', { verdicts: [{ detail: 'x'.repeat(1001) }] }],
    ['remembered must be one of true, false', { verdicts: [{ remembered: 1 }] }],
    ['count must be a whole number', { verdicts: [{ count: 0 }] }],
    ['duration must be 0 or more', { verdicts: [{ duration: -1 }] }],
    ['api must have at most 100 characters', { api: 'x'.repeat(101) }],
    ['there is no "token"', { verdicts: [{ token: 'geheim' }] }],
  ])('are refused: %s', async (error, body) => {
    const own = await setUp()
    const response = await own.post('verdicts', body)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { error: string }).error).toContain(error)
    expect(own.service.log.after(0)).toEqual([])
  })

  test('of a flood leave the newest thousand events', async () => {
    const own = await setUp()
    for (let times = 0; times < 50; times++) {
      await own.post('verdicts', {
        api: 'orders',
        verdicts: Array.from({ length: 100 }, () => verdict),
      })
    }
    expect(own.service.log.after(0)).toHaveLength(1000)
  })
})

test('a flood for an hour grows nothing: events, faults and keys stay bounded', async () => {
  const own = await setUp()
  const { fetch, authUrl } = own.service.tokens
  const url = `${authUrl}/tokenservice/token/api`
  const loginId = 'x'.repeat(10_000)
  for (let second = 0; second < 3600; second++) {
    own.clock.set(own.clock.now() + 1)
    await fetch(url, { method: 'POST', body: new URLSearchParams({ loginId, password: 'x' }) })
    await own.post('fault', { endpoint: 'keys', kind: 503 })
  }
  const log = await (await own.ask('log')).text()
  expect(log.length).toBeLessThan(1_000_000)
  expect((await own.state())['faults']).toHaveLength(100)
})
