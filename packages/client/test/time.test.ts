import { describe, expect, test } from 'vitest'

import { instant, systemClock } from '../src/time.ts'

describe('the clock of the system', () => {
  test('tells both times in seconds', () => {
    const { wall, monotonic } = instant(systemClock)
    expect(Math.abs(wall - Date.now() / 1000)).toBeLessThan(5)
    expect(Math.abs(monotonic - performance.now() / 1000)).toBeLessThan(5)
  })

  test('calls back, once that much time has passed', async () => {
    const before = systemClock.monotonic()
    await new Promise<void>((resolve) => {
      systemClock.after(0.01, resolve)
    })
    expect(systemClock.monotonic() - before).toBeGreaterThan(0.005)
  })

  test('does not call back what was cancelled', async () => {
    let called = false
    const cancel = systemClock.after(0, () => (called = true))
    cancel()
    await new Promise<void>((resolve) => {
      systemClock.after(0.005, resolve)
    })
    expect(called).toBe(false)
  })
})
