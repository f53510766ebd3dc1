import { describe, expect, test } from 'vitest'

import {
  afterAnswer,
  afterBadAnswer,
  afterBegin,
  afterFailure,
  answerState,
  callStep,
  type Failure,
  initialLane,
  isDown,
  isStillInactive,
  isYoung,
  untilRate,
} from '../src/decisions.ts'

const at = (seconds: number) => ({ wall: 1000 + seconds, monotonic: seconds })
const POLICY = { maxAge: 30, staleIfError: 60 }
const LIMITS = { maxCalls: 2, maxRate: 10 }
const DOWN: Failure = {
  reason: 'unreachable',
  detail: 'down',
  concerns: 'endpoint',
  retryAfter: undefined,
}

describe('what an answer is good for', () => {
  test.each<[string, number | undefined, number, string]>([
    ['at once', undefined, 0, 'fresh'],
    ['just before maxAge', undefined, 29.9, 'fresh'],
    ['at maxAge', undefined, 30, 'stale'],
    ['at the end of staleIfError', undefined, 90, 'over'],
    ['just before exp', 1010, 9.9, 'fresh'],
    ['at exp', 1010, 10, 'over'],
    ['at an exp between maxAge and staleIfError', 1050, 50, 'over'],
    ['just before that', 1050, 49.9, 'stale'],
    ['with an exp that has passed: for 5 s, so that its refusal costs no calls', 990, 4.9, 'fresh'],
    ['and no longer', 990, 5, 'over'],
    ['the same with an exp that is just now', 1000, 4.9, 'fresh'],
  ])('%s', (_name, exp, seconds, state) => {
    expect(answerState({ askedAt: at(0), exp }, at(seconds), POLICY)).toBe(state)
  })

  test('a clock that is set back makes nothing younger, and one that is suspended makes it older', () => {
    const answer = { askedAt: at(0), exp: undefined }
    expect(answerState(answer, { wall: 0, monotonic: 30 }, POLICY)).toBe('stale')
    expect(answerState(answer, { wall: 1030, monotonic: 1 }, POLICY)).toBe('stale')
  })

  test('an answer is young until maxAge, by either clock, whatever its exp', () => {
    expect(isYoung({ askedAt: at(0) }, at(29.9), POLICY)).toBe(true)
    expect(isYoung({ askedAt: at(0) }, at(30), POLICY)).toBe(false)
    expect(isYoung({ askedAt: at(0) }, { wall: 1030, monotonic: 1 }, POLICY)).toBe(false)
  })

  test('that a token is not active is believed for 5 s, or for maxAge if that is shorter', () => {
    expect(isStillInactive(at(0), at(4.9), POLICY)).toBe(true)
    expect(isStillInactive(at(0), at(5), POLICY)).toBe(false)
    expect(isStillInactive(at(0), at(1), { ...POLICY, maxAge: 1 })).toBe(false)
  })
})

describe('a token with bad answers', () => {
  const odd: Failure = { ...DOWN, reason: 'bad_answer', concerns: 'token' }

  test('is asked about after a pause that grows', () => {
    const first = afterBadAnswer(undefined, { startedAt: 0, settledAt: 0.5 }, odd, 0.5)
    expect(first).toEqual({ failures: 1, failure: odd, pauseEnd: 1 })
    const second = afterBadAnswer(first, { startedAt: 1, settledAt: 1.5 }, odd, 0.5)
    expect(second).toEqual({ failures: 2, failure: odd, pauseEnd: 3 })
    const asked = { ...odd, retryAfter: 10 }
    expect(afterBadAnswer(second, { startedAt: 3, settledAt: 4 }, asked, 0.5).pauseEnd).toBe(14)
  })

  test('begins anew if nobody has asked for longer than any pause', () => {
    const first = afterBadAnswer(undefined, { startedAt: 0, settledAt: 0 }, odd, 0.5)
    expect(afterBadAnswer(first, { startedAt: 61, settledAt: 61 }, odd, 0.5).failures).toBe(2)
    expect(afterBadAnswer(first, { startedAt: 61.1, settledAt: 61.1 }, odd, 0.5).failures).toBe(1)
  })
})

