import { LONGEST_PAUSE } from '@portcullis/kit/pace'
import type { Instant } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'

import {
  afterFailure,
  afterSuccess,
  type CacheState,
  INITIAL_STATE,
} from '../../src/keys/cache-state.ts'
import type { Trigger } from '../../src/keys/pace.ts'
import type { FetchedRing, RetiredKey } from '../../src/keys/ring.ts'
import {
  callerStep,
  freshness,
  mayRepeat,
  questionStep,
  retiredKeyStep,
  ringEnd,
  suspicionStep,
  untilNextAttempt,
  unprovenTokenStep,
  usableRing,
  waitingCallerStep,
} from '../../src/keys/rotation.ts'
import { at, documentOf, down, fail, keyOf, policy, succeed } from './states.ts'

const A = keyOf('A')
const B = keyOf('B')
const known = succeed(INITIAL_STATE, 0, [A])

/** As long as a failure counts as one of an outage that goes on. */
const LATELY = LONGEST_PAUSE + policy.timeout

/** A ring is stale at 300 s, expired at 600 s and empty at 3900 s. */
const MOMENTS = { fresh: 100, stale: 400, expired: 1000, empty: 5000 }

function ringOf({ ring }: CacheState): FetchedRing {
  if (ring === undefined) throw new TypeError('this state has no ring')
  return ring
}

/** Suspicions in vain until no more may ask. */
function flooded(from: number, before: CacheState = known): CacheState {
  return [0, 1, 2, 3].reduce<CacheState>(
    (state, second) => succeed(state, from + second, [A], 'suspicion'),
    before,
  )
}

describe('freshness', () => {
  test.each<[string, number, number, ReturnType<typeof freshness>]>([
    ['just fetched', 0, 0, 'fresh'],
    ['a moment before maxAge', 299.9, 299.9, 'fresh'],
    ['at maxAge', 300, 300, 'stale'],
    ['a moment before the end of staleWhileRevalidate', 599.9, 599.9, 'stale'],
    ['at the end of staleWhileRevalidate', 600, 600, 'expired'],
    ['a moment before the end of staleIfError', 3899.9, 3899.9, 'expired'],
    ['at the end of staleIfError', 3900, 3900, 'empty'],
    ['a machine that was suspended: the wall clock counts', 3900, 10, 'empty'],
    ['a wall clock set back: the monotonic clock counts', -3600, 300, 'stale'],
    ['a clock that answers with no number', NaN, NaN, 'empty'],
  ])('%s', (_title, wall, monotonic, word) => {
    expect(freshness(known.ring, { wall, monotonic }, policy)).toBe(word)
  })

  test('no ring is empty', () => {
    expect(freshness(undefined, at(0), policy)).toBe('empty')
  })
})

