import { describe, expect, test } from 'vitest'

import type { OAuthClientOptions, OnBehalfOfOptions } from '../../src/oauth.ts'
import { failureOf, hang, jws, stateOf } from '../login-service.ts'
import { API, authOf, createClient, createServer, refusing, slowly } from './server.ts'

function setUp(options: Partial<OAuthClientOptions> = {}) {
  const server = createServer()
  const { clock } = server
  const client = createClient(server, options)
  const auth = (left = 120, claims: object = {}) => authOf(clock.now() + left, claims)
  return { server, clock, client, auth }
}

const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'

describe('the request', () => {
  test('is a token exchange for the target, with an actor if there is one', async () => {
    const { server, client, auth } = setUp({ scope: 'own', audience: 'own' })
    const { token, claims } = auth()
    const target = { audience: 'orders', scope: 'orders:read', resource: 'https://orders.test' }
    await client.onBehalfOf({ token, claims }, { ...target, actorToken: 'actor' }).get()
    expect(server.forms()).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token,
        subject_token_type: TOKEN_TYPE,
        actor_token: 'actor',
        actor_token_type: TOKEN_TYPE,
        ...target,
      },
    ])
  })

  test('is the assertion of Entra ID with the form jwt-bearer', async () => {
    const { server, client, auth } = setUp({ clientAuthentication: 'client_secret_post' })
    const subject = auth()
    await client.onBehalfOf(subject, { form: 'jwt-bearer', scope: 'api://orders/.default' }).get()
    expect(server.forms()).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: subject.token,
        requested_token_use: 'on_behalf_of',
        scope: 'api://orders/.default',
        client_id: 'shop',
        client_secret: 'secret',
      },
    ])
  })
})

describe('one exchange', () => {
  test('serves 1,000 callers of one subject, and those who come while its token is held', async () => {
    const { server, client, auth } = setUp()
    const subject = auth()
    const get = async () => await client.onBehalfOf(subject, { audience: 'orders' }).get()
    const tokens = await Promise.all(Array.from({ length: 1000 }, get))
    expect(new Set(tokens)).toEqual(new Set(['opaque-0']))
    expect(await get()).toBe('opaque-0')
    expect(server.requests).toHaveLength(1)
  })

  const base: OnBehalfOfOptions = { audience: 'ab', scope: 'a b' }
  test.each<[string, OnBehalfOfOptions]>([
    ['another audience', { ...base, audience: 'abc' }],
    ['audiences that read the same when joined', { ...base, audience: ['a', 'b'] }],
    ['a resource of the same text', { scope: 'a b', resource: 'urn:ab' }],
    ['another scope', { ...base, scope: 'a' }],
    ['an actor', { ...base, actorToken: 'actor' }],
    ['another form', { ...base, form: 'jwt-bearer' }],
  ])('is for nobody with %s', async (_title, other) => {
    const { server, client, auth } = setUp()
    const subject = auth()
    expect(await client.onBehalfOf(subject, base).get()).toBe('opaque-0')
    expect(await client.onBehalfOf(subject, other).get()).toBe('opaque-1')
    expect(await client.onBehalfOf(subject, base).get()).toBe('opaque-0')
    expect(server.requests).toHaveLength(2)
  })

  test('is for nobody whose token differs in its last character, or whose guard has found another end', async () => {
    const { client, auth } = setUp()
    const { token, claims } = auth()
    expect(await client.onBehalfOf({ token, claims }).get()).toBe('opaque-0')
    expect(await client.onBehalfOf({ token: `${token}x`, claims }).get()).toBe('opaque-1')
    const shorter = { ...claims, exp: Number(Reflect.get(claims, 'exp')) - 1 }
    expect(await client.onBehalfOf({ token, claims: shorter }).get()).toBe('opaque-2')
  })

  test('is for no other client, whose key of dpop is another', async () => {
    const { server, client, auth } = setUp()
    const subject = auth()
    await client.onBehalfOf(subject).get()
    await createClient(server).onBehalfOf(subject).get()
    expect(server.requests).toHaveLength(2)
  })
})

