import { EventEmitter, once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { gzipSync } from 'node:zlib'

import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import {
  createExchange,
  type Fetch,
  type FetchResponse,
  platformFetch,
} from '../../src/http/exchange.ts'
import { badDocument, fetchJson, within, withDeadline } from '../../src/http/fetch-json.ts'
import { createRetry } from '../../src/http/retry.ts'
import { type Clock, systemClock } from '../../src/time.ts'

const URL_ASKED = 'https://auth.test/keys.json'
const MIB = 1024 * 1024
const HEADERS = { accept: 'application/json', 'user-agent': 'portcullis' }

function exchangeWith(
  fetch: Fetch,
  { signal, clock = manualClock() }: { signal: AbortSignal; clock?: Clock },
) {
  return createExchange({ fetch, retry: createRetry(), clock, headers: HEADERS }, signal)
}

/** What one injected answer comes to. */
async function outcomeOf(answer: () => Promise<FetchResponse>) {
  return await get(URL_ASKED, answer)
}

async function get(url: string, fetch: Fetch = platformFetch) {
  return await fetchJson(url, exchangeWith(fetch, new AbortController()))
}

async function serve(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')
  return {
    url: `http://127.0.0.1:${address.port}/keys.json`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A promise that another part of the test settles. */
function gate() {
  const events = new EventEmitter()
  return { open: () => events.emit('open'), opened: once(events, 'open') }
}

/** A server's end of one exchange, and when it closed. */
function connection() {
  const [asked, closed] = [gate(), gate()]
  return {
    asked: asked.opened,
    closed: closed.opened,
    accept: (request: IncomingMessage) => {
      request.socket.once('close', closed.open)
      asked.open()
    },
  }
}

/** Writes as long as somebody reads. */
function writeForEver(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const more = () => {
    let isReady = true
    while (isReady && !response.destroyed) isReady = response.write(chunk)
  }
  response.on('drain', more)
  more()
}

/** A JSON text of so many octets. */
function jsonOf(octets: number): string {
  return `"${'a'.repeat(octets - 2)}"`
}

function plainResponse(): FetchResponse {
  const { status, redirected, url, headers, body } = new Response('{}')
  return { status, redirected, url, headers, body }
}

function countedClock(): { clock: Clock; pending: () => number } {
  const manual = manualClock()
  const running = new Set<() => void>()
  const after: Clock['after'] = (seconds, fn) => {
    const cancel = manual.after(seconds, fn)
    running.add(cancel)
    return () => {
      running.delete(cancel)
      cancel()
    }
  }
  return { clock: { ...manual, after }, pending: () => running.size }
}

describe('an answer', () => {
  test('a JSON document is handed on, with what says how long it is fresh', async () => {
    const headers = { 'cache-control': 'public, max-age=60', age: '7', etag: '"1"' }
    const document = await outcomeOf(async () => Response.json({ kty: 'RSA' }, { headers }))
    expect(document).toEqual({
      value: { kty: 'RSA' },
      freshnessLifetime: 53,
    })
  })

  test('what is not said about its freshness is undefined', async () => {
    const document = await outcomeOf(async () => new Response('{}'))
    expect(document).toEqual({ value: {}, freshnessLifetime: undefined })
  })

  test.each([
    { name: 'null', body: 'null', value: null },
    { name: 'a text', body: '"key"', value: 'key' },
    { name: 'a list', body: '[1]', value: [1] },
    { name: 'white space around', body: ' \r\n\t{} ', value: {} },
    { name: 'a byte order mark', body: '\uFEFF{"kty":"RSA"}', value: { kty: 'RSA' } },
    { name: 'text beyond ASCII', body: '{"kid":"schlüssel"}', value: { kid: 'schlüssel' } },
  ])('$name is JSON', async ({ body, value }) => {
    const document = await outcomeOf(async () => new Response(body))
    expect(document).toMatchObject({ value })
  })

  test.each([
    { name: 'no body', body: null, what: ': it is empty' },
    { name: 'an empty body', body: '', what: ': it is empty' },
    {
      name: 'a page',
      body: '\r\n<!doctype html><title>Sign in</title>',
      what: ': it begins with "<", as HTML does. Is the path right?',
    },
    {
      name: 'PEM',
      body: '-----BEGIN PUBLIC KEY-----',
      what: ': it looks like PEM, and must be a JWK or a JWK set',
    },
    { name: 'two documents', body: '{}{}' },
    { name: 'half a document', body: '{"kty":' },
    { name: 'two byte order marks', body: '\uFEFF\uFEFF{}' },
    { name: 'UTF-8 that is not valid', body: Buffer.from([0x22, 0xff, 0x22]) },
    { name: 'UTF-8 that breaks off', body: Buffer.from([0x22, 0x41, 0x22, 0xe2, 0x82]) },
    { name: 'a surrogate in UTF-8', body: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) },
    { name: 'UTF-16', body: Buffer.from('\uFEFF{}', 'utf16le') },
  ])('$name is a bad document', async ({ body, what = '' }) => {
    expect(await outcomeOf(async () => new Response(body))).toEqual({
      failure: 'bad_document',
      detail: `the document is not JSON${what}`,
      retryAfter: undefined,
    })
  })

  test('a stream that has a reader and no iterator is read to its end', async () => {
    const { body } = new Response('{"kty":"RSA"}')
    const response = { ...plainResponse(), body: body && { getReader: () => body.getReader() } }
    expect(await outcomeOf(async () => response)).toMatchObject({ value: { kty: 'RSA' } })
  })

  test('a stream that has a reader alone, and is too large, is cancelled', async () => {
    const { open, opened } = gate()
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(MIB)),
      cancel: () => void open(),
    })
    const response = { ...plainResponse(), body: { getReader: () => body.getReader() } }
    expect(await outcomeOf(async () => response)).toMatchObject({ failure: 'bad_document' })
    await opened
  })

  test('characters that chunks cut in two are put together', async () => {
    const octets = new TextEncoder().encode('{"kid":"€"}')
    const body = (async function* oneByOne() {
      for (const octet of octets) yield Uint8Array.of(octet)
    })()
    const response = { ...plainResponse(), body }
    expect(await outcomeOf(async () => response)).toMatchObject({ value: { kid: '€' } })
  })

  test.each([201, 202, 203, 204, 206, 301, 304, 307, 400, 401, 403, 404, 410, 418, 429, 500, 503])(
    'status %i is no document, whatever the body says',
    async (status) => {
      const body = [204, 304].includes(status) ? null : '{"kty":"RSA"}'
      expect(await outcomeOf(async () => new Response(body, { status }))).toEqual({
        failure: 'unreachable',
        detail: `the key URL answered ${status}`,
        retryAfter: undefined,
      })
    },
  )

  test.each([
    { name: 'seconds', headers: { 'retry-after': '120' }, retryAfter: 120 },
    {
      name: 'a date',
      headers: { 'retry-after': new Date((manualClock().now() + 60) * 1000).toUTCString() },
      retryAfter: 60,
    },
    { name: 'something else', headers: { 'retry-after': 'soon' }, retryAfter: undefined },
  ])('Retry-After is passed on in seconds: $name', async ({ headers, retryAfter }) => {
    const failure = await outcomeOf(async () => new Response(null, { status: 503, headers }))
    expect(failure).toMatchObject({ failure: 'unreachable', retryAfter })
  })

  test('Retry-After beside a bad document is not passed on', async () => {
    const headers = { 'retry-after': '120' }
    const failure = await outcomeOf(async () => new Response('no', { headers }))
    expect(failure).toMatchObject({ failure: 'bad_document', retryAfter: undefined })
  })

  test.each([
    { name: 'it says so', response: { redirected: true, url: URL_ASKED } },
    { name: 'it says so without a URL', response: { redirected: true, url: '' } },
    { name: 'an error behind it', response: { redirected: true, status: 404 } },
  ])('a fetch that followed a redirect is refused: $name', async ({ response }) => {
    const answer = { ...plainResponse(), ...response }
    expect(await outcomeOf(async () => answer)).toEqual({
      failure: 'unreachable',
      detail: 'the key URL answered with a redirect, which is not followed',
      retryAfter: undefined,
    })
  })

  test.each([
    { name: 'another host', response: { url: 'https://evil.test/keys.json' } },
    { name: 'another path', response: { url: `${URL_ASKED}/` } },
    { name: 'another scheme', response: { url: URL_ASKED.replace('https', 'http') } },
    { name: 'an error behind it', response: { url: 'https://evil.test/', status: 404 } },
  ])(
    'an answer from elsewhere is refused, and is not called a redirect: $name',
    async ({ response }) => {
      const answer = { ...plainResponse(), ...response }
      expect(await outcomeOf(async () => answer)).toMatchObject({
        failure: 'unreachable',
        detail: expect.stringMatching(/^the answer of the key URL has another url /) as unknown,
      })
    },
  )

  test('what is no answer is refused, and named', async () => {
    const mock = { ok: true, status: 200, json: async () => ({}) } as unknown as FetchResponse
    expect(await outcomeOf(async () => mock)).toMatchObject({
      failure: 'unreachable',
      detail: expect.stringMatching(
        /^fetch gave an object without a url, headers\.get, /,
      ) as unknown,
    })
  })

  test.each([
    { name: 'the very URL', url: URL_ASKED },
    { name: 'none, as a constructed one has', url: '' },
  ])('an answer from $name is taken', async ({ url }) => {
    const response = { ...plainResponse(), url }
    expect(await outcomeOf(async () => response)).toMatchObject({ value: {} })
  })
})