describe('a caller', () => {
  const { fresh, stale, expired, empty } = MOMENTS

  test.each<[string, CacheState, number, boolean, ReturnType<typeof callerStep>]>([
    ['no ring: waits', INITIAL_STATE, 0, false, 'wait'],
    ['no ring, and a failure: waits', fail(INITIAL_STATE, 0), 10, false, 'wait'],
    ['fresh: uses it', known, fresh, false, 'use'],
    ['stale: uses it and refreshes', known, stale, false, 'use and refresh'],
    ['stale, an attempt is under way: uses it', known, stale, true, 'use'],
    ['stale, no attempt may start: uses it', fail(known, stale), stale, false, 'use'],
    [
      'stale, an attempt may start again',
      fail(known, stale),
      stale + LONGEST_PAUSE,
      false,
      'use and refresh',
    ],
    ['expired: waits', known, expired, false, 'wait'],
    ['expired, an attempt is under way: waits', known, expired, true, 'wait'],
    ['expired, a failure just now: uses it', fail(known, expired), expired, false, 'use'],
    [
      'expired, a failure lately: uses it and refreshes',
      fail(known, expired),
      expired + LATELY - 0.1,
      false,
      'use and refresh',
    ],
    [
      'expired, a failure lately, an attempt under way: uses it',
      fail(known, expired),
      expired + LATELY - 0.1,
      true,
      'use',
    ],
    ['expired, a failure longer ago: waits', fail(known, expired), expired + LATELY, false, 'wait'],
    ['expired, a failure just before the expiry: uses it', fail(known, 599.5), 600, false, 'use'],
    [
      'expired, a failure since the expiry, but long ago: waits',
      fail(known, 601),
      2000,
      false,
      'wait',
    ],
    ['expired, a failure long before the expiry: waits', fail(known, 320), 700, false, 'wait'],
    [
      'expired, a success after the failure: waits',
      { ...known, last: succeed(fail(known, 990), 995, [A]).last },
      expired,
      false,
      'wait',
    ],
    ['expired, no attempt: waits', { ...known, last: undefined }, expired, false, 'wait'],
    ['empty: waits', known, empty, false, 'wait'],
    ['empty, a failure just now: waits', fail(known, empty), empty, false, 'wait'],
  ])('%s', (_title, state, now, isFetching, word) => {
    expect(callerStep(state, at(now), policy, isFetching)).toBe(word)
  })

  test('how long a failure counts as lately follows the deadline of an attempt', () => {
    const slow = { ...policy, timeout: 30 }
    const state = fail(known, expired)
    expect(callerStep(state, at(expired + LATELY), slow, true)).toBe('use')
    expect(callerStep(state, at(expired + LATELY + 25), slow, true)).toBe('wait')
  })

  test('a machine that was suspended after a failure does not count as down', () => {
    const state = fail(known, expired)
    const woken = { wall: expired + 600, monotonic: expired + 1 }
    expect(callerStep(state, woken, policy, false)).toBe('wait')
  })

  test('a failure counts from its end', () => {
    const attempt = { trigger: 'age', startedAt: at(1000), settledAt: at(1005) } as const
    const failed = afterFailure(known, attempt, down, { spread: 0.5, random: 0.5 })
    expect(callerStep(failed, at(1005 + LATELY - 0.1), policy, true)).toBe('use')
    expect(callerStep(failed, at(1005 + LATELY), policy, true)).toBe('wait')
  })
})

describe('a caller who waits for keys', () => {
  const { expired, empty } = MOMENTS

  test.each<
    [string, CacheState, number, ReturnType<typeof waitingCallerStep>, { isFetching?: boolean }?]
  >([
    ['nothing is known: starts an attempt', INITIAL_STATE, 0, 'start'],
    ['one is under way: joins it', INITIAL_STATE, 0, 'join', { isFetching: true }],
    ['one is under way after a failure: joins it', fail(known, 0), 0, 'join', { isFetching: true }],
    ['the last one succeeded a moment ago: pauses', succeed(known, empty, [A]), empty, 'pause'],
    ['the last one failed a moment ago: unavailable', fail(known, empty), empty, 'unavailable'],
    [
      'the last one failed, the next may start in half a second: unavailable',
      fail(known, empty),
      empty + 0.5,
      'unavailable',
    ],
    ['the last one failed, the next may start: starts it', fail(known, empty), empty + 1, 'start'],
    ['the last one was long ago: starts one', known, expired, 'start'],
  ])('%s', (_title, state, now, word, { isFetching = false } = {}) => {
    expect(waitingCallerStep(state, at(now), policy, isFetching, false)).toBe(word)
  })

  test('after many failures an attempt that may not start is no reason to wait', () => {
    const state = Array.from({ length: 6 }).reduce<CacheState>(
      (before) => fail(before, empty),
      known,
    )
    expect(waitingCallerStep(state, at(empty + 5), policy, false, false)).toBe('unavailable')
  })

  test.each<[string, CacheState, Instant, ReturnType<typeof waitingCallerStep>]>([
    ['a success: uses it', succeed(known, expired, [B]), at(expired), 'use'],
    [
      'a success that a step of the wall clock made too old at once: uses it',
      succeed(known, expired, [B]),
      { wall: 1e6, monotonic: expired },
      'use',
    ],
    ['a failure, nothing known: unavailable', fail(INITIAL_STATE, 0), at(0), 'unavailable'],
    ['a failure, expired: uses the old ring', fail(known, expired), at(expired), 'use'],
    ['a failure, empty: unavailable', fail(known, empty), at(empty), 'unavailable'],
  ])('once an attempt has settled: %s', (_title, state, now, word) => {
    for (const isFetching of [false, true]) {
      expect(waitingCallerStep(state, now, policy, isFetching, true)).toBe(word)
    }
  })
})

