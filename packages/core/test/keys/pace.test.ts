import { LONGEST_PAUSE } from '@portcullis/kit/pace'
import { describe, expect, test } from 'vitest'

import type { Trigger } from '../../src/keys/pace.ts'
import {
  INITIAL_PACE,
  mayStart,
  nextAttempt,
  type Pace,
  paceAfterFailure,
  paceAfterHelp,
  paceAfterSuccess,
} from '../../src/keys/pace.ts'

const SPREAD = 0.5
const TRIGGERS: readonly Trigger[] = ['age', 'suspicion', 'refresh']

function succeed(pace: Pace, now: number, trigger: Trigger = 'age', spread = SPREAD): Pace {
  return paceAfterSuccess(pace, trigger, now, spread)
}

interface Failure {
  readonly settledAt?: number
  readonly retryAfter?: number
  readonly trigger?: Trigger
  readonly random?: number
}

function fail(pace: Pace, startedAt: number, failure: Failure = {}): Pace {
  const { settledAt = startedAt, retryAfter = 0, trigger = 'age', random = 0.5 } = failure
  return paceAfterFailure(pace, trigger, { startedAt, settledAt }, retryAfter, SPREAD, random)
}

/** When the next attempt may start that no suspicion causes. */
function next(pace: Pace): number {
  return nextAttempt(pace, 'age', SPREAD)
}

describe('the shortest pause', () => {
  test.each(TRIGGERS)('the first attempt may start at once: %s', (trigger) => {
    expect(mayStart(INITIAL_PACE, trigger, 0, SPREAD)).toBe('now')
  })

  test.each(TRIGGERS)('is 1 s after a success, and counts from the start: %s', (trigger) => {
    const pace = succeed(INITIAL_PACE, 10, trigger)
    for (const another of TRIGGERS) {
      expect(mayStart(pace, another, 10, SPREAD)).toBe('soon')
      expect(mayStart(pace, another, 10.99, SPREAD)).toBe('soon')
      expect(mayStart(pace, another, 11, SPREAD)).toBe('now')
    }
  })

  test('is 1 s after a failure too, however short its own pause was drawn', () => {
    expect(next(fail(INITIAL_PACE, 10, { random: 0 }))).toBe(11)
  })
})

describe('the pause after a failure', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [5, 16],
    [6, 30],
    [60, 30],
  ])('after %i in a row it is %i s, give or take a fifth', (failures, pause) => {
    const before = Array.from({ length: failures - 1 }).reduce<Pace>(
      (pace) => fail(pace, 0),
      INITIAL_PACE,
    )
    const pauseWith = (random: number) => next(fail(before, 100, { random })) - 100
    expect(pauseWith(0.5)).toBeCloseTo(pause)
    expect(pauseWith(0)).toBeCloseTo(Math.max(1, pause * 0.8))
    expect(pauseWith(1)).toBeCloseTo(pause * 1.2)
  })

  test('counts from the start of the attempt: one that hung longer than that is followed at once', () => {
    const pace = fail(fail(INITIAL_PACE, 0), 10, { settledAt: 15 })
    expect(mayStart(pace, 'age', 15, SPREAD)).toBe('now')
    expect(mayStart(fail(pace, 20, { settledAt: 22 }), 'age', 22, SPREAD)).not.toBe('now')
  })

  test('holds for every trigger', () => {
    const pace = fail(fail(INITIAL_PACE, 0), 100)
    for (const trigger of TRIGGERS) {
      expect(nextAttempt(pace, trigger, SPREAD)).toBeCloseTo(102)
    }
  })

  test('a success forgets the failures', () => {
    const pace = succeed(fail(fail(INITIAL_PACE, 0), 5), 20)
    expect(next(pace)).toBe(21)
    expect(next(fail(pace, 30))).toBeCloseTo(31)
  })

  test('the longest is what a limit of 30 s and a fifth, or a Retry-After of 60 s, make of it', () => {
    expect(LONGEST_PAUSE).toBe(60)
  })
})

