import { createVerifier } from '@portcullis/core'
import { type Context, Hono } from 'hono'
import { describe, expect, test } from 'vitest'

import { type EndpointOptions, fetchEndpoint, type FetchHandler } from '../src/index.ts'
import { bearer, issuer, RESOURCE } from './started.ts'

// What the form for the platform's `Request` alone has: the request that the handler gets, and the response that it returns.

const verifier = createVerifier(issuer.verifierOptions)
const STATED = { resource: RESOURCE, authorizationServers: ['https://auth.test'] }

async function answerOf(
  handler: FetchHandler,
  init: RequestInit = {},
  options: Partial<EndpointOptions> = {},
) {
  const endpoint = fetchEndpoint(verifier, { ...STATED, ...options }, handler)
  const headers = { ...(await bearer()), other: 'kept' }
  return await endpoint(new Request(`${RESOURCE}?a=1`, { headers, ...init }))
}

/** What `init` of a request with a body must say. */
const sent = (body: string): RequestInit => ({
  method: 'POST',
  body: new Blob([body]).stream(),
  duplex: 'half',
})

describe('the request that the handler gets', () => {
  test.each<[string, Partial<EndpointOptions>, string, unknown]>([
    ['as it was sent', {}, '{ "a": 1 }', undefined],
    ['anew if it was judged', { tools: {} }, '{"a":1}', { a: 1 }],
  ])('has the method, the URL, the headers and the body, %s', async (_, options, text, parsed) => {
    let seen: unknown
    const handler: FetchHandler = async (request, { parsedBody }) => {
      const { method, url, headers } = request
      seen = [method, url, headers.get('other'), await request.text(), parsedBody]
      return new Response()
    }
    await answerOf(handler, sent('{ "a": 1 }'), options)
    expect(seen).toEqual(['POST', `${RESOURCE}?a=1`, 'kept', text, parsed])
  })

  test.each<[string, RequestInit, Partial<EndpointOptions>]>([
    ['with GET', {}, {}],
    ['with a body as it was sent', sent('{}'), {}],
    ['with one that was judged', sent('{}'), { tools: {} }],
    ['with GET beside tools', {}, { tools: {} }],
  ])('is aborted with the one of the client, and so is a copy, %s', async (_, init, options) => {
    const controller = new AbortController()
    let signals: AbortSignal[] = []
    const handler: FetchHandler = (request) => {
      signals = [request.signal, request.clone().signal]
      return new Response()
    }
    await answerOf(handler, { ...init, signal: controller.signal }, options)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
    controller.abort()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  test('is the one that onRefusal gets: it has no token', async () => {
    const subjects: Request[] = []
    const onRefusal = (_error: unknown, subject: object) => subjects.push(subject as Request)
    const headers = await bearer({ aud: 'https://other.test' })
    const answer = await answerOf(() => new Response(), { headers }, { onRefusal })
    expect(answer.status).toBe(401)
    expect(subjects.map((each) => [each.url, each.headers.has('authorization')])).toEqual([
      [`${RESOURCE}?a=1`, false],
    ])
  })

  test.each(['GET', 'HEAD'])(
    'has no body with %s, whatever a server has made of that',
    async (method) => {
      const endpoint = fetchEndpoint(verifier, STATED, (request) => new Response(request.method))
      const headers = new Headers(await bearer())
      const { signal } = new AbortController()
      const body = new Blob(['a']).stream()
      // What only looks like a request of the platform, as that of some servers.
      const answer = await endpoint({ url: RESOURCE, method, headers, signal, body } as Request)
      expect(await answer.text()).toBe(method)
    },
  )

  test('may end while its body is read, since its client has left: nothing fails', async () => {
    const called: unknown[] = []
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('the client has left'))
      },
    })
    const handler: FetchHandler = () => {
      called.push(1)
      return new Response()
    }
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    const answer = await answerOf(handler, init, { tools: {} })
    expect([answer.status, called]).toEqual([400, []])
  })

  test.each(['connect', 'CONNECT', 'Trace', 'TRACK'])(
    'is not made with %s: 405',
    async (method) => {
      const endpoint = fetchEndpoint(verifier, STATED, () => new Response())
      const { signal } = new AbortController()
      const headers = new Headers()
      const answer = await endpoint({
        url: RESOURCE,
        method,
        headers,
        signal,
        body: null,
      } as Request)
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
    },
  )

  test.each<[string, (c: Context) => Promise<unknown>]>([
    ['read', async (c) => await c.req.text()],
    ['read in part', async (c) => await c.req.raw.body?.getReader().read()],
  ])(
    'must have its body: middleware of Hono that has %s it is the fault of the operator',
    async (_how, read) => {
      const faults: Error[] = []
      const endpoint = fetchEndpoint(verifier, { ...STATED, tools: {} }, () => new Response())
      const app = new Hono()
        .use(async (c, next) => {
          await read(c)
          await next()
        })
        .mount('/', endpoint, { replaceRequest: false })
        .onError((error, c) => {
          faults.push(error)
          return c.text('failed', 500)
        })
      const ask = async (headers: Record<string, string>) =>
        (await app.request(RESOURCE, { method: 'POST', headers, body: '{}' })).status
      // What is wrong is nobody's business who has no token.
      expect([await ask({}), faults]).toEqual([401, []])
      expect(await ask(await bearer())).toBe(500)
      expect(faults[0]).toBeInstanceOf(TypeError)
      expect(faults[0]?.message).toMatch(/^the body of the request was read before fetchEndpoint/)
    },
  )

  test('must have a body if that is judged', async () => {
    const answer = await answerOf(() => new Response(), { method: 'POST' }, { tools: {} })
    expect(answer.status).toBe(400)
  })
})

