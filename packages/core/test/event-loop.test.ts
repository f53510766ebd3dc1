import { createHook } from 'node:async_hooks'

import { describe, expect, test, vi } from 'vitest'

import { type EventLoopWatch, watchEventLoop } from '../src/event-loop.ts'

const LIMIT = 4

/** What a piece of work that comes now is told; it is done and counted unless the event loop is busy. */
function work(watch: EventLoopWatch, cost = 1): 'done' | 'busy' {
  if (watch.isBusy(cost)) return 'busy'
  watch.count(cost)
  return 'done'
}

function several(watch: EventLoopWatch, pieces = LIMIT + 1): string[] {
  return Array.from({ length: pieces }, () => work(watch))
}

async function nextIteration(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
}

describe('one synchronous run', () => {
  test('may do as many pieces as the limit says', () => {
    const watch = watchEventLoop(LIMIT)
    expect(several(watch)).toEqual(['done', 'done', 'done', 'done', 'busy'])
    expect(several(watchEventLoop(1), 2)).toEqual(['done', 'busy'])
  })

  test('may do what costs as much together as the limit, and no more', () => {
    const watch = watchEventLoop(LIMIT)
    expect([3, 2, 1, 1].map((cost) => work(watch, cost))).toEqual(['done', 'busy', 'done', 'busy'])
  })

  test('may not do one piece that costs more than the limit', () => {
    const watch = watchEventLoop(LIMIT)
    expect([LIMIT + 1, LIMIT].map((cost) => work(watch, cost))).toEqual(['busy', 'done'])
  })

  test('ends where somebody awaits: the next may do as many again', async () => {
    const watch = watchEventLoop(LIMIT)
    several(watch)
    await Promise.resolve()
    expect(several(watch)).toEqual(['done', 'done', 'done', 'done', 'busy'])
  })

  test('what was done in one before counts no more', async () => {
    const watch = watchEventLoop(LIMIT)
    work(watch)
    await Promise.resolve()
    expect(several(watch, LIMIT)).toEqual(['done', 'done', 'done', 'done'])
  })

  test('a burst is counted to its end, whatever came just before it', async () => {
    const watch = watchEventLoop(LIMIT)
    work(watch)
    const burst = Promise.resolve().then(() => several(watch, LIMIT))
    work(watch)
    const next = Promise.resolve().then(() => work(watch))
    expect(await burst).toEqual(['done', 'done', 'done', 'done'])
    expect(await next).toBe('busy')
  })

  test('each watch counts its own', () => {
    several(watchEventLoop(LIMIT))
    expect(work(watchEventLoop(LIMIT))).toBe('done')
  })
})

describe('one iteration of the event loop', () => {
  test('who waits for each piece may do all, and the end of the iteration is awaited once', async () => {
    const watch = watchEventLoop(LIMIT)
    const scheduled: string[] = []
    const hook = createHook({ init: (_id, type) => scheduled.push(type) }).enable()
    for (let pieces = 0; pieces < 3 * LIMIT; pieces++) {
      expect(work(watch)).toBe('done')
      await Promise.resolve()
    }
    hook.disable()
    expect(scheduled.filter((type) => type === 'Immediate')).toHaveLength(1)
  })

  test('only its first callback may do work, and in the next iteration again the first', async () => {
    const watch = watchEventLoop(LIMIT)
    const answers: string[] = []
    const ask = () => answers.push(work(watch))
    await new Promise<void>((resolve) => {
      setImmediate(ask)
      setImmediate(ask)
      setImmediate(() => {
        ask()
        setImmediate(ask)
        setImmediate(ask)
        setImmediate(resolve)
      })
    })
    expect(answers).toEqual(['done', 'busy', 'busy', 'done', 'busy'])
  })

  test('the first that does work in a promise goes on with the promises after it', async () => {
    const watch = watchEventLoop(LIMIT)
    const answers: string[] = []
    const ask = () => answers.push(work(watch))
    await new Promise<void>((resolve) => {
      setImmediate(() => void Promise.resolve().then(ask).then(ask).then(ask))
      setImmediate(() => {
        ask()
        resolve()
      })
    })
    expect(answers).toEqual(['done', 'done', 'done', 'busy'])
  })

  test('without work nothing is scheduled', async () => {
    const scheduled: string[] = []
    const hook = createHook({ init: (_id, type) => scheduled.push(type) }).enable()
    const watch = watchEventLoop(LIMIT)
    expect([watch.isBusy(1), watch.isBusy(1)]).toEqual([false, false])
    hook.disable()
    expect(scheduled).not.toContain('Immediate')
  })
})

test('fake timers do not stop the counts from being reset', async () => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'queueMicrotask'] })
  const watch = watchEventLoop(LIMIT)
  const before = several(watch)
  vi.useRealTimers()
  await nextIteration()
  await nextIteration()
  expect(before.at(-1)).toBe('busy')
  expect(several(watch)).toEqual(['done', 'done', 'done', 'done', 'busy'])
})
