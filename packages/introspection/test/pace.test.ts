import { describe, expect, test } from 'vitest'

import type { Failure } from '../src/decisions.ts'
import {
  afterAnswer,
  afterBegin,
  afterFailure,
  afterProbeBegin,
  callStep,
  countsFor,
  type FailedCall,
  initialCalls,
  isDown,
  isProbeDue,
  type CallsState,
  mayBeOfToken,
  placesOf,
  untilFree,
  untilRate,
} from '../src/pace.ts'

const LIMITS = { maxCalls: 2, maxRate: 10 }
const IDLE = { taken: 0, isProbing: false }
const ONE = { taken: 1, isProbing: false }
const FULL = { taken: 2, isProbing: false }

const DOWN: Failure = {
  reason: 'unreachable',
  detail: 'down',
  concerns: 'endpoint',
  retryAfter: undefined,
}
const OWN: Failure = { ...DOWN, reason: 'bad_answer', concerns: 'token' }
const CLIENT: Failure = { ...OWN, concerns: 'client' }

function callOf(name: string, startedAt: number, settledAt = startedAt): FailedCall {
  return { name, startedAt, settledAt, isProbe: false, answers: 0 }
}

/** A state after a failure of the endpoint. */
function downAfter(
  state: CallsState,
  times: { readonly startedAt: number; readonly settledAt: number },
  failure: Failure = DOWN,
  random = 0.5,
): CallsState {
  return afterFailure(state, { ...callOf('any', 0), ...times }, failure, true, random)
}

/** The state after so many different tokens have failed in a row. */
function rowOf(length: number, { hasOther = true, answers = 0, now = 0 } = {}): CallsState {
  let state = initialCalls(LIMITS, 0, answers)
  for (let index = 0; index < length; index++) {
    state = afterFailure(state, callOf(`${index}`, now), OWN, hasOther, 0.5)
  }
  return state
}