describe('a token that no key proves', () => {
  test.each<[string, CacheState, number, boolean, ReturnType<typeof suspicionStep>]>([
    ['asks', known, 100, false, 'ask'],
    ['asks while an attempt is under way', flooded(100), 104, true, 'ask'],
    ['asks if it may a second from now', known, 0.5, false, 'ask'],
    ['is refused when too many have asked', flooded(100), 104, false, 'refuse'],
    ['asks again later', flooded(100), 160, false, 'ask'],
    [
      'asks when the last attempt failed, to be told so',
      fail(flooded(100), 104),
      104,
      false,
      'ask',
    ],
    [
      'is refused after it succeeded again',
      succeed(fail(flooded(100), 104), 106, [A]),
      107,
      false,
      'refuse',
    ],
  ])('%s', (_title, state, now, isFetching, word) => {
    expect(suspicionStep(state, at(now), policy, isFetching)).toBe(word)
  })

  test.each<[string, CacheState, ReturnType<typeof unprovenTokenStep>]>([
    ['the last attempt succeeded: is refused', known, 'refuse'],
    ['the last attempt failed: unavailable', fail(known, 9), 'unavailable'],
    ['it succeeded again: is refused', succeed(fail(INITIAL_STATE, 0), 9, [A]), 'refuse'],
    ['there was none: is refused', INITIAL_STATE, 'refuse'],
  ])('%s', (_title, state, word) => {
    expect(unprovenTokenStep(state)).toBe(word)
  })
})

describe('a question', () => {
  test.each<
    [string, CacheState, Trigger, number, boolean, number, ReturnType<typeof questionStep>]
  >([
    ['nothing was tried yet: starts', INITIAL_STATE, 'suspicion', 0, false, 0, 'start'],
    ['an older attempt is no answer: starts', known, 'suspicion', 10, false, 10, 'start'],
    ['one under way is joined', known, 'suspicion', 10, true, 10, 'join'],
    ['one that started before the token came', known, 'suspicion', 0.5, false, 0.1, 'pause'],
    ['one that started when the token came', known, 'suspicion', 0.5, false, 0, 'answered'],
    [
      'one that started after it came',
      succeed(known, 5, [A]),
      'suspicion',
      6,
      false,
      4,
      'answered',
    ],
    ['a failure is an answer too', fail(known, 5), 'suspicion', 6, false, 4, 'answered'],
    [
      'an answer counts while another is under way',
      fail(known, 5),
      'refresh',
      6,
      true,
      4,
      'answered',
    ],
    ['too many have asked', flooded(100), 'suspicion', 104, false, 104, 'refrain'],
    ['a refresh is not among them', flooded(100), 'refresh', 104, false, 104, 'start'],
    ['after a failure', fail(fail(known, 0), 100), 'refresh', 100.5, false, 100.5, 'refrain'],
  ])('%s', (_title, state, trigger, now, isFetching, since, word) => {
    expect(questionStep(state, trigger, at(now), policy, isFetching, at(since))).toBe(word)
  })

  test('an answer that a busy machine looks at late is none', () => {
    const state = succeed(known, 5, [A])
    const step = (now: number) => questionStep(state, 'refresh', at(now), policy, false, at(4))
    expect(step(5 + policy.timeout)).toBe('answered')
    expect(step(5.1 + policy.timeout)).toBe('start')
  })

  test('steps of the wall clock make no attempt younger', () => {
    const since = { wall: -1e6, monotonic: 1 }
    expect(questionStep(known, 'refresh', at(10), policy, false, since)).toBe('start')
  })

  test('steps of the wall clock neither start an attempt early nor keep one from starting', () => {
    const state = fail(fail(INITIAL_STATE, 0), 100)
    const step = (wall: number, monotonic: number) =>
      waitingCallerStep(state, { wall, monotonic }, policy, false, false)
    expect(step(9999, 100)).toBe('unavailable')
    expect(step(-9999, 102)).toBe('start')
  })
})

