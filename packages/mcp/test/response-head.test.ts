import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

import { describe, expect, test } from 'vitest'

import { isEventStream } from '../src/event-stream.ts'
import { hasLeft, type Head, watchHead } from '../src/response-head.ts'
import { listening } from './forms.ts'

const WAYS: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  [
    'headers that were set before',
    (response) => {
      response.setHeader('Mcp-Session-Id', 'a').setHeader('content-type', 'text/event-stream')
      response.statusCode = 201
      response.end()
    },
  ],
  [
    'writeHead with an object',
    (response) => {
      response.writeHead(201, { 'MCP-Session-ID': 'a', 'Content-Type': 'text/event-stream' }).end()
    },
  ],
  [
    'writeHead with a reason and an object',
    (response) => {
      response.writeHead(201, 'Fine', {
        'mcp-session-id': 'a',
        'content-type': 'text/event-stream',
      })
      response.end()
    },
  ],
  [
    'writeHead with null for the reason and an object',
    (response) => {
      const headers = { 'mcp-session-id': 'a', 'content-type': 'text/event-stream' }
      response.writeHead(201, null as never, headers).end()
    },
  ],
  [
    'writeHead with a list in which a name is a value',
    (response) => {
      const list = ['other', 'mcp-session-id', 'content-type', 'text/event-stream']
      response.writeHead(201, [...list, 'mcp-session-id', 'a']).end()
    },
  ],
  [
    'writeHead with a list',
    (response) => {
      response.writeHead(201, ['mcp-session-id', 'a', 'content-type', 'text/event-stream']).end()
    },
  ],
  [
    'writeHead with a list of pairs',
    (response) => {
      const pairs = [
        ['mcp-session-id', 'a'],
        ['content-type', 'text/event-stream'],
      ]
      response.writeHead(201, pairs as never).end()
    },
  ],
  [
    'both',
    (response) => {
      response.setHeader('mcp-session-id', 'a').writeHead(201, {
        'content-type': 'text/event-stream',
      })
      response.end()
    },
  ],
  [
    'flushHeaders',
    (response) => {
      response.statusCode = 201
      response.setHeader('mcp-session-id', 'a').setHeader('content-type', 'text/event-stream')
      response.flushHeaders()
      response.end()
    },
  ],
  [
    'write',
    (response) => {
      response.statusCode = 201
      response.setHeader('mcp-session-id', 'a').setHeader('content-type', 'text/event-stream')
      response.write('a')
      response.end()
    },
  ],
]

async function headsOf(answer: (response: ServerResponse) => void, init: RequestInit = {}) {
  const heads: Head[] = []
  const listener: RequestListener = (_request, response) => {
    watchHead(response, (head) => heads.push(head))
    answer(response)
  }
  await using served = await listening(listener)
  const { status, headers } = await fetch(served.url, init)
  return { heads, status, id: headers.get('mcp-session-id') }
}

describe('the head of an answer is seen once', () => {
  test.each(WAYS)('with %s', async (_title, answer) => {
    const { heads, status, id } = await headsOf(answer)
    expect([status, id]).toEqual([201, 'a'])
    expect(heads).toEqual([{ status: 201, begun: 'a', contentType: 'text/event-stream' }])
  })

  test.each<[string, unknown, string]>([
    ['several values', ['a', 'b'], 'a, b'],
    ['a number', 5, '5'],
  ])('with %s, as the client sees them', async (_title, value, begun) => {
    for (const answer of [
      (response: ServerResponse) => response.setHeader('mcp-session-id', value as string).end(),
      (response: ServerResponse) =>
        response.writeHead(200, ['mcp-session-id', value as string, 'other', 'b']).end(),
    ]) {
      const { heads, id } = await headsOf(answer)
      expect([heads.map((head) => head.begun), id]).toEqual([[begun], begun])
    }
  })

  test('and not again for a second head, which Node refuses', async () => {
    const { heads } = await headsOf((response) => {
      response.writeHead(200)
      expect(() => response.writeHead(201)).toThrow('after they are sent')
      response.end()
    })
    expect(heads.map(({ status }) => status)).toEqual([200])
  })

  test('without any of the headers', async () => {
    const { heads } = await headsOf((response) => {
      response.end()
    })
    expect(heads).toEqual([{ status: 200, begun: undefined, contentType: undefined }])
  })

  test('and if that throws, nothing was sent yet: another answer can be', async () => {
    let calls = 0
    await using served = await listening((_request, response) => {
      watchHead(response, ({ begun }) => {
        calls++
        if (begun !== undefined) throw new Error('not this one')
      })
      try {
        response.writeHead(200, { 'mcp-session-id': 'a' })
      } catch {
        response.writeHead(500).end()
      }
    })
    const answer = await fetch(served.url)
    expect([answer.status, answer.headers.get('mcp-session-id'), calls]).toEqual([500, null, 2])
  })
})

test.each([
  ['text/event-stream', true],
  ['Text/Event-Stream ; charset=utf-8', true],
  ['text/event-stream,text/html', false],
  ['text/event-streams', false],
  [' text/event-stream', true],
  ['xtext/event-stream', false],
  ['application/json; a=text/event-stream', false],
  ['', false],
  [null, false],
  [undefined, false],
])('%j is a stream of events: %s', (contentType, expected) => {
  expect(isEventStream(contentType)).toBe(expected)
})

test('of HTTP/2 it is known as well whether the client has left', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const stream = client.request({ ':path': '/' })
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  expect(hasLeft(response)).toBe(false)
  const closed = once(response, 'close')
  stream.close()
  await closed
  expect(hasLeft(response)).toBe(true)
  client.close()
  server.close()
})
