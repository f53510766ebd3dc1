import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

import { createVerifier } from '@portcullis/core'
import { parseJson } from '@portcullis/kit/json'
import { afterEach, describe, expect, test, vi } from 'vitest'

import type { EventReceiver } from '../src/index.ts'
import { eventScene, form, issuer, logoutScene, transmitter } from './scene.ts'

const FORM = 'application/x-www-form-urlencoded'
const SET = 'application/secevent+jwt'

const servers = new Set<() => void>()

afterEach(() => {
  for (const close of servers) close()
  servers.clear()
})

/** On `node:http`, as Express calls it: behind a body parser, perhaps. */
async function serve(receiver: EventReceiver, parse?: (body: string) => unknown): Promise<URL> {
  const server = createServer((request, response) => {
    void (async () => {
      if (parse !== undefined) {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        Object.assign(request, { body: parse(Buffer.concat(chunks).toString()) })
      }
      await receiver(request, response)
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  servers.add(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

async function post(url: URL, body: string, type = FORM, method = 'POST') {
  return await fetch(url, { method, headers: { 'content-type': type }, body })
}

test('a response that has begun meanwhile is left alone', async () => {
  const { receiver, store } = logoutScene()
  const touched: string[] = []
  const response = {
    headersSent: true,
    statusCode: 503,
    setHeader: (name: string) => void touched.push(name),
    end: () => void touched.push('end'),
  }
  const body = form(await transmitter.logoutToken({ sid: 's-1' }))
  const request = { method: 'POST', headers: { 'content-type': FORM }, body, complete: true }
  await receiver(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  expect([touched, response.statusCode, store.entries().length]).toEqual([[], 503, 1])
})

describe('a body that nobody has read, or that a parser has', () => {
  test.each<[string, ((body: string) => unknown) | undefined]>([
    ['nobody', undefined],
    ['a parser of texts', (body) => body],
    ['a parser of octets', (body) => Buffer.from(body)],
    ['a parser of forms', (body) => Object.fromEntries(new URLSearchParams(body))],
  ])('log-out, read by %s', async (_, parse) => {
    const { receiver, store } = logoutScene()
    const url = await serve(receiver, parse)
    const response = await post(url, form(await transmitter.logoutToken({ sid: 's-1' })))
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('connection')).toBe('keep-alive')
    expect(store.entries()).toHaveLength(1)
  })

  test.each<[string, ((body: string) => unknown) | undefined]>([
    ['nobody', undefined],
    ['a parser of texts', (body) => body],
    ['a parser of octets', (body) => Buffer.from(body)],
  ])('security event, read by %s', async (_, parse) => {
    const { receiver, store } = eventScene({ revokes: 'session' })
    const url = await serve(receiver, parse)
    const subject = { format: 'opaque', id: 's-1' }
    const token = await transmitter.securityEvent({ type: 'session-revoked', subject })
    expect((await post(url, token, `${SET}; charset=utf-8`)).status).toBe(202)
    expect(store.entries()).toHaveLength(1)
  })

  test('a parser that passes over the body, and leaves an empty object, as that of Express 4', async () => {
    const { receiver, store } = logoutScene()
    const server = createServer((request, response) => {
      void receiver(Object.assign(request, { body: {} }), response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    servers.add(() => server.close())
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const response = await post(url, form(await transmitter.logoutToken({ sid: 's-1' })))
    expect([response.status, store.calls]).toEqual([200, 1])
  })

  test.each([
    ['beside the field', 200],
    ['with the field in it', 400],
  ])('a parser that leaves a member __proto__ %s: %i', async (_, status) => {
    const { receiver, store, told } = logoutScene()
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const members =
      status === 200
        ? `"logout_token":"${token}","__proto__":{"logout_token":"other"}`
        : `"__proto__":{"logout_token":"${token}"}`
    const url = await serve(receiver, () => parseJson(`{${members}}`))
    expect((await post(url, 'anything')).status).toBe(status)
    expect([store.calls, told.length]).toEqual([status === 200 ? 1 : 0, 1])
  })

  test('a parser that leaves nothing: 400', async () => {
    const { receiver } = logoutScene()
    const url = await serve(receiver, () => undefined)
    const response = await post(url, form(await transmitter.logoutToken({ sid: 's-1' })))
    expect(response.status).toBe(400)
  })
})

const token = await transmitter.logoutToken({ sid: 's-1' })

const deep = (open: string) => open.repeat(100_000)

describe('what is no request of a transmitter', () => {
  test.each([
    ['an empty body', '', FORM],
    ['a form without the field', 'token=x', FORM],
    ['a form with the field twice', `${form(token)}&${form(token)}`, FORM],
    ['another type', form(token), 'text/plain'],
    ['JSON', JSON.stringify({ logout_token: token }), 'application/json'],
    ['a form of the wrong octets', '\u0000%ff%00', FORM],
    ['deep JSON in a form', `logout_token=${deep('[')}`.slice(0, 60_000), FORM],
    ['more than 65,536 bytes', `a=${'b'.repeat(65_536)}`, FORM],
  ])('%s: 400', async (_, body, type) => {
    const { receiver, store } = logoutScene()
    const url = await serve(receiver)
    const response = await post(url, body, type)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_request' })
    expect(store.calls).toBe(0)
  })

  test.each([
    ['deep objects that end too early', deep('{"a":')],
    ['deep lists that end too early', deep('[')],
  ])('%s in each part of a token: 400', async (_, text) => {
    for (const revokes of ['session', 'subject'] as const) {
      const { receiver } = eventScene({ revokes })
      const part = Buffer.from(text.slice(0, 40_000)).toString('base64url')
      const sound = Buffer.from('{"alg":"ES256"}').toString('base64url')
      const url = await serve(receiver)
      for (const bad of [`${part}.${sound}.AAAA`, `${sound}.${part}.AAAA`]) {
        const response = await post(url, bad, SET)
        expect(response.status).toBe(400)
        expect(await response.json()).toMatchObject({ err: 'invalid_request' })
      }
    }
  })

  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])(
    '%s: 405, and nothing is read',
    async (method) => {
      const push = eventScene({ authorize: 'Bearer 0123456789abcdef' })
      const logout = logoutScene()
      for (const { receiver, store } of [logout, push]) {
        const response = await fetch(await serve(receiver), { method })
        const { headers } = response
        expect([response.status, headers.get('allow')]).toEqual([405, 'POST'])
        expect([headers.get('cache-control'), await response.text()]).toEqual(['no-store', ''])
        expect(store.calls).toBe(0)
      }
    },
  )

  test('a method of a form: 405, though it has a body', async () => {
    const { receiver, store } = logoutScene()
    const response = await post(await serve(receiver), form(token), FORM, 'PUT')
    expect([response.status, store.calls]).toEqual([405, 0])
  })

  test('chunks that end too early: nobody is answered, and nothing is recorded', async () => {
    const { receiver, store } = logoutScene()
    const url = await serve(receiver)
    const socket = connect(Number(url.port), url.hostname)
    const body = form(token)
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`
    socket.write(`${head}${body.length.toString(16)}\r\n${body}\r\nzz\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /)
    socket.destroy()
    const next = await post(url, form(await transmitter.logoutToken({ sid: 's-2' })))
    expect(next.status).toBe(200)
    expect(store.entries()).toMatchObject([{ sid: 's-2' }])
  })

  test('a header Authorization that came twice is refused, even if the first one is right', async () => {
    const access = await issuer.token()
    const push = eventScene({ authorize: createVerifier(issuer.verifierOptions) })
    const url = await serve(push.receiver)
    const headers = ['Host', 'x', 'Content-Type', SET, 'Content-Length', '1']
    const authorization = ['Authorization', `Bearer ${access}`]
    for (const [fields, status] of [
      [authorization, 400],
      [[...authorization, 'Authorization', 'Bearer x'], 400],
    ] as const) {
      const sending = send(url, { method: 'POST', headers: [...headers, ...fields] })
      sending.end('x')
      const [response] = (await once(sending, 'response')) as [IncomingMessage]
      const body = (await response.toArray()).join('')
      expect([response.statusCode, body.includes('authentication_failed')]).toEqual([
        status,
        fields.length > 2,
      ])
    }
  })

  test('a body that somebody else has read, and handed over beside the request', async () => {
    const { receiver, store } = logoutScene()
    for (const body of [form(token), Buffer.from(form(token)), { logout_token: token }]) {
      const server = createServer((request, response) => {
        void receiver(Object.assign(request, { body }), response)
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      servers.add(() => server.close())
      const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      expect((await post(url, '')).status).toBe(200)
    }
    expect(store.entries()).toHaveLength(1)
  })

  test('a body without an end is answered at the limit, and its connection ends', async () => {
    const { receiver } = logoutScene()
    const url = await serve(receiver)
    const sending = send(url, { method: 'POST', headers: { 'content-type': FORM } })
    sending.on('error', () => undefined)
    const chunk = 'a'.repeat(16_384)
    const timer = setInterval(() => void sending.write(chunk), 1)
    try {
      const [response] = (await once(sending, 'response')) as [
        { statusCode: number; headers: object },
      ]
      expect(response.statusCode).toBe(400)
      expect(response.headers).toMatchObject({ connection: 'close' })
    } finally {
      clearInterval(timer)
      sending.destroy()
    }
  })

  test('a request whose body somebody else has read: 400', async () => {
    const { receiver } = logoutScene()
    const request = new Request('https://api.test/', {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: form(token),
    })
    await request.text()
    expect((await receiver.fetch(request)).status).toBe(400)
    const { body, headers } = new Request('https://api.test/', {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: form(token),
    })
    body?.getReader()
    expect((await receiver.answer({ headers, body })).status).toBe(400)
  })

  test('a request that the application has answered meanwhile is left alone', async () => {
    const { receiver, store } = logoutScene()
    const server = createServer((request, response) => {
      void receiver(request, response)
      response.writeHead(504).end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    servers.add(() => server.close())
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect((await post(url, form(token))).status).toBe(504)
    await vi.waitUntil(() => store.calls === 1, 60_000)
    expect((await post(url, form(token))).status).toBe(504)
  })

  test('a sender that goes away in the middle of a body harms nobody', async () => {
    const { receiver, store } = logoutScene()
    const url = await serve(receiver)
    const sending = send(url, { method: 'POST', headers: { 'content-type': FORM } })
    const failed = once(sending, 'error')
    sending.write('logout_token=')
    setImmediate(() => sending.destroy(new Error('gone')))
    await failed
    const response = await post(url, form(await transmitter.logoutToken({ sid: 's-1' })))
    expect([response.status, store.calls]).toEqual([200, 1])
  })
})
