import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect as connect2, createServer as createServer2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'

import { AuthError, createVerifier, scope } from '@portcullis/core'
import express, { type RequestHandler } from 'express'
import { describe, expect, test, vi } from 'vitest'

import { type EndpointOptions, expressEndpoint, type NodeHandler } from '../src/index.ts'
import { listening } from './forms.ts'
import { bearer, issuer, PATH, raw, RESOURCE } from './started.ts'

// What the form for Express alone has: middleware in front that has read the body, the request of `node:http`, and errors that go on.

const verifier = createVerifier(issuer.verifierOptions)
const STATED = { resource: RESOURCE, authorizationServers: ['https://auth.test'] }

async function start(
  handler: NodeHandler<IncomingMessage, ServerResponse>,
  options: Partial<EndpointOptions> = {},
  before: RequestHandler = (_request, _response, next) => {
    next()
  },
) {
  const failed: unknown[] = []
  const app = express()
    .use(before, expressEndpoint(verifier, { ...STATED, ...options }, handler))
    .use(((error, _request, response, _next) => {
      failed.push(error)
      if (response.headersSent) response.end()
      else response.status(500).end()
    }) satisfies express.ErrorRequestHandler)
  return { ...(await listening(app)), failed }
}

/** Reads the body, and keeps nothing of it. */
const unkept: RequestHandler = (request, _response, next) => {
  request.resume().once('end', next)
}

/** A parser that makes an object which has the call in its prototype, or says something else each time. */
const made =
  (body: object): RequestHandler =>
  (request, response, next) => {
    unkept(request, response, () => {
      request.body = body
      next()
    })
  }

const inheriting = made(
  Object.create({ method: 'tools/call', params: { name: 'write' } }) as object,
)
let asked = 0
const changing = made({
  method: 'tools/call',
  params: {
    get name() {
      return asked++ === 0 ? 'read' : 'write'
    },
  },
})
const deep = () => {
  let body = {}
  for (let level = 0; level < 100_000; level++) body = { body }
  return body
}

const pretended: RequestHandler = (request, _response, next) => {
  request.body = { method: 'ping' }
  next()
}

describe('a body that was read before', () => {
  const tools = { write: scope('files:write') }
  const call = '{"method":"tools/call","params":{"name":"write"}}'
  const every = { type: () => true }

  test.each<[string, RequestHandler, string, number, unknown, number, unknown]>([
    ['as JSON', express.json(every), '{"a":1}', 200, { a: 1 }, 200, { a: 1 }],
    ['as JSON, with a call', express.json(every), call, 403, undefined, 200, JSON.parse(call)],
    ['as octets', express.raw(every), call, 400, undefined, 400, undefined],
    ['as text', express.text(every), call, 400, undefined, 400, undefined],
    ['and that nobody has kept', unkept, call, 400, undefined, 200, undefined],
    ['into what inherits a call', inheriting, call, 200, {}, 200, {}],
    [
      'into what changes',
      changing,
      call,
      200,
      { method: 'tools/call', params: { name: 'read' } },
      200,
      expect.anything(),
    ],
    ['into what is nested too deep', made(deep()), call, 400, undefined, 400, undefined],
    [
      'as JSON, with __proto__',
      express.json(every),
      '{"a":[{"__proto__":{}}]}',
      400,
      undefined,
      400,
      undefined,
    ],
    ['as somebody pretends', pretended, call, 403, undefined, 200, undefined],
  ])('%s', async (_title, before, body, judged, judgedBody, plain, plainBody) => {
    const init = { method: 'POST', headers: await bearer(), body }
    for (const [options, status, given] of [
      [{ tools }, judged, judgedBody],
      [{}, plain, plainBody],
    ] as const) {
      const bodies: unknown[] = []
      const handler: NodeHandler<IncomingMessage, ServerResponse> = (_request, response, each) => {
        bodies.push(each)
        response.end()
      }
      await using api = await start(handler, options, before)
      expect((await fetch(`${api.url}${PATH}`, init)).status).toBe(status)
      expect(bodies).toEqual(status === 200 ? [given] : [])
    }
  })
})

test('where tools are judged, request.body is the object that was judged, whatever a parser has made', async () => {
  const bodies: unknown[] = []
  const handler: NodeHandler<IncomingMessage, ServerResponse> = (request, response, body) => {
    bodies.push(Reflect.get(request, 'body'), body)
    response.end()
  }
  await using api = await start(handler, { tools: { write: scope('files:write') } }, inheriting)
  const init = { method: 'POST', headers: await bearer(), body: '{}' }
  expect((await fetch(`${api.url}${PATH}`, init)).status).toBe(200)
  expect(bodies).toEqual([{}, {}])
  expect(bodies[0]).toBe(bodies[1])
  expect(Reflect.get(Object(bodies[0]), 'method')).toBeUndefined()
})

