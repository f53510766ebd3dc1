import { expect, test } from 'vitest'

import { afterSettling, isProgress, nextPoll, pollRequest, type Settled } from '../src/polling.ts'

const NOTHING: Settled = new Set()

function names(count: number, prefix: string): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
}

test('what was settled is no progress, and one new name among others is', () => {
  const settled = afterSettling(['a', 'b'], NOTHING)
  expect(isProgress(['b', 'a'], settled)).toBe(false)
  expect(isProgress(['a', 'c'], settled)).toBe(true)
  expect(isProgress([], settled)).toBe(false)
})

test('the names of 1,000 settled events are kept, and those that were settled last stay', () => {
  const first = afterSettling(names(1000, 'old'), NOTHING)
  const then = afterSettling([...names(10, 'new'), 'old-7'], first)
  expect([first.size, then.size]).toEqual([1000, 1000])
  expect(isProgress([...names(10, 'new'), 'old-7', 'old-0', 'old-989'], then)).toBe(false)
  expect(names(10, 'old').map((_, at) => isProgress([`old-${990 + at}`], then))).toEqual(
    Array.from({ length: 10 }, () => true),
  )
})

test('a name takes as much room as any other, however long it is', () => {
  const [kept = ''] = afterSettling(['x'.repeat(100_000)], NOTHING)
  expect(kept).toHaveLength(44)
})

test('a request has the verdicts that there are, and no empty ones', () => {
  const refusal = { err: 'invalid_key', description: 'No' }
  const bodies = [
    pollRequest({ ack: [], setErrs: new Map() }),
    pollRequest({ ack: ['a'], setErrs: new Map([['__proto__', refusal]]) }),
  ]
  expect(bodies).toEqual([
    '{"maxEvents":100}',
    '{"maxEvents":100,"ack":["a"],"setErrs":{"__proto__":{"err":"invalid_key","description":"No"}}}',
  ])
})

test.each([
  ['progress', 'at once, however long the poll took', 0, 105],
  ['nothing', 'an interval after the start', 0, 130],
  ['failure', 'after a pause that doubles', 0, 108],
  ['failure', 'after the pause that the answer asked for', 20, 125],
] as const)('after %s the next poll starts %s', (outcome, _, retryAfter, at) => {
  const times = { startedAt: 100, settledAt: 105, failures: 4, retryAfter }
  expect(nextPoll(outcome, times, 30, 0.5)).toBe(at)
})
