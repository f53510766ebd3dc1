import { getEventListeners } from 'node:events'

import { expect, test } from 'vitest'

import { TokenClientError } from '../../src/answer/errors.ts'
import { hold } from '../../src/login/held-token.ts'
import { loginExchange } from '../../src/login/login-exchange.ts'
import {
  type LostLogin,
  type SettledLogin,
  type SharedLogin,
  shareLogin,
} from '../../src/login/shared-login.ts'
import { createRetry } from '../../src/request/retry.ts'
import { createClosing, raceAbort } from '../../src/waiting/abort.ts'
import { createLoginService, failureOf, httpDate } from '../login-service.ts'

function setUp({ endsWithRequest = false, closing = createClosing() } = {}) {
  const service = createLoginService()
  const { clock, fetch } = service
  const credentials = { loginId: 'demo', password: 'secret' }
  const exchange = loginExchange({ url: 'https://auth.test', response: 'auto', ...credentials })
  const endpoint = { exchange, fetch, retry: createRetry(), clock }
  const settled: [SettledLogin, isUnderWay: boolean][] = []
  const lost: LostLogin[] = []
  const plan = { endpoint, timeout: 10, verifier: undefined, closing }
  const settle = (end: SettledLogin) => {
    settled.push([end, login.isUnderWay])
    const { result } = end
    if (result instanceof TokenClientError) return result
    return hold(result.token, result.lifetime, result.receivedAt, 0, true)
  }
  const lose = (each: LostLogin) => void lost.push(each)
  const login: SharedLogin = shareLogin(plan, settle, lose, endsWithRequest)
  return { login, service, clock, settled, lost }
}

test('callers who join share one login, which is over when its end is told', async () => {
  const { login, service, settled } = setUp()
  const outcomes = [login.join(0), login.join(0), login.need(0)]
  expect(login.isUnderWay).toBe(true)
  expect(new Set(await Promise.all(outcomes)).size).toBe(1)
  expect(login.isUnderWay).toBe(false)
  expect(service.requests).toHaveLength(1)
  expect(settled).toMatchObject([[{ requests: 1, duration: 0 }, false]])
})

test.each([
  ['join', 1],
  ['need', 2],
] as const)('%s: a failed request is made %i times in 2 s', async (call, requests) => {
  const { login, service, clock } = setUp()
  service.answer = () => new Response(null, { status: 503 })
  const outcome = login[call](0)
  await clock.advance(0)
  service.answer = () => service.token()
  await clock.advance(2)
  const isFailure = (await outcome) instanceof TokenClientError
  expect([isFailure, service.requests.length]).toEqual([requests === 1, requests])
})

test('any number of callers wait with one signal, without a listener each: Node 20 warns at the eleventh', async () => {
  const { login } = setUp()
  const controller = new AbortController()
  const left = Array.from({ length: 20 }, async () => failureOf(login.need(5, controller.signal)))
  expect(getEventListeners(controller.signal, 'abort').length).toBeLessThan(2)
  controller.abort()
  expect(await Promise.all(left)).toMatchObject(Array.from(left, () => ({ code: 'aborted' })))
})

test('any number of logins end with one client', async () => {
  const closing = createClosing()
  const logins = Array.from({ length: 20 }, () => setUp({ closing }))
  const outcomes = logins.map(async ({ login }) => await login.join(5))
  closing.close()
  expect(await Promise.all(outcomes)).toMatchObject(
    Array.from(outcomes, () => ({ code: 'aborted' })),
  )
})

test('a caller who aborts ends nobody else’s wait', async () => {
  const { login, clock } = setUp()
  const controller = new AbortController()
  const left = failureOf(login.need(5, controller.signal))
  const stayed = login.need(5)
  controller.abort()
  expect(await left).toMatchObject({ code: 'aborted' })
  expect(login.isUnderWay).toBe(true)
  await clock.advance(5)
  expect(await stayed).toMatchObject({ lifetime: 300 })
})

test.each([
  [30, undefined],
  [31, 31],
])('a clock skew of %i s is told as %s', async (skew, told) => {
  const { login, service, clock } = setUp()
  clock.set(Math.floor(clock.now()) + 0.5)
  service.answer = () =>
    new Response('no', { headers: { date: httpDate(clock.now() + skew - 0.5) } })
  await login.join(0)
  expect(login.clockSkew).toBe(told)
})

test('idle ends at once without a login, and with one when that ends', async () => {
  const { login, clock } = setUp()
  await login.idle()
  void login.join(5)
  const idle = login.idle().then(() => clock.monotonic())
  await clock.advance(6)
  expect(await idle).toBeGreaterThanOrEqual(5)
})

test('a wait whose signal was aborted before it began ends at once', async () => {
  const never = new Promise<never>(() => {})
  const outcome = await failureOf(raceAbort(never, AbortSignal.abort()))
  expect(outcome).toMatchObject({ code: 'aborted' })
})
