import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { type CallsOptions, createCalls } from '../../src/calls.ts'
import type { Place } from '../../src/waiting.ts'

// What is so for all calls that are shared, whoever is called. The sequences are those of both users: `byIssuer` and `introspected`.

interface Named {
  readonly name: string
}

interface Begun {
  readonly name: string
  readonly isProbe: boolean
  readonly answer: (result: string) => Promise<void>
}

function setUp(options: Partial<CallsOptions<Named, string, string>> = {}, max = 1) {
  const clock = manualClock()
  const begun: Begun[] = []
  const settled: string[] = []
  const calls = createCalls<Named, string, string>({
    clock,
    timeout: 5,
    step: ({ since }) =>
      since.length < max ? { word: 'begin' } : { word: 'full', seconds: Infinity },
    call: async ({ name }, { isProbe }) =>
      await new Promise((resolve) => {
        const answer = async (result: string) => {
          resolve(result)
          await clock.advance(0)
        }
        begun.push({ name, isProbe, answer })
      }),
    settled: ({ name }, result) => {
      settled.push(`${name} ${result}`)
      return result
    },
    givenUp: () => 'given up',
    endsWithRequest: false,
    ...options,
  })
  /** Returns the outcome, and what its caller leaves with. */
  function ask(name: string) {
    const cancels: (() => void)[] = []
    let hasLeft = false
    const place: Place = {
      get hasLeft() {
        return hasLeft
      },
      whenLeft: (cancel) => cancels.push(cancel),
    }
    const outcome = calls.ask({ name }, place)
    const leave = () => {
      hasLeft = true
      for (const cancel of cancels) cancel()
    }
    return { outcome, leave }
  }
  const names = () => begun.map(({ name }) => name)
  return { ask, begun, calls, clock, names, settled }
}

describe('who is served', () => {
  test('all who ask for one name share one call, while it waits and while it runs', async () => {
    const { ask, begun, calls, names } = setUp()
    const first = ask('a')
    const [second, third] = [ask('b'), ask('b')]
    expect([names(), calls.has('b'), calls.has('c')]).toEqual([['a'], true, false])
    await begun[0]?.answer('of a')
    const fourth = ask('b')
    expect(names()).toEqual(['a', 'b'])
    await begun[1]?.answer('of b')
    expect(await first.outcome).toBe('of a')
    for (const { outcome } of [second, third, fourth]) expect(await outcome).toBe('of b')
    expect([calls.has('a'), calls.has('b')]).toEqual([false, false])
  })

  test('of those who wait the newest is first, and so is one who is asked for again', async () => {
    const { ask, begun, names } = setUp()
    for (const name of ['runs', 'a', 'b', 'c', 'a']) ask(name)
    for (let index = 0; index < 4; index++) await begun[index]?.answer('')
    expect(names()).toEqual(['runs', 'a', 'c', 'b'])
  })

  test('a call that waits is not made when the last caller has left, and another one begins', async () => {
    const { ask, begun, calls, names } = setUp()
    ask('runs')
    ask('b')
    const callers = [ask('a'), ask('a')]
    callers[0]?.leave()
    expect(calls.has('a')).toBe(true)
    callers[1]?.leave()
    expect(calls.has('a')).toBe(false)
    await begun[0]?.answer('')
    expect(names()).toEqual(['runs', 'b'])
  })

  test('a call that runs goes on when the last caller has left: it is settled, and answers whoever comes', async () => {
    const { ask, begun, names, settled } = setUp()
    ask('a').leave()
    const { outcome } = ask('a')
    await begun[0]?.answer('late')
    expect([await outcome, names(), settled]).toEqual(['late', ['a'], ['a late']])
  })

  test('a renewal begins only where there is a place, after all who wait', async () => {
    let max = 1
    const { ask, calls, names } = setUp({
      step: ({ since }) =>
        since.length < max ? { word: 'begin' } : { word: 'full', seconds: Infinity },
    })
    calls.renew({ name: 'a' })
    calls.renew({ name: 'a' })
    calls.renew({ name: 'b' })
    expect([names(), calls.has('b')]).toEqual([['a'], false])
    ask('waits')
    max = 2
    calls.renew({ name: 'b' })
    expect([names(), calls.has('b')]).toEqual([['a', 'waits'], false])
    max = 3
    calls.renew({ name: 'b' })
    expect(names()).toEqual(['a', 'waits', 'b'])
  })

  test('a renewal is handed to the runtime of the request that causes it', () => {
    const { calls } = setUp()
    const held: unknown[] = []
    calls.renew({ name: 'a' }, (work) => held.push(work))
    expect(held).toHaveLength(1)
  })

  test('those who wait for time get it: the timer is that of the next one, and goes with the last', async () => {
    let isPaused = true
    const { ask, clock, names } = setUp({
      step: () => (isPaused ? { word: 'pause', seconds: 2 } : { word: 'begin' }),
    })
    ask('left').leave()
    ask('a')
    isPaused = false
    await clock.advance(1.9)
    expect(names()).toEqual([])
    await clock.advance(0.1)
    expect(names()).toEqual(['a'])
  })

  test('whose outcome is known is told it, without a call', async () => {
    const { ask, names } = setUp({ step: () => ({ word: 'end', outcome: 'known' }) })
    expect([await ask('a').outcome, names()]).toEqual(['known', []])
  })
})