describe('the keys that may prove a token', () => {
  const { fresh, stale, expired, empty } = MOMENTS

  test.each<[string, CacheState, number, boolean]>([
    ['no ring', INITIAL_STATE, 0, false],
    ['fresh', known, fresh, true],
    ['stale', known, stale, true],
    ['expired', known, expired, false],
    ['expired, a failure lately', fail(known, expired), expired, true],
    ['expired, a failure long ago', fail(known, expired), expired + LATELY, false],
    ['empty', known, empty, false],
    ['empty, a failure just now', fail(known, empty), empty, false],
  ])('%s', (_title, state, now, isUsable) => {
    const ring = usableRing(state, at(now), policy, at(now + 1))
    expect(ring).toBe(isUsable ? state.ring : undefined)
  })

  test('what was brought since the token came is used, however old the wall clock makes it', () => {
    const brought = succeed(known, 2000, [B])
    const stepped = { wall: 1e6, monotonic: 2001 }
    expect(usableRing(brought, stepped, policy, at(1999))).toBe(brought.ring)
    expect(usableRing(brought, stepped, policy, at(2001))).toBeUndefined()
  })

  test('what was brought since the token came is not used if that was long ago', () => {
    const brought = succeed(known, 2000, [B])
    expect(usableRing(brought, at(2000 + expired), policy, at(1999))).toBeUndefined()
  })

  test('a failure since the token came brought nothing', () => {
    const state = fail(known, empty)
    expect(usableRing(state, at(empty), policy, at(empty - 1))).toBeUndefined()
  })
})

describe('the end of a ring', () => {
  test.each<[string, CacheState, number, number | undefined]>([
    ['no ring has none', INITIAL_STATE, 0, undefined],
    ['a fresh one has none', known, 100, undefined],
    ['a stale one has none', known, 599, undefined],
    ['an expired one ended when it expired', known, 1000, 600],
    ['one that is empty too', known, 5000, 600],
    ['an expired one in an outage is in use', fail(known, 1000), 1001, undefined],
    ['after an outage it ended when it expired', fail(known, 1000), 1000 + LATELY, 600],
    ['an empty one in an outage ended when it became empty', fail(known, 4000), 4001, 3900],
  ])('%s', (_title, state, now, end) => {
    const expected = end === undefined ? undefined : at(end)
    expect(ringEnd(state, at(now), policy)).toEqual(expected)
  })
})

function question(times: number) {
  return { answeredAt: at(100), times }
}

describe('a token that asks again', () => {
  test.each([
    [1, 4],
    [2, 8],
    [3, 16],
    [6, 128],
    [7, 256],
    [8, 300],
    [100, 300],
  ])('asked %i times, may do so %i s after the answer', (times, pause) => {
    expect(mayRepeat(question(times), known, at(100 + pause - 0.1))).toBe(false)
    expect(mayRepeat(question(times), known, at(100 + pause))).toBe(true)
  })

  test('waits no longer than the keys are fresh', () => {
    const short = { ...known, ring: { ...ringOf(known), maxAge: 10 } }
    expect(mayRepeat(question(5), short, at(110))).toBe(true)
  })

  test('one that never asked may, and so may any where no keys are known', () => {
    expect(mayRepeat(undefined, known, at(100))).toBe(true)
    expect(mayRepeat(question(5), INITIAL_STATE, at(100))).toBe(true)
  })

  test('a machine that was suspended: the wall clock counts', () => {
    expect(mayRepeat(question(1), known, { wall: 104, monotonic: 101 })).toBe(true)
  })
})

