import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { TokenClientError } from '../../src/answer/errors.ts'
import { loginExchange, type LoginOptions } from '../../src/login/login-exchange.ts'
import { logIn, type LoginPlan } from '../../src/login/login.ts'
import { createRetry } from '../../src/request/retry.ts'
import type { TokenEndpoint } from '../../src/request/token-request.ts'
import { createClosing } from '../../src/waiting/abort.ts'
import { createLoginService, failureOf, hang, jws, stateOf } from '../login-service.ts'

const awaited = {
  isAwaited: () => true,
  onRequest: () => undefined,
  onClockSkew: () => undefined,
}

function setUp({
  pause = 0,
  verifier,
  loginId = 'demo',
  password = 'secret',
  ...endpoint
}: Partial<TokenEndpoint> &
  Partial<LoginOptions> & { pause?: number; verifier?: LoginPlan['verifier'] } = {}) {
  const service = createLoginService()
  const { clock, fetch } = service
  const closing = createClosing()
  let timers = 0
  const counting = {
    ...clock,
    after: (seconds: number, fn: () => void) => {
      const cancel = clock.after(seconds, fn)
      timers++
      return () => {
        timers--
        cancel()
      }
    },
  }
  const plan: LoginPlan = {
    endpoint: {
      exchange: loginExchange({
        url: 'https://auth.test/login',
        loginId,
        password,
        response: 'auto',
      }),
      fetch,
      retry: createRetry(),
      clock: counting,
      ...endpoint,
    },
    timeout: 10,
    verifier,
    closing,
  }
  const run = async () => await logIn(plan, pause, awaited)
  return { service, clock, closing, run, timers: () => timers }
}

/** Each thing that a login may wait for without end. */
const PHASES: Readonly<Record<string, () => ReturnType<typeof setUp>>> = {
  'a credential function': () => setUp({ password: hang }),
  'a fetch that ignores its signal': () => setUp({ fetch: hang }),
  'a body that stalls': () => {
    const scene = setUp()
    scene.service.answer = () => new Response(new ReadableStream({ pull: hang }))
    return scene
  },
  'a pause between attempts': () => {
    const scene = setUp()
    const headers = { 'retry-after': '9' }
    scene.service.answer = () => new Response(null, { status: 503, headers })
    return scene
  },
  'the verifier': () => setUp({ verifier: { verify: hang } }),
}

describe.each(Object.entries(PHASES))('while it waits for %s', (_phase, create) => {
  test('the deadline ends it, and no timer is left', async () => {
    const { run, clock, timers, service } = create()
    // The attempt after the pause between two hangs as well.
    const failure = failureOf(run())
    await clock.advance(0.5)
    if (service.requests.length > 0) service.answer = hang
    await clock.advance(9.4)
    expect(await stateOf(failure)).toBe('pending')
    await clock.advance(0.1)
    expect(await failure).toMatchObject({
      code: 'timeout',
      message: 'the token service gave no token in 10 s',
    })
    expect(timers()).toBeLessThanOrEqual(0)
  })

  test('closing the client ends it, and no timer is left', async () => {
    const { run, clock, closing, timers, service } = create()
    const failure = failureOf(run())
    await clock.advance(0.5)
    expect(await stateOf(failure)).toBe('pending')
    closing.close()
    expect(await failure).toMatchObject({ code: 'aborted', message: 'the client was closed' })
    expect(timers()).toBeLessThanOrEqual(0)
    const requests = service.requests.length
    await clock.advance(60)
    expect(service.requests).toHaveLength(requests)
  })
})

test('what is still under way when it is over is aborted', async () => {
  const { run, service, clock } = setUp({ verifier: { verify: hang } })
  const failure = failureOf(run())
  await clock.advance(10)
  await failure
  expect(service.requests[0]?.init.signal?.aborted).toBe(true)
})

test('a success leaves no timer', async () => {
  const { run, timers } = setUp()
  await run()
  expect(timers()).toBe(0)
})

