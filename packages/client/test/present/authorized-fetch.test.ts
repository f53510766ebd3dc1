import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import ky from 'ky'
import * as undici from 'undici'
import { afterAll, describe, expect, test } from 'vitest'

import type { TokenClient } from '../../src/index.ts'
import type { ClientFetch } from '../../src/request/token-request.ts'
import { createClient, createLoginService, failureOf, hang, late } from '../login-service.ts'
import { serve } from '../serve.ts'

const API = 'https://api.test'
const OTHER = 'https://other.test'
const stream = () => ReadableStream.from([Buffer.from('x')])

interface Call {
  readonly url: string
  readonly init: RequestInit
  readonly authorization: string | null
}

/** A client with a service and an API that the test answers for. */
function setUp(answer: (call: Call) => Response | Promise<Response> = () => new Response('ok')) {
  const service = createLoginService()
  const calls: Call[] = []
  const fetch = async (url: string, init: RequestInit = {}) => {
    if (url.startsWith('https://auth.test')) return await service.fetch(url, init)
    const call = { url, init, authorization: new Headers(init.headers).get('authorization') }
    calls.push(call)
    return await answer(call)
  }
  return {
    service,
    clock: service.clock,
    calls,
    client: createClient(service, { fetch, origins: [API, OTHER] }),
  }
}

/** An API that refuses the first token. */
function refusingFirst() {
  const scene = setUp(({ authorization }) => {
    const isFirst = authorization === `Bearer ${scene.service.tokens[0]}`
    return new Response(isFirst ? 'no' : 'yes', { status: isFirst ? 401 : 200 })
  })
  return scene
}

/** APIs that accept a token or not, by their URL and the age of the token. */
function honouring(isHonoured: (url: string, age: number) => boolean) {
  const scene = setUp(({ url, authorization }) => {
    const index = scene.service.tokens.findIndex((token) => authorization === `Bearer ${token}`)
    const age = scene.clock.monotonic() - (scene.service.requests[index]?.time ?? 0)
    return new Response(null, { status: isHonoured(url, age) ? 200 : 401 })
  })
  scene.service.answer = () => scene.service.token(3600)
  return scene
}