describe('the size', () => {
  test.each([
    { name: '1 MiB exactly', octets: MIB },
    { name: 'less', octets: 2000 },
  ])('$name is read', async ({ octets }) => {
    const document = await outcomeOf(async () => new Response(jsonOf(octets)))
    expect(document).toMatchObject({ value: 'a'.repeat(octets - 2) })
  })

  test('one octet more is a bad document', async () => {
    expect(await outcomeOf(async () => new Response(jsonOf(MIB + 1)))).toEqual({
      failure: 'bad_document',
      detail: 'the document has more than 1048576 bytes',
      retryAfter: undefined,
    })
  })

  test('all chunks count, and none is asked for beyond the limit', async () => {
    let chunks = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          chunks++
          controller.enqueue(new Uint8Array(MIB / 4).fill(0x20))
        },
      },
      { highWaterMark: 0 },
    )
    const failure = await outcomeOf(async () => new Response(body))
    expect(failure).toMatchObject({ failure: 'bad_document' })
    expect(chunks).toBe(5)
  })

  test('a body that is too large is cancelled', async () => {
    const { open, opened } = gate()
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(MIB)),
      cancel: () => void open(),
    })
    const failure = await outcomeOf(async () => new Response(body))
    expect(failure).toMatchObject({ failure: 'bad_document' })
    await opened
  })
})

