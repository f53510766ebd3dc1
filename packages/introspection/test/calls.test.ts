import type { Clock } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createCalls, type CallsOptions } from '../src/calls.ts'
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

function setUp(options: Partial<CallsOptions<Said>> = {}) {
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
  const tokenFailed: unknown[] = []
  const calls = createCalls<Said>({
    clock,
    timeout: 5,
    maxCalls: 1,
    maxRate: Infinity,
    answers: 0,
    good: () => undefined,
    random: () => 0.5,
    call: async (token) => {
      asked.push(token)
      return await new Promise((resolve) => {
        answers.set(token, resolve)
      })
    },
    settled: () => {},
    tokenFailed: (...given) => {
      tokenFailed.push(given)
      return clock.monotonic() + 7
    },
    ...options,
  })
  /** Returns the outcome, and what its caller leaves with. */
  function ask(name: string) {
    const left: (() => void)[] = []
    const place = { hasLeft: false, whenLeft: (leave: () => void) => void left.push(leave) }
    const outcome = calls.ask({ name, token: name }, place)
    const leave = () => {
      for (const each of left) each()
    }
    return { outcome, leave }
  }
  const answer = async (name: string, said: Said | Failure) => {
    answers.get(name)?.(said)
    await settle()
  }
  return { ask, answer, asked, calls, manual, tokenFailed, timers }
}

describe('a token', () => {
  test('has its call while it waits for its turn and while it runs, and not after that', async () => {
    const { ask, answer, calls } = setUp()
    ask('one')
    ask('two')
    const all = () => ['one', 'two', 'three'].map((name) => calls.has(name))
    expect(all()).toEqual([true, true, false])
    await answer('one', GOOD)
    expect(all()).toEqual([false, true, false])
  })

  test('is renewed by one call, and by none that would have to wait', async () => {
    const { answer, asked, calls } = setUp({ maxCalls: 2 })
    for (const name of ['one', 'one', 'two', 'three']) calls.renew({ name, token: name })
    expect([asked, calls.has('three')]).toEqual([['one', 'two'], false])
    await answer('one', GOOD)
    expect(asked).toHaveLength(2)
  })

  test('that waits comes before a renewal for nobody, also where timers are late', () => {
    let now = 0
    const clock = { now: () => now, monotonic: () => now, after: () => () => {} }
    const { ask, asked, calls } = setUp({ clock })
    ask('hangs')
    ask('waits')
    now = 1.005
    calls.renew({ name: 'renewed', token: 'renewed' })
    expect(asked).toEqual(['hangs', 'waits'])
  })

  test('that waits for the rate: with its last caller goes its timer', async () => {
    const { ask, answer, asked, calls, manual, timers } = setUp({ maxRate: 1 })
    ask('one')
    await answer('one', GOOD)
    const callers = [ask('two'), ask('two')]
    expect(timers.size).toBe(1)
    callers[0]?.leave()
    expect([calls.has('two'), timers.size]).toEqual([true, 1])
    callers[1]?.leave()
    expect([calls.has('two'), timers.size]).toEqual([false, 0])
    ask('three')
    ask('four').leave()
    expect(timers.size).toBe(1)
    await manual.advance(1)
    expect(asked).toEqual(['one', 'three'])
  })

  test('whose callers have left while its call runs keeps it: it answers the next one', async () => {
    const { ask, answer, asked, calls } = setUp()
    const { leave } = ask('one')
    leave()
    expect(calls.has('one')).toBe(true)
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
    await manual.advance(2.9)
    ask('one')
    expect(asked).toEqual(['one', 'two'])
    await manual.advance(0.1)
    ask('one')
    ask('two')
    expect(asked).toEqual(['one', 'two', 'one'])
  })

  test('that lasts longer than a second leaves its place to another one, and no two do so', async () => {
    const { ask, answer, asked, manual } = setUp()
    for (const name of ['one', 'three', 'two']) ask(name)
    await manual.advance(0.9)
    expect(asked).toEqual(['one'])
    await manual.advance(0.1)
    expect(asked).toEqual(['one', 'two'])
    await manual.advance(3)
    expect(asked).toEqual(['one', 'two'])
    await answer('one', GOOD)
    expect(asked).toEqual(['one', 'two', 'three'])
  })

  test('that was given up stops no renewal', async () => {
    const { asked, calls, manual } = setUp()
    calls.renew({ name: 'one', token: 'one' })
    await manual.advance(6.1)
    calls.renew({ name: 'one', token: 'one' })
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
    const { ask, answer, asked, calls, manual } = setUp()
    const [one, two] = [ask('one'), ask('two')]
    await manual.advance(0.5)
    expect(calls.isDown()).toBe(false)
    await answer('one', DOWN)
    expect(await one.outcome).toEqual({ failure: DOWN, retryAfter: 1 })
    expect(await two.outcome).toEqual({ failure: DOWN, retryAfter: 1 })
    await manual.advance(0.25)
    expect(await ask('three').outcome).toEqual({ failure: DOWN, retryAfter: 0.75 })
    expect([asked, calls.isDown()]).toEqual([['one'], true])
  })

  test('with a bad answer about its token stops that token alone', async () => {
    const { ask, answer, asked, manual, tokenFailed } = setUp()
    const failure: Failure = { ...DOWN, reason: 'bad_answer', concerns: 'token' }
    const [one] = [ask('one'), ask('two')]
    const startedAt = manual.monotonic()
    await manual.advance(2)
    await answer('one', failure)
    expect(await one.outcome).toEqual({ failure, retryAfter: 7 })
    expect(tokenFailed).toEqual([['one', failure, { startedAt, settledAt: startedAt + 2 }]])
    expect(asked).toEqual(['one', 'two'])
  })
})