describe('the response that it returns', () => {
  test('is the very one, also if it is a stream of events without a body', async () => {
    for (const response of [
      new Response('a'),
      new Response(null, { headers: { 'content-type': 'text/event-stream' } }),
    ]) {
      expect(await answerOf(() => response)).toBe(response)
    }
  })

  test('has its status and its headers as an open stream as well', async () => {
    const headers = { 'content-type': 'text/event-stream', other: 'kept' }
    const answer = await answerOf(
      () => new Response('data: a\n\n', { status: 201, statusText: 'Fine', headers }),
    )
    expect([answer.status, answer.statusText, answer.headers.get('other')]).toEqual([
      201,
      'Fine',
      'kept',
    ])
    expect(await answer.text()).toBe('data: a\n\n')
  })
})

test('a stream whose client leaves is cancelled, whether the server does so or not', async () => {
  for (const isBefore of [true, false]) {
    const controller = new AbortController()
    const told: string[] = []
    const stream = new ReadableStream<Uint8Array>({
      cancel() {
        told.push('cancelled')
      },
    })
    const handler: FetchHandler = () => {
      if (isBefore) controller.abort()
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    }
    const answer = await answerOf(handler, { signal: controller.signal })
    expect(told).toEqual(isBefore ? ['cancelled'] : [])
    controller.abort()
    expect([await answer.text(), told]).toEqual(['', ['cancelled']])
  }
})

test('a stream is answered also to what is only like a request, and has no signal', async () => {
  const endpoint = fetchEndpoint(
    verifier,
    STATED,
    () => new Response('data: a\n\n', { headers: { 'content-type': 'text/event-stream' } }),
  )
  const headers = new Headers(await bearer())
  for (const signal of [undefined, null]) {
    const asked = { url: RESOURCE, method: 'GET', headers, signal, body: null, bodyUsed: false }
    const answer = await endpoint(asked as unknown as Request)
    expect([answer.status, await answer.text()]).toEqual([200, 'data: a\n\n'])
  }
})

describe('work behind a request', () => {
  const held: Promise<unknown>[] = []
  const context = {
    props: {},
    passThroughOnException() {},
    // As that of Workers: without its object it is an illegal invocation.
    waitUntil(this: unknown, work: Promise<unknown>) {
      if (this !== context) throw new TypeError('Illegal invocation')
      held.push(work)
    },
  }
  const endpoint = fetchEndpoint(
    {
      async verify(token, options) {
        options?.waitUntil?.(Promise.resolve('renewed'))
        return await verifier.verify(token)
      },
      async ready() {},
    },
    STATED,
    () => new Response('served'),
  )

  test.each<[string, (request: Request) => Response | Promise<Response>]>([
    ['Workers', async (request) => await endpoint(request, {}, context)],
    [
      'Hono',
      async (request) =>
        await new Hono()
          .mount('/', endpoint, { replaceRequest: false })
          .fetch(request, {}, context),
    ],
  ])('is given to the execution context of this very request in %s', async (_where, answer) => {
    held.length = 0
    const response = await answer(new Request(RESOURCE, { headers: await bearer() }))
    expect([await response.text(), await Promise.all(held)]).toEqual(['served', ['renewed']])
  })

  test.each<[string, unknown[]]>([
    ['nothing', []],
    ['what a server of Deno or Bun gives', [{ remoteAddr: {} }]],
    ['a context without waitUntil', [{}, {}]],
    ['null', [null, null]],
  ])('is done within the request beside %s', async (_what, others) => {
    held.length = 0
    const request = new Request(RESOURCE, { headers: await bearer() })
    const response = (await Reflect.apply(endpoint, undefined, [request, ...others])) as Response
    expect([await response.text(), held]).toEqual(['served', []])
  })
})

test('what the handler throws is for whoever has called the endpoint', async () => {
  const error = new Error('of the handler')
  const handler: FetchHandler = async () => await Promise.reject(error)
  await expect(answerOf(handler)).rejects.toBe(error)
})

test('a session where there are to be none: the error says what does not fit', async () => {
  const headers = { 'mcp-session-id': 'a' }
  const answer = answerOf(() => new Response('', { headers }), {}, { sessions: false })
  await expect(answer).rejects.toThrow('sessions: false')
})
