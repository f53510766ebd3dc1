import type { Instant } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'

import { hold } from '../../src/login/held-token.ts'
import {
  afterAnswer,
  afterFailure,
  afterInvalidation,
  afterLogin,
  type CallerStep,
  callerStep,
  INITIAL,
  isStillHeld,
  type LoginFailure,
  loginRefusal,
  nextLoginIn,
  type RenewalState,
} from '../../src/login/renewal.ts'

const at = (seconds: number): Instant => ({ wall: seconds, monotonic: seconds })
const held = (lifetime: number | undefined) => hold('a', lifetime, at(0), 0, true)
const withToken = (lifetime?: number): RenewalState => afterLogin(INITIAL, held(lifetime))

const fail = (state: RenewalState, now: number, retryAfter?: number): RenewalState =>
  afterFailure(state, at(now), { code: 'service_unavailable', retryAfter, isSent: true }, 0)
const reject = (
  state: RenewalState,
  now: number,
  code: LoginFailure['code'] = 'credentials_rejected',
): RenewalState => afterFailure(state, at(now), { code, isSent: true }, 0)
const expire = (state: RenewalState, now: number, isSent = true): RenewalState =>
  afterFailure(state, at(now), { code: 'timeout', isSent }, 0)
const pauseAfter = (failure: LoginFailure, random: number) =>
  nextLoginIn(afterFailure(INITIAL, at(0), failure, random), at(0))
const repeat = (times: number, step: (state: RenewalState) => RenewalState) =>
  Array.from({ length: times }).reduce<RenewalState>((state) => step(state), withToken(3600))

describe('what a caller does', () => {
  const DUE = 280
  const SHORT = 295
  const failed = fail(withToken(300), 279)

  test.each<[string, RenewalState, number, boolean, number | undefined, CallerStep]>([
    ['no token', INITIAL, 0, false, undefined, 'wait'],
    ['no token, a login under way', INITIAL, 0, true, undefined, 'wait'],
    ['an expired token', withToken(300), 300, false, undefined, 'wait'],
    ['an expired token, whatever is enough', withToken(300), 300, false, 0, 'wait'],
    ['a fresh token', withToken(300), 0, false, undefined, 'use'],
    ['a fresh token with enough left', withToken(300), 0, false, 270, 'use'],
    ['a token that is due', withToken(300), DUE, false, undefined, 'renew'],
    ['a token that is due, with enough left', withToken(300), DUE, false, 20, 'renew'],
    ['a token that is due, a login under way', withToken(300), DUE, true, undefined, 'use'],
    ['a token that is due, in the pause after a failure', failed, DUE, false, undefined, 'use'],
    ['a token that is short', withToken(300), SHORT, false, undefined, 'prefer'],
    ['a token that is short, a login under way', failed, SHORT, true, undefined, 'prefer'],
    [
      'a token that is short, in the pause after a failure',
      fail(withToken(300), SHORT),
      SHORT,
      false,
      undefined,
      'use',
    ],
    ['too little left for this caller', withToken(300), 100, false, 250, 'wait'],
    ['a fresh token, of which none lasts long enough', withToken(300), 0, false, 280, 'use'],
    ['a token of the like that is due: the next may last longer', failed, DUE, false, 280, 'wait'],
  ])('%s', (_title, state, now, isLoggingIn, minValidity, step) => {
    expect(callerStep(state, at(now), isLoggingIn, minValidity)).toBe(step)
  })

  test('a renewal that failed leaves the token, unless it expired or was dropped', () => {
    const state = withToken(300)
    expect(isStillHeld(state, 'a', at(299))).toBe(true)
    expect(isStillHeld(state, 'a', at(300))).toBe(false)
    expect(isStillHeld(state, 'b', at(0))).toBe(false)
    expect(isStillHeld(INITIAL, 'a', at(0))).toBe(false)
  })
})