describe('tokens that wait', () => {
  test('newest first: who comes last is served first, and so is a repeated one', async () => {
    const { ask, answer, asked } = setUp()
    for (const name of ['one', 'two', 'three', 'four', 'two']) ask(name)
    for (const name of ['one', 'two', 'four']) await answer(name, GOOD)
    expect(asked).toEqual(['one', 'two', 'four', 'three'])
  })
})

describe('tokens that fail, each by itself', () => {
  const OWN: Failure = { ...DOWN, reason: 'bad_answer', concerns: 'token' }

  /** @param tokens Those that were good before. */
  function withGood(...tokens: readonly string[]) {
    const left = [...tokens]
    const good = () => {
      const token = left.shift()
      return token === undefined ? undefined : { name: token, token }
    }
    // Whoever looks whether there is one takes none away.
    const peek = () => (left[0] === undefined ? undefined : { name: left[0], token: left[0] })
    const set = setUp({ maxCalls: 99, good: peek })
    const fail = async (count: number, from = 0) => {
      for (let index = from; index < from + count; index++) {
        set.ask(`bad-${index}`)
        await set.answer(`bad-${index}`, OWN)
      }
    }
    const probes = () => set.asked.filter((name) => tokens.includes(name))
    return { ...set, fail, probes, spend: good }
  }

  test('five in a row, and one call asks about a good one; its answer clears them all', async () => {
    const { answer, ask, fail, calls, probes } = withGood('good')
    await fail(4)
    expect(probes()).toEqual([])
    await fail(1, 4)
    expect([probes(), calls.has('good')]).toEqual([['good'], true])
    ask('new')
    await answer('good', GOOD)
    expect([calls.isDown(), calls.has('good'), calls.has('new')]).toEqual([false, false, true])
    await fail(4, 5)
    expect(probes()).toHaveLength(1)
  })

  test('an answer between them, and there is no doubt', async () => {
    const { ask, answer, fail, probes } = withGood('good')
    await fail(4)
    ask('new')
    await answer('new', GOOD)
    await fail(4, 4)
    expect(probes()).toEqual([])
  })

  test('the good one fails as well: the endpoint is down, and whoever comes is asked about, one at a time', async () => {
    const { ask, answer, asked, fail, calls, manual, spend } = withGood('good')
    await fail(5)
    spend()
    await answer('good', OWN)
    expect(calls.isDown()).toBe(true)
    const [second, first] = [ask('other').outcome, ask('new').outcome]
    expect(asked).toHaveLength(6)
    await manual.advance(0.4)
    expect(asked.slice(6)).toEqual(['new'])
    await answer('new', OWN)
    expect(await first).toMatchObject({ failure: OWN })
    await manual.advance(0.4)
    expect(asked.slice(6)).toEqual(['new', 'other'])
    await answer('other', GOOD)
    expect(await second).toEqual({ failure: undefined, answer: GOOD })
    expect(calls.isDown()).toBe(false)
  })

  test('good ones that have ended meanwhile, however many: no new one is refused for them', async () => {
    const ended = Array.from({ length: 50 }, (_, index) => `ended-${index}`)
    const { ask, answer, asked, fail, calls, manual, spend } = withGood(...ended)
    await fail(5)
    for (let index = 0; index < 3; index++) {
      spend()
      await answer(`ended-${index}`, OWN)
      await manual.advance(1)
      const { outcome } = ask(`new-${index}`)
      expect(asked.slice(-2)).toEqual([`ended-${index + 1}`, `new-${index}`])
      await answer(`new-${index}`, GOOD)
      expect(await outcome).toEqual({ failure: undefined, answer: GOOD })
      expect(calls.isDown()).toBe(false)
      await fail(5, 5 * (index + 1))
    }
  })

  test('another one is answered before the good one fails: that is the fault of its token', async () => {
    const { ask, answer, fail, calls, tokenFailed } = withGood('good')
    await fail(5)
    ask('new')
    await answer('new', GOOD)
    await answer('good', OWN)
    expect(calls.isDown()).toBe(false)
    expect(tokenFailed).toHaveLength(6)
  })

  test('whoever asks about the good one waits for that call, and gets its answer', async () => {
    const { ask, answer, asked, fail } = withGood('good')
    await fail(5)
    const { outcome } = ask('good')
    await answer('good', GOOD)
    expect(await outcome).toEqual({ failure: undefined, answer: GOOD })
    expect(asked.filter((name) => name === 'good')).toHaveLength(1)
  })

  test('they go on failing: another good one is asked about after a second', async () => {
    const { answer, fail, manual, probes } = withGood('good')
    await fail(5)
    await answer('good', GOOD)
    await fail(9, 5)
    expect(probes()).toHaveLength(1)
    await manual.advance(1)
    await fail(1, 14)
    expect(probes()).toHaveLength(2)
  })

  test('after the pause a good one is asked about first, whoever comes, and one of those that came', async () => {
    const { ask, answer, asked, fail, calls, manual, spend } = withGood('good', 'next')
    await fail(5)
    spend()
    await answer('good', OWN)
    await manual.advance(1)
    ask('one')
    ask('two')
    expect(asked.slice(6)).toEqual(['next', 'one'])
    await answer('next', GOOD)
    expect(asked.slice(6)).toEqual(['next', 'one', 'two'])
    expect(calls.isDown()).toBe(false)
  })

  test('the same behind a renewal, for which nobody waits', async () => {
    const { asked, fail, answer, calls, manual, spend } = withGood('good', 'next')
    await fail(5)
    spend()
    await answer('good', OWN)
    await manual.advance(1)
    calls.renew({ name: 'one', token: 'one' })
    expect([asked.slice(6), calls.has('one')]).toEqual([['next', 'one'], true])
  })

  test('a good one that is never heard of again is given up like any call', async () => {
    const { asked, fail, calls, manual } = withGood('good')
    await fail(5)
    await manual.advance(6.1)
    calls.renew({ name: 'one', token: 'one' })
    expect(asked.slice(5)).toEqual(['good', 'good', 'one'])
  })

  test('no good one is there: sixteen pace all calls, one at a time, and an answer ends that', async () => {
    const { ask, answer, asked, fail, calls, manual } = withGood()
    await fail(15)
    expect(calls.isDown()).toBe(false)
    await fail(1, 15)
    expect(calls.isDown()).toBe(true)
    ask('two')
    ask('one')
    expect(asked.slice(16)).toEqual([])
    await manual.advance(0.4)
    expect(asked.slice(16)).toEqual(['one'])
    await answer('one', GOOD)
    expect(asked.slice(16)).toEqual(['one', 'two'])
    expect(calls.isDown()).toBe(false)
  })

  test('a good one is asked about while sixteen fail: nothing is decided before its answer', async () => {
    const { answer, fail, calls, spend } = withGood('good')
    await fail(5)
    spend()
    await fail(15, 5)
    expect(calls.isDown()).toBe(false)
    await answer('good', GOOD)
    expect(calls.isDown()).toBe(false)
  })

  test('a call that asks for a pause gets it at once', async () => {
    const { ask, answer, asked, fail } = withGood('good')
    await fail(1)
    ask('one')
    await answer('one', { ...DOWN, retryAfter: 20 })
    expect(await ask('two').outcome).toMatchObject({ retryAfter: 20 })
    expect(asked).toHaveLength(2)
  })

  test('that the client is unknown counts at once before any answer, and then for its token', async () => {
    const CLIENT: Failure = { ...OWN, concerns: 'client' }
    const first = setUp({ maxCalls: 99 })
    first.ask('one')
    await first.answer('one', CLIENT)
    expect([first.calls.isDown(), first.tokenFailed]).toEqual([true, []])
    const later = setUp({ maxCalls: 99, answers: 1 })
    later.ask('one')
    await later.answer('one', CLIENT)
    expect([later.calls.isDown(), later.tokenFailed.length]).toEqual([false, 1])
  })
})

