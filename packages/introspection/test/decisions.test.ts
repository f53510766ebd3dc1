import { describe, expect, test } from 'vitest'

import {
  afterTokenFailure,
  answerState,
  type Failure,
  isStillInactive,
  isYoung,
  mayBeOutage,
  renewalAge,
} from '../src/decisions.ts'

const at = (seconds: number) => ({ wall: 1000 + seconds, monotonic: seconds })
const POLICY = { maxAge: 30, staleIfError: 60 }
/** Later than any answer is used. */
const NEVER = 1000
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
    expect(answerState({ askedAt: at(0), exp, renewAt: NEVER }, at(seconds), POLICY)).toBe(state)
  })

  test.each<[string, number | undefined, number, string]>([
    ['before its moment', undefined, 17.9, 'fresh'],
    ['from then on', undefined, 18, 'due'],
    ['until maxAge', undefined, 29.9, 'due'],
    ['at maxAge', undefined, 30, 'stale'],
    ['with an exp before that moment: never', 1010, 9.9, 'fresh'],
    ['with an exp between the two', 1020, 19.9, 'due'],
    ['with an exp that has passed: never', 990, 4.9, 'fresh'],
  ])('it is asked for again %s', (_name, exp, seconds, state) => {
    expect(answerState({ askedAt: at(0), exp, renewAt: 18 }, at(seconds), POLICY)).toBe(state)
  })

  test('an answer whose exp has passed is not asked for again, however short maxAge is', () => {
    const answer = { askedAt: at(0), exp: 990, renewAt: 0.5 }
    expect(answerState(answer, at(0.9), { maxAge: 1, staleIfError: 0 })).toBe('fresh')
  })

  test('the moment is drawn between the half and nine tenths of maxAge', () => {
    expect([0, 0.5, 1].map((random) => renewalAge(POLICY, random))).toEqual([15, 21, 27])
  })

  test('a clock that is set back makes nothing younger, and one that is suspended makes it older', () => {
    const answer = { askedAt: at(0), exp: undefined, renewAt: NEVER }
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

describe('a token whose calls fail', () => {
  const strange: Failure = { ...DOWN, reason: 'bad_answer', concerns: 'token' }

  test('is asked about after a pause that grows', () => {
    const first = afterTokenFailure(undefined, { startedAt: 0, settledAt: 0.5 }, strange, 7, 0.5)
    expect(first).toEqual({ failures: 1, failure: strange, pauseEnd: 1, answers: 7 })
    const second = afterTokenFailure(first, { startedAt: 1, settledAt: 1.5 }, strange, 9, 0.5)
    expect(second).toEqual({ failures: 2, failure: strange, pauseEnd: 3, answers: 7 })
    const asked = { ...strange, retryAfter: 10 }
    const third = afterTokenFailure(second, { startedAt: 3, settledAt: 4 }, asked, 9, 0.5)
    expect(third.pauseEnd).toBe(14)
  })

  test('begins anew if nobody has asked for longer than any pause', () => {
    const first = afterTokenFailure(undefined, { startedAt: 0, settledAt: 0 }, strange, 7, 0.5)
    const after = (time: number) =>
      afterTokenFailure(first, { startedAt: time, settledAt: time }, strange, 9, 0.5)
    expect(after(61)).toMatchObject({ failures: 2, answers: 7 })
    expect(after(61.1)).toMatchObject({ failures: 1, answers: 9 })
  })

  test.each([
    ['it gets no answer, and no other token has got one since', 'unreachable', 7, 1, true],
    ['it hangs, and no other token has got an answer since', 'timeout', 7, 1, true],
    ['another token has got an answer since', 'unreachable', 8, 1, false],
    ['the endpoint answers, in a way that is of no use', 'bad_answer', 7, 1, false],
    ['that is a minute and more ago', 'unreachable', 7, 61.1, false],
  ] as const)('may be an outage: %s, with the reason %s', (_title, reason, answers, now, may) => {
    const failure = { ...strange, reason }
    const times = { startedAt: 0, settledAt: 0 }
    const failed = afterTokenFailure(undefined, times, failure, 7, 0.5)
    expect(mayBeOutage(failed, now, answers)).toBe(may)
    expect(mayBeOutage(undefined, now, answers)).toBe(false)
  })
})
