import { expect, test } from 'vitest'

import { introspect, runAsking } from './others-table.ts'
import { startPolling } from './simulated-polls.ts'

test('each token is asked about once in 50 to 90 % of maxAge, whatever the number of processes', () => {
  const [one, ten] = [runAsking(1, 1, introspect), runAsking(10, 1, introspect)]
  // It comes once a second, so up to a second after its answer is due: after 21 s on average.
  for (const [size, { steady }] of [
    [1, one],
    [10, ten],
  ] as const) {
    expect(steady / (size * 10)).toBeGreaterThan(1 / 23)
    expect(steady / (size * 10)).toBeLessThanOrEqual(1 / 20)
  }
  expect(one.deployPeak).toBe(10)
})

test('in an outage a process asks far less than its tokens would', () => {
  const { steady, outage } = runAsking(10, 1, introspect)
  expect(outage).toBeGreaterThan(0)
  expect(outage).toBeLessThan(steady)
})

test('a poll that brings nothing is repeated after its interval, and failing ones later', () => {
  const { steady, outage } = runAsking(10, 1, startPolling)
  expect(steady).toBeCloseTo(10 / 5, 1)
  expect(outage).toBeLessThan(steady)
  expect(outage).toBeGreaterThan(10 / 40)
})