describe('where the runtime ends the work of a request with it', () => {
  const ends = { endsWithRequest: true }

  test('a call that nobody waits for is replaced, 1 s after it began, by one for all who come', async () => {
    const { ask, answer, asked, manual } = setUp(ends)
    ask('one').leave()
    await manual.advance(0.3)
    const others = [ask('one'), ask('one')]
    await manual.advance(0.6)
    expect(asked).toEqual(['one'])
    await manual.advance(0.2)
    expect(asked).toEqual(['one', 'one'])
    await answer('one', GOOD)
    for (const { outcome } of others) expect(await outcome).toMatchObject({ answer: GOOD })
    expect(asked).toHaveLength(2)
  })

  test('a renewal behind a request is replaced, and joined if the runtime was asked to let it go on', async () => {
    const { ask, answer, asked, calls, manual } = setUp({ ...ends, maxCalls: 2 })
    const held: unknown[] = []
    calls.renew({ name: 'held', token: 'held' }, (work) => held.push(work))
    calls.renew({ name: 'other', token: 'other' })
    expect(held).toHaveLength(1)
    const callers = [ask('held'), ask('other')]
    await manual.advance(1.1)
    expect(asked).toEqual(['held', 'other', 'other'])
    for (const name of ['held', 'other']) await answer(name, GOOD)
    for (const { outcome } of callers) expect(await outcome).toMatchObject({ answer: GOOD })
  })

  test('the late answer of a call that was replaced is dropped', async () => {
    const settled: unknown[] = []
    const late: ((said: Said) => void)[] = []
    const call = async () =>
      await new Promise<Said>((resolve) => {
        late.push(resolve)
      })
    const { ask, manual } = setUp({
      ...ends,
      call,
      settled: (...given) => settled.push(given[2]),
    })
    ask('one').leave()
    await manual.advance(0.3)
    const { outcome } = ask('one')
    await manual.advance(0.8)
    late[0]?.({ word: 'late' })
    await settle()
    expect(settled).toEqual([])
    late[1]?.(GOOD)
    expect(await outcome).toMatchObject({ answer: GOOD })
    expect(settled).toEqual([GOOD])
  })

  test('who finds no room begins the call by itself, once there is room, and fails with the endpoint', async () => {
    const { ask, answer, asked, manual } = setUp(ends)
    const first = ask('one')
    const second = ask('two')
    await manual.advance(0.5)
    expect(asked).toEqual(['one'])
    await answer('one', GOOD)
    expect(await first.outcome).toMatchObject({ answer: GOOD })
    await manual.advance(0.1)
    expect(asked).toEqual(['one', 'two'])
    await answer('two', DOWN)
    expect(await second.outcome).toMatchObject({ failure: DOWN })
    expect(await ask('three').outcome).toMatchObject({ failure: DOWN })
    expect(asked).toHaveLength(2)
  })

  /** The endpoint has failed for one token, another was good before, and a pause is over. */
  async function whileDown() {
    const scene = setUp({
      ...ends,
      maxCalls: 9,
      answers: 1,
      good: () => ({ name: 'good', token: 'good' }),
    })
    const { outcome } = scene.ask('one')
    await scene.answer('one', DOWN)
    expect(await outcome).toMatchObject({ failure: DOWN })
    await scene.manual.advance(2)
    return scene
  }

  test('who asks for another token whether the endpoint is back hands that call to the runtime', async () => {
    const { asked, calls } = await whileDown()
    const held: unknown[] = []
    calls.renew({ name: 'held', token: 'held' }, (work) => held.push(work))
    expect(held.length).toBe(asked.length - 1)
    expect(asked).toContain('good')
  })

  test('one that has ended with its request is not waited for: the next who must wait begins another', async () => {
    const { ask, asked, calls, manual } = await whileDown()
    calls.renew({ name: 'held', token: 'held' })
    const before = asked.filter((each) => each === 'good').length
    await manual.advance(2)
    ask('two')
    expect(asked.filter((each) => each === 'good')).toHaveLength(before + 1)
  })
})
