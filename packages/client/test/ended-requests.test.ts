import { describe, expect, test } from 'vitest'

import { createClient } from '../src/login/client.ts'
import { loginExchange } from '../src/login/login-exchange.ts'
import type { GetOptions } from '../src/login/token-client.ts'
import { createDiscovery } from '../src/oauth/metadata.ts'
import { createRetry } from '../src/request/retry.ts'
import { createClosing } from '../src/waiting/abort.ts'
import { createLoginService, type LoginService } from './login-service.ts'

// A client on a runtime that ends the I/O of a request with it: what is under way then never settles.

const API = 'https://api.test'

function setUp(endsWithRequest = true) {
  const service = createLoginService()
  const { clock, fetch } = service
  const credentials = { loginId: 'demo', password: 'secret' }
  const exchange = loginExchange({ url: 'https://auth.test', response: 'auto', ...credentials })
  const client = createClient({
    origins: new Set([API]),
    plan: {
      endpoint: { exchange, fetch, retry: createRetry(), clock },
      timeout: 10,
      verifier: undefined,
    },
    closing: createClosing(),
    endsWithRequest,
  })
  const outcome = async (options: GetOptions = {}) =>
    await client.get(options).then(
      (token) => `token ${service.tokens.indexOf(token)}`,
      (error: unknown) => {
        const { name, code } = error as { name: string; code: string }
        return `${name} ${code}`
      },
    )
  return { service, clock, client, outcome }
}

/** The request that begins the next login ends before there is an answer. */
function hangOnce(service: LoginService): (answer?: Response) => void {
  let release: ((answer: Response) => void) | undefined
  service.answer = async () => {
    service.answer = () => service.token()
    return await new Promise((resolve) => {
      release = resolve
    })
  }
  return (answer = service.token()) => release?.(answer)
}

describe('a renewal behind a request that has ended', () => {
  test('is replaced by the first caller who must wait for it', async () => {
    const { service, clock, outcome } = setUp()
    expect(await outcome()).toBe('token 0')
    await clock.advance(286)
    hangOnce(service)
    expect(await outcome()).toBe('token 0')
    await clock.advance(0)
    expect(service.requests).toHaveLength(2)
    await clock.advance(3)
    expect(await outcome()).toBe('token 0')
    expect(service.requests).toHaveLength(2)
    const waiting = outcome({ minValidity: 100 })
    await clock.advance(1)
    expect(await waiting).toBe('token 1')
    expect(service.requests).toHaveLength(3)
    expect(await outcome()).toBe('token 1')
  })

  test('is joined on every other runtime', async () => {
    const { service, clock, outcome } = setUp(false)
    expect(await outcome()).toBe('token 0')
    await clock.advance(286)
    const release = hangOnce(service)
    expect(await outcome()).toBe('token 0')
    await clock.advance(4)
    const waiting = outcome({ minValidity: 100 })
    await clock.advance(1)
    expect(service.requests).toHaveLength(2)
    release()
    expect(await waiting).toBe('token 1')
  })

  test('leaves a token that still works to those who would wait for the pause', async () => {
    const { service, clock, outcome } = setUp()
    expect(await outcome()).toBe('token 0')
    await clock.advance(290.5)
    hangOnce(service)
    const leaving = new AbortController()
    const first = outcome({ signal: leaving.signal })
    await clock.advance(0.2)
    leaving.abort()
    expect(await first).toBe('TokenClientError aborted')
    expect(await outcome()).toBe('token 0')
    await clock.advance(4)
    expect(await outcome()).toBe('token 1')
    expect(service.requests).toHaveLength(3)
  })
})

/** A caller who leaves before there is an answer. */
async function leave({ clock, outcome }: ReturnType<typeof setUp>): Promise<string> {
  const leaving = new AbortController()
  const left = outcome({ signal: leaving.signal })
  await clock.advance(0.3)
  leaving.abort()
  return await left
}

describe('a login of whose end nobody will hear', () => {
  test('is replaced a second after it began, and its late answer is dropped', async () => {
    const scene = setUp()
    const { service, clock, outcome } = scene
    const release = hangOnce(service)
    expect(await leave(scene)).toBe('TokenClientError aborted')
    const waiting = [outcome(), outcome()]
    await clock.advance(0.6)
    expect(service.requests).toHaveLength(1)
    await clock.advance(0.3)
    expect(await Promise.all(waiting)).toEqual(['token 0', 'token 0'])
    expect(service.requests).toHaveLength(2)
    release()
    await clock.advance(0)
    expect(await outcome()).toBe('token 0')
  })

  test('again and again: is asked for less and less often, because the service may count wrong passwords', async () => {
    const scene = setUp()
    const { service, clock } = scene
    service.answer = async () => await new Promise<never>(() => {})
    for (let second = 0; second < 60; second++) {
      await leave(scene)
      await clock.advance(0.7)
    }
    // After 1, 2, 4, 8, 16 and 32 s.
    expect(service.requests.length).toBeLessThanOrEqual(7)
    expect(service.requests.length).toBeGreaterThanOrEqual(5)
    service.answer = () => service.token()
    await clock.advance(70)
    expect(await scene.outcome()).toBe('token 0')
  })

  test('that is still waited for: a second after its deadline it is replaced', async () => {
    const { service, clock, outcome } = setUp()
    hangOnce(service)
    const first = outcome()
    await clock.advance(10)
    expect(await first).toBe('TokenClientError timeout')
    const next = outcome()
    await clock.advance(1.2)
    expect(await next).toBe('token 0')
  })

  test('does not keep a client from being closed', async () => {
    const { service, client, outcome } = setUp()
    hangOnce(service)
    void outcome()
    await client.close()
    expect(client.status().isClosed).toBe(true)
  })
})

function discovery(endsWithRequest = true) {
  const service = createLoginService()
  const { clock, requests } = service
  const issuer = 'https://auth.test'
  const answer = () => Response.json({ issuer, token_endpoint: `${issuer}/token` })
  const common = { hasCertificate: false, allowInsecure: false, timeout: 10 }
  const locate = createDiscovery({
    ...common,
    issuer,
    clock,
    endsWithRequest,
    closing: createClosing(),
    retry: createRetry(),
    fetch: async (url, init) => await service.fetch(url, init),
  })
  service.answer = answer
  return { service, clock, locate, requests, answer }
}

describe('metadata of an authorization server', () => {
  test.each([
    [true, 2],
    [false, 1],
  ])('whose request has ended are read anew by the next (%s): %i requests', async (ends, count) => {
    const { service, clock, locate, requests, answer } = discovery(ends)
    let release: (() => void) | undefined
    service.answer = async () =>
      await new Promise((resolve) => {
        release = () => {
          resolve(answer())
        }
      })
    const leaving = new AbortController()
    const first = locate(leaving.signal).catch((error: unknown) => (error as Error).message)
    await clock.advance(0.3)
    leaving.abort()
    expect(await first).toBe('the wait was aborted')
    service.answer = answer
    const next = locate(new AbortController().signal)
    await clock.advance(0.5)
    expect(requests).toHaveLength(1)
    await clock.advance(0.4)
    if (count === 1) release?.()
    expect(await next).toMatchObject({ token_endpoint: 'https://auth.test/token' })
    expect(requests).toHaveLength(count)
  })
})
