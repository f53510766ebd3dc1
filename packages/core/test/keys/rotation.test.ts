import { describe, expect, test } from 'vitest'

import type { Algorithm } from '../../src/algorithms.ts'
import type { FetchFailure } from '../../src/keys/fetch-json.ts'
import type { PreparedKey, VerificationKey } from '../../src/keys/key-source.ts'
import {
  afterFailure,
  afterHelp,
  afterOverlap,
  afterSuccess,
  type CacheState,
  expiredRing,
  freshness,
  INITIAL_STATE,
  lifetime,
  nextAttempt,
  type RotationPolicy,
  type Trigger,
  turn,
  unprovenToken,
} from '../../src/keys/rotation.ts'
import type { Instant } from '../../src/time.ts'

const policy: RotationPolicy = {
  maxAge: undefined,
  staleWhileRevalidate: 300,
  staleIfError: 3600,
  overlap: 0,
}
const down: FetchFailure = { failure: 'unreachable', detail: 'down', retryAfter: undefined }
const A = keyOf('A')
const B = keyOf('B')

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
    const { ring } = succeed(INITIAL_STATE, 0, [A])
    expect(freshness(ring, { wall, monotonic }, policy)).toBe(word)
  })

  test('no ring is empty', () => {
    expect(freshness(undefined, at(0), policy)).toBe('empty')
  })
})

describe('an expired ring', () => {
  const known = succeed(INITIAL_STATE, 0, [A])

  test.each<[string, CacheState, number, 'use' | 'wait']>([
    ['no ring: wait', INITIAL_STATE, 0, 'wait'],
    ['no ring, and a failure: wait', fail(INITIAL_STATE, 0), 10, 'wait'],
    ['no attempt: wait', { ...known, last: undefined }, 700, 'wait'],
    ['no failure: wait', known, 700, 'wait'],
    ['no failure, and lately a success: wait', known, 100, 'wait'],
    ['a failure since the expiry: use', fail(known, 601), 2000, 'use'],
    ['a failure at the expiry: use', fail(known, 600), 2000, 'use'],
    ['a failure long before the expiry: wait', fail(known, 320), 700, 'wait'],
    ['a failure two minutes ago, before the expiry: wait', fail(known, 590), 710, 'wait'],
    ['a failure just before the expiry: use', fail(known, 599), 610, 'use'],
    ['a success after the failure: wait', succeed(fail(known, 601), 602, [A]), 1300, 'wait'],
  ])('%s', (_title, state, now, word) => {
    expect(expiredRing(state, at(now), policy)).toBe(word)
  })
})