describe('an error of fetch', () => {
  const secret = 'connect ECONNREFUSED https://user:pass@keys.internal/keys.json'

  test.each([
    { name: 'an error', error: new Error(secret), code: '' },
    { name: 'its code', error: withCode('ECONNREFUSED'), code: ' (ECONNREFUSED)' },
    { name: 'no code that only ends like one', error: withCode('keys.internal:DOWN'), code: '' },
    {
      name: 'the code of its cause',
      error: new TypeError(secret, { cause: withCode('UND_ERR_SOCKET') }),
      code: ' (UND_ERR_SOCKET)',
    },
    {
      name: 'the code of its cause before its own',
      error: Object.assign(new TypeError(secret, { cause: withCode('ENOTFOUND') }), {
        code: 'ERR_FETCH',
      }),
      code: ' (ENOTFOUND)',
    },
    { name: 'a code that may be anything', error: withCode('https://keys.internal'), code: '' },
    { name: 'a code with a line break', error: withCode('EFAIL\nhttps://x'), code: '' },
    { name: 'a code that is a number', error: withCode(20), code: '' },
    {
      name: 'a cause that is no error',
      error: new Error(secret, { cause: { code: 'ESECRET' } }),
      code: '',
    },
    { name: 'no error at all', error: { code: 'ESECRET', url: secret }, code: '' },
    { name: 'nothing', error: undefined, code: '' },
  ])('$name: unreachable, and the detail names no URL', async ({ error, code }) => {
    const thrown = error as Error // or what else a fetch may throw
    const failure = await outcomeOf(async () => await Promise.reject(thrown))
    expect(failure).toEqual({
      failure: 'unreachable',
      detail: `the connection to the key URL failed${code}`,
      retryAfter: undefined,
    })
  })

  test('one that is thrown and not rejected is a failure too', async () => {
    const failure = await get(URL_ASKED, () => {
      throw new Error(secret)
    })
    expect(failure).toMatchObject({
      failure: 'unreachable',
      detail: 'the connection to the key URL failed',
    })
  })

  test('one in the middle of the body is one of the connection', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{}')),
      pull: (controller) => controller.error(withCode('ECONNRESET')),
    })
    expect(await outcomeOf(async () => new Response(body))).toMatchObject({
      failure: 'unreachable',
      detail: 'the connection to the key URL failed (ECONNRESET)',
    })
  })

  function withCode(code: unknown): Error {
    return Object.assign(new Error(secret), { code })
  }
})

