import type { Clock } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createLane, type LaneOptions } from '../src/calls.ts'
import type { Failure } from '../src/decisions.ts'
import { settle, START } from './issuer.ts'

interface Said {
  readonly word: string
}

const GOOD: Said = { word: 'active' }
const DOWN: Failure = {
  reason: 'unreachable',
  detail: 'down',
  concerns: 'endpoint',
  retryAfter: undefined,
}

function setUp(options: Partial<LaneOptions<Said>> = {}) {
  const manual = manualClock(START)
  const timers = new Set<() => void>()
  const clock: Clock = {
    ...manual,
    after(seconds, run) {
      const cancel = manual.after(seconds, () => {
        timers.delete(cancel)
        run()
      })
      timers.add(cancel)
      return () => {
        timers.delete(cancel)
        cancel()
      }
    },
  }
  const asked: string[] = []
  const answers = new Map<string, (answer: Said | Failure) => void>()
  const odd: unknown[] = []
  const lane = createLane<Said>({
    clock,
    timeout: 5,
    maxCalls: 1,
    maxRate: Infinity,
    order: 'oldest',
    random: () => 0.5,
    call: async (token) => {
      asked.push(token)
      return await new Promise((resolve) => {
        answers.set(token, resolve)
      })
    },
    settled: () => {},
    odd: (...given) => {
      odd.push(given)
      return clock.monotonic() + 7
    },
    ...options,
  })
  /** Returns the outcome, and what its caller leaves with. */
  function ask(name: string) {
    const left: (() => void)[] = []
    const place = { hasLeft: false, whenLeft: (leave: () => void) => void left.push(leave) }
    const outcome = lane.ask(name, name, place)
    return { outcome, leave: () => left[0]?.() }
  }
  const answer = async (name: string, said: Said | Failure) => {
    answers.get(name)?.(said)
    await settle()
  }
  return { ask, answer, asked, lane, manual, odd, timers }
}

describe('a token', () => {
  test('has its call while it waits for its turn and while it runs, and not after that', async () => {
    const { ask, answer, lane } = setUp()
    ask('one')
    ask('two')
    const all = () => ['one', 'two', 'three'].map((name) => lane.has(name))
    expect(all()).toEqual([true, true, false])
    await answer('one', GOOD)
    expect(all()).toEqual([false, true, false])
  })

  test('is renewed by one call, and by none that would have to wait', async () => {
    const { answer, asked, lane } = setUp({ maxCalls: 2 })
    for (const name of ['one', 'one', 'two', 'three']) lane.renew(name, name)
    expect([asked, lane.has('three')]).toEqual([['one', 'two'], false])
    await answer('one', GOOD)
    expect(asked).toHaveLength(2)
  })

  test('that waits for the rate: with its last caller goes its timer', async () => {
    const { ask, answer, asked, lane, manual, timers } = setUp({ maxRate: 1 })
    ask('one')
    await answer('one', GOOD)
    const callers = [ask('two'), ask('two')]
    expect(timers.size).toBe(1)
    callers[0]?.leave()
    expect([lane.has('two'), timers.size]).toEqual([true, 1])
    callers[1]?.leave()
    expect([lane.has('two'), timers.size]).toEqual([false, 0])
    ask('three')
    ask('four').leave()
    expect(timers.size).toBe(1)
    await manual.advance(1)
    expect(asked).toEqual(['one', 'three'])
  })

  test('whose callers have left while its call runs keeps it: it answers the next one', async () => {
    const { ask, answer, asked, lane } = setUp()
    const { leave } = ask('one')
    leave()
    expect(lane.has('one')).toBe(true)
    const { outcome } = ask('one')
    await answer('one', GOOD)
    expect([asked, await outcome]).toEqual([['one'], { failure: undefined, answer: GOOD }])
  })
})

describe('a call', () => {
  test('of which nothing is heard is given up a second after its deadline, and no other', async () => {
    const { ask, asked, manual } = setUp({ maxCalls: 9 })
    ask('one')
    await manual.advance(3)
    ask('two')
    await manual.advance(3)
    ask('one')
    expect(asked).toEqual(['one', 'two'])
    await manual.advance(0.1)
    ask('one')
    ask('two')
    expect(asked).toEqual(['one', 'two', 'one'])
  })

  test('that was given up stops no renewal', async () => {
    const { asked, lane, manual } = setUp()
    lane.renew('one', 'one')
    await manual.advance(6.1)
    lane.renew('one', 'one')
    expect(asked).toEqual(['one', 'one'])
  })

  test('that was given up takes nobody along whose caller asks anew', async () => {
    const { ask, answer, asked, manual } = setUp()
    const { leave } = ask('one')
    await manual.advance(6.1)
    ask('two')
    ask('one')
    leave()
    await answer('two', GOOD)
    expect(asked).toEqual(['one', 'two', 'one'])
  })

  test('that fails fails those that wait as well, and says when the next one can begin', async () => {
    const { ask, answer, asked, lane, manual } = setUp()
    const [one, two] = [ask('one'), ask('two')]
    await manual.advance(2)
    expect(lane.isDown()).toBe(false)
    await answer('one', DOWN)
    expect(await one.outcome).toEqual({ failure: DOWN, retryAfter: 1 })
    expect(await two.outcome).toEqual({ failure: DOWN, retryAfter: 1 })
    await manual.advance(0.25)
    expect(await ask('three').outcome).toEqual({ failure: DOWN, retryAfter: 0.75 })
    expect([asked, lane.isDown()]).toEqual([['one'], true])
  })

  test('with a bad answer about its token stops that token alone', async () => {
    const { ask, answer, asked, manual, odd } = setUp()
    const failure: Failure = { ...DOWN, reason: 'bad_answer', concerns: 'token' }
    const [one] = [ask('one'), ask('two')]
    const startedAt = manual.monotonic()
    await manual.advance(2)
    await answer('one', failure)
    expect(await one.outcome).toEqual({ failure, retryAfter: 7 })
    expect(odd).toEqual([['one', failure, { startedAt, settledAt: startedAt + 2 }]])
    expect(asked).toEqual(['one', 'two'])
  })
})

describe('tokens that wait', () => {
  test('newest first: who comes last is served first, and so is a repeated one', async () => {
    const { ask, answer, asked } = setUp({ order: 'newest' })
    for (const name of ['one', 'two', 'three', 'four', 'two']) ask(name)
    for (const name of ['one', 'two', 'four']) await answer(name, GOOD)
    expect(asked).toEqual(['one', 'two', 'four', 'three'])
  })

  test('in order: a repeat changes nothing', async () => {
    const { ask, answer, asked } = setUp()
    for (const name of ['one', 'two', 'three', 'three']) ask(name)
    for (const name of ['one', 'two']) await answer(name, GOOD)
    expect(asked).toEqual(['one', 'two', 'three'])
  })
})
