import { describe, expect, test } from 'vitest'

import type { OAuthClientOptions, OAuthError } from '../../src/oauth.ts'
import { failureOf, httpDate } from '../login-service.ts'
import { authOf, createClient, createServer, refusing } from './server.ts'

function setUp(options: Partial<OAuthClientOptions> = {}) {
  const server = createServer()
  const { clock, answer } = server
  const client = createClient(server, options)
  const of = (sub: string) => client.onBehalfOf(authOf(clock.now() + 3600, { sub }))
  const heal = () => {
    server.answer = answer
  }
  return { server, clock, client, of, heal }
}

const busy = (status: number, seconds: number) => () =>
  new Response(null, { status, headers: { 'retry-after': `${seconds}` } })

describe('a pause that the server states', () => {
  test.each([429, 503])('with %i holds for every subject, and for the client', async (status) => {
    const { server, clock, client, of, heal } = setUp()
    server.answer = busy(status, 40)
    await failureOf(of('ada').get())
    heal()
    for (const other of [of('bob'), client]) {
      const failure = await failureOf(other.get())
      expect(failure).toMatchObject({ code: 'service_unavailable', status: 503 })
      expect(String(failure)).toContain(
        ': the authorization server wants a pause: it is not asked again yet (see retryAfter)',
      )
      expect(Reflect.get(Object(failure), 'retryAfter')).toBeGreaterThanOrEqual(40)
    }
    expect(server.requests).toHaveLength(1)
    await clock.advance(50)
    expect(await of('bob').get()).toBe('opaque-0')
    expect(await client.get()).toBe('opaque-1')
  })

  test('that is short is waited for', async () => {
    const { server, clock, of, heal } = setUp()
    server.answer = busy(503, 3)
    const first = of('ada').get()
    await clock.advance(0)
    heal()
    const second = of('bob').get()
    await clock.advance(2.9)
    expect(server.requests).toHaveLength(1)
    await clock.advance(0.4)
    expect(new Set(await Promise.all([first, second])).size).toBe(2)
  })

  test('of many answers at once counts once', async () => {
    const { server, clock, of, heal } = setUp()
    server.answer = busy(503, 11)
    const names = Array.from({ length: 50 }, (_, count) => `${count}`)
    await Promise.all(names.map(async (name) => failureOf(of(name).get())))
    expect(server.requests).toHaveLength(50)
    heal()
    await clock.advance(13)
    expect(await of('bob').get()).toBe('opaque-0')
  })
})

describe('a refusal of the client itself', () => {
  test.each(['invalid_client', 'unauthorized_client'])(
    '(401, %s) is repeated for nobody, until the pause is over',
    async (code) => {
      const { server, clock, client, of, heal } = setUp()
      server.answer = refusing(code, 401)
      await failureOf(of('ada').get())
      for (const other of [of('bob'), client]) {
        const failure = await failureOf(other.get())
        expect(failure).toMatchObject({ code, status: 502 })
        expect(String(failure)).toContain(
          ': the authorization server refuses this client: it is not asked again yet (see retryAfter)',
        )
        const { retryAfter = 0 } = failure as OAuthError
        expect(retryAfter).toBeGreaterThanOrEqual(30)
        expect(retryAfter).toBeLessThanOrEqual(33)
      }
      expect(server.requests).toHaveLength(1)
      await clock.advance(30)
      expect(await failureOf(of('cy').get())).toMatchObject({ code })
      await clock.advance(59)
      expect(await failureOf(of('dan').get())).toMatchObject({ code })
      expect(server.requests).toHaveLength(2)
      heal()
      await clock.advance(5)
      for (const each of [of('ada'), of('bob'), client]) await each.get()
    },
  )

  test('many at once count as one', async () => {
    const { server, clock, of } = setUp()
    server.answer = refusing('invalid_client', 401)
    await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => failureOf(of(name).get())))
    await clock.advance(30)
    await failureOf(of('e').get())
    expect(server.requests).toHaveLength(5)
  })

  test('is over with a token, and the next one is a first one', async () => {
    const { server, clock, of, heal } = setUp()
    server.answer = refusing('invalid_client', 401)
    await failureOf(of('ada').get())
    await clock.advance(30)
    heal()
    await of('bob').get()
    await clock.advance(1)
    server.answer = refusing('invalid_client', 401)
    expect(await failureOf(of('cy').get())).toMatchObject({ retryAfter: 30 })
    await clock.advance(30)
    heal()
    expect(await of('dan').get()).toBe('opaque-1')
  })

  test('stands although a token comes that was asked for before it', async () => {
    const { server, clock, of } = setUp()
    const { answer } = server
    server.answer = async (request) => {
      await new Promise<void>((resolve) => void clock.after(5, resolve))
      return await answer(request)
    }
    const early = of('ada').get()
    await clock.advance(0)
    server.answer = refusing('invalid_client', 401)
    await clock.advance(1)
    await failureOf(of('bob').get())
    await clock.advance(5)
    expect(await early).toBe('opaque-0')
    await failureOf(of('cy').get())
    expect(server.requests).toHaveLength(2)
  })
})

test.each<[string, () => Response]>([
  ['refuses the client with 400: that may be about the target', refusing('invalid_client', 400)],
  ['refuses with 401 for another reason', refusing('invalid_token', 401)],
  ['fails, and states no pause', () => new Response(null, { status: 500 })],
  ['gives nonsense', () => new Response('<html>')],
])('a server that %s, of one subject: others are served', async (_title, answer) => {
  const { server, clock, of, heal } = setUp()
  server.answer = answer
  const failure = failureOf(of('eve').get())
  await clock.advance(10)
  await failure
  heal()
  expect(await of('ada').get()).toBe('opaque-0')
})

test('the clock of the server is known for every subject after the first answer', async () => {
  const pair = await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify'])
  if (!('privateKey' in pair)) throw new TypeError('not a pair')
  const { server, clock, of } = setUp({ privateKey: { key: pair.privateKey } })
  server.answer = () => {
    const answer = server.grant()
    answer.headers.set('date', httpDate(clock.now() + 200))
    return answer
  }
  await of('ada').get()
  await of('bob').get()
  const times = server.forms().map((form) => {
    const [, payload = ''] = (form['client_assertion'] ?? '').split('.')
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return Number(Reflect.get(Object(claims), 'iat')) - clock.now()
  })
  expect(times[0]).toBeCloseTo(0, -1)
  expect(times[1]).toBeCloseTo(200, -1)
})