describe('the pace', () => {
  test('the first attempt may start at once, whatever triggers it', () => {
    for (const trigger of ['age', 'suspicion', 'refresh'] as const) {
      expect(turn(INITIAL_STATE.pace, trigger, at(0))).toBe('start')
    }
  })

  test.each<[string, Trigger, number, ReturnType<typeof turn>]>([
    ['at once', 'age', 10, 'wait'],
    ['half a second later', 'refresh', 10.5, 'wait'],
    ['a second later', 'age', 11, 'start'],
  ])('after a success the next attempt waits a second: %s', (_title, trigger, now, word) => {
    expect(turn(succeed(INITIAL_STATE, 10, [A]).pace, trigger, at(now))).toBe(word)
  })

  test('the second counts from the start of an attempt, not from its end', () => {
    const attempt = { trigger: 'age', startedAt: at(10), settledAt: at(12) } as const
    const { pace } = afterSuccess(INITIAL_STATE, attempt, documentOf([A]), policy, 0)
    expect(turn(pace, 'age', at(12))).toBe('start')
  })

  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [5, 16],
    [6, 30],
    [60, 30],
  ])('after %i failures in a row the pause is %i s, give or take a fifth', (failures, pause) => {
    const before = Array.from({ length: failures - 1 }).reduce<CacheState>(
      (state) => fail(state, 0),
      INITIAL_STATE,
    )
    const pauseWith = (draw: number) => nextAttempt(fail(before, 100, down, draw).pace, 'age') - 100
    expect(pauseWith(0.5)).toBeCloseTo(pause)
    expect(pauseWith(0)).toBeCloseTo(Math.max(1, pause * 0.8))
    expect(pauseWith(1)).toBeCloseTo(pause * 1.2)
  })

  test('a success forgets the failures', () => {
    const state = succeed(fail(fail(INITIAL_STATE, 0), 5), 20, [A])
    expect(nextAttempt(state.pace, 'age')).toBe(21)
    expect(nextAttempt(fail(state, 30).pace, 'age')).toBeCloseTo(31)
  })

  test.each<[string, number | undefined, number]>([
    ['nothing', undefined, 1],
    ['20 seconds', 20, 20],
    ['more than 60 seconds count as 60', 86_400, 60],
    ['less than the pause has no effect', 0, 1],
  ])('Retry-After: %s', (_title, retryAfter, pause) => {
    const state = fail(INITIAL_STATE, 100, { ...down, retryAfter })
    expect(nextAttempt(state.pace, 'age') - 100).toBeCloseTo(pause)
  })

  test.each([
    [1, 1, 1],
    [2, 1.6, 1.9],
    [3, 3.2, 3.8],
    [4, 6.4, 7.6],
    [5, 12, 14.25],
    [9, 12, 14.25],
  ])('after %i suspicions in vain the next waits from %d to %d s', (fruitless, least, most) => {
    const before = Array.from({ length: fruitless - 1 }).reduce<CacheState>(
      (state) => succeed(state, 100, [A], 'suspicion'),
      INITIAL_STATE,
    )
    const pauseWith = (draw: number) =>
      nextAttempt(succeed(before, 100, [A], 'suspicion', policy, draw).pace, 'suspicion') - 100
    expect(pauseWith(0)).toBeCloseTo(least)
    expect(pauseWith(1)).toBeCloseTo(most)
    expect(nextAttempt(succeed(before, 100, [A], 'suspicion').pace, 'age')).toBe(101)
  })

  test('a suspicion waits for a slot that is a second away, and goes without a later one', () => {
    const once = succeed(INITIAL_STATE, 100, [A], 'suspicion')
    expect(turn(once.pace, 'suspicion', at(100))).toBe('wait')
    const twice = succeed(once, 101, [A], 'suspicion')
    expect(turn(twice.pace, 'suspicion', at(101))).toBe('refrain')
    expect(turn(twice.pace, 'suspicion', at(102))).toBe('wait')
    expect(turn(twice.pace, 'suspicion', at(103))).toBe('start')
  })

  test.each([
    [1.01, 'wait'],
    [1.02, 'refrain'],
  ])('a slot that is %d s away: %s', (seconds, word) => {
    const pace = { ...INITIAL_STATE.pace, failureEndsAt: seconds }
    expect(turn(pace, 'age', at(0))).toBe(word)
  })

  test('a suspicion that helped resets its pace', () => {
    const state = succeed(succeed(INITIAL_STATE, 100, [A], 'suspicion'), 101, [B], 'suspicion')
    expect(nextAttempt(afterHelp(state).pace, 'suspicion')).toBe(102)
    const next = succeed(afterHelp(state), 110, [B], 'suspicion')
    expect(nextAttempt(next.pace, 'suspicion')).toBe(111)
  })

  test.each([
    [0, 5],
    [14.9, 5],
    [15, 4],
    [30, 3],
    [59, 2],
    [75, 1],
    [9999, 1],
  ])('after %d s of quiet, four suspicions in vain and this one count as %i', (quiet, count) => {
    const flood = [100, 102, 104, 108].reduce<CacheState>(
      (state, now) => succeed(state, now, [A], 'suspicion'),
      INITIAL_STATE,
    )
    const now = flood.pace.suspicionEndsAt + quiet
    expect(succeed(flood, now, [A], 'suspicion').pace.fruitless).toBe(count)
  })

  test('steps of the wall clock neither open nor close the gate', () => {
    const { pace } = fail(INITIAL_STATE, 100)
    expect(turn(pace, 'age', { wall: 9999, monotonic: 100 })).toBe('wait')
    expect(turn(pace, 'age', { wall: -9999, monotonic: 102 })).toBe('start')
  })
})

describe('an unproven token', () => {
  test.each<[string, CacheState, ReturnType<typeof unprovenToken>]>([
    ['the last attempt succeeded: refused', succeed(INITIAL_STATE, 0, [A]), 'refused'],
    [
      'the last attempt failed: unavailable',
      fail(succeed(INITIAL_STATE, 0, [A]), 9),
      'unavailable',
    ],
    ['it succeeded again: refused', succeed(fail(INITIAL_STATE, 0), 9, [A]), 'refused'],
  ])('%s', (_title, state, word) => {
    expect(unprovenToken(state)).toBe(word)
  })
})

describe('the lifetime', () => {
  test.each<[string, number | undefined, number | undefined, number]>([
    ['nothing is stated or announced', undefined, undefined, 300],
    ['stated', 120, undefined, 120],
    ['announced', undefined, 1200, 1200],
    ['announced too short', undefined, 1, 60],
    ['announced as nothing', undefined, 0, 60],
    ['announced too long', undefined, 86_400, 3600],
    ['a longer announcement does not extend what is stated', 120, 1200, 120],
    ['a shorter one shortens it', 1000, 120, 120],
    ['what is stated may be under 60', 10, 0, 10],
  ])('%s', (_title, stated, announced, seconds) => {
    expect(lifetime(stated, announced, 0.5)).toBeCloseTo(seconds)
  })

  test('is spread by a tenth', () => {
    expect(lifetime(undefined, undefined, 0)).toBeCloseTo(270)
    expect(lifetime(undefined, undefined, 1)).toBeCloseTo(330)
  })
})

