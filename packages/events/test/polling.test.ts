import { expect, test } from 'vitest'

import {
  afterSettling,
  judgeEvents,
  nextPoll,
  pollRequest,
  type Settled,
  type TakenEvent,
} from '../src/polling.ts'

const NOTHING: Settled = new Set()

function names(count: number, prefix: string): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
}

/** Whether an answer with these events, all of them recorded, brings something new. */
function isProgress(settledNow: readonly string[], settled: Settled): boolean {
  const events = settledNow.map((name) => ({ name, became: 'recorded' }) as const)
  return judgeEvents(events, settled, NOTHING).outcome === 'progress'
}

type Words = readonly TakenEvent['became'][]

test.each<[words: Words, outcome: string, stuck: number]>([
  [[], 'nothing', 0],
  [['recorded'], 'progress', 0],
  [['accepted'], 'progress', 0],
  [['refused'], 'refusals', 0],
  [['refused', 'accepted'], 'progress', 0],
  [['unread'], 'nothing', 1],
  [['unread', 'unread', 'refused'], 'refusals', 2],
  [['unread', 'recorded'], 'progress', 1],
  [['failed'], 'failure', 0],
  [['failed', 'refused'], 'failure', 0],
  [['failed', 'accepted'], 'failure', 0],
  [['failed', 'unread'], 'failure', 1],
  [['failed', 'recorded'], 'progress', 1],
])('events that became %j: %s, and %i stuck', (words, outcome, stuck) => {
  const events = words.map((became, at) => ({ name: `e-${at}`, became }))
  const judged = judgeEvents(events, NOTHING, NOTHING)
  expect([judged.outcome, judged.stuck.size]).toEqual([outcome, stuck])
})

test('an event that failed beside one that was recorded is not the store, as long as it comes again', () => {
  const first: readonly TakenEvent[] = [
    { name: 'poisoned', became: 'failed' },
    { name: 'sound', became: 'recorded' },
  ]
  const alone: readonly TakenEvent[] = [{ name: 'poisoned', became: 'failed' }]
  const after = judgeEvents(first, NOTHING, NOTHING)
  const again = judgeEvents(alone, NOTHING, after.stuck)
  expect([after.outcome, again.outcome]).toEqual(['progress', 'nothing'])
  const both = judgeEvents([...alone, { name: 'new', became: 'failed' }], NOTHING, again.stuck)
  expect(both.outcome).toBe('failure')
  const gone = judgeEvents([], NOTHING, again.stuck)
  expect(judgeEvents(alone, NOTHING, gone.stuck).outcome).toBe('failure')
})

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
  ['at once, and its interval is a second', 0, 1, 101],
  ['within a second, and its interval is as long', 0.9, 1, 101.9],
  ['after it has held the request for longer than the interval', 5, 1, 105],
  ['after it has held the request for a part of the interval', 5, 30, 130],
])('a transmitter that answers with nothing %s', (_, took, interval, at) => {
  const times = { startedAt: 100, settledAt: 100 + took, failures: 0, retryAfter: 0 }
  expect(nextPoll('nothing', times, interval, 0.5)).toBe(at)
})

test.each([
  [0, 101],
  [0.5, 101],
  [3, 103],
])('after an answer of refusals alone, in %d s, the next poll starts at %d', (took, at) => {
  const times = { startedAt: 100, settledAt: 100 + took, failures: 0, retryAfter: 0 }
  expect(nextPoll('refusals', times, 30, 0.5)).toBe(at)
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