describe('over HTTP', () => {
  test('the request: one GET, fixed headers, no validators and no credentials', async () => {
    const requests: IncomingMessage[] = []
    await using server = await serve((request, response) => {
      requests.push(request)
      response.setHeader('etag', '"1"').setHeader('set-cookie', 'id=1')
      response.setHeader('last-modified', 'Thu, 01 Jan 2026 00:00:00 GMT')
      response.end('{"kty":"RSA"}')
    })
    expect(await get(server.url)).toMatchObject({ value: { kty: 'RSA' } })
    await get(server.url)
    expect(requests).toHaveLength(2)
    for (const { method, url, headers } of requests) {
      expect(`${method} ${url}`).toBe('GET /keys.json')
      expect(headers).toMatchObject({
        accept: 'application/json',
        'user-agent': 'portcullis',
      })
      for (const unwanted of [
        'if-none-match',
        'if-modified-since',
        'cookie',
        'authorization',
        'referer',
      ]) {
        expect(headers).not.toHaveProperty(unwanted)
      }
    }
  })

  test('what an injected fetch is asked', async () => {
    const asked: Parameters<Fetch>[] = []
    const { signal } = new AbortController()
    const fetch: Fetch = async (...request) => {
      asked.push(request)
      return new Response('{}')
    }
    await fetchJson(URL_ASKED, exchangeWith(fetch, { signal }))
    expect(asked).toEqual([
      [
        URL_ASKED,
        {
          method: 'GET',
          headers: HEADERS,
          redirect: 'manual',
          credentials: 'omit',
          cache: 'no-store',
          signal,
        },
      ],
    ])
    expect(asked[0]?.[1].signal).toBe(signal)
  })

  test.each([301, 302, 303, 307, 308])('redirect %i is not followed', async (status) => {
    let visits = 0
    await using canary = await serve((_, response) => {
      visits++
      response.end('{"kty":"RSA"}')
    })
    await using server = await serve((_, response) => {
      response.writeHead(status, { location: canary.url }).end()
    })
    expect(await get(server.url)).toEqual({
      failure: 'unreachable',
      detail: `the key URL answered ${status}`,
      retryAfter: undefined,
    })
    expect(visits).toBe(0)
  })

  test('a fetch that follows redirects all the same brings nothing', async () => {
    await using target = await serve((_, response) => {
      response.end('{"kty":"RSA"}')
    })
    await using server = await serve((_, response) => {
      response.writeHead(302, { location: target.url }).end()
    })
    const failure = await get(
      server.url,
      async (url, init) => await globalThis.fetch(url, { ...init, redirect: 'follow' }),
    )
    expect(failure).toMatchObject({
      failure: 'unreachable',
      detail: 'the key URL answered with a redirect, which is not followed',
    })
  })

  test.each([304, 404, 429, 500, 503])(
    'status %i: unreachable, with Retry-After',
    async (status) => {
      await using server = await serve((_, response) => {
        response.writeHead(status, { 'retry-after': '17' }).end()
      })
      expect(await get(server.url)).toEqual({
        failure: 'unreachable',
        detail: `the key URL answered ${status}`,
        retryAfter: 17,
      })
    },
  )

  test('1 MiB exactly is read, one octet more is not', async () => {
    await using server = await serve((request, response) => {
      response.end(jsonOf(MIB + (request.url === '/keys.json' ? 0 : 1)))
    })
    expect(await get(server.url)).toMatchObject({ value: 'a'.repeat(MIB - 2) })
    expect(await get(`${server.url}?more`)).toMatchObject({ failure: 'bad_document' })
  })

  test('a compressed bomb is measured by what it becomes', async () => {
    const bomb = gzipSync(jsonOf(32 * MIB))
    expect(bomb.length).toBeLessThan(MIB / 16)
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    expect(await get(server.url)).toMatchObject({
      failure: 'bad_document',
      detail: 'the document has more than 1048576 bytes',
    })
  })

  test('an answer that says gzip and is not fails', async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"kty":"RSA"}')
    })
    const failure = await get(server.url)
    expect(failure).toMatchObject({ failure: 'unreachable', retryAfter: undefined })
    expect(failure).not.toHaveProperty('value')
  })

  test('an endless body: a bad document, and the connection is closed', async () => {
    const { accept, closed } = connection()
    await using server = await serve((request, response) => {
      accept(request)
      response.writeHead(200)
      writeForEver(response)
    })
    expect(await get(server.url)).toMatchObject({ failure: 'bad_document' })
    await closed
  })

  test('an error with an endless body: its connection ends with the exchange', async () => {
    const { accept, closed } = connection()
    await using server = await serve((request, response) => {
      accept(request)
      response.writeHead(500)
      writeForEver(response)
    })
    const failure = await withDeadline(manualClock(), 5, async (signal) =>
      fetchJson(server.url, exchangeWith(platformFetch, { signal })),
    )
    expect(failure).toMatchObject({ failure: 'unreachable' })
    await closed
  })

  test('a body that breaks off: unreachable', async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"kty":"RSA"}', () => {
        response.destroy()
      })
    })
    const failure = await get(server.url)
    expect(failure).toMatchObject({ failure: 'unreachable', retryAfter: undefined })
    expect(failure.failure && failure.detail).toMatch(/^the connection to the key URL failed/)
  })

  test('nobody listens: unreachable, and the detail has the code without the address', async () => {
    let url: string
    {
      await using server = await serve(() => {})
      url = server.url
    }
    expect(await get(url)).toEqual({
      failure: 'unreachable',
      detail: 'the connection to the key URL failed (ECONNREFUSED)',
      retryAfter: undefined,
    })
  })

  test('no answer at all: timeout at the deadline, and the connection is closed', async () => {
    const clock = manualClock()
    const { accept, asked, closed } = connection()
    await using server = await serve(accept)
    const outcome = withDeadline(clock, 5, async (signal) =>
      fetchJson(server.url, exchangeWith(platformFetch, { signal, clock })),
    )
    await asked
    await clock.advance(4.999)
    expect(await Promise.race([outcome, Promise.resolve('waiting')])).toBe('waiting')
    await clock.advance(0.001)
    expect(await outcome).toEqual({
      failure: 'timeout',
      detail: 'no answer in 5 s',
      retryAfter: undefined,
    })
    await closed
  })

  test('a body that never ends: one deadline for headers and body together', async () => {
    const clock = manualClock()
    const { accept, asked, closed } = connection()
    const [mayAnswer, answered] = [gate(), gate()]
    await using server = await serve((request, response) => {
      accept(request)
      void mayAnswer.opened.then(() => response.writeHead(200).write('{"kty":'))
    })
    const fetch: Fetch = async (url, init) => {
      const response = await platformFetch(url, init)
      answered.open()
      return response
    }
    const outcome = withDeadline(clock, 5, async (signal) =>
      fetchJson(server.url, exchangeWith(fetch, { signal, clock })),
    )
    await asked
    await clock.advance(4)
    mayAnswer.open()
    await answered.opened
    await clock.advance(1)
    expect(await outcome).toMatchObject({ failure: 'timeout', detail: 'no answer in 5 s' })
    await closed
  })
})

