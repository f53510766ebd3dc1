import { EventEmitter, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'

import { type Auth, AuthError, type RevocationWriter, type Verifier } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'

import { guardedBy, portOf, serve } from './serving.ts'

vi.stubEnv('PORT', '0')
const { createApi, server } = await import('../src/websocket.ts')
server.close()

const open: WebSocket[] = []
afterEach(() => {
  for (const client of open.splice(0)) client.terminate()
})

function dial(
  host: string,
  headers: ClientOptions['headers'] = {},
  path = '/',
  protocols: string[] = [],
) {
  const client = new WebSocket(`ws://${host}${path}`, protocols, { headers })
  client.on('error', () => undefined) // the end of a test
  open.push(client)
  return client
}

/** The HTTP answer to an upgrade that is refused. */
async function refused(client: WebSocket): Promise<IncomingMessage> {
  const [, response] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage]
  return response
}

test('a token opens the socket, whose handler sees what it proves', async () => {
  const { issuer, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, clock))
  const client = dial(api.host, await issuer.bearer({ claims: { sub: 'ada' }, expiresIn: 100 }))
  const [first] = (await once(client, 'message')) as [Buffer]
  expect(JSON.parse(String(first))).toEqual({ expires: clock.now() + 100 })
  client.send('hi')
  const [message] = (await once(client, 'message')) as [Buffer]
  expect(String(message)).toBe('Hello from ada')
})

test.each([
  ['its token', async (writer: RevocationWriter) => await writer.revoke({ jti: 'one' })],
  ['its user', async (writer: RevocationWriter) => await writer.revokeBefore({ sub: 'ada' })],
])('the socket is closed at once when %s is revoked, and no other is', async (_case, revoke) => {
  const { issuer, revocations, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, clock))
  const claims = { jti: 'one', sub: 'ada', iat: clock.now() - 1 }
  const client = dial(api.host, await issuer.bearer({ claims }))
  await once(client, 'message')
  const other = dial(api.host, await issuer.bearer({ claims: { jti: 'two', sub: 'eve' } }))
  await once(other, 'message')
  const closed = once(client, 'close')
  await revoke(revocations)
  // No time passes.
  expect(await closed).toEqual([1008, Buffer.alloc(0)])
  other.send('hi')
  expect(await once(other, 'message')).toHaveLength(2)
  const answer = await refused(dial(api.host, await issuer.bearer({ claims })))
  expect(answer.statusCode).toBe(401)
})

test('the socket is closed with 1008 when the token expires, and not before', async () => {
  const { issuer, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, clock))
  const client = dial(api.host, await issuer.bearer({ expiresIn: 100 }))
  await once(client, 'message')
  await clock.advance(99)
  client.send('hi')
  await once(client, 'message')
  const closed = once(client, 'close')
  await clock.advance(1)
  expect(await closed).toEqual([1008, Buffer.alloc(0)])
})

test('a token that lives for longer than a timer can wait is good for all that time', async () => {
  const { issuer, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, clock))
  const client = dial(api.host, await issuer.bearer({ expiresIn: 30 * 86_400 }))
  await once(client, 'message')
  await clock.advance(600)
  client.send('hi')
  expect(await once(client, 'message')).toHaveLength(2)
})

test('what a client sends after our close frame is not obeyed', async () => {
  const { issuer, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, clock))
  const { authorization } = await issuer.bearer({ expiresIn: 100 })
  const witness = dial(api.host, await issuer.bearer({ claims: { sub: 'ada' } }))
  await once(witness, 'open')
  const heard: string[] = []
  witness.on('message', (data: Buffer) => heard.push(String(data)))
  const socket = connect(portOf(api.host), '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.write(upgrade(`Authorization: ${authorization}\r\n`))
  while (received.length === 0) await once(socket, 'data')
  await clock.advance(100)
  while (received.length === 1) await once(socket, 'data')
  const close = [1008 >> 8, 1008 & 255]
  expect(received[1]).toEqual(Buffer.from([0x88, 2, ...close]))
  // A text, then the answer to the close frame: both with an empty mask.
  socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]))
  socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, ...close]))
  await once(socket, 'close')
  witness.send('hi')
  while (heard.length === 0) await once(witness, 'message')
  expect(heard).toEqual(['Hello from ada'])
})