describe('the next call', () => {
  test('begins while there are fewer than maxCalls, then joins the queue', () => {
    const state = initialCalls(LIMITS, 0)
    expect(callStep(state, ONE, 0, LIMITS)).toBe('begin')
    expect(callStep(state, FULL, 0, LIMITS)).toBe('join')
  })

  test('waits for the rate: after maxCalls at once, as many in a second as it allows', () => {
    let state = initialCalls(LIMITS, 0)
    state = afterBegin(afterBegin(state, 0, LIMITS), 0, LIMITS)
    expect(callStep(state, IDLE, 0, LIMITS)).toBe('pause')
    expect(untilRate(state, 0, LIMITS)).toBeCloseTo(0.1)
    expect(untilRate(state, 0.05, LIMITS)).toBeCloseTo(0.05)
    expect(callStep(state, IDLE, 0.1, LIMITS)).toBe('begin')
    expect(untilRate(state, 0.1, LIMITS)).toBeGreaterThan(0)
    state = afterBegin(state, 100, LIMITS)
    expect(callStep(state, IDLE, 100, LIMITS)).toBe('begin')
    expect(callStep(afterBegin(state, 100, LIMITS), IDLE, 100, LIMITS)).toBe('pause')
  })

  test('needs no turn of the rate where there is none', () => {
    const limits = { maxCalls: 2, maxRate: Infinity }
    let state = initialCalls(limits, 0)
    for (let count = 0; count < 5; count++) state = afterBegin(state, 0, limits)
    expect(callStep(state, IDLE, 0, limits)).toBe('begin')
  })

  test('fails during a pause; after it one call finds out, and the others wait for that', () => {
    const state = downAfter(initialCalls(LIMITS, 0), { startedAt: 10, settledAt: 11 })
    expect(callStep(state, IDLE, 11.9, LIMITS)).toBe('fail')
    expect(callStep(state, IDLE, 12, LIMITS)).toBe('begin')
    expect(callStep(state, ONE, 12, LIMITS)).toBe('join')
    expect(callStep(state, { ...IDLE, isProbing: true }, 12, LIMITS)).toBe('join')
    expect(callStep(afterAnswer(state, 11.5), ONE, 11.5, LIMITS)).toBe('begin')
  })

  test('does not wait for a probe while the endpoint is only in doubt', () => {
    expect(callStep(rowOf(5), { ...ONE, isProbing: true }, 0, LIMITS)).toBe('begin')
  })

  test('waits longer after each failure, up to 30 s, and differently in each process', () => {
    let state = initialCalls(LIMITS, 0)
    const pauses = Array.from({ length: 8 }, () => {
      const now = state.pauseEnd === -Infinity ? 0 : state.pauseEnd
      state = downAfter(state, { startedAt: now, settledAt: now })
      return state.pauseEnd - now
    })
    expect(pauses.map(Math.round)).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
    const spread = [0, 1].map(
      (random) =>
        downAfter(initialCalls(LIMITS, 0), { startedAt: 0, settledAt: 0 }, DOWN, random).pauseEnd,
    )
    expect(spread[0]).toBeLessThan(1)
    expect(spread[1]).toBeGreaterThan(1)
  })

  test('counts the failures of calls that ran at the same time as one', () => {
    const first = downAfter(initialCalls(LIMITS, 0), { startedAt: 0, settledAt: 1 })
    for (const startedAt of [0.5, 1]) {
      expect(downAfter(first, { startedAt, settledAt: 1.2 })).toEqual(first)
    }
  })

  test('counts anew after an answer, whenever the call that fails has begun', () => {
    const first = downAfter(initialCalls(LIMITS, 0), { startedAt: 0, settledAt: 1 })
    const second = downAfter(afterAnswer(first, 2), { startedAt: 0.5, settledAt: 2.5 })
    expect(second).toMatchObject({ failures: 1, failedAt: 2.5, pauseEnd: 3.5 })
  })

  test('honours the longest pause that any of them was asked for', () => {
    const first = downAfter(initialCalls(LIMITS, 0), { startedAt: 0, settledAt: 1 })
    const asked = { ...DOWN, retryAfter: 20 }
    const second = downAfter(first, { startedAt: 0.5, settledAt: 1.2 }, asked)
    expect(second.pauseEnd).toBe(21.2)
    expect(downAfter(second, { startedAt: 0.5, settledAt: 1.3 }).pauseEnd).toBe(21.2)
  })

  test('waits until the end of a pause that was asked for, whatever an earlier call brings; of any other it ends it', () => {
    const times = { startedAt: 0, settledAt: 1 }
    const asked = downAfter(initialCalls(LIMITS, 0), times, { ...DOWN, retryAfter: 20 })
    expect(callStep(afterAnswer(asked, 20.9), IDLE, 20.9, LIMITS)).toBe('fail')
    expect(callStep(afterAnswer(asked, 21), FULL, 21, LIMITS)).toBe('join')
    expect(afterAnswer(asked, 21)).toMatchObject({ failures: 0, lastFailure: undefined })
    // Another failure at the same time asks for nothing, and shortens nothing.
    const second = downAfter(asked, { startedAt: 0.5, settledAt: 1.5 })
    expect(callStep(afterAnswer(second, 3), IDLE, 3, LIMITS)).toBe('fail')
    const zero = downAfter(initialCalls(LIMITS, 0), times, { ...DOWN, retryAfter: 0 })
    expect(callStep(afterAnswer(zero, 1.1), IDLE, 1.1, LIMITS)).toBe('begin')
  })

  test('is down until an answer comes, or the longest pause and two deadlines are over', () => {
    const state = downAfter(initialCalls(LIMITS, 0), { startedAt: 0, settledAt: 1 })
    expect(isDown(initialCalls(LIMITS, 0), 0, 5)).toBe(false)
    expect(isDown(state, 71, 5)).toBe(true)
    expect(isDown(state, 71.1, 5)).toBe(false)
    expect(isDown(afterAnswer(state, 2), 2, 5)).toBe(false)
  })
})