describe('a login for a caller who needs one', () => {
  test.each<[string, RenewalState, number, object | undefined]>([
    ['the first is made', INITIAL, 0, undefined],
    ['after a first failure the pause is waited for', fail(INITIAL, 0), 0, undefined],
    [
      'after a second it is too long',
      fail(fail(INITIAL, 0), 0),
      0,
      { code: 'service_unavailable', retryAfter: 2 },
    ],
    ['towards its end it is waited for', fail(fail(INITIAL, 0), 0), 1, undefined],
    [
      'a Retry-After of more is too long',
      fail(INITIAL, 0, 20),
      0,
      { code: 'service_unavailable', retryAfter: 20 },
    ],
    [
      'after rejected credentials no pause is waited for',
      reject(INITIAL, 0),
      29.5,
      { code: 'credentials_rejected', retryAfter: 0.5 },
    ],
    [
      'nor after another answer without a token',
      reject(INITIAL, 0, 'unexpected_response'),
      29.5,
      { code: 'unexpected_response', retryAfter: 0.5 },
    ],
    ['after that pause one is made', reject(INITIAL, 0), 30, undefined],
  ])('%s', (_title, state, now, refusal) => {
    expect(loginRefusal(state, at(now))).toEqual(refusal)
  })
})

describe('the next login', () => {
  test('is at once to begin with, and after a success', () => {
    expect(nextLoginIn(INITIAL, at(0))).toBe(0)
    expect(nextLoginIn(afterLogin(fail(INITIAL, 0), held(300)), at(0))).toBe(0)
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 2000])('failure %i in a row: later each time', (times) => {
    const state = repeat(times, (before) => fail(before, 100))
    expect(nextLoginIn(state, at(100))).toBe(Math.min(60, 3 * 2 ** (times - 1)))
    const expired = { wall: 9999, monotonic: 100 }
    expect(nextLoginIn(state, expired)).toBe(Math.min(10, 2 ** (times - 1)))
  })

  test.each([1, 2, 3, 4, 5, 6, 2000])('refusal %i of the credentials: much later', (times) => {
    const state = repeat(times, (before) => reject(before, 100))
    expect(nextLoginIn(state, at(100))).toBe(Math.min(300, 30 * 2 ** (times - 1)))
  })

  test.each([1, 2, 3, 4, 5, 6, 2000])(
    'answer %i without a token: as a refusal of the credentials, which it may be',
    (times) => {
      const state = repeat(times, (before) => reject(before, 100, 'unexpected_response'))
      expect(nextLoginIn(state, at(100))).toBe(Math.min(300, 30 * 2 ** (times - 1)))
    },
  )

  test('refusals of both kinds count together', () => {
    const state = reject(reject(INITIAL, 0, 'unexpected_response'), 30)
    expect(nextLoginIn(state, at(30))).toBe(60)
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 2000])(
    'timeout %i of what was sent: later each time, up to a minute, also without a token',
    (times) => {
      const state = repeat(times, (before) => expire(before, 100))
      const expired = { wall: 9999, monotonic: 100 }
      expect(nextLoginIn(state, expired)).toBe(Math.min(60, 2 ** (times - 1)))
    },
  )

  test('timeouts before anything was sent are an outage', () => {
    const state = repeat(10, (before) => expire(before, 100, false))
    expect(nextLoginIn(state, { wall: 9999, monotonic: 100 })).toBe(10)
  })

  test('a fleet that failed together is spread over a tenth of the pause; refusals are exact', () => {
    const unavailable: LoginFailure = { code: 'service_unavailable', isSent: true }
    expect(pauseAfter(unavailable, 0)).toBe(1)
    expect(pauseAfter(unavailable, 1)).toBe(1.1)
    expect(pauseAfter({ ...unavailable, retryAfter: 20 }, 1)).toBe(22)
    expect(pauseAfter({ code: 'timeout', isSent: true }, 1)).toBe(1.1)
    expect(pauseAfter({ code: 'credentials_rejected', isSent: true }, 1)).toBe(30)
  })

  test('an outage between two refusals makes the second no first one', () => {
    const state = reject(fail(reject(withToken(3600), 0), 30), 60)
    expect(nextLoginIn(state, at(60))).toBe(60)
  })

  test('a refusal that states its pause holds for that time, and does not count: somebody else heard of it', () => {
    const told = { code: 'credentials_rejected', retryAfter: 5, isSent: false } as const
    const state = afterFailure(INITIAL, at(0), told, 0)
    expect(nextLoginIn(state, at(0))).toBe(5)
    expect(nextLoginIn(reject(state, 5), at(5))).toBe(30)
  })

  test('a success makes the next refusal a first one', () => {
    const state = reject(afterLogin(reject(INITIAL, 0), held(300)), 100)
    expect(nextLoginIn(state, at(100))).toBe(30)
  })

  test('Retry-After is honoured up to five minutes', () => {
    expect(nextLoginIn(fail(INITIAL, 0, 20), at(0))).toBe(20)
    expect(nextLoginIn(fail(INITIAL, 0, 299), at(0))).toBe(299)
    expect(nextLoginIn(fail(INITIAL, 0, 3600), at(0))).toBe(300)
    expect(nextLoginIn(fail(withToken(3600), 0, 2), at(0))).toBe(3)
  })

  test('goes by the monotonic clock alone', () => {
    const state = reject(INITIAL, 0)
    expect(nextLoginIn(state, { wall: 1e9, monotonic: 10 })).toBe(20)
    expect(nextLoginIn(state, { wall: -1e9, monotonic: 30 })).toBe(0)
  })

  test('a failure keeps the token, and remembers why', () => {
    expect(reject(fail(withToken(300), 0), 1)).toMatchObject({
      held: { token: 'a' },
      failures: 2,
      refusals: 1,
      lastFailure: 'credentials_rejected',
    })
  })
})