describe('a success', () => {
  test('replaces the whole ring, and retires what left', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [A]), 10, [B])
    expect(state.ring?.keys).toEqual([B])
    expect(state.retired).toEqual([A])
  })

  test('is always fresh', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [A]), 5000, [A])
    expect(freshness(state.ring, at(5000), policy)).toBe('fresh')
  })

  test('keeps the objects of keys that stay, and the very list if nothing changed', () => {
    const first = succeed(INITIAL_STATE, 0, [A, B])
    const again = succeed(first, 10, [keyOf('A'), keyOf('B')])
    expect(again.ring?.keys).toBe(first.ring?.keys)
    const fewer = succeed(first, 10, [keyOf('B')])
    expect(fewer.ring?.keys[0]).toBe(B)
  })

  test('one of two keys is replaced', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [A, B]), 10, [A, keyOf('C')])
    expect(state.ring?.keys.map(({ thumbprint }) => thumbprint)).toEqual(['A', 'C'])
    expect(state.retired).toEqual([B])
  })

  test.each([
    ['a new kid', keyOf('A', 'old'), keyOf('A', 'new')],
    ['a further algorithm', keyOf('A'), keyOf('A', undefined, ['RS512', 'RS256'])],
  ])('%s of a known key is taken over, and nothing is retired', (_title, before, after) => {
    const state = succeed(succeed(INITIAL_STATE, 0, [before]), 10, [after])
    expect(state.ring?.keys).toEqual([after])
    expect(state.ring?.keys[0]).toBe(after)
    expect(state.retired).toEqual([])
  })

  test('a key that was listed twice is retired once', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [keyOf('A'), keyOf('A')]), 10, [B])
    expect(state.retired).toEqual([A])
  })

  test('a document that becomes bare is another list, of the same keys', () => {
    const set = succeed(INITIAL_STATE, 0, [A])
    const attempt = { trigger: 'age', startedAt: at(10), settledAt: at(10) } as const
    const bare = afterSuccess(set, attempt, { ...documentOf([A]), bare: true }, policy, 0)
    expect(bare.ring?.keys).not.toBe(set.ring?.keys)
    expect(bare.ring?.keys).toEqual(set.ring?.keys)
    expect(bare.retired).toEqual([])
  })

  test('new material under an old kid is a new key', () => {
    const [one, other] = [keyOf('A', 'k'), keyOf('B', 'k')]
    const state = succeed(succeed(INITIAL_STATE, 0, [one]), 10, [other])
    expect(state.ring?.keys).toEqual([other])
    expect(state.retired).toEqual([one])
  })

  test('an entry that stops permitting an algorithm has left, for that one', () => {
    const [wide, narrow] = [
      keyOf('A', undefined, ['RS512', 'RS256']),
      keyOf('A', undefined, ['RS256']),
    ]
    const state = succeed(succeed(INITIAL_STATE, 0, [wide]), 10, [narrow])
    expect(state.ring?.keys).toEqual([narrow])
    expect(state.retired).toEqual([wide])
  })

  test('one modulus listed for two algorithms is two entries of one key', () => {
    const entries = [keyOf('A', 'x', ['RS512']), keyOf('A', 'y', ['RS256'])]
    const state = succeed(
      succeed(INITIAL_STATE, 0, [keyOf('A', 'x', ['RS512', 'RS256'])]),
      10,
      entries,
    )
    expect(state.ring?.keys).toEqual(entries)
    expect(state.retired).toEqual([])
  })

  test('a retired key that comes back is trusted again', () => {
    const state = succeed(succeed(succeed(INITIAL_STATE, 0, [A]), 10, [B]), 20, [A])
    expect(state.ring?.keys).toEqual([A])
    expect(state.retired).toEqual([B])
  })

  test('the last 4 keys that left are known, each once', () => {
    const names = ['A', 'B', 'C', 'D', 'E', 'F', 'E', 'F']
    const state = names.reduce(
      (before, name, turnOf) => succeed(before, turnOf * 10, [keyOf(name)]),
      INITIAL_STATE,
    )
    expect(state.retired.map(({ thumbprint }) => thumbprint)).toEqual(['E', 'D', 'C', 'B'])
  })
})

