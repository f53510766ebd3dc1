import { createHash } from 'node:crypto'

import { createVerifier } from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createDpopKey } from '../../src/dpop/dpop-key.ts'
import { createDpop } from '../../src/dpop/dpop.ts'
import { createTokenClient, type TokenClientOptions } from '../../src/index.ts'
import { failureOf, httpDate, jws } from '../login-service.ts'

const API = 'https://api.test'
const OTHER = 'https://other.test'

interface Call {
  readonly url: string
  readonly init: RequestInit
  readonly token: string | undefined
  readonly scheme: string | undefined
  /** The proof's claims, and the thumbprint of its key. */
  readonly claims: Readonly<Record<string, unknown>>
  readonly jkt: string | undefined
}

type Answer = (call: Call) => Response | Promise<Response>

const clock = manualClock()
const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })

/** A client with dpop, a token service, and APIs that the test answers for. */
function setUp(
  answer: Answer = () => new Response('ok'),
  options: Partial<TokenClientOptions> & { readonly dpopNonce?: () => string } = {},
) {
  const { dpopNonce, ...clientOptions } = options
  const service = tokenService(issuer, dpopNonce === undefined ? {} : { dpopNonce })
  const calls: Call[] = []
  const logins: Call[] = []
  const fetch = async (url: string, init: RequestInit = {}) => {
    const call = callOf(url, init)
    if (url.startsWith(service.authUrl)) {
      logins.push(call)
      return await service.fetch(url, init)
    }
    calls.push(call)
    return await answer(call)
  }
  const client = createTokenClient({
    ...issuer.clientOptions,
    origins: [API, OTHER],
    fetch,
    dpop: true,
    ...clientOptions,
  })
  return { client, calls, logins, service }
}

function callOf(url: string, init: RequestInit): Call {
  const headers = new Headers(init.headers)
  const [scheme, token] = headers.get('authorization')?.split(' ') ?? []
  const [header, payload] = headers.get('dpop')?.split('.') ?? []
  const { jwk } = read(header)
  const jkt =
    jwk === undefined
      ? undefined
      : createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')
  return { url, init, token, scheme, claims: read(payload), jkt }
}

function read(part: string | undefined): Record<string, unknown> {
  if (part === undefined) return {}
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
}

function cnfOf(token: string | undefined): unknown {
  return read(token?.split('.')[1])['cnf']
}

function refuse(error: string, nonce?: string): Response {
  const headers = new Headers({ 'www-authenticate': `Bearer realm="api", DPoP error="${error}"` })
  if (nonce !== undefined) headers.set('dpop-nonce', nonce)
  return new Response(error, { status: 401, headers })
}

/** An API that wants a nonce, which the test may change. */
function wanting(server: { nonce: string }): Answer {
  return ({ claims }) =>
    claims['nonce'] === server.nonce
      ? new Response('ok', { headers: { 'dpop-nonce': server.nonce } })
      : refuse('use_dpop_nonce', server.nonce)
}

