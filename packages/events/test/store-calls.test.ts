import { EventEmitter, once } from 'node:events'

import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createStoreCalls, mayCall } from '../src/store-calls.ts'
import { NEVER } from './scene.ts'

test.each([
  [0, 0, 0, true],
  [99, 0, 0, true],
  [100, 0, 1000, false],
  [60, 39, 0, true],
  [60, 40, 9.9, false],
  [60, 40, 10, true],
  [0, 100, 9.9, false],
  [0, 100, 10, true],
])(
  '%i calls are waited for, %i were given up, the last was %d s ago: another one may be made: %s',
  (waiting, abandoned, sinceLast, may) => {
    expect(mayCall({ waiting, abandoned, sinceLast }, 10)).toBe(may)
  },
)

function scene() {
  const clock = manualClock()
  const call = createStoreCalls({ clock, timeout: 10 })
  const state = { calls: 0, answer: NEVER as Promise<void> }
  const outcome = async () =>
    await call(async () => {
      state.calls += 1
      await state.answer
    }).then(
      () => 'done',
      (error: unknown) => (error as Error) /* as each call here fails */.message,
    )
  return { clock, state, outcome }
}

const LATE = 'revocations did not answer in 10 s'
const FULL = '100 calls of revocations are under way'

test('of 150 calls of a store that hangs, 100 are made, and the others fail without one', async () => {
  const { clock, state, outcome } = scene()
  const all = Array.from({ length: 150 }, async () => await outcome())
  expect(await Promise.all(all.slice(100))).toEqual(Array.from({ length: 50 }, () => FULL))
  expect(state.calls).toBe(100)
  await clock.advance(10)
  expect(new Set(await Promise.all(all))).toEqual(new Set([LATE, FULL]))
})

test('a store that hangs for long is called once in each timeout, and again as usual once it has answered', async () => {
  const { clock, state, outcome } = scene()
  const all = Array.from({ length: 100 }, async () => await outcome())
  await clock.advance(10)
  await Promise.all(all)
  const probe = outcome()
  expect(await outcome()).toBe(FULL)
  await clock.advance(10)
  expect(await probe).toBe(LATE)
  expect(state.calls).toBe(101)
  state.answer = Promise.resolve()
  expect([await outcome(), await outcome(), await outcome()]).toEqual(['done', 'done', 'done'])
  expect(state.calls).toBe(104)
})

test('calls that were given up and then answered make room, and what they fail with is nobody’s', async () => {
  const { clock, state, outcome } = scene()
  const gate = new EventEmitter()
  state.answer = once(gate, 'open').then(() => undefined)
  const all = Array.from({ length: 100 }, async () => await outcome())
  await clock.advance(10)
  await Promise.all(all)
  gate.emit('error', new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))
  state.answer = Promise.resolve()
  expect([await outcome(), await outcome()]).toEqual(['done', 'done'])
})

test('a call that throws at once leaves nothing under way, and no timer', async () => {
  const timers = new Set<object>()
  const clock = manualClock()
  const call = createStoreCalls({
    clock: {
      ...clock,
      after() {
        const timer = {}
        timers.add(timer)
        return () => void timers.delete(timer)
      },
    },
    timeout: 10,
  })
  for (let count = 0; count < 200; count++) {
    await expect(
      call(() => {
        throw new Error('at once')
      }),
    ).rejects.toThrow('at once')
  }
  expect(timers.size).toBe(0)
})