describe('the token', () => {
  test('is added to what is sent, and nothing is taken from it', async () => {
    const { client, calls, service } = setUp()
    const headers = { 'content-type': 'text/plain', authorization: 'Basic mine' }
    const init = { method: 'PUT', headers, body: 'x', redirect: 'error' as const }
    await client.fetch(`${API}/a?b=c`, init)
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({
      url: `${API}/a?b=c`,
      authorization: `Bearer ${service.tokens[0]}`,
      init: { method: 'PUT', body: 'x', redirect: 'error' },
    })
    expect(new Headers(calls[0]?.init.headers).get('content-type')).toBe('text/plain')
    expect(init.headers).toBe(headers)
    expect(headers.authorization).toBe('Basic mine')
  })

  test('is added to a URL and a Request, whose parts are kept', async () => {
    const { client, calls } = setUp()
    await client.fetch(new URL('/a', API))
    const { signal } = new AbortController()
    await client.fetch(
      new Request(`${API}/b`, { method: 'DELETE', headers: { 'x-a': '1' }, redirect: 'error' }),
      { headers: { 'x-b': '2' }, signal },
    )
    expect(calls.map(({ url }) => url)).toEqual([`${API}/a`, `${API}/b`])
    expect(calls[1]?.init).toMatchObject({ method: 'DELETE', redirect: 'error' })
    // Like `fetch`: the headers of `init` replace those of the request.
    expect(new Headers(calls[1]?.init.headers).get('x-a')).toBeNull()
    expect(new Headers(calls[1]?.init.headers).get('x-b')).toBe('2')
  })

  test('keeps what only an injected fetch knows', async () => {
    const { client, calls } = setUp()
    const dispatcher = {}
    const init: object = { dispatcher }
    await client.fetch(new Request(API), init)
    await client.fetch(API, init)
    for (const call of calls) expect(call.init).toHaveProperty('dispatcher', dispatcher)
  })

  test.each([
    'https://api.test.evil.test',
    'https://evil.test/https://api.test',
    'https://evil.test#https://api.test',
    'https://api.test:8443',
    'http://api.test',
    'https://API.test.',
    'https://auth.test',
  ])('is not for %s: nothing is sent, not even a login', async (url) => {
    for (const input of [url, new URL(url)]) {
      const { client, calls, service } = setUp()
      expect(await failureOf(client.fetch(input))).toMatchObject({
        code: 'origin_not_allowed',
        message: 'the token is not for the origin of this URL',
      })
      expect([...calls, ...service.requests]).toEqual([])
    }
  })

  test.each([
    'https://me:hunter2@api.test',
    'https://me@api.test',
    'https://api.test@evil.test',
    'https://:hunter2@api.test',
    'data:text/plain,https://api.test',
    'blob:https://api.test/9115d58c-bcda-ff47-86e5-083e9a215304',
  ])('is not for %s: nothing is sent, not even a login', async (url) => {
    for (const input of [url, new URL(url)]) {
      const { client, calls, service } = setUp()
      const failure = await failureOf(client.fetch(input))
      expect(failure).toMatchObject({
        code: 'origin_not_allowed',
        message: 'the token goes to http and https URLs without credentials alone',
      })
      expect(inspect(failure)).not.toMatch(/me:|hunter2/)
      expect([...calls, ...service.requests]).toEqual([])
    }
  })

  test('is not for the URL of another Request either', async () => {
    const { client } = setUp()
    expect(await failureOf(client.fetch(new Request('https://evil.test')))).toMatchObject({
      code: 'origin_not_allowed',
    })
  })

  test('goes where the URL led when fetch was called, whatever becomes of it meanwhile', async () => {
    const { client, calls, service } = setUp()
    const url = new URL(API)
    const answered = client.fetch(url)
    url.host = 'evil.test'
    await answered
    expect(calls.map((call) => call.url)).toEqual([`${API}/`])
    expect(service.requests).toHaveLength(1)
  })

  test.each(['/v1', 'api.test'])('%s has no origin: a TypeError, as of fetch', async (url) => {
    const { client } = setUp()
    expect(await failureOf(client.fetch(url))).toBeInstanceOf(TypeError)
  })
})