describe('places', () => {
  test.each<[string, readonly number[], number, number, number]>([
    ['none', [], 10, 0, Infinity],
    ['two short calls', [9.2, 9.5], 10, 2, 10.2],
    ['a call of a second takes another kind of place', [9, 9.5], 10, 1, 10.5],
    ['long calls alone', [3, 4], 10, 0, Infinity],
    ['as many long ones as there are places for them, and one more', [3, 4, 5], 10, 1, Infinity],
    ['both kinds full: a place is free at the end of a call', [3, 4, 9.5, 9.6], 10, 2, Infinity],
  ])('%s', (_name, times, now, taken, freeAt) => {
    expect(placesOf(times, now, LIMITS)).toEqual({ taken, freeAt })
  })

  test('rounding makes no wait of nothing', () => {
    expect(untilFree({ freeAt: 10.2 }, 10)).toBeCloseTo(0.2)
    expect(untilFree({ freeAt: 10 }, 10)).toBeGreaterThan(0)
    expect(untilFree({ freeAt: Infinity }, 10)).toBe(Infinity)
  })
})

describe('what a failed call counts for', () => {
  const probe = { isProbe: true }
  test.each<[string, Failure, Partial<FailedCall>, CallsState, boolean, string]>([
    ['no connection: the endpoint', DOWN, {}, rowOf(0), true, 'endpoint'],
    ['the same after answers', DOWN, {}, rowOf(0, { answers: 9 }), true, 'endpoint'],
    ['an unknown client before any answer: the endpoint', CLIENT, {}, rowOf(0), true, 'endpoint'],
    ['the same after one: its token', CLIENT, {}, rowOf(0, { answers: 1 }), true, 'token'],
    ['anything else: its token', OWN, {}, rowOf(0), true, 'token'],
    ['the fifth in a row: its token', OWN, {}, rowOf(4), true, 'token'],
    ['the sixteenth: its token, if another can tell', OWN, {}, rowOf(15), true, 'token'],
    ['the fifteenth, if none can: its token', OWN, {}, rowOf(14), false, 'token'],
    ['the sixteenth, if none can: all calls', OWN, {}, rowOf(15), false, 'calls'],
    [
      'a token that is in the row already: no further one',
      OWN,
      { name: '3' },
      rowOf(15),
      false,
      'token',
    ],
    ['each one behind the sixteenth: all calls', OWN, { name: '3' }, rowOf(20), false, 'calls'],
    ['a probe: the endpoint', OWN, probe, rowOf(5), true, 'endpoint'],
    [
      'a probe that an answer has overtaken: its token',
      OWN,
      probe,
      afterAnswer(rowOf(5), 1),
      true,
      'token',
    ],
    [
      'a probe with an unknown client: the endpoint',
      CLIENT,
      { ...probe, answers: 1 },
      rowOf(5, { answers: 1 }),
      true,
      'endpoint',
    ],
  ])('%s', (_name, failure, call, state, hasOther, word) => {
    expect(countsFor(failure, { ...callOf('new', 2), ...call }, state, hasOther)).toBe(word)
  })

  test('a token alone is told what may be its fault', () => {
    const [before, after] = [rowOf(0), rowOf(0, { answers: 1 })]
    expect([DOWN, CLIENT, OWN].map((each) => mayBeOfToken(each, before))).toEqual([
      false,
      false,
      true,
    ])
    expect([DOWN, CLIENT, OWN].map((each) => mayBeOfToken(each, after))).toEqual([
      false,
      true,
      true,
    ])
  })

  test('its token: nothing becomes of other calls, whether the endpoint works or is down', () => {
    const state = rowOf(1)
    expect(state).toMatchObject({ failures: 0, lastFailure: undefined, pauseEnd: -Infinity })
    const down = downAfter(state, { startedAt: 1, settledAt: 1 })
    const after = afterFailure(down, callOf('new', 3), OWN, true, 0.5)
    expect(after).toEqual({ ...down, row: new Set(['0', 'new']) })
  })

  test('all calls: short pauses, whatever is drawn, until an answer comes', () => {
    let state = rowOf(16, { hasOther: false, now: 5 })
    expect(state).toMatchObject({ failures: 1, pauseEnd: 5.4 })
    const pauses = [1, 1, 1].map((random) => {
      const now = state.pauseEnd
      state = afterFailure(state, callOf('new', now, now + 0.1), OWN, false, random)
      return state.pauseEnd - now - 0.1
    })
    expect(pauses.map((each) => each.toFixed(3))).toEqual(['0.400', '0.400', '0.400'])
    expect(afterAnswer(state, 9)).toMatchObject({
      failures: 0,
      pauseEnd: -Infinity,
      row: new Set(),
    })
  })

  test('no more names are kept than decide', () => {
    expect(rowOf(1000).row.size).toBe(16)
  })
})

