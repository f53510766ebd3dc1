import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { describe, expect, test } from 'vitest'

import { manualClock } from '../src/clock.ts'

const START = 1_767_225_600 // 2026-01-01T00:00:00Z

/** What fires, and at which time of the clock. */
function recorder(clock = manualClock()) {
  const fired: string[] = []
  const record = (name: string) => () => {
    fired.push(`${name} at ${clock.monotonic()}`)
  }
  return { clock, fired, record }
}

describe('time', () => {
  test('begins at the start of 2026, and does not move by itself', () => {
    const clock = manualClock()
    expect([clock.now(), clock.monotonic()]).toEqual([START, 0])
    expect([clock.now(), clock.monotonic()]).toEqual([START, 0])
    expect(new Date(clock.now() * 1000).toISOString()).toBe('2026-01-01T00:00:00.000Z')
  })

  test('begins where it is told to', () => {
    const clock = manualClock(0)
    expect([clock.now(), clock.monotonic()]).toEqual([0, 0])
  })

  test('both times move on together, in fractions too', async () => {
    const clock = manualClock(1000)
    await clock.advance(2.5)
    await clock.advance(0)
    await clock.advance(1)
    expect([clock.now(), clock.monotonic()]).toEqual([1003.5, 3.5])
  })

  test.each([
    { name: 'forward', now: 5000 },
    { name: 'back', now: 10 },
  ])('wall time is set $name, and the monotonic time stays', async ({ now }) => {
    const clock = manualClock(1000)
    await clock.advance(5)
    clock.set(now)
    expect([clock.now(), clock.monotonic()]).toEqual([now, 5])
    await clock.advance(2)
    expect([clock.now(), clock.monotonic()]).toEqual([now + 2, 7])
  })

  test('setting wall time fires nothing', async () => {
    const { clock, fired, record } = recorder()
    clock.after(10, record('timer'))
    clock.set(START + 3600)
    await clock.advance(9)
    expect(fired).toEqual([])
    await clock.advance(1)
    expect(fired).toEqual(['timer at 10'])
  })

  test.each([-1, -0.001, Number.NaN, Infinity])(
    'advance(%d): TypeError, and nothing moves',
    async (to) => {
      const { clock, fired, record } = recorder()
      clock.after(0, record('timer'))
      await expect(clock.advance(to)).rejects.toThrow(TypeError)
      expect(clock.monotonic()).toBe(0)
      expect(fired).toEqual([])
    },
  )

  test.each([Number.NaN, Infinity, -Infinity])('set(%d): TypeError', (to) => {
    const clock = manualClock()
    expect(() => clock.set(to)).toThrow(new TypeError('set: the time must be a finite number'))
    expect(clock.now()).toBe(START)
  })

  test.each([Number.NaN, Infinity])('a clock or a timer at %d: TypeError', (seconds) => {
    expect(() => manualClock(seconds)).toThrow('manualClock: the time must be a finite number')
    expect(() => manualClock().after(seconds, () => {})).toThrow('after: the time must be')
  })

  test('two clocks have nothing to do with each other', async () => {
    const [one, two] = [manualClock(), manualClock()]
    await one.advance(5)
    expect(two.monotonic()).toBe(0)
  })
})