describe('an exchanged token', () => {
  test('never outlives its subject, and is not renewed when that cannot help', async () => {
    const { server, client, clock, auth } = setUp()
    const subject = auth(120)
    const handle = client.onBehalfOf(subject)
    for (let second = 0; second < 120; second++) {
      expect(await handle.get()).toBe('opaque-0')
      await clock.advance(1)
    }
    const late = [handle, client.onBehalfOf(subject)]
    for (const each of late) {
      expect(await failureOf(each.get())).toMatchObject({ code: 'invalid_grant', status: 401 })
    }
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ['after the end', 3],
    ['at the very end', 5],
  ])('that comes %s of its subject is a matter of the subject', async (_title, left) => {
    const { server, client, clock, auth } = setUp()
    server.answer = async () => {
      await clock.advance(5)
      return server.grant()
    }
    const handle = client.onBehalfOf(auth(left))
    for (let count = 0; count < 2; count++) {
      expect(await failureOf(handle.get())).toMatchObject({ code: 'invalid_grant', status: 401 })
    }
    expect(server.requests).toHaveLength(1)
  })

  test('that ends with its subject is not renewed: no other could last longer', async () => {
    const { server, client, clock, auth } = setUp()
    const handle = client.onBehalfOf(auth(300))
    await handle.get()
    await clock.advance(299)
    expect(await handle.get()).toBe('opaque-0')
    expect(server.requests).toHaveLength(1)
  })

  test('whose body comes after the end of its subject is a matter of the subject', async () => {
    const { server, client, clock, auth } = setUp()
    const members = { access_token: 'late', token_type: 'Bearer', expires_in: 300 }
    server.answer = () => slowly(clock, JSON.stringify(members))
    const failure = failureOf(client.onBehalfOf(auth(3)).get())
    await clock.advance(4)
    expect(await failure).toMatchObject({ code: 'invalid_grant', status: 401 })
  })

  test('that ends before its subject is renewed', async () => {
    const { server, client, clock, auth } = setUp()
    const handle = client.onBehalfOf(auth(3600))
    for (let second = 0; second < 3600; second += 10) {
      await handle.get()
      await clock.advance(10)
    }
    expect(server.requests.length).toBeGreaterThanOrEqual(12)
    expect(server.requests.length).toBeLessThanOrEqual(16)
  })

  test('of a suspended machine is not used after its subject’s end', async () => {
    const { client, clock, auth } = setUp()
    const handle = client.onBehalfOf(auth(120))
    await handle.get()
    clock.set(clock.now() + 121)
    expect(await failureOf(handle.get())).toMatchObject({ status: 401 })
  })

  test('without a stated lifetime is used for a minute at most, and less if the subject ends before', async () => {
    const { server, client, clock, auth } = setUp()
    server.answer = () => server.grant({ expires_in: undefined })
    const handle = client.onBehalfOf(auth(30))
    await handle.get()
    expect(handle.status().expiresIn).toBe(30)
    await clock.advance(30)
    expect(await failureOf(handle.get())).toMatchObject({ status: 401 })
  })

  test('of a subject without exp serves its handle, and callers who come during the exchange', async () => {
    const { server, client } = setUp()
    const subject = authOf(undefined)
    const first = client.onBehalfOf(subject)
    const both = [first.get(), client.onBehalfOf(subject).get()]
    expect(await Promise.all(both)).toEqual(['opaque-0', 'opaque-0'])
    expect(await first.get()).toBe('opaque-0')
    expect(await client.onBehalfOf(subject).get()).toBe('opaque-1')
    expect(server.requests).toHaveLength(2)
  })
})