describe('a 401', () => {
  test('costs another token and one repetition', async () => {
    const { client, calls, service } = refusingFirst()
    const response = await client.fetch(API, { method: 'POST', body: 'x' })
    expect(await response.text()).toBe('yes')
    expect(calls.map(({ init }) => [init.method, init.body])).toEqual([
      ['POST', 'x'],
      ['POST', 'x'],
    ])
    expect(service.requests).toHaveLength(2)
  })

  test('ten at once cost one login', async () => {
    const { client, calls, service } = refusingFirst()
    await client.get()
    const responses = await Promise.all(
      Array.from({ length: 10 }, async () => await client.fetch(API)),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(calls).toHaveLength(20)
    expect(service.requests).toHaveLength(2)
  })

  test('ten that come one after another, all with the first token, cost one login', async () => {
    const gates: (() => void)[] = []
    const scene = setUp(async ({ authorization }) => {
      if (authorization !== `Bearer ${scene.service.tokens[0]}`) return new Response('yes')
      await new Promise<void>((resolve) => gates.push(resolve))
      return new Response(null, { status: 401 })
    })
    const { client, service, clock } = scene
    await client.get()
    const calls = Array.from({ length: 10 }, async () => await client.fetch(API))
    await clock.advance(0)
    for (const open of gates) {
      open()
      await clock.advance(1)
    }
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(service.requests).toHaveLength(2)
  })

  test('while a renewal is under way waits for that one', async () => {
    const { client, service, clock } = refusingFirst()
    await client.get()
    await clock.advance(271)
    service.answer = late(service, 2, () => service.token())
    const answered = client.fetch(API)
    await clock.advance(2)
    expect((await answered).status).toBe(200)
    expect(service.requests).toHaveLength(2)
  })

  test('from an API that refuses every token is handed on; logins are at 0, 0, 3, 6, 12, 24, 48, 60 s', async () => {
    const { client, service, clock } = setUp(() => new Response(null, { status: 401 }))
    for (let second = 0; second < 240; second++) {
      expect((await client.fetch(API)).status).toBe(401)
      await clock.advance(1)
    }
    const times = service.requests.map(({ time }) => time)
    expect(times.map((time, index) => time - (times[index - 1] ?? 0))).toEqual([
      0, 0, 3, 6, 12, 24, 48, 60, 60,
    ])
  })

  test('from an API that honours each token for 20 s: no call ends in one', async () => {
    const { client, service, clock } = honouring((_url, age) => age < 20)
    for (let second = 0; second < 900; second++) {
      expect((await client.fetch(API)).status).toBe(200)
      await clock.advance(1)
    }
    expect(service.requests).toHaveLength(45)
  })

  test('from an API that honours each token for 20 s and is sent streams: each costs one call', async () => {
    const { client, service, clock } = honouring((_url, age) => age < 20)
    const refused: number[] = []
    for (let second = 0; second < 900; second++) {
      const init: object = { method: 'POST', body: stream(), duplex: 'half' }
      if ((await client.fetch(API, init)).status === 401) refused.push(second)
      await clock.advance(1)
    }
    expect(service.requests.length - 1).toBe(refused.length)
    expect(refused).toHaveLength(42)
  })

  test.each<[string, string, (url: string, age: number) => boolean]>([
    ['another origin that accepts every token', OTHER, (url) => url.startsWith(OTHER)],
    ['another path that accepts every token', `${API}/open`, (url) => url.endsWith('/open')],
  ])(
    'from an API that refuses every token, beside %s: the pace is the same',
    async (_title, open, isHonoured) => {
      const { client, service, clock } = honouring(isHonoured)
      for (let second = 0; second < 240; second++) {
        const calls = [client.fetch(API), client.fetch(open), client.fetch(API), client.fetch(open)]
        const statuses = (await Promise.all(calls)).map(({ status }) => status)
        expect(statuses).toEqual([401, 200, 401, 200])
        await clock.advance(1)
      }
      const times = service.requests.map(({ time }) => time)
      expect(times.map((time, index) => time - (times[index - 1] ?? 0))).toEqual([
        0, 0, 3, 6, 12, 24, 48, 60, 60,
      ])
    },
  )

  test('from a path that is called now and then, beside one that accepts every token: paced as well', async () => {
    const { client, service, clock } = honouring((url) => url.endsWith('/open'))
    for (let call = 0; call < 60; call++) {
      expect((await client.fetch(API)).status).toBe(401)
      expect((await client.fetch(`${API}/open`)).status).toBe(200)
      await clock.advance(15)
    }
    expect(service.requests.length).toBeLessThanOrEqual(20)
  })

  test('from an API whose redirects another origin accepts is paced as well', async () => {
    const elsewhere = { value: 'https://elsewhere.test/' }
    const { client, service, clock } = setUp(({ url }) =>
      url.endsWith('/away')
        ? Object.defineProperty(new Response(), 'url', elsewhere)
        : new Response(null, { status: 401 }),
    )
    service.answer = () => service.token(3600)
    for (let call = 0; call < 60; call++) {
      await client.fetch(`${API}/away`)
      await clock.advance(15)
      const init: object = { method: 'POST', body: stream(), duplex: 'half' }
      expect((await client.fetch(API, init)).status).toBe(401)
    }
    expect(service.requests.length).toBeLessThanOrEqual(20)
  })

  test('from an API that honours each token for 20 s, beside one that refuses all: no call to it ends in one', async () => {
    const { client, service, clock } = honouring((url, age) => url.startsWith(OTHER) && age < 20)
    for (let second = 0; second < 900; second++) {
      expect((await client.fetch(OTHER)).status).toBe(200)
      expect((await client.fetch(API)).status).toBe(401)
      await clock.advance(1)
    }
    expect(service.requests.length).toBeLessThanOrEqual(45 + 20)
  })

  test('is handed on with its body, unread, where there is no other token', async () => {
    const { client, calls } = setUp(() => new Response('refused', { status: 401 }))
    await client.fetch(API)
    expect(calls).toHaveLength(2)
    expect(await (await client.fetch(API)).text()).toBe('refused')
    expect(calls).toHaveLength(3)
  })

  test('after which there is no token at all: the error of the login, and the answer is dropped', async () => {
    let dropped = 0
    const body = () => new ReadableStream({ cancel: () => void dropped++ })
    const { client, service } = setUp(() => new Response(body(), { status: 401 }))
    await client.get()
    service.answer = () => new Response(null, { status: 403 })
    expect(await failureOf(client.fetch(API))).toMatchObject({ code: 'credentials_rejected' })
    expect(dropped).toBe(1)
  })

  test.each<[string, () => Promise<void>]>([
    ['fails', async () => await Promise.reject(new Error('reset'))],
    ['hangs', hang],
  ])('whose body %s when it is dropped is repeated all the same', async (_title, cancel) => {
    const scene = setUp(({ authorization }) =>
      authorization === `Bearer ${scene.service.tokens[0]}`
        ? new Response(new ReadableStream({ cancel }), { status: 401 })
        : new Response('yes'),
    )
    expect(await (await scene.client.fetch(API)).text()).toBe('yes')
  })

  test.each<[string, () => unknown]>([
    ['none', () => undefined],
    ['null', () => null],
    ['a text', () => 'x'],
    ['parameters', () => new URLSearchParams({ a: 'b' })],
    ['a form', () => new FormData()],
    ['a blob', () => new Blob(['x'])],
    ['a buffer', () => new ArrayBuffer(1)],
    ['a view', () => Buffer.from('x')],
  ])('to a body that can be sent again, %s, is repeated', async (_title, body) => {
    const { client, calls } = refusingFirst()
    const init: object = { method: 'POST', body: body() }
    expect((await client.fetch(API, init)).status).toBe(200)
    expect(calls).toHaveLength(2)
  })

  test.each<[string, () => Parameters<TokenClient['fetch']>]>([
    ['a stream', () => [API, { method: 'POST', body: stream(), duplex: 'half' }]],
    ['that of a Request', () => [new Request(API, { method: 'POST', body: 'x' })]],
  ])('to a body that cannot, %s, is handed on, and the token dropped', async (_title, create) => {
    const { client, calls, service } = refusingFirst()
    expect((await client.fetch(...create())).status).toBe(401)
    expect(calls).toHaveLength(1)
    expect((await client.fetch(API)).status).toBe(200)
    expect(service.requests).toHaveLength(2)
  })

  test('to a Request without a body is repeated', async () => {
    const { client } = refusingFirst()
    expect((await client.fetch(new Request(API))).status).toBe(200)
  })

  test.each([400, 403, 407, 500])('is not %i', async (status) => {
    const { client, calls } = setUp(() => new Response(null, { status }))
    expect((await client.fetch(API)).status).toBe(status)
    expect(calls).toHaveLength(1)
  })

  test('of another origin, which never saw the token, drops none', async () => {
    const elsewhere = { value: 'https://elsewhere.test/' }
    const { client, calls, service } = setUp(() =>
      Object.defineProperty(new Response(null, { status: 401 }), 'url', elsewhere),
    )
    expect((await client.fetch(API)).status).toBe(401)
    expect(calls).toHaveLength(1)
    expect(client.status().freshness).toBe('fresh')
    expect(service.requests).toHaveLength(1)
  })
})

describe('a signal', () => {
  test.each<[string, (signal: AbortSignal) => Parameters<TokenClient['fetch']>]>([
    ['of the options', (signal) => [API, { signal }]],
    ['of a Request', (signal) => [new Request(API, { signal })]],
  ])('%s ends the wait for a token as it ends a fetch', async (_title, create) => {
    const { client, service, clock } = setUp()
    service.answer = hang
    const controller = new AbortController()
    const failure = failureOf(client.fetch(...create(controller.signal)))
    await clock.advance(1)
    const reason = new Error('mine')
    controller.abort(reason)
    expect(await failure).toBe(reason)
    await client.close()
  })

  test('null in the options takes that of a Request away', async () => {
    const { client } = setUp()
    const request = new Request(API, { signal: AbortSignal.abort() })
    expect((await client.fetch(request, { signal: null })).status).toBe(200)
  })

  test('that is not aborted leaves the error as it is', async () => {
    const { client, service } = setUp()
    service.answer = () => new Response(null, { status: 400 })
    const { signal } = new AbortController()
    expect(await failureOf(client.fetch(API, { signal }))).toMatchObject({
      code: 'credentials_rejected',
    })
  })

  test('of a Request that nobody holds any more still ends what was sent', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void // what the flag exposes
    const scene = setUp(hang)
    const controller = new AbortController()
    const failure = failureOf(scene.client.fetch(new Request(API, { signal: controller.signal })))
    for (let turn = 0; turn < 5; turn++) {
      await scene.clock.advance(0)
      collect()
    }
    controller.abort()
    expect(scene.calls[0]?.init.signal?.aborted).toBe(true)
    expect(await failure).toMatchObject({ name: 'AbortError' })
  })

  test('ends the wait for a fetch that ignores it, and drops the answer that comes late', async () => {
    let settle: ((response: Response) => void) | undefined
    const scene = setUp(
      async () => await new Promise<Response>((resolve) => void (settle = resolve)),
    )
    const controller = new AbortController()
    const failure = failureOf(scene.client.fetch(API, { signal: controller.signal }))
    await scene.clock.advance(0)
    const reason = new Error('mine')
    controller.abort(reason)
    expect(await failure).toBe(reason)
    let isCancelled = false
    settle?.(new Response(new ReadableStream({ cancel: () => void (isCancelled = true) })))
    await scene.clock.advance(0)
    expect(isCancelled).toBe(true)
    expect(await failureOf(scene.client.fetch(API, { signal: controller.signal }))).toBe(reason)
    expect(scene.calls).toHaveLength(1)
  })

  test('reaches the request', async () => {
    const { client, calls } = setUp()
    const { signal } = new AbortController()
    await client.fetch(API, { signal })
    expect(calls[0]?.init.signal).toBe(signal)
  })
})