test('the request has the AuthInfo as a plain property, and the proof in none of its headers', async () => {
  const seen: unknown[] = []
  await using api = await start((request, response) => {
    const { writable, enumerable, configurable } =
      Object.getOwnPropertyDescriptor(request, 'auth') ?? {}
    const { headers, rawHeaders } = request
    seen.push(request.auth.extra['sub'], [writable, enumerable, configurable])
    seen.push([headers.authorization, headers['dpop'], headers['last']])
    seen.push(rawHeaders.slice(0, -2)) // without `Connection`, which `raw` sends
    response.end()
  })
  const { authorization = '' } = await bearer()
  const lines = [`AUTHORIZATION: ${authorization}`, 'Host: a', 'DPoP: a', 'dpop: b', 'Last: c']
  const answer = await raw(api.port, `GET ${PATH} HTTP/1.1\r\n${lines.join('\r\n')}\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 200/)
  expect(seen).toEqual([
    'ada',
    [true, true, true],
    [undefined, undefined, 'c'],
    ['Host', 'a', 'Last', 'c'],
  ])
})

describe('what the handler throws', () => {
  const refused = new AuthError('missing_token', 'missing_header')

  test.each<[string, Error, boolean, number, boolean]>([
    ['goes on', new Error('of the handler'), false, 500, true],
    ['is answered if it is a refusal', refused, false, 401, false],
    ['goes on if it is a refusal after the head', refused, true, 200, true],
  ])('%s', async (_title, error, isBegun, status, goesOn) => {
    await using api = await start(async (_request, response) => {
      if (isBegun) response.write('begun')
      await Promise.reject(error)
    })
    const answer = await fetch(`${api.url}${PATH}`, { headers: await bearer() })
    await answer.text()
    expect([answer.status, api.failed]).toEqual([status, goesOn ? [error] : []])
  })
})

describe('a body that is too long, and not at its end', () => {
  const tools = { write: scope('files:write') }

  test('is answered over HTTP/1.1, and the connection ends', async () => {
    await using api = await start(() => undefined, { tools, maxBodySize: 5 })
    const { authorization = '' } = await bearer()
    const socket = connect(api.port, '127.0.0.1')
    const head = [`POST ${PATH} HTTP/1.1`, 'Host: a', `Authorization: ${authorization}`]
    socket.write([...head, 'Content-Length: 100', '', '{"method":'].join('\r\n'))
    const answer = (await socket.toArray()).join('')
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*\r\nConnection: close\r\n/s)
  })

  test('is answered over HTTP/2 without a header that HTTP/2 does not have', async () => {
    const endpoint = expressEndpoint(
      verifier,
      { ...STATED, tools, maxBodySize: 5 },
      () => undefined,
    )
    const fields: string[] = []
    const server = createServer2((request, response) => {
      const set = response.setHeader.bind(response)
      response.setHeader = (name, value) => {
        fields.push(name.toLowerCase())
        return set(name, value)
      }
      // It uses nothing that these do not have.
      endpoint(request as never, response as never, () => response.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // it listens on a port
    const session = connect2(`http://127.0.0.1:${port}`)
    try {
      const sent = session.request({ ':method': 'POST', ':path': PATH, ...(await bearer()) })
      sent.write('{"method":')
      const [headers] = (await once(sent, 'response')) as [{ ':status'?: number }]
      expect(headers[':status']).toBe(413)
      expect(fields).toContain('content-type')
      expect(fields).not.toContain('connection')
    } finally {
      session.destroy()
      server.close()
    }
  })
})

test('a client that leaves while its body is read: nothing fails, and nobody is called', async () => {
  const called: unknown[] = []
  const requests: IncomingMessage[] = []
  const tools = { write: scope('files:write') }
  const before: RequestHandler = (request, _response, next) => {
    requests.push(request)
    next()
  }
  await using api = await start(() => called.push(1), { tools }, before)
  const { authorization = '' } = await bearer()
  const socket = connect(api.port, '127.0.0.1')
  const head = [`POST ${PATH} HTTP/1.1`, 'Host: a', `Authorization: ${authorization}`]
  socket.write([...head, 'Content-Length: 100', '', '{"method":'].join('\r\n'))
  await vi.waitFor(() => {
    expect(requests[0]?.listenerCount('readable')).toBe(1)
  }, 60_000)
  socket.destroy()
  await vi.waitFor(async () => {
    expect(await api.connections()).toBe(0)
  }, 60_000)
  expect((await fetch(`${api.url}${PATH}`)).status).toBe(401)
  expect([called, api.failed]).toEqual([[], []])
})
