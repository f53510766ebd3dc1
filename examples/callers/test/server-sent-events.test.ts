import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'

import { type Auth, AuthError, type Verifier } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { expect, test, vi } from 'vitest'

import { guardedBy, portOf, serve } from './serving.ts'

vi.stubEnv('PORT', '0')
const { createApi, server } = await import('../src/server-sent-events.ts')
server.close()

const EXPIRES = 'event: expires\n'

/** What a stream of events brings until it ends, or so many events, beside when the token expires. */
async function read(response: Response, events = Infinity): Promise<string[]> {
  const seen: string[] = []
  for await (const chunk of response.body ?? []) {
    seen.push(
      ...new TextDecoder()
        .decode(chunk as Uint8Array)
        .split('\n\n')
        .filter((each) => each !== '' && !each.startsWith(EXPIRES)),
    )
    if (seen.length >= events) break
  }
  return seen
}

const announcing = { claims: { sub: 'ada', scope: 'events:write' } }

test('who listens hears what is announced', async () => {
  const { issuer, revocations, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations, clock))
  const url = `http://${api.host}/events`
  const stream = await fetch(url, { headers: await issuer.bearer() })
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  expect(stream.headers.get('cache-control')).toBe('no-store')
  const answer = await fetch(url, { method: 'POST', headers: await issuer.bearer(announcing) })
  expect(answer.status).toBe(204)
  expect(await read(stream, 1)).toEqual(['data: {"from":"ada"}'])
})

test('the stream ends when the token expires, not before, and the server goes on', async () => {
  const { issuer, revocations, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations, clock))
  const url = `http://${api.host}/events`
  const announce = async () =>
    await fetch(url, { method: 'POST', headers: await issuer.bearer(announcing) })
  const stream = await fetch(url, { headers: await issuer.bearer({ expiresIn: 100 }) })
  await clock.advance(99)
  await announce()
  const heard = read(stream)
  await clock.advance(1)
  expect(await heard).toEqual(['data: {"from":"ada"}'])
  expect((await announce()).status).toBe(204)
})

test('the stream begins with when it will end, in seconds since 1970', async () => {
  const { issuer, revocations, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations, clock))
  const headers = await issuer.bearer({ expiresIn: 100 })
  const stream = await fetch(`http://${api.host}/events`, { headers })
  const chunk: unknown = await stream.body?.getReader().read()
  expect(new TextDecoder().decode((chunk as { value: Uint8Array }).value)).toBe(
    `${EXPIRES}data: ${clock.now() + 100}\n\n`,
  )
})

test('a log-out ends the streams of its token at once, and no others', async () => {
  const { issuer, revocations, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations, clock))
  const url = `http://${api.host}/events`
  const [headers, others] = [
    await issuer.bearer({ claims: { jti: 'one' } }),
    await issuer.bearer({ claims: { ...announcing.claims, jti: 'two' } }),
  ]
  const [first, second, other] = [
    await fetch(url, { headers }),
    await fetch(url, { headers }),
    await fetch(url, { headers: others }),
  ]
  const ended = Promise.all([read(first), read(second)])
  const answer = await fetch(`http://${api.host}/logout`, { method: 'POST', headers })
  expect(answer.status).toBe(204)
  // No time passes.
  expect(await ended).toEqual([[], []])
  expect((await fetch(url, { headers })).status).toBe(401)
  expect((await fetch(url, { method: 'POST', headers: others })).status).toBe(204)
  expect(await read(other, 1)).toEqual(['data: {"from":"ada"}'])
})

test('who may not announce is refused, with the scope that it takes', async () => {
  const { issuer, revocations, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations))
  const headers = await issuer.bearer({ claims: { scope: 'events:read' } })
  const answer = await fetch(`http://${api.host}/events`, { method: 'POST', headers })
  expect(answer.status).toBe(403)
  expect(answer.headers.get('www-authenticate')).toMatch(/scope="events:write"/)
})

test('without a token there is no stream: EventSource would need one in the query', async () => {
  const { issuer, revocations, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations))
  const answer = await fetch(`http://${api.host}/events?access_token=${await issuer.token()}`)
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="api"')
})

test('a claim cannot add an event', async () => {
  const { issuer, revocations, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations, clock))
  const url = `http://${api.host}/events`
  const stream = await fetch(url, { headers: await issuer.bearer() })
  const claims = { sub: 'a\n\ndata: b', scope: 'events:write' }
  await fetch(url, { method: 'POST', headers: await issuer.bearer({ claims }) })
  expect(await read(stream, 1)).toEqual([String.raw`data: {"from":"a\n\ndata: b"}`])
})

test('a client that goes away before the verdict is not listened for', async () => {
  const happens = new EventEmitter()
  let asked = 0
  const auth: Auth = { claims: { scope: 'events:write' }, header: { alg: 'RS512' }, token: 'a' }
  const verifier: Verifier = {
    async verify(token) {
      asked += 1
      if (token === 'bad') throw new AuthError('invalid_token', 'signature')
      if (token === 'late') {
        happens.emit('asked')
        await once(happens, 'decided')
      }
      return auth
    },
    async ready() {},
  }
  const { clock, revocations } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations, clock))
  const gone = new Promise((resolve) => {
    api.server.on('connection', (each) => each.on('close', resolve))
  })
  const waits = once(happens, 'asked')
  const socket = connect(portOf(api.host), '127.0.0.1')
  socket.write('GET /events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer late\r\n\r\n')
  await waits
  socket.resetAndDestroy()
  await gone
  happens.emit('decided')
  const headers = { authorization: 'Bearer good' }
  const answer = await fetch(`http://${api.host}/events`, { method: 'POST', headers })
  expect(answer.status).toBe(204)
  await clock.advance(1000)
  expect(asked).toBe(2) // nothing is watched
})

test('a client that does not read is dropped, so that it fills no memory', async () => {
  const { issuer, revocations, verifier, clock } = await guardedBy()
  await using api = await serve(createApi(verifier, revocations, clock))
  const url = `http://${api.host}/events`
  const { authorization } = await issuer.bearer()
  const socket = connect(portOf(api.host), '127.0.0.1')
  const dropped = new AbortController()
  api.server.once('connection', (each) => each.on('close', () => dropped.abort()))
  socket.write(`GET /events HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
  await once(socket, 'data')
  socket.pause()
  const headers = await issuer.bearer({ claims: { sub: 'a'.repeat(8000), scope: 'events:write' } })
  let announced = 0
  while (!dropped.signal.aborted) {
    await fetch(url, { method: 'POST', headers })
    announced += 1
  }
  expect(announced).toBeGreaterThan(1)
  socket.destroy()
})

test('the program follows the keys of AUTH_URL', async () => {
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  vi.stubEnv('AUTH_URL', service.authUrl)
  vi.resetModules()
  const program = await import('../src/server-sent-events.ts')
  await using api = await serve(program.server)
  const headers = await issuer.bearer()
  const stream = await fetch(`http://${api.host}/events`, { headers })
  expect(stream.status).toBe(200)
})