test.each([
  ['no token', {}, 401, 'Bearer realm="api"'],
  ['another scheme', { authorization: 'Basic YTpi' }, 401, 'Bearer realm="api"'],
  ['no token after Bearer', { authorization: 'Bearer' }, 401, /error="invalid_token"/],
  ['a bad token', { authorization: 'Bearer a.b.c' }, 401, /error="invalid_token"/],
])(
  '%s: the upgrade gets the HTTP answer, with its challenge',
  async (_case, headers, status, challenge) => {
    const { verifier } = await guardedBy()
    await using api = await serve(createApi(verifier))
    const answer = await refused(dial(api.host, headers))
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['www-authenticate']).toMatch(challenge)
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', connection: 'close' })
    await once(answer.resume(), 'end')
  },
)

test('an outage of the key service is 503 with Retry-After', async () => {
  const { issuer, verifier } = await guardedBy()
  issuer.outage(503)
  await using api = await serve(createApi(verifier))
  const answer = await refused(dial(api.host, await issuer.bearer()))
  expect(answer.statusCode).toBe(503)
  expect(answer.headers['retry-after']).toMatch(/^\d+$/)
})

test('a token in the query or in Sec-WebSocket-Protocol is not read', async () => {
  const { issuer, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const token = await issuer.token()
  const protocols = ['bearer', token]
  const answer = await refused(dial(api.host, {}, `/?access_token=${token}`, protocols))
  expect(answer.statusCode).toBe(401)
})

test('a request that is no upgrade gets 426', async () => {
  const { verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  expect((await fetch(`http://${api.host}/`)).status).toBe(426)
})

test.each([
  ['is accepted', { claims: {}, header: { alg: 'RS512' }, token: 'a.b.c' } satisfies Auth],
  ['is refused', new AuthError('invalid_token', 'signature')],
  ['fails with a fault', new TypeError('a bug in a schema')],
])(
  'a client that goes away before the verdict harms nobody, when it %s',
  async (_case, verdict) => {
    const happens = new EventEmitter()
    const verifier: Verifier = {
      async verify() {
        happens.emit('asked')
        await once(happens, 'decided')
        if (verdict instanceof Error) throw verdict
        return verdict
      },
      async ready() {},
    }
    const asked = once(happens, 'asked')
    using logged = vi.spyOn(console, 'error').mockReturnValue()
    await using api = await serve(createApi(verifier))
    const gone = new Promise((resolve) =>
      api.server.on('connection', (each) => each.on('close', resolve)),
    )
    const socket = connect(portOf(api.host), '127.0.0.1')
    socket.write(upgrade('Authorization: Bearer a.b.c\r\n'))
    await asked
    socket.resetAndDestroy()
    await gone
    happens.emit('decided')
    expect((await fetch(`http://${api.host}/`)).status).toBe(426)
    expect(logged).toHaveBeenCalledTimes(verdict instanceof TypeError ? 1 : 0)
  },
)

test('a refused client that keeps its side open is disconnected', async () => {
  const { verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const socket = connect({
    port: portOf(api.host),
    host: '127.0.0.1',
    allowHalfOpen: true,
  })
  const gone = new Promise((resolve) =>
    api.server.on('connection', (each) => each.on('close', resolve)),
  )
  socket.write(upgrade(''))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(String(answer)).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
  await gone
  socket.destroy()
})

test('a frame that breaks the protocol ends that socket alone', async () => {
  const { issuer, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const socket = connect(portOf(api.host), '127.0.0.1')
  const { authorization } = await issuer.bearer()
  socket.write(upgrade(`Authorization: ${authorization}\r\n`))
  await once(socket, 'data')
  socket.write(Buffer.from([0xff, 0xff, 0xff]))
  socket.resume()
  await once(socket, 'close')
  expect((await fetch(`http://${api.host}/`)).status).toBe(426)
})

test('the program follows the keys of AUTH_URL', async () => {
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  vi.stubEnv('AUTH_URL', service.authUrl)
  vi.resetModules()
  const program = await import('../src/websocket.ts')
  await using api = await serve(program.server)
  const client = dial(api.host, await issuer.bearer())
  await once(client, 'open')
  expect(client.readyState).toBe(client.OPEN)
})

function upgrade(authorization: string): string {
  const key = Buffer.alloc(16).toString('base64')
  const head = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
  return `${head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${authorization}\r\n`
}
