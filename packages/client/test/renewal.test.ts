import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  afterAnswer,
  afterFailure,
  afterInvalidation,
  afterLogin,
  type Freshness,
  freshness,
  hold,
  INITIAL,
  type LoginFailure,
  nextLoginIn,
  remaining,
  type RenewalState,
} from '../src/renewal.ts'
import type { Instant } from '../src/time.ts'

const at = (seconds: number): Instant => ({ wall: seconds, monotonic: seconds })
const held = (lifetime: number | undefined, draw = 0) => hold('a', lifetime, at(0), draw)
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
const pauseAfter = (failure: LoginFailure, draw: number) =>
  nextLoginIn(afterFailure(INITIAL, at(0), failure, draw), at(0))
const repeat = (times: number, step: (state: RenewalState) => RenewalState) =>
  Array.from({ length: times }).reduce<RenewalState>((state) => step(state), withToken(3600))

describe('hold', () => {
  test.each<[string, number | undefined, number, number, number]>([
    ['an hour: 10 % of it, and 10 s', 3600, 3600, 300, 10],
    ['ten hours: 5 minutes, and 10 s', 36_000, 36_000, 300, 10],
    ['five minutes', 300, 300, 30, 10],
    ['a minute: nobody waits for most of its life', 60, 60, 6, 3],
    ['a second', 1, 1, 0.1, 0.05],
    ['no expiry: a minute', undefined, 60, 6, 3],
  ])('%s', (_title, lifetime, known, renewBefore, waitBefore) => {
    expect(held(lifetime)).toMatchObject({ lifetime: known, renewBefore, waitBefore })
  })

  test('a fleet that logged in together is spread over a quarter of the advance', () => {
    expect(held(300, 0).renewBefore).toBe(30)
    expect(held(300, 0.5).renewBefore).toBe(33.75)
    expect(held(300, 1).renewBefore).toBe(37.5)
  })

  test('every token is fresh first, then due, then short, then none', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.001, max: 1e8, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lifetime, draw) => {
          const token = hold('a', lifetime, at(0), draw)
          const { renewBefore, waitBefore } = token
          const left = [lifetime, 0.99 * renewBefore, 0.99 * waitBefore, 0]
          const words = left.map((seconds) => freshness(token, at(lifetime - seconds)))
          expect(words).toEqual(['fresh', 'due', 'short', 'none'])
        },
      ),
    )
  })
})

describe('freshness', () => {
  test.each<[string, Instant, number | undefined, Freshness]>([
    ['just obtained', at(0), undefined, 'fresh'],
    ['before the advance', at(269.9), undefined, 'fresh'],
    ['in the advance', at(270.1), undefined, 'due'],
    ['10 s left', at(290), undefined, 'due'],
    ['less than 10 s left', at(290.1), undefined, 'short'],
    ['a moment before it expires', at(299.9), undefined, 'short'],
    ['expired', at(300), undefined, 'none'],
    ['a machine that was suspended: the wall clock counts', { wall: 300, monotonic: 1 }, 0, 'none'],
    [
      'a wall clock set back: the monotonic clock counts',
      { wall: -9e9, monotonic: 300 },
      0,
      'none',
    ],
    ['a clock that answers with no number', at(NaN), undefined, 'none'],
    ['enough for the caller', at(100), 200, 'fresh'],
    ['not enough for the caller', at(100.1), 200, 'short'],
    ['enough for a caller who needs next to nothing', at(299), 0, 'due'],
    ['more than it ever had', at(0), 301, 'short'],
  ])('%s', (_title, now, minValidity, word) => {
    expect(freshness(held(300), now, minValidity)).toBe(word)
  })

  test('no token is none', () => {
    expect(freshness(undefined, at(0))).toBe('none')
    expect(freshness(undefined, at(0), 0)).toBe('none')
  })

  test('what is left is the lifetime less the larger of the elapsed times', () => {
    expect(remaining(held(300), { wall: 40, monotonic: 30 })).toBe(260)
    expect(remaining(held(300), { wall: 30, monotonic: 40 })).toBe(260)
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
        state = afterLogin(state, hold('a', 1e6, at(now), 0))
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
    const again = afterLogin(dropped, hold('a', 1e6, at(0), 0))
    expect(afterInvalidation(again, 'a', at(119)).invalidations).toBe(2)
    expect(afterInvalidation(again, 'a', at(120)).invalidations).toBe(1)
  })
})