/** What a token says that was issued at a time. */
function issuedAt(iat: number) {
  return (time: number) => iat > time
}

const old = issuedAt(0)

describe('a token of a retired key', () => {
  const gone = succeed(known, 60, [B])
  const retired: RetiredKey = {
    key: A,
    missingSince: at(60),
    questions: 0,
    answeredAt: undefined,
  }
  test.each<[string, Partial<RetiredKey>, number, 'ask and count' | 'refuse']>([
    ['just after the key left', {}, 60, 'refuse'],
    ['a moment before 15 s', {}, 74.9, 'refuse'],
    ['after 15 s', {}, 75, 'ask and count'],
    ['asked once, a moment before 30 s', { questions: 1, answeredAt: at(75) }, 104.9, 'refuse'],
    ['asked once, after 30 s', { questions: 1, answeredAt: at(75) }, 105, 'ask and count'],
    ['asked twice, after 60 s', { questions: 2, answeredAt: at(105) }, 165, 'ask and count'],
    [
      'asked four times, a moment before 240 s',
      { questions: 4, answeredAt: at(300) },
      539,
      'refuse',
    ],
    [
      'asked often, a moment before maxAge',
      { questions: 50, answeredAt: at(1000) },
      1299,
      'refuse',
    ],
    ['asked often, after maxAge', { questions: 50, answeredAt: at(1000) }, 1300, 'ask and count'],
  ])('%s', (_title, more, now, step) => {
    expect(retiredKeyStep({ ...retired, ...more }, gone, at(now), old)).toBe(step)
  })

  test('that was issued after the key left asks like any other, and its question does not count', () => {
    expect(retiredKeyStep(retired, gone, at(61), issuedAt(61))).toBe('ask')
    expect(retiredKeyStep(retired, gone, at(61), issuedAt(60))).toBe('refuse')
    const asked = { ...retired, questions: 50, answeredAt: at(60) }
    expect(retiredKeyStep(asked, gone, at(61), issuedAt(61))).toBe('ask')
  })

  test('where no ring is known, the intervals end at 300 s', () => {
    const asked = { ...retired, questions: 50, answeredAt: at(60) }
    expect(retiredKeyStep(asked, INITIAL_STATE, at(359), old)).toBe('refuse')
    expect(retiredKeyStep(asked, INITIAL_STATE, at(360), old)).toBe('ask and count')
  })
})

describe('until the next attempt', () => {
  test.each<[string, CacheState, Trigger, number, number]>([
    ['a second after a success', succeed(known, 100, [A]), 'age', 100.25, 0.75],
    ['never less than nothing, or a timer complains', succeed(known, 100, [A]), 'age', 110, 0],
    ['after a failure', fail(fail(known, 0), 100), 'refresh', 101, 1],
  ])('%s', (_title, state, trigger, now, seconds) => {
    expect(untilNextAttempt(state, trigger, at(now), policy)).toBeCloseTo(seconds)
  })

  test('is longer for a suspicion after many, and follows the spread of the process', () => {
    const state = flooded(100)
    const until = (trigger: Trigger, spread: number) =>
      untilNextAttempt(state, trigger, at(104), { ...policy, spread })
    expect(until('suspicion', 0)).toBeGreaterThan(until('age', 0))
    expect(until('suspicion', 1)).toBeGreaterThan(until('suspicion', 0))
  })

  test('is measured on the monotonic clock', () => {
    const now = { wall: 1e6, monotonic: 100.5 }
    expect(untilNextAttempt(succeed(known, 100, [A]), 'age', now, policy)).toBeCloseTo(0.5)
  })
})

test('a document that settles later is as old as its request', () => {
  const attempt = { trigger: 'age', startedAt: at(0), settledAt: at(5) } as const
  const options = { ringEnd: undefined, overlap: 0, spread: 0.5 }
  const { ring } = afterSuccess(INITIAL_STATE, attempt, documentOf([A]), options)
  expect(freshness(ring, at(300), policy)).toBe('stale')
})