describe('an overlap', () => {
  const lenient = { ...policy, overlap: 60 }

  test('keeps a key trusted that long after the first document that lacked it', () => {
    const first = succeed(INITIAL_STATE, 0, [A], 'age', lenient)
    const rotated = succeed(first, 10, [B], 'age', lenient)
    expect(rotated.ring?.keys).toEqual([B, A])
    expect(rotated.retired).toEqual([])
    const refreshed = succeed(rotated, 50, [B], 'age', lenient)
    expect(afterOverlap(refreshed, at(69.9), lenient).ring?.keys).toEqual([B, A])
    const over = afterOverlap(refreshed, at(70), lenient)
    expect(over.ring?.keys).toEqual([B])
    expect(over.ring?.leaving).toEqual([])
    expect(over.retired).toEqual([A])
  })

  test('ends for each key in its own time', () => {
    const state = [keyOf('A'), keyOf('B'), keyOf('C')].reduce(
      (before, key, turnOf) => succeed(before, turnOf * 20, [key], 'age', lenient),
      INITIAL_STATE,
    )
    const first = afterOverlap(state, at(80), lenient)
    const second = afterOverlap(first, at(100), lenient)
    expect(first.ring?.keys.map(({ thumbprint }) => thumbprint)).toEqual(['C', 'B'])
    expect(second.ring?.keys.map(({ thumbprint }) => thumbprint)).toEqual(['C'])
    expect(second.retired.map(({ thumbprint }) => thumbprint)).toEqual(['B', 'A'])
  })

  test('ends with a document that comes later', () => {
    const rotated = succeed(succeed(INITIAL_STATE, 0, [A], 'age', lenient), 10, [B], 'age', lenient)
    const state = succeed(rotated, 70, [B], 'age', lenient)
    expect(state.ring?.keys).toEqual([B])
    expect(state.retired).toEqual([A])
  })

  test('two keys served in turn are both trusted', () => {
    const state = [A, B, A, B].reduce(
      (before, key, turnOf) => succeed(before, turnOf * 40, [key], 'age', lenient),
      INITIAL_STATE,
    )
    expect(state.ring?.keys).toEqual([B, A])
  })

  test('does not bring back a key whose ring had aged out', () => {
    const known = succeed(INITIAL_STATE, 0, [A], 'age', lenient)
    const late = succeed(known, 4000, [B], 'age', lenient)
    expect(late.ring?.keys).toEqual([B])
    expect(late.retired).toEqual([A])
  })

  test('holds the 8 keys that left last', () => {
    const names = Array.from({ length: 12 }, (_, index) => `key ${index}`)
    const state = names.reduce(
      (before, name, index) => succeed(before, index, [keyOf(name)], 'age', lenient),
      INITIAL_STATE,
    )
    expect(state.ring?.keys.map(({ thumbprint }) => thumbprint)).toEqual(
      names.toReversed().slice(0, 9),
    )
  })

  test('changes nothing while it lasts, or where there is none', () => {
    const state = succeed(INITIAL_STATE, 0, [A])
    expect(afterOverlap(state, at(9999), policy)).toBe(state)
    expect(afterOverlap(INITIAL_STATE, at(0), policy)).toBe(INITIAL_STATE)
    const rotated = succeed(succeed(INITIAL_STATE, 0, [A], 'age', lenient), 10, [B], 'age', lenient)
    expect(afterOverlap(rotated, at(20), lenient)).toBe(rotated)
  })
})

test('a failure leaves the ring as it is', () => {
  const known = succeed(INITIAL_STATE, 0, [A])
  const failed = fail(known, 10)
  expect(failed.ring).toBe(known.ring)
  expect(failed.last?.failure).toBe(down)
})

function at(seconds: number): Instant {
  return { wall: seconds, monotonic: seconds }
}

function keyOf(
  thumbprint: string,
  kid?: string,
  algorithms: readonly Algorithm[] = ['RS512'],
): VerificationKey {
  // The policy looks at names alone, never at what they are prepared with.
  const prepared = {} as PreparedKey
  return { thumbprint, kid, prepared: new Map(algorithms.map((name) => [name, prepared])) }
}

function documentOf(keys: readonly VerificationKey[]) {
  return { keys, bare: false, skipped: { count: 0, entries: [] }, maxAge: 300 }
}

function succeed(
  state: CacheState,
  now: number,
  keys: readonly VerificationKey[],
  trigger: Trigger = 'age',
  under = policy,
  draw = 1,
): CacheState {
  const attempt = { trigger, startedAt: at(now), settledAt: at(now) }
  return afterSuccess(state, attempt, documentOf(keys), under, draw)
}

function fail(state: CacheState, now: number, failure = down, draw = 0.5): CacheState {
  return afterFailure(
    state,
    { trigger: 'age', startedAt: at(now), settledAt: at(now) },
    failure,
    draw,
  )
}
