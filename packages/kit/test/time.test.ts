import { describe, expect, test } from 'vitest'

import { backgroundClock, type Clock, elapsed, instant, systemClock } from '../src/time.ts'

describe.each([
  ['the clock of the system', systemClock],
  ['the clock whose timers keep no process alive', backgroundClock],
] as const)('%s', (_title, clock) => {
  test('tells the wall time in seconds, with fractions', () => {
    const before = Date.now() / 1000
    const now = clock.now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now() / 1000)
  })

  test('tells monotonic seconds, with fractions', () => {
    const before = performance.now() / 1000
    const now = clock.monotonic()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(performance.now() / 1000)
  })

  test('counts seconds until it calls, where the platform counts milliseconds', async () => {
    const order: string[] = []
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 40)
      clock.after(0.02, () => order.push('20 ms, ours'))
      setTimeout(() => order.push('30 ms'), 30)
      setTimeout(() => order.push('10 ms'), 10)
    })
    expect(order).toEqual(['10 ms', '20 ms, ours', '30 ms'])
  })

  test('does not call what has been cancelled', async () => {
    const calls: string[] = []
    const cancel = clock.after(0, () => calls.push('cancelled'))
    const called = new Promise<void>((resolve) => {
      clock.after(0, () => {
        calls.push('kept')
        resolve()
      })
    })
    cancel()
    await called
    expect(calls).toEqual(['kept'])
  })

  test('can be told to cancel too late, and twice', async () => {
    let cancel: (() => void) | undefined
    await new Promise<void>((resolve) => {
      cancel = clock.after(0, resolve)
    })
    expect(() => {
      cancel?.()
      cancel?.()
    }).not.toThrow()
  })
})

function timersThatHold(): number {
  return process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
}

/** How many timers that hold the process a clock makes. */
function added(clock: Clock): number {
  const before = timersThatHold()
  const cancel = clock.after(3600, () => {})
  const after = timersThatHold()
  cancel()
  return after - before
}

test('a timer of the background keeps no process alive, and one of the system does', () => {
  expect([added(systemClock), added(backgroundClock)]).toEqual([1, 0])
})

test('an instant is one moment on both clocks', () => {
  const clock: Clock = { now: () => 1_700_000_000.5, monotonic: () => 12.25, after: () => () => {} }
  expect(instant(clock)).toStrictEqual({ wall: 1_700_000_000.5, monotonic: 12.25 })
})

test.each([
  { name: 'both clocks agree', wall: 5, monotonic: 5, seconds: 5 },
  { name: 'the machine was suspended', wall: 3600, monotonic: 5, seconds: 3600 },
  { name: 'the wall clock was set back', wall: -3600, monotonic: 5, seconds: 5 },
  { name: 'the wall clock was set forward', wall: 86_400, monotonic: 0.5, seconds: 86_400 },
  { name: 'the wall clock was set back a little', wall: 4.5, monotonic: 5, seconds: 5 },
  { name: 'nothing has passed', wall: 0, monotonic: 0, seconds: 0 },
  { name: 'the moment is an earlier one', wall: -2, monotonic: -3, seconds: -2 },
])('$name: $seconds s have passed', ({ wall, monotonic, seconds }) => {
  const since = { wall: 1000, monotonic: 100 }
  expect(elapsed(since, { wall: 1000 + wall, monotonic: 100 + monotonic })).toBe(seconds)
})