describe('a request', () => {
  test('has a token of the client`s key, and a proof for it, this method and this URL', async () => {
    const { client, calls, logins } = setUp()
    await client.fetch(`${API}/a%20b/?c=d#e`, { method: 'post', body: 'x' })
    const [{ token = '', jkt, scheme, claims } = callOf(API, {})] = calls
    expect(scheme).toBe('DPoP')
    expect(cnfOf(token)).toEqual({ jkt })
    expect(claims).toEqual({
      jti: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
      htm: 'POST',
      htu: `${API}/a%20b/`,
      iat: Math.floor(clock.now()),
      ath: createHash('sha256').update(token).digest('base64url'),
    })
    expect(logins).toHaveLength(1)
    expect(logins[0]).toMatchObject({
      jkt,
      token: undefined,
      claims: { htm: 'POST', htu: 'https://auth.test/tokenservice/token/api' },
    })
    expect(logins[0]?.claims).not.toHaveProperty('ath')
  })

  test.each([
    ['get', 'GET'],
    ['patch', 'patch'],
    ['PATCH', 'PATCH'],
    [undefined, 'GET'],
  ])('with the method %s has a proof for %s, as fetch sends it', async (method, htm) => {
    const { client, calls } = setUp()
    await client.fetch(API, method === undefined ? {} : { method })
    expect(calls[0]?.claims['htm']).toBe(htm)
  })

  test('has a proof of its own, and none of the caller`s', async () => {
    const { client, calls } = setUp()
    const headers = { dpop: 'mine', authorization: 'Bearer mine' }
    await Promise.all([client.fetch(API, { headers }), client.fetch(new Request(API, { headers }))])
    expect(new Set(calls.map(({ claims }) => claims['jti'])).size).toBe(2)
    expect(calls.map(({ scheme }) => scheme)).toEqual(['DPoP', 'DPoP'])
  })

  test('follows no redirect, so that neither token nor proof go elsewhere', async () => {
    const { client, calls } = setUp(
      () => new Response(null, { status: 302, headers: { location: OTHER } }),
    )
    expect((await client.fetch(API)).status).toBe(302)
    await client.fetch(API, { redirect: 'follow' })
    await client.fetch(API, { redirect: 'error' })
    expect(calls.map(({ init }) => init.redirect)).toEqual(['manual', 'manual', 'error'])
  })

  test('by another library has the scheme DPoP', async () => {
    const { client } = setUp()
    const authorization = await client.getAuthorization()
    expect(authorization).toBe(`DPoP ${await client.get()}`)
    client.invalidate(authorization)
    expect(client.status().freshness).toBe('none')
  })

  test('is dated by the clock of the token service', async () => {
    const service = tokenService(issuer)
    for (const [ahead, seen] of [
      [100, 100],
      [-100, -100],
      [1000, 0],
    ] as const) {
      const fetch = async (url: string, init: RequestInit) => {
        if (!url.startsWith(service.authUrl)) {
          calls.push(callOf(url, init))
          return new Response('ok')
        }
        const response = await service.fetch(url, init)
        response.headers.set('date', httpDate(clock.now() + ahead))
        return response
      }
      const calls: Call[] = []
      await setUp(undefined, { fetch }).client.fetch(API)
      expect(Math.abs(Number(calls[0]?.claims['iat']) - clock.now() - seen)).toBeLessThanOrEqual(2)
    }
  })
})

describe('the key', () => {
  test('is kept through renewals, and is another one of each client', async () => {
    const { client, calls } = setUp()
    await client.fetch(API)
    await clock.advance(400)
    await client.fetch(API)
    const [one, two] = calls
    expect(two?.token).not.toBe(one?.token)
    expect(two?.jkt).toBe(one?.jkt)
    const other = setUp()
    await other.client.fetch(API)
    expect(other.calls[0]?.jkt).not.toBe(one?.jkt)
  })

  test('is one for 20 requests that come at once, and so is the login', async () => {
    const { client, calls, logins } = setUp()
    await Promise.all(Array.from({ length: 20 }, async () => await client.fetch(API)))
    expect(new Set(calls.map(({ jkt }) => jkt)).size).toBe(1)
    expect(logins).toHaveLength(1)
  })

  test('that could not be made is made when it is needed again, once for all who wait', async () => {
    let count = 0
    const dpop = createDpop('ES256', clock, async (algorithm) => {
      if (++count === 1) throw new TypeError('no random numbers')
      return await createDpopKey(algorithm)
    })
    const failures = await Promise.all([failureOf(dpop.jkt()), failureOf(dpop.jkt())])
    expect(failures).toMatchObject([
      { code: 'service_unavailable', message: 'the key for DPoP proofs could not be made' },
      { code: 'service_unavailable' },
    ])
    const thumbprints = await Promise.all([dpop.jkt(), dpop.jkt()])
    expect(new Set(thumbprints).size).toBe(1)
    expect(count).toBe(2)
  })

  test.each(['ES384', 'Ed25519', 'PS256', 'RS256'] as const)('can be for %s', async (algorithm) => {
    const { client, calls } = setUp(undefined, { dpop: { algorithm } })
    expect((await client.fetch(API)).status).toBe(200)
    expect(cnfOf(calls[0]?.token)).toEqual({ jkt: calls[0]?.jkt })
  })
})

describe('a token that is not bound to the key is refused, and never used', () => {
  test.each<[title: string, claims: object]>([
    ['no cnf', {}],
    ['another key', { cnf: { jkt: 'other' } }],
    ['a list', { cnf: [] }],
    ['null', { cnf: null }],
  ])('%s', async (_title, claims) => {
    const calls: string[] = []
    const fetch = async (url: string) => {
      calls.push(url)
      return await Promise.resolve(new Response(jws({ exp: clock.now() + 300, ...claims })))
    }
    const { client } = setUp(undefined, { fetch })
    expect(await failureOf(client.fetch(API))).toMatchObject({
      code: 'token_unusable',
      message:
        'the token service gave a token that is not bound to the key of the DPoP proof: does it know DPoP?',
    })
    expect(calls).toEqual(['https://auth.test/tokenservice/token/api'])
  })

  test('a verifier is told the key', async () => {
    const verifier = createVerifier(issuer.verifierOptions)
    const possessions: unknown[] = []
    const verify: typeof verifier.verify = async (token, options) => {
      possessions.push(options?.possession)
      return await verifier.verify(token, options)
    }
    const { client, calls } = setUp(undefined, { verifier: { verify } })
    await client.fetch(API)
    expect(possessions).toEqual([{ jkt: calls[0]?.jkt }])
  })
})