describe('another token is asked about', () => {
  test('when five different ones have failed in a row, and no sooner', () => {
    expect(isProbeDue(rowOf(4), 0)).toBe(false)
    expect(isProbeDue(rowOf(5), 0)).toBe(true)
    let state = rowOf(4)
    for (let count = 0; count < 9; count++) {
      state = afterFailure(state, callOf('3', 0), OWN, true, 0.5)
    }
    expect(isProbeDue(state, 0)).toBe(false)
    expect(isProbeDue(afterAnswer(rowOf(9), 0), 0)).toBe(false)
  })

  test('at most once in a second', () => {
    const state = afterProbeBegin(rowOf(5), 7)
    expect(isProbeDue(state, 7.9)).toBe(false)
    expect(isProbeDue(state, 8)).toBe(true)
  })

  test('after the pause of an endpoint that is down, and not in it', () => {
    const state = downAfter(initialCalls(LIMITS, 0), { startedAt: 0, settledAt: 0 })
    expect(isProbeDue(state, 0.9)).toBe(false)
    expect(isProbeDue(state, 1)).toBe(true)
  })

  test('of whom the failure is an outage, that begins with the first pause', () => {
    const probe = { ...callOf('good', 1, 1.5), isProbe: true }
    const state = afterFailure(afterProbeBegin(rowOf(5), 1), probe, OWN, true, 0.5)
    expect(state).toMatchObject({ failures: 1, lastFailure: OWN, failedAt: 1.5, pauseEnd: 1.9 })
  })

  describe('when that one has failed as well, it may be the fault of both tokens', () => {
    const probe = { ...callOf('good', 1, 1.5), isProbe: true }
    const doubtful = afterFailure(afterProbeBegin(rowOf(5), 1), probe, OWN, true, 1)
    const down = afterFailure(doubtful, callOf('new', 1.6, 1.7), DOWN, true, 1)
    const asked = { ...OWN, concerns: 'endpoint', retryAfter: 9 } as const
    const quiet = afterFailure(
      afterFailure(doubtful, callOf('new', 1.6, 1.7), asked, true, 1),
      callOf('late', 1.6, 1.8),
      OWN,
      true,
      1,
    )

    test.each([
      ['nobody is refused in the pause, but waits for its end', doubtful, false, 1.6, 'pause'],
      ['then one that waits is asked about', doubtful, false, 1.9, 'begin'],
      ['also beside the next good one', doubtful, true, 1.9, 'begin'],
      ['an outage for certain refuses in its pause', down, false, 1.8, 'fail'],
      ['and lets a good one find out alone', down, true, 99, 'join'],
      ['so does a pause that the endpoint has asked for', quiet, false, 9, 'fail'],
    ] as const)('%s', (_title, state, isProbing, now, word) => {
      expect(callStep(state, { taken: 0, isProbing }, now, LIMITS)).toBe(word)
    })

    test('the wait is that for the end of the pause', () => {
      expect(untilRate(doubtful, 1.6, LIMITS)).toBeCloseTo(0.3)
    })
  })
})