describe('the memory', () => {
  test('keeps as many as it may, those that were used last', async () => {
    const { server, client, auth } = setUp({ remember: { max: 2, bytes: 1e6 } })
    const [a, b, c] = ['a', 'b', 'c'].map((sub) => auth(120, { sub }))
    if (a === undefined || b === undefined || c === undefined) throw new TypeError('three')
    for (const subject of [a, b, a, c, a]) await client.onBehalfOf(subject).get()
    expect(server.requests).toHaveLength(3)
    await client.onBehalfOf(b).get()
    expect(server.requests).toHaveLength(4)
  })

  test('takes nobody back who was pushed out while the exchange was under way', async () => {
    const { server, client, auth } = setUp({ remember: { max: 1, bytes: 1e6 } })
    const [early, late] = [auth(120, { sub: 'early' }), auth(120, { sub: 'late' })]
    const { answer } = server
    let settle: (() => void) | undefined
    const pushedOut = new Promise<void>((resolve) => {
      settle = resolve
    })
    server.answer = async (request) => {
      await pushedOut
      return await answer(request)
    }
    const waiting = client.onBehalfOf(early).get()
    await server.clock.advance(0)
    server.answer = answer
    await client.onBehalfOf(late).get()
    settle?.()
    await waiting
    await client.onBehalfOf(late).get()
    expect(server.requests).toHaveLength(2)
  })

  test('that has room for nobody: one exchange serves those who come during it', async () => {
    const { server, client, auth } = setUp({ remember: { max: 0, bytes: 0 } })
    const subject = auth()
    const get = async () => await client.onBehalfOf(subject).get()
    expect(await Promise.all([get(), get(), get()])).toEqual(['opaque-0', 'opaque-0', 'opaque-0'])
    expect(await get()).toBe('opaque-1')
    expect(server.requests).toHaveLength(2)
  })

  test('that has room for nobody shares the later of two exchanges when the earlier one ends', async () => {
    const { server, client, auth } = setUp({ remember: { max: 0, bytes: 0 } })
    const subject = auth()
    const { answer } = server
    const settle: (() => void)[] = []
    server.answer = async (request) => {
      await new Promise<void>((resolve) => void settle.push(resolve))
      return await answer(request)
    }
    const [earlier, later] = [client.onBehalfOf(subject), client.onBehalfOf(subject)]
    const [first, second] = [earlier.get(), later.get()]
    await server.clock.advance(0)
    settle[0]?.()
    await first
    const third = client.onBehalfOf(subject).get()
    await server.clock.advance(0)
    for (const each of settle) each()
    expect(await third).toBe(await second)
    expect(server.requests).toHaveLength(2)
  })

  test('shares the exchange of somebody who was pushed out', async () => {
    const { server, client, auth } = setUp({ remember: { max: 1, bytes: 1e6 } })
    const [early, late] = [auth(120, { sub: 'early' }), auth(120, { sub: 'late' })]
    const { answer } = server
    let settle: (() => void) | undefined
    server.answer = async (request) => {
      await new Promise<void>((resolve) => (settle = resolve))
      return await answer(request)
    }
    const both = [client.onBehalfOf(early).get()]
    await server.clock.advance(0)
    server.answer = answer
    await client.onBehalfOf(late).get()
    both.push(client.onBehalfOf(early).get())
    settle?.()
    expect(new Set(await Promise.all(both)).size).toBe(1)
    expect(server.requests).toHaveLength(2)
  })

  test('counts the bytes of what it was given', async () => {
    const { server, client, auth } = setUp({ remember: { max: 10, bytes: 10_000 } })
    server.answer = () => server.grant({ access_token: 'x'.repeat(9000) })
    const subject = auth()
    await client.onBehalfOf(subject).get()
    await client.onBehalfOf(subject).get()
    expect(server.requests).toHaveLength(2)
  })
})