describe('a nonce of an API', () => {
  test('is asked for: the request is repeated once, and later ones have it at once', async () => {
    const { client, calls } = setUp(wanting({ nonce: 'n1' }))
    expect((await client.fetch(API, { method: 'POST', body: 'x' })).status).toBe(200)
    expect(calls.map(({ claims, init }) => [claims['nonce'], init.body])).toEqual([
      [undefined, 'x'],
      ['n1', 'x'],
    ])
    expect(calls[1]?.claims['jti']).not.toBe(calls[0]?.claims['jti'])
    await client.fetch(API)
    expect(calls).toHaveLength(3)
  })

  test('is renewed by any answer', async () => {
    const { client, calls } = setUp(() => new Response('ok', { headers: { 'dpop-nonce': 'next' } }))
    await client.fetch(API)
    await client.fetch(API)
    expect(calls.map(({ claims }) => claims['nonce'])).toEqual([undefined, 'next'])
  })

  test('goes to no other origin, nor to the token service', async () => {
    const { client, calls, logins } = setUp(wanting({ nonce: 'n1' }))
    await client.fetch(API)
    await clock.advance(400)
    await client.fetch(OTHER)
    expect(calls.map(({ url, claims }) => [url, claims['nonce']])).toEqual([
      [`${API}/`, undefined],
      [`${API}/`, 'n1'],
      [`${OTHER}/`, undefined],
      [`${OTHER}/`, 'n1'],
    ])
    expect(logins.map(({ claims }) => claims['nonce'])).toEqual([undefined, undefined])
  })

  test('changes while 20 requests are under way: each is repeated once at most, and answered', async () => {
    // As servers do it: the nonce before the current one still counts.
    let current = 1
    const waiting: (() => void)[] = []
    const { client, calls } = setUp(async ({ claims }) => {
      if (calls.length <= 20) await new Promise<void>((resolve) => waiting.push(resolve))
      const nonce = Number(claims['nonce'])
      return nonce === current || nonce === current - 1
        ? new Response('ok', { headers: { 'dpop-nonce': String(current) } })
        : refuse('use_dpop_nonce', String(current))
    })
    const requests = Array.from({ length: 20 }, async (_, at) => await client.fetch(`${API}/${at}`))
    await expect.poll(() => waiting.length).toBe(20)
    for (const resolve of waiting.slice(0, 10)) resolve()
    await expect.poll(() => calls.length).toBe(30)
    current = 2
    for (const resolve of waiting.slice(10)) resolve()
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
    expect(calls).toHaveLength(40)
    const nonces = calls.slice(20).map(({ claims }) => claims['nonce'])
    expect(new Set(nonces)).toEqual(new Set(['1', '2']))
  })

  test('is the one of the same answer, whatever a later answer to another request brought', async () => {
    let release: (() => void) | undefined
    const { client, calls } = setUp(async ({ url, claims }) => {
      if (url === `${API}/slow` && claims['nonce'] === undefined) {
        await new Promise<void>((resolve) => (release = resolve))
        return refuse('use_dpop_nonce', 'new')
      }
      return new Response('ok', { headers: { 'dpop-nonce': 'old' } })
    })
    const slow = client.fetch(`${API}/slow`)
    await expect.poll(() => release).toBeDefined()
    await client.fetch(`${API}/quick`)
    release?.()
    expect((await slow).status).toBe(200)
    expect(calls.at(-1)?.claims['nonce']).toBe('new')
  })

  test('is asked for again and again: the request is repeated once, and no login is made', async () => {
    let count = 0
    const { client, calls, logins } = setUp(() => refuse('use_dpop_nonce', `n${count++}`))
    expect((await client.fetch(API)).status).toBe(401)
    expect(calls).toHaveLength(2)
    expect(logins).toHaveLength(1)
    expect(client.status().freshness).toBe('fresh')
  })

  test('is asked for, and then another token: one more request with both', async () => {
    let expired: string | undefined
    const { client, calls, logins } = setUp(({ claims, token }) => {
      if (claims['nonce'] !== 'n1') return refuse('use_dpop_nonce', 'n1')
      expired ??= token
      return token === expired ? refuse('invalid_token', 'n1') : new Response('ok')
    })
    const requesting = client.fetch(API)
    expect((await requesting).status).toBe(200)
    expect(calls).toHaveLength(3)
    expect(calls[2]?.claims['nonce']).toBe('n1')
    expect(calls[2]?.token).not.toBe(expired)
    expect(logins).toHaveLength(2)
  })

  test('cannot be sent with a stream: the caller gets the 401, and the next request has the nonce', async () => {
    const { client, calls } = setUp(wanting({ nonce: 'n1' }))
    const body = ReadableStream.from([Buffer.from('x')])
    const init = { method: 'POST', body, duplex: 'half' as const }
    expect((await client.fetch(API, init)).status).toBe(401)
    expect((await client.fetch(API)).status).toBe(200)
    expect(calls).toHaveLength(2)
  })

  test.each<[title: string, nonce: string | undefined]>([
    ['there is none', undefined],
    ['it is too long', 'n'.repeat(1025)],
    ['it has a quote', 'a"b'],
    ['it has a space', 'a b'],
  ])('is asked for, but %s: the caller gets the 401', async (_title, nonce) => {
    const { client, calls } = setUp(() => refuse('use_dpop_nonce', nonce))
    expect((await client.fetch(API)).status).toBe(401)
    await client.fetch(API)
    expect(calls).toHaveLength(2)
    expect(calls[1]?.claims).not.toHaveProperty('nonce')
  })

  test('is not learnt from where a redirect led', async () => {
    const { client, calls } = setUp(() => {
      const response = refuse('use_dpop_nonce', 'n1')
      return Object.defineProperty(response, 'url', { value: 'https://elsewhere.test/' })
    })
    expect((await client.fetch(API)).status).toBe(401)
    await client.fetch(API)
    expect(calls.map(({ claims }) => claims['nonce'])).toEqual([undefined, undefined])
  })

  test.each<[title: string, challenge: string, isAsked: boolean]>([
    ['the error', 'DPoP error="use_dpop_nonce"', true],
    ['one without quotes', 'DPoP realm="a, b", error = use_dpop_nonce', true],
    ['one behind others', 'Bearer realm="api", DPoP algs="ES256",error="use_dpop_nonce"', true],
    ['one before others', 'DPoP error="use_dpop_nonce", Bearer realm="api"', true],
    ['text that names it', 'DPoP realm="not, error=use_dpop_nonce , but"', false],
    ['escaped quotes', String.raw`DPoP realm="\", error=\"use_dpop_nonce\""`, false],
    ['another name', 'DPoP last_error="use_dpop_nonce"', false],
    ['another error', 'DPoP error="use_dpop_nonces"', false],
    ['a million quotes', '"'.repeat(1_000_000), false],
    ['a million escapes', '"\\'.repeat(500_000), false],
  ])('is asked for by an error alone: %s', async (_title, challenge, isAsked) => {
    const headers = { 'www-authenticate': challenge, 'dpop-nonce': 'n1' }
    const { client, calls } = setUp(() => new Response('', { status: 401, headers }))
    await client.fetch(API)
    expect(calls).toHaveLength(2)
    // Another token does not help where a nonce is wanted.
    expect(new Set(calls.map(({ token }) => token)).size).toBe(isAsked ? 1 : 2)
  })

  test('comes with a refused proof: the next proof has it, after another login', async () => {
    const { client, calls, logins } = setUp(() => refuse('invalid_dpop_proof', 'n1'))
    expect((await client.fetch(API)).status).toBe(401)
    expect(calls.map(({ claims }) => claims['nonce'])).toEqual([undefined, 'n1'])
    expect(calls[1]?.token).not.toBe(calls[0]?.token)
    expect(logins).toHaveLength(2)
  })
})