describe('Retry-After', () => {
  test.each<[string, number, number]>([
    ['longer than the pause', 20, 20],
    ['more than 60 s count as 60', 86_400, 60],
    ['60 s', 60, 60],
    ['without an end counts as 60', Infinity, 60],
    ['shorter than the pause has no effect', 0.5, 1],
    ['none has no effect', 0, 1],
    ['less than none has no effect', -5, 1],
  ])('%s', (_title, retryAfter, pause) => {
    expect(next(fail(INITIAL_PACE, 100, { retryAfter })) - 100).toBeCloseTo(pause)
  })

  test('counts from the answer', () => {
    expect(next(fail(INITIAL_PACE, 100, { settledAt: 104, retryAfter: 20 }))).toBeCloseTo(124)
    expect(next(fail(INITIAL_PACE, 100, { settledAt: 104, retryAfter: 1e9 }))).toBeCloseTo(164)
  })

  test('never makes the pause longer than LONGEST_PAUSE from the answer', () => {
    const many = Array.from({ length: 20 }).reduce<Pace>((pace) => fail(pace, 0), INITIAL_PACE)
    for (const retryAfter of [0, 30, 60, 1e9]) {
      const pace = fail(many, 100, { settledAt: 105, retryAfter, random: 1 })
      expect(next(pace) - 105).toBeLessThanOrEqual(LONGEST_PAUSE)
    }
  })
})

/** Suspicions in vain, one each second from a time on. */
function suspicions(pace: Pace, from: number, count: number, spread = SPREAD): Pace {
  return Array.from({ length: count }).reduce<Pace>(
    (before, _, at) => succeed(before, from + at, 'suspicion', spread),
    pace,
  )
}