describe('withDeadline', () => {
  test('what the exchange brings in time is the answer, and nothing stays behind', async () => {
    const { clock, pending } = countedClock()
    let signal: AbortSignal | undefined
    const answer = await withDeadline(clock, 5, async (given) => {
      signal = given
      expect(given.aborted).toBe(false)
      expect(pending()).toBe(1)
      return 'answer'
    })
    expect(answer).toBe('answer')
    expect(pending()).toBe(0)
    expect(signal?.aborted).toBe(true)
  })

  test('an exchange that fails does so, and nothing stays behind', async () => {
    const { clock, pending } = countedClock()
    let signal: AbortSignal | undefined
    const failing = withDeadline(clock, 5, async (given) => {
      signal = given
      return await Promise.reject(new Error('broken'))
    })
    await expect(failing).rejects.toThrow('broken')
    expect(pending()).toBe(0)
    expect(signal?.aborted).toBe(true)
  })

  test('a fetch that ignores its signal is left at the deadline', async () => {
    const clock = manualClock()
    let signal: AbortSignal | undefined
    const outcome = withDeadline(clock, 0.5, async (given) => {
      signal = given
      return await get(URL_ASKED, async () => await new Promise<never>(() => {}))
    })
    await clock.advance(0.5)
    expect(await outcome).toEqual({
      failure: 'timeout',
      detail: 'no answer in 0.5 s',
      retryAfter: undefined,
    })
    expect(signal?.aborted).toBe(true)
  })

  test('what comes after the deadline changes nothing', async () => {
    const clock = manualClock()
    const exchange = new EventEmitter()
    const outcome = withDeadline(clock, 5, async () => {
      await once(exchange, 'never')
    })
    await clock.advance(5)
    exchange.emit('error', new Error('too late')) // vitest fails on a rejection that nobody handles
    expect(await outcome).toMatchObject({ failure: 'timeout' })
  })

  test('the system`s clock ends an exchange as well', async () => {
    const outcome = withDeadline(systemClock, 0.001, async () => await new Promise<never>(() => {}))
    expect(await outcome).toMatchObject({ failure: 'timeout' })
  })
})

test('badDocument asks for no pause', () => {
  expect(badDocument('why')).toEqual({
    failure: 'bad_document',
    detail: 'why',
    retryAfter: undefined,
  })
})

test('a share of an attempt that is over already is not waited for', async () => {
  const exchange = exchangeWith(platformFetch, { signal: AbortSignal.abort() })
  const never = new Promise<never>(() => {})
  expect(await within(60, never, exchange)).toBeUndefined()
})