describe('over real connections', async () => {
  const elsewhere = await serve((_request, response) => response.writeHead(401).end())
  const api = await serve((request, response) => {
    if (request.url === '/away') response.writeHead(307, { location: elsewhere.url }).end()
    else if (request.url === '/on') response.writeHead(302, { location: '/' }).end()
    else response.end(request.headers.authorization)
  })
  afterAll(async () => {
    await api[Symbol.asyncDispose]()
    await elsewhere[Symbol.asyncDispose]()
  })

  const fetches: readonly [string, ClientFetch][] = [
    ['the platform’s fetch', async (...args) => await globalThis.fetch(...args)],
    ['undici’s fetch', undici.fetch as typeof fetch],
  ]

  describe.each(fetches)('with %s', (_name, fetch) => {
    function connect() {
      const service = createLoginService()
      const either: ClientFetch = async (url, init) =>
        await (url.startsWith('https://auth.test') ? service.fetch(url, init) : fetch(url, init))
      const client = createClient(service, { fetch: either, origins: [api.url] })
      return { service, client }
    }

    test('a redirect to another origin goes without the token, and its 401 drops none', async () => {
      const { client, service } = connect()
      const before = elsewhere.requests.length
      const response = await client.fetch(`${api.url}/away`, { method: 'POST', body: 'x' })
      expect(response.status).toBe(401)
      expect(api.requests.at(-1)?.headers.authorization).toBe(`Bearer ${service.tokens[0]}`)
      expect(elsewhere.requests).toHaveLength(before + 1)
      expect(elsewhere.requests.at(-1)?.rawHeaders.join()).not.toMatch(/authorization|Bearer/i)
      expect(client.status().freshness).toBe('fresh')
    })

    test('a redirect within the origin keeps it', async () => {
      const { client, service } = connect()
      const response = await client.fetch(`${api.url}/on`)
      expect(await response.text()).toBe(`Bearer ${service.tokens[0]}`)
    })

    test('a Request of the platform, as ky makes them, is sent with its body', async () => {
      const { client, service } = connect()
      const text = await ky.post(api.url, { fetch: client.fetch, json: { a: 1 } }).text()
      expect(text).toBe(`Bearer ${service.tokens[0]}`)
      const { method, headers } = api.requests.at(-1) ?? {}
      expect(method).toBe('POST')
      expect(headers?.['content-type']).toBe('application/json')
    })
  })
})

test('fits where a fetch is wanted', () => {
  const { client } = setUp()
  const platform: typeof globalThis.fetch = client.fetch
  expect(platform).toBe(client.fetch)
})