describe('a call of which nothing is heard', () => {
  test('is given up a second after its deadline: it gives its place to the next one, and its name to another call', async () => {
    const { ask, begun, calls, clock, names } = setUp()
    ask('a')
    ask('b')
    await clock.advance(5.9)
    ask('a')
    expect(names()).toEqual(['a'])
    await clock.advance(0.1)
    ask('c')
    expect([names(), calls.has('a')]).toEqual([['a', 'c'], false])
    await begun[1]?.answer('')
    ask('a')
    expect(names()).toEqual(['a', 'c', 'b'])
  })

  test('has nothing to say when it comes after all: neither to whoever still waits, nor to what is remembered', async () => {
    const { ask, begun, clock, settled } = setUp()
    const first = ask('a')
    await clock.advance(6)
    const second = ask('a')
    await begun[0]?.answer('late')
    expect([await first.outcome, settled]).toEqual(['given up', []])
    await begun[1]?.answer('new')
    expect([await second.outcome, settled]).toEqual(['new', ['a new']])
  })
})

function withProbe(endsWithRequest = false) {
  let wanted: string | undefined = 'good'
  const scene = setUp({
    probe: () => (wanted === undefined ? undefined : { name: wanted }),
    endsWithRequest,
  })
  const want = (name: string | undefined) => {
    wanted = name
  }
  return { ...scene, want }
}

describe('a probe', () => {
  test('runs beside the others, one at a time, before the next one begins', async () => {
    const { ask, begun } = withProbe()
    ask('a')
    ask('b')
    expect(begun).toMatchObject([
      { name: 'good', isProbe: true },
      { name: 'a', isProbe: false },
    ])
  })

  test('is joined by whoever asks for its name, and given up as any call', async () => {
    const { ask, begun, clock, names, want } = withProbe()
    ask('a')
    const { outcome } = ask('good')
    want(undefined)
    await begun[0]?.answer('well')
    expect([await outcome, names()]).toEqual(['well', ['good', 'a']])
    want('good')
    ask('b')
    await clock.advance(6)
    ask('c')
    expect(names()).toEqual(['good', 'a', 'good', 'good', 'c'])
  })

  test.each([false, true])(
    'that begins for the very name that is renewed, or asked for, is the one call: %s',
    async (endsWithRequest) => {
      const renewing = withProbe(endsWithRequest)
      renewing.calls.renew({ name: 'good' })
      expect(renewing.names()).toEqual(['good'])
      const asking = withProbe(endsWithRequest)
      const { outcome } = asking.ask('good')
      asking.want(undefined)
      await asking.begun[0]?.answer('well')
      expect([await outcome, asking.names()]).toEqual(['well', ['good']])
    },
  )

  test.each([
    [true, ['a']],
    [false, ['a', 'good']],
  ])('begins behind a call, unless that ends with its request: %s', async (ends, expected) => {
    const { ask, begun, names, want } = withProbe(ends)
    want(undefined)
    const { outcome } = ask('a')
    want('good')
    await begun[0]?.answer('well')
    expect([await outcome, names()]).toEqual(['well', expected])
  })

  test('that may have ended with its request is replaced', () => {
    const { ask, calls, names } = withProbe(true)
    calls.renew({ name: 'a' })
    ask('b')
    expect(names().filter((name) => name === 'good')).toHaveLength(2)
  })
})

describe('where the runtime ends the work of a request with it', () => {
  const ends = { endsWithRequest: true }

  test('a call that nobody waits for is replaced, 1 s after it began, by one for all who come', async () => {
    const { ask, begun, clock, names, settled } = setUp(ends)
    ask('a').leave()
    await clock.advance(0.3)
    const others = [ask('a'), ask('a')]
    await clock.advance(0.6)
    expect(names()).toEqual(['a'])
    await clock.advance(0.2)
    expect(names()).toEqual(['a', 'a'])
    await begun[0]?.answer('late')
    expect(settled).toEqual([])
    await begun[1]?.answer('new')
    for (const { outcome } of others) expect(await outcome).toBe('new')
  })

  test('a call that nobody waits for makes room for that of another name, where there is no other room', async () => {
    const { ask, begun, calls, names } = setUp(ends, 2)
    ask('a').leave()
    ask('b')
    expect([names(), calls.has('a')]).toEqual([['a', 'b'], true])
    const { outcome } = ask('c')
    expect([names(), calls.has('a')]).toEqual([['a', 'b', 'c'], false])
    await begun[2]?.answer('of c')
    expect(await outcome).toBe('of c')
  })

  test('a renewal makes such room as well, and takes no other', () => {
    const { ask, calls, names } = setUp(ends)
    calls.renew({ name: 'a' })
    calls.renew({ name: 'b' })
    ask('c')
    calls.renew({ name: 'd' })
    expect(names()).toEqual(['a', 'b', 'c'])
  })

  test('whoever finds no room looks again, begins by themselves, and never once they have left', async () => {
    const { ask, begun, clock, names } = setUp(ends)
    ask('a')
    const [second, third] = [ask('b'), ask('c')]
    await clock.advance(1)
    third.leave()
    await begun[0]?.answer('')
    await clock.advance(0.05)
    expect(names()).toEqual(['a', 'b'])
    await begun[1]?.answer('of b')
    expect(await second.outcome).toBe('of b')
    await clock.advance(1)
    expect(names()).toEqual(['a', 'b'])
  })

  test('whose outcome is known is told it, without a call', async () => {
    const { ask, names } = setUp({ ...ends, step: () => ({ word: 'end', outcome: 'known' }) })
    expect([await ask('a').outcome, names()]).toEqual(['known', []])
  })
})