describe('a nonce of the token service', () => {
  test('is asked for: the login is repeated once, and later ones have it at once', async () => {
    const { client, logins } = setUp(undefined, { dpopNonce: () => 'n1' })
    await client.get()
    await clock.advance(400)
    await client.get()
    expect(logins.map(({ claims }) => claims['nonce'])).toEqual([undefined, 'n1', 'n1'])
  })

  test('comes with a wrong password: that is tried once', async () => {
    const logins: string[] = []
    const fetch = async (url: string) => {
      logins.push(url)
      const refusal = { status: 400, headers: { 'dpop-nonce': 'n1' } }
      return await Promise.resolve(Response.json({ error: 'invalid_grant' }, refusal))
    }
    const { client } = setUp(undefined, { fetch })
    expect(await failureOf(client.get())).toMatchObject({ code: 'credentials_rejected' })
    expect(logins).toHaveLength(1)
  })

  test('is asked for again and again: the login fails after two requests', async () => {
    let count = 0
    const { client, logins } = setUp(undefined, { dpopNonce: () => `n${count++}` })
    expect(await failureOf(client.get())).toMatchObject({ code: 'credentials_rejected' })
    expect(logins).toHaveLength(2)
  })
})

describe('a clock that is wrong', () => {
  const OFF = 200

  /** The clock of the machine, which the token service's is ahead of. */
  const slow = { ...clock, now: () => clock.now() - OFF, monotonic: () => clock.monotonic() }

  test('costs a first login one more request, since the answer has the time', async () => {
    const { client, calls, logins } = setUp(undefined, { clock: slow })
    expect((await client.fetch(API)).status).toBe(200)
    const times = [...logins, ...calls].map(({ claims }) => Number(claims['iat']))
    expect(times.map((time) => Math.abs(clock.now() - time) < 3)).toEqual([false, true, true])
  })

  test('is repeated for once, whatever time the next answer has', async () => {
    let count = 0
    const fetch = async () => {
      const date = httpDate(clock.now() + 50 * ++count)
      const refusal = { status: 400, headers: { date } }
      return await Promise.resolve(Response.json({ error: 'invalid_dpop_proof' }, refusal))
    }
    const { client } = setUp(undefined, { fetch })
    expect(await failureOf(client.get())).toMatchObject({ code: 'credentials_rejected' })
    expect(count).toBe(2)
  })

  test('tries no wrong password twice', async () => {
    const { client, logins } = setUp(undefined, { clock: slow, password: 'wrong' })
    expect(await failureOf(client.get())).toMatchObject({ code: 'credentials_rejected' })
    expect(logins).toHaveLength(1)
  })
})