describe('the pause', () => {
  test('comes first, and the deadline begins after it', async () => {
    const { run, clock, service } = setUp({ pause: 1 })
    service.answer = hang
    const failure = failureOf(run())
    await clock.advance(10.9)
    expect(service.requests.map(({ time }) => time)).toEqual([1])
    expect(await stateOf(failure)).toBe('pending')
    await clock.advance(0.1)
    expect(await failure).toMatchObject({ code: 'timeout' })
  })

  test('ends at once when the client is closed, and no timer is left', async () => {
    const { run, clock, closing, service, timers } = setUp({ pause: 20 })
    const failure = failureOf(run())
    await clock.advance(15)
    expect(await stateOf(failure)).toBe('pending')
    closing.close()
    expect(await failure).toMatchObject({ code: 'aborted', message: 'the client was closed' })
    expect(timers()).toBeLessThanOrEqual(0)
    await clock.advance(60)
    expect(service.requests).toEqual([])
  })

  test('of which the end is the end of the client: no request and no timer', async () => {
    const { run, clock, closing, service, timers } = setUp({ pause: 1 })
    clock.after(1, () => {
      closing.close()
    })
    const failure = failureOf(run())
    await clock.advance(1)
    expect(await failure).toMatchObject({ code: 'aborted' })
    expect(timers()).toBeLessThanOrEqual(0)
    expect(service.requests).toEqual([])
  })
})

describe.each(['loginId', 'password'])('a function %s that answers too late', (name) => {
  function setUpLate() {
    let answer: ((text: string) => void) | undefined
    const credential = async () => await new Promise<string>((resolve) => (answer = resolve))
    return { ...setUp({ [name]: credential }), answer: () => answer?.('demo') }
  }

  test.each<[string, (scene: ReturnType<typeof setUpLate>) => unknown]>([
    ['the deadline', async ({ clock }) => await clock.advance(10)],
    [
      'the end of the client',
      ({ closing }) => {
        closing.close()
      },
    ],
  ])('after %s: nothing is sent', async (_title, end) => {
    const scene = setUpLate()
    const failure = failureOf(scene.run())
    await scene.clock.advance(1)
    await end(scene)
    await failure
    scene.answer()
    await scene.clock.advance(1)
    expect(scene.service.requests).toEqual([])
  })
})

describe('a token that cannot be used', () => {
  test.each([0, -1, -3600])('it expires in %i s', async (lifetime) => {
    const { run, service } = setUp()
    service.answer = () => service.token(lifetime)
    expect(await failureOf(run())).toMatchObject({
      code: 'token_unusable',
      message: 'the token service gave a token that has expired by our clock (see clockSkew)',
    })
  })

  test.each<[string, unknown, TokenClientError['code'], string]>([
    ['a reason', { code: 'invalid_token', reason: 'signature' }, 'token_unusable', 'signature'],
    ['a code', { code: 'ERR_JWT_EXPIRED' }, 'token_unusable', 'ERR_JWT_EXPIRED'],
    ['a sentence', { code: 'token a.b.c' }, 'token_unusable', 'no reason given'],
    ['nothing', undefined, 'token_unusable', 'no reason given'],
    ['no keys', { code: 'keys_unavailable' }, 'service_unavailable', 'no keys to judge it by'],
  ])('the verifier refuses it, with %s', async (_title, reason, code, word) => {
    const verify = async () => {
      throw reason
    }
    const { run } = setUp({ verifier: { verify } })
    const failure = await failureOf(run())
    expect(failure).toBeInstanceOf(TokenClientError)
    expect(failure).toMatchObject({ code, message: expect.stringContaining(word) as unknown })
  })

  test('a verifier that accepts it is given the token, before anybody else', async () => {
    const seen: string[] = []
    const verify = async (token: string) => {
      seen.push(token)
      await Promise.resolve()
    }
    const { run, service } = setUp({ verifier: { verify } })
    const { token } = await run()
    expect(seen).toEqual([token])
    expect(service.tokens).toEqual([token])
  })
})

test('a token without expiry is usable', async () => {
  const clock = manualClock()
  const token = jws({})
  const { run, service } = setUp({ clock })
  service.answer = () => new Response(token)
  await expect(run()).resolves.toMatchObject({ token, lifetime: undefined })
})