describe('timers', () => {
  test('fire when the clock has moved that far, not before, and once', async () => {
    const { clock, fired, record } = recorder()
    clock.after(5, record('timer'))
    await clock.advance(4.999)
    expect(fired).toEqual([])
    await clock.advance(0.001)
    expect(fired).toEqual(['timer at 5'])
    await clock.advance(100)
    expect(fired).toEqual(['timer at 5'])
  })

  test('count from when they were made', async () => {
    const { clock, fired, record } = recorder()
    await clock.advance(3)
    clock.after(5, record('timer'))
    await clock.advance(10)
    expect(fired).toEqual(['timer at 8'])
    expect(clock.monotonic()).toBe(13)
  })

  test('fire in the order of their times, each at its own', async () => {
    const { clock, fired, record } = recorder()
    clock.after(3, record('third'))
    clock.after(1, record('first'))
    clock.after(2, record('second'))
    clock.after(11, record('later'))
    await clock.advance(10)
    expect(fired).toEqual(['first at 1', 'second at 2', 'third at 3'])
    expect(clock.monotonic()).toBe(10)
  })

  test('of one time fire in the order they were made', async () => {
    const { clock, fired, record } = recorder()
    for (const name of ['a', 'b', 'c']) clock.after(1, record(name))
    await clock.advance(1)
    expect(fired).toEqual(['a at 1', 'b at 1', 'c at 1'])
  })

  test('see their own wall time', async () => {
    const clock = manualClock(1000)
    let seen = 0
    clock.after(2, () => {
      seen = clock.now()
    })
    await clock.advance(10)
    expect(seen).toBe(1002)
  })

  test('of no delay wait for the clock to be moved, be it by nothing', async () => {
    const { clock, fired, record } = recorder()
    clock.after(0, record('timer'))
    expect(fired).toEqual([])
    await clock.advance(0)
    expect(fired).toEqual(['timer at 0'])
  })

  test('of the past fire at once and do not turn time back', async () => {
    const { clock, fired, record } = recorder()
    await clock.advance(5)
    clock.after(-3, record('timer'))
    await clock.advance(0)
    expect(fired).toEqual(['timer at 5'])
  })

  test('that are cancelled do not fire, and others do', async () => {
    const { clock, fired, record } = recorder()
    const cancel = clock.after(1, record('cancelled'))
    clock.after(1, record('kept'))
    cancel()
    cancel()
    await clock.advance(5)
    expect(fired).toEqual(['kept at 1'])
  })

  test('can be cancelled by an earlier one of the same moment', async () => {
    const { clock, fired, record } = recorder()
    let cancel = record('nothing to cancel yet')
    clock.after(1, () => {
      cancel()
    })
    cancel = clock.after(1, record('cancelled'))
    await clock.advance(1)
    expect(fired).toEqual([])
  })

  test('that have fired can be cancelled to no effect', async () => {
    const { clock, fired, record } = recorder()
    const cancel = clock.after(1, record('timer'))
    await clock.advance(1)
    cancel()
    expect(fired).toEqual(['timer at 1'])
  })

  test('made by timers fire in the same move, if they are due', async () => {
    const { clock, fired, record } = recorder()
    clock.after(1, () => {
      record('outer')()
      clock.after(1, record('inner'))
      clock.after(10, record('too late'))
    })
    clock.after(3, record('other'))
    await clock.advance(5)
    expect(fired).toEqual(['outer at 1', 'inner at 2', 'other at 3'])
  })

  test('set promises going that run as far as they can before the clock moves on', async () => {
    const { clock, fired, record } = recorder()
    clock.after(1, () => {
      void steps()
    })
    clock.after(2, record('next'))
    await clock.advance(10)
    expect(fired).toEqual(['step 1 at 1', 'step 2 at 1', 'step 3 at 1', 'next at 2', 'end at 4'])

    async function steps() {
      for (const step of [1, 2, 3]) {
        await Promise.resolve()
        record(`step ${step}`)()
      }
      clock.after(3, record('end'))
    }
  })

  test('made by promises under way when the clock is moved are not missed', async () => {
    const { clock, fired, record } = recorder()
    const start = async () => {
      await Promise.resolve()
      clock.after(1, record('timer'))
    }
    void start()
    await clock.advance(1)
    expect(fired).toEqual(['timer at 1'])
  })

  test('that throw fail the move, at their own time', async () => {
    const clock = manualClock()
    clock.after(2, () => {
      throw new RangeError('broken')
    })
    await expect(clock.advance(5)).rejects.toThrow('broken')
    expect(clock.monotonic()).toBe(2)
  })
})

test('moves under fake timers that are installed after it is imported', async () => {
  const { href } = new URL('../src/clock.ts', import.meta.url)
  // In a process of its own, whose timers are replaced.
  const script = `
    const { manualClock } = await import(${JSON.stringify(href)})
    const clock = manualClock()
    clock.after(1, () => console.log('fired'))
    for (const name of ['setImmediate', 'setTimeout', 'queueMicrotask']) globalThis[name] = () => {}
    await clock.advance(2)
    console.log(clock.monotonic())
  `
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  expect(stdout).toBe('fired\n2\n')
})