test('a polluted prototype adds nothing to the proof of a login', async () => {
  const { client, logins } = setUp()
  Reflect.defineProperty(Object.prototype, 'token', { value: 'x', configurable: true })
  try {
    await client.get()
  } finally {
    Reflect.deleteProperty(Object.prototype, 'token')
  }
  expect(logins[0]?.claims).not.toHaveProperty('ath')
})

describe('an abort', () => {
  test('while the proof is made sends nothing', async () => {
    const { client, calls } = setUp()
    await client.get()
    const controller = new AbortController()
    const failure = failureOf(client.fetch(API, { signal: controller.signal }))
    // After the token was had, which takes a turn, and before the key has signed, which takes the thread pool.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    controller.abort()
    expect(await failure).toMatchObject({ name: 'AbortError' })
    expect(calls).toHaveLength(0)
  })

  test('ends a request that waits for its repetition', async () => {
    const controller = new AbortController()
    const { client, calls } = setUp(async ({ claims, init }) => {
      if (claims['nonce'] === undefined) return refuse('use_dpop_nonce', 'n1')
      return await new Promise<Response>((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => {
          reject(new DOMException('over', 'AbortError'))
        })
      })
    })
    const requesting = client.fetch(API, { signal: controller.signal })
    const failure = failureOf(requesting)
    await expect.poll(() => calls.length).toBe(2)
    controller.abort()
    expect(await failure).toMatchObject({ name: 'AbortError' })
  })

  test('of a client that is closed while its key is made ends the call', async () => {
    const { client, logins } = setUp()
    const failure = failureOf(client.get())
    await client.close()
    expect(await failure).toMatchObject({ code: 'aborted' })
    expect(logins).toHaveLength(0)
  })
})

test.each<[dpop: unknown]>([
  ['yes'],
  [1],
  [null],
  [[]],
  [{ algorithm: 'HS256' }],
  [{ algorithm: 'toString' }],
  [{ alg: 'ES256' }],
])('dpop: %j is a TypeError', (dpop) => {
  expect(() => setUp(undefined, { dpop: dpop as boolean })).toThrow(
    new TypeError(
      'createTokenClient: dpop must be true, false or { algorithm }, which is one of ES256, ES384, Ed25519, PS256, RS256',
    ),
  )
})

test('dpop: false is a client of bearer tokens', async () => {
  const { client, calls } = setUp(undefined, { dpop: false })
  await client.fetch(API)
  expect(calls[0]).toMatchObject({ scheme: 'Bearer', claims: {}, jkt: undefined })
  expect(calls[0]?.init.redirect).toBeUndefined()
})