describe('the next call', () => {
  test('begins while there are fewer than maxCalls, then joins the queue', () => {
    const state = initialLane(LIMITS, 0)
    expect(callStep(state, 1, 0, LIMITS)).toBe('begin')
    expect(callStep(state, 2, 0, LIMITS)).toBe('join')
  })

  test('waits for the rate: after maxCalls at once, as many in a second as it allows', () => {
    let state = initialLane(LIMITS, 0)
    state = afterBegin(afterBegin(state, 0, LIMITS), 0, LIMITS)
    expect(callStep(state, 0, 0, LIMITS)).toBe('pause')
    expect(untilRate(state, 0, LIMITS)).toBeCloseTo(0.1)
    expect(untilRate(state, 0.05, LIMITS)).toBeCloseTo(0.05)
    expect(callStep(state, 0, 0.1, LIMITS)).toBe('begin')
    expect(untilRate(state, 0.1, LIMITS)).toBeGreaterThan(0)
    state = afterBegin(state, 100, LIMITS)
    expect(callStep(state, 0, 100, LIMITS)).toBe('begin')
    expect(callStep(afterBegin(state, 100, LIMITS), 0, 100, LIMITS)).toBe('pause')
  })

  test('needs no turn of the rate where there is none', () => {
    const limits = { maxCalls: 2, maxRate: Infinity }
    let state = initialLane(limits, 0)
    for (let count = 0; count < 5; count++) state = afterBegin(state, 0, limits)
    expect(callStep(state, 0, 0, limits)).toBe('begin')
  })

  test('fails during a pause; after it one call finds out, and the others wait for that', () => {
    const times = { startedAt: 10, settledAt: 11 }
    const state = afterFailure(initialLane(LIMITS, 0), times, DOWN, 0.5)
    expect(callStep(state, 0, 11.9, LIMITS)).toBe('fail')
    expect(callStep(state, 0, 12, LIMITS)).toBe('begin')
    expect(callStep(state, 1, 12, LIMITS)).toBe('join')
    expect(callStep(afterAnswer(state, 11.5), 1, 11.5, LIMITS)).toBe('begin')
  })

  test('waits longer after each failure, up to 30 s, and differently in each process', () => {
    let state = initialLane(LIMITS, 0)
    const pauses = Array.from({ length: 8 }, () => {
      const now = state.pauseEnd === -Infinity ? 0 : state.pauseEnd
      state = afterFailure(state, { startedAt: now, settledAt: now }, DOWN, 0.5)
      return state.pauseEnd - now
    })
    expect(pauses.map(Math.round)).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
    const spread = [0, 1].map(
      (random) =>
        afterFailure(initialLane(LIMITS, 0), { startedAt: 0, settledAt: 0 }, DOWN, random).pauseEnd,
    )
    expect(spread[0]).toBeLessThan(1)
    expect(spread[1]).toBeGreaterThan(1)
  })

  test('counts the failures of calls that ran at the same time as one', () => {
    const first = afterFailure(initialLane(LIMITS, 0), { startedAt: 0, settledAt: 1 }, DOWN, 0.5)
    for (const startedAt of [0.5, 1]) {
      expect(afterFailure(first, { startedAt, settledAt: 1.2 }, DOWN, 0.5)).toEqual(first)
    }
  })

  test('counts anew after an answer, whenever the call that fails has begun', () => {
    const first = afterFailure(initialLane(LIMITS, 0), { startedAt: 0, settledAt: 1 }, DOWN, 0.5)
    const times = { startedAt: 0.5, settledAt: 2.5 }
    const second = afterFailure(afterAnswer(first, 2), times, DOWN, 0.5)
    expect(second).toMatchObject({ failures: 1, failedAt: 2.5, pauseEnd: 3.5 })
  })

  test('honours the longest pause that any of them was asked for', () => {
    const first = afterFailure(initialLane(LIMITS, 0), { startedAt: 0, settledAt: 1 }, DOWN, 0.5)
    const asked = { ...DOWN, retryAfter: 20 }
    const second = afterFailure(first, { startedAt: 0.5, settledAt: 1.2 }, asked, 0.5)
    expect(second.pauseEnd).toBe(21.2)
    const third = afterFailure(second, { startedAt: 0.5, settledAt: 1.3 }, DOWN, 0.5)
    expect(third.pauseEnd).toBe(21.2)
  })

  test('waits until the end of a pause that was asked for, whatever an earlier call brings; of any other it ends it', () => {
    const limits = { startedAt: 0, settledAt: 1 }
    const asked = afterFailure(initialLane(LIMITS, 0), limits, { ...DOWN, retryAfter: 20 }, 0.5)
    expect(callStep(afterAnswer(asked, 20.9), 0, 20.9, LIMITS)).toBe('fail')
    expect(callStep(afterAnswer(asked, 21), 2, 21, LIMITS)).toBe('join')
    expect(afterAnswer(asked, 21)).toMatchObject({ failures: 0, lastFailure: undefined })
    // Another failure at the same time asks for nothing, and shortens nothing.
    const second = afterFailure(asked, { startedAt: 0.5, settledAt: 1.5 }, DOWN, 0.5)
    expect(callStep(afterAnswer(second, 3), 0, 3, LIMITS)).toBe('fail')
    const zero = afterFailure(initialLane(LIMITS, 0), limits, { ...DOWN, retryAfter: 0 }, 0.5)
    expect(callStep(afterAnswer(zero, 1.1), 0, 1.1, LIMITS)).toBe('begin')
  })

  test('is down until an answer comes, or the longest pause and two deadlines are over', () => {
    const state = afterFailure(initialLane(LIMITS, 0), { startedAt: 0, settledAt: 1 }, DOWN, 0.5)
    expect(isDown(initialLane(LIMITS, 0), 0, 5)).toBe(false)
    expect(isDown(state, 71, 5)).toBe(true)
    expect(isDown(state, 71.1, 5)).toBe(false)
    expect(isDown(afterAnswer(state, 2), 2, 5)).toBe(false)
  })

  test('is not paused by a failure that may be the fault of its token, which ends an outage instead', () => {
    const odd: Failure = { ...DOWN, reason: 'bad_answer', concerns: 'token' }
    const down = afterFailure(initialLane(LIMITS, 0), { startedAt: 0, settledAt: 1 }, DOWN, 0.5)
    const state = afterFailure(down, { startedAt: 3, settledAt: 4 }, odd, 0.5)
    expect(state).toMatchObject({ failures: 0, lastFailure: undefined })
    expect(callStep(state, 1, 4, LIMITS)).toBe('begin')
  })
})