describe('the budget of suspicions', () => {
  /** In so many seconds one more comes, in a process of this spread. */
  const INTERVAL = 13.2

  test('is 4: they may follow each other as soon as any attempt may', () => {
    for (const count of [1, 2, 3]) {
      const pace = suspicions(INITIAL_PACE, 100, count)
      expect(nextAttempt(pace, 'suspicion', SPREAD)).toBe(100 + count)
    }
    expect(mayStart(suspicions(INITIAL_PACE, 100, 4), 'suspicion', 104, SPREAD)).toBe('later')
  })

  test.each([
    [0, 12.4],
    [0.5, 13.2],
    [1, 14],
  ])('one more comes every so often: with a spread of %d in %d s', (spread, interval) => {
    const spent = Array.from({ length: 4 }).reduce<Pace>(
      (before) => succeed(before, 100, 'suspicion', spread),
      INITIAL_PACE,
    )
    expect(nextAttempt(spent, 'suspicion', spread)).toBeCloseTo(100 + interval)
    const again = succeed(spent, 100 + interval, 'suspicion', spread)
    expect(nextAttempt(again, 'suspicion', spread)).toBeCloseTo(100 + 2 * interval)
  })

  test('what comes back counts from each suspicion, in parts', () => {
    // The first four took 3 s, in which a part of the next one came back.
    const pace = suspicions(INITIAL_PACE, 100, 4)
    expect(nextAttempt(pace, 'suspicion', SPREAD)).toBeCloseTo(100 + INTERVAL)
  })

  test('is never more than 4, however long it is quiet', () => {
    const spent = suspicions(INITIAL_PACE, 100, 4)
    const again = suspicions(spent, 100_000, 4)
    expect(mayStart(again, 'suspicion', 100_004, SPREAD)).toBe('later')
  })

  test('a whole budget is there again after four times that', () => {
    const spent = Array.from({ length: 4 }).reduce<Pace>(
      (before) => succeed(before, 100, 'suspicion'),
      INITIAL_PACE,
    )
    for (const count of [1, 2, 3, 4]) {
      const quiet = count * INTERVAL
      const pace = suspicions(spent, 100 + quiet, count - 1)
      expect(mayStart(pace, 'suspicion', 100 + quiet + count - 1, SPREAD)).toBe('now')
      const last = succeed(pace, 100 + quiet + count - 1, 'suspicion')
      expect(mayStart(last, 'suspicion', 100 + quiet + count, SPREAD)).not.toBe('now')
    }
  })

  test('concerns no other trigger, and no other spends it', () => {
    const spent = suspicions(INITIAL_PACE, 100, 4)
    expect(nextAttempt(spent, 'age', SPREAD)).toBe(104)
    expect(nextAttempt(spent, 'refresh', SPREAD)).toBe(104)
    const busy = [0, 1, 2, 3, 4, 5].reduce<Pace>(
      (pace, second) => succeed(pace, 100 + second, second % 2 === 0 ? 'age' : 'refresh'),
      INITIAL_PACE,
    )
    expect(nextAttempt(suspicions(busy, 106, 3), 'suspicion', SPREAD)).toBe(109)
  })

  test('one that fails is spent as well', () => {
    const failed = [0, 40, 80].reduce<Pace>(
      (pace, now) => fail(pace, now, { trigger: 'suspicion' }),
      INITIAL_PACE,
    )
    expect(failed.budget.left).toBeLessThan(4)
    const quick = Array.from({ length: 4 }).reduce<Pace>(
      (pace) => succeed(fail(pace, 0, { trigger: 'suspicion' }), 0),
      INITIAL_PACE,
    )
    expect(nextAttempt(quick, 'suspicion', SPREAD)).toBeCloseTo(INTERVAL)
  })

  test('one that helped is given back', () => {
    const spent = suspicions(INITIAL_PACE, 100, 4)
    expect(mayStart(paceAfterHelp(spent), 'suspicion', 104, SPREAD)).toBe('now')
  })

  test('one that helped many is given back once', () => {
    const spent = suspicions(INITIAL_PACE, 100, 4)
    const helped = paceAfterHelp(paceAfterHelp(paceAfterHelp(spent)))
    const after = succeed(helped, 104, 'suspicion')
    expect(mayStart(after, 'suspicion', 105, SPREAD)).toBe('later')
    // Each by itself.
    const again = paceAfterHelp(after)
    expect(mayStart(again, 'suspicion', 105, SPREAD)).toBe('now')
  })

  test('what was never spent is not given back', () => {
    expect(paceAfterHelp(INITIAL_PACE)).toBe(INITIAL_PACE)
    const aged = succeed(INITIAL_PACE, 100)
    expect(paceAfterHelp(aged)).toBe(aged)
  })

  test('given back, it is still never more than 4', () => {
    const helped = paceAfterHelp(succeed(INITIAL_PACE, 100, 'suspicion'))
    const spent = suspicions(helped, 10_000, 4)
    expect(mayStart(spent, 'suspicion', 10_004, SPREAD)).toBe('later')
  })
})

describe('how soon', () => {
  test.each([
    [-1, 'now'],
    [0, 'now'],
    [0.001, 'soon'],
    [1, 'soon'],
    [1.01, 'soon'],
    [1.011, 'later'],
    [60, 'later'],
  ])('an attempt that may start %d s from now: %s', (seconds, word) => {
    const pace = { ...INITIAL_PACE, failurePauseEnd: seconds }
    for (const trigger of TRIGGERS) expect(mayStart(pace, trigger, 0, SPREAD)).toBe(word)
  })

  test('a suspicion waits for its budget if that is at most a second away', () => {
    const spent = Array.from({ length: 4 }).reduce<Pace>(
      (pace) => succeed(pace, 100, 'suspicion'),
      INITIAL_PACE,
    )
    const due = nextAttempt(spent, 'suspicion', SPREAD)
    expect(mayStart(spent, 'suspicion', due - 1.1, SPREAD)).toBe('later')
    expect(mayStart(spent, 'suspicion', due - 1, SPREAD)).toBe('soon')
    expect(mayStart(spent, 'suspicion', due, SPREAD)).toBe('now')
  })
})