describe('the handle', () => {
  test('sends the token to the listed origins', async () => {
    const { server, client, auth } = setUp()
    const handle = client.onBehalfOf(auth(), { audience: 'orders' })
    expect((await handle.fetch(`${API}/orders/7`)).status).toBe(200)
    const sent = new Headers(server.requests.at(-1)?.init.headers).get('authorization')
    expect(sent).toBe('Bearer opaque-0')
    expect(await handle.getAuthorization()).toBe('Bearer opaque-0')
    expect(handle.status()).toMatchObject({ freshness: 'fresh', expiresIn: 120 })
    expect(await failureOf(handle.fetch('https://other.test'))).toMatchObject({ status: 500 })
    expect(Object.keys(handle)).not.toContain('close')
  })

  test('ends with its signal, and with it its requests; other handles of the subject go on', async () => {
    const { server, client, auth } = setUp()
    const subject = auth()
    const revoked = new AbortController()
    const handle = client.onBehalfOf(subject, { signal: revoked.signal })
    const { answer } = server
    server.answer = hang
    const waiting = failureOf(handle.get())
    const own = new AbortController()
    const left = failureOf(handle.getAuthorization({ signal: own.signal }))
    const other = client.onBehalfOf(subject).get()
    own.abort()
    expect(await left).toMatchObject({ code: 'aborted' })
    expect(await stateOf(waiting)).toBe('pending')
    revoked.abort()
    expect(await waiting).toMatchObject({ code: 'aborted' })
    expect(await stateOf(other)).toBe('pending')
    server.answer = answer
    await server.clock.advance(10)
    await failureOf(other)
  })

  test('gives its requests a signal that ends them', async () => {
    const { server, client, auth } = setUp()
    const reason = new Error('revoked')
    const revoked = new AbortController()
    const handle = client.onBehalfOf(auth(), { signal: revoked.signal })
    await handle.get()
    const own = new AbortController()
    await handle.fetch(new Request(API), { signal: own.signal })
    await handle.fetch(new Request(API))
    const signals = server.requests.slice(-2).map(({ init }) => init.signal)
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, false])
    revoked.abort(reason)
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true])
    expect(await failureOf(handle.fetch(API))).toBe(reason)
    expect(await failureOf(handle.get())).toMatchObject({ code: 'aborted' })
  })

  test('asks for another token when its API has refused one', async () => {
    const { client, auth, server } = setUp()
    const [handle, other] = [client.onBehalfOf(auth()), client.onBehalfOf(auth())]
    handle.invalidate(await handle.get())
    expect([await handle.get(), await other.get()]).toEqual(['opaque-1', 'opaque-1'])
    handle.invalidate('opaque-0')
    expect(await handle.get()).toBe('opaque-1')
    expect(server.requests).toHaveLength(2)
  })

  test('ends its request with the signal of the Request that it was given', async () => {
    const { client, auth, server } = setUp()
    const own = new AbortController()
    const revoked = new AbortController()
    const handle = client.onBehalfOf(auth(), { signal: revoked.signal })
    await handle.fetch(new Request(API, { signal: own.signal }))
    own.abort()
    expect(server.requests.at(-1)?.init.signal?.aborted).toBe(true)
  })

  test('of a Request with a signal, called without one, follows its own alone', async () => {
    const { client, auth, server } = setUp()
    const [own, revoked] = [new AbortController(), new AbortController()]
    const handle = client.onBehalfOf(auth(), { signal: revoked.signal })
    await handle.fetch(new Request(API, { signal: own.signal }), { signal: null })
    const signal = server.requests.at(-1)?.init.signal
    own.abort()
    expect(signal?.aborted).toBe(false)
    revoked.abort()
    expect(signal?.aborted).toBe(true)
  })

  test('ends with the client', async () => {
    const { client, auth } = setUp()
    const subject = auth()
    const handle = client.onBehalfOf(subject)
    await handle.get()
    expect(client.onBehalfOf(subject).get).toBe(handle.get)
    await client.close()
    expect(await failureOf(handle.get())).toMatchObject({ code: 'aborted' })
    // Its token is forgotten, and nothing is remembered any more.
    expect(client.onBehalfOf(subject).get).not.toBe(client.onBehalfOf(subject).get)
    expect(client.onBehalfOf(subject).status()).toMatchObject({ freshness: 'none', isClosed: true })
  })
})