describe('an invalidated token', () => {
  test('is dropped, unless another has taken its place', () => {
    const state = withToken(300)
    expect(afterInvalidation(state, 'a', at(0)).held).toBeUndefined()
    expect(afterInvalidation(state, 'b', at(0))).toBe(state)
    expect(afterInvalidation(INITIAL, 'a', at(0))).toBe(INITIAL)
  })

  test('an API that refuses every token costs a login at 0, 3, 6, 12, 24, 48 and then 60 s', () => {
    let state = withToken(1e6)
    const logins: number[] = []
    let last = 0
    for (let now = 0; now < 400; now++) {
      state = afterInvalidation(state, 'a', at(now))
      if (state.held === undefined) {
        state = afterLogin(state, hold('a', 1e6, at(now), 0, true))
        logins.push(now - last)
        last = now
      }
    }
    expect(logins).toEqual([0, 3, 6, 12, 24, 48, 60, 60, 60, 60, 60])
  })

  test.each<[string, number, readonly boolean[], string, boolean]>([
    ['that worked there for a while is dropped', 10, [true], 'a', true],
    ['that came only just now is kept', 9.9, [true], 'a', false],
    ['that never worked there is kept', 10, [], 'a', false],
    ['that worked at another origin is kept', 10, [true], 'b', false],
    ['that was refused there before is kept', 10, [true, false], 'a', false],
    ['that was refused there first is kept', 10, [false, true], 'a', false],
  ])('under guard, %s', (_title, age, answers, origin, isDropped) => {
    const guarded = { ...withToken(300), invalidations: 9 }
    const state = answers.reduce<RenewalState>(
      (before, isAccepted) => afterAnswer(before, 'a', 'a', isAccepted),
      guarded,
    )
    const after = afterInvalidation(state, 'a', at(age), origin)
    expect(after.held === undefined).toBe(isDropped)
    expect(after.invalidations).toBe(9)
    expect(after.held?.refusedBy.has(origin)).toBe(isDropped ? undefined : true)
  })

  test('an answer to another token, or the same again, is no news', () => {
    const state = afterAnswer(withToken(300), 'a', 'a', true)
    expect(afterAnswer(state, 'a', 'a', true)).toBe(state)
    expect(afterAnswer(state, 'b', 'b', true)).toBe(state)
  })

  test('after two quiet minutes that begins anew', () => {
    const dropped = afterInvalidation(withToken(1e6), 'a', at(0))
    const again = afterLogin(dropped, hold('a', 1e6, at(0), 0, true))
    expect(afterInvalidation(again, 'a', at(119)).invalidations).toBe(2)
    expect(afterInvalidation(again, 'a', at(120)).invalidations).toBe(1)
  })
})