describe('a refusal', () => {
  test.each([
    ['invalid_request', 401],
    ['invalid_grant', 401],
    ['invalid_target', 403],
    ['invalid_scope', 403],
    ['invalid_client', 502],
    ['unauthorized_client', 502],
    ['unsupported_grant_type', 502],
  ] as const)('%s is worth %i, also for those who come soon after', async (code, status) => {
    const { server, client, auth } = setUp()
    server.answer = refusing(code)
    const subject = auth()
    for (let count = 0; count < 3; count++) {
      const failure = await failureOf(client.onBehalfOf(subject).get())
      expect(failure).toMatchObject({ code, status })
      expect(JSON.stringify(failure)).not.toContain('canary')
    }
    expect(server.requests).toHaveLength(1)
  })

  test('of a subject without exp is remembered as well, though its token is not', async () => {
    const { server, client, clock } = setUp()
    const { answer } = server
    const subject = authOf(undefined)
    server.answer = refusing('invalid_grant')
    for (let count = 0; count < 3; count++) {
      expect(await failureOf(client.onBehalfOf(subject).get())).toMatchObject({ status: 401 })
    }
    expect(server.requests).toHaveLength(1)
    await clock.advance(30)
    server.answer = answer
    expect(await client.onBehalfOf(subject).get()).toBe('opaque-0')
    expect(await client.onBehalfOf(subject).get()).toBe('opaque-1')
  })

  test('of one subject concerns no other', async () => {
    const { server, client, auth } = setUp()
    const { answer } = server
    server.answer = refusing('invalid_grant')
    await failureOf(client.onBehalfOf(auth(120, { sub: 'eve' })).get())
    server.answer = answer
    expect(await client.onBehalfOf(auth()).get()).toBe('opaque-0')
  })
})

describe('a mistake of the program is a TypeError', () => {
  test.each<[string, (exp: number) => unknown]>([
    ['bound to a key', (exp) => authOf(exp, { cnf: { jkt: 'x' } })],
    ['bound to nothing known', (exp) => authOf(exp, { cnf: null })],
    ['no Auth', () => ({})],
    ['an Auth whose token is no text', (exp) => ({ token: ['a'], claims: { exp } })],
    ['an Auth whose claims are a text', (exp) => ({ token: 'a', claims: `${exp}` })],
    ['an Auth whose claims are null', () => ({ token: 'a', claims: null })],
    ['nothing', () => undefined],
    ['a token without claims', () => ({ token: jws({}) })],
    ['an empty token', (exp) => ({ token: '', claims: { exp } })],
  ])('a subject that is %s', (_title, subject) => {
    const { client, clock } = setUp()
    const auth = subject(clock.now() + 60) as ReturnType<typeof authOf>
    expect(() => client.onBehalfOf(auth)).toThrow(/^onBehalfOf: the (first argument|token) /)
  })

  test.each([
    [{ audiences: 'a' }, 'unknown option "audiences"'],
    [{ audience: '' }, 'audience must be'],
    [{ resource: 'orders' }, 'resource must be'],
    [{ scope: 'a  b' }, 'scope must be'],
    [{ actorToken: 1 }, 'actorToken must be'],
    [{ form: 'obo' }, 'form must be'],
    [{ signal: true }, 'signal must be'],
    [{ form: 'jwt-bearer', actorToken: 'a' }, 'no actorToken'],
  ])('%j', (options, complaint) => {
    const { client, auth } = setUp()
    expect(() => client.onBehalfOf(auth(), options as OnBehalfOfOptions)).toThrow(complaint)
  })
})
