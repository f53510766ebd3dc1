import { expect, test } from 'vitest'

import { createListeners } from '../src/report.ts'

test('the same function may subscribe twice, and each subscription ends by itself', () => {
  const listeners = createListeners()
  let calls = 0
  const listener = () => {
    calls += 1
  }
  const end = listeners.subscribe(listener)
  listeners.subscribe(listener)
  listeners.notify()
  expect(calls).toBe(2)
  end()
  end()
  listeners.notify()
  expect(calls).toBe(3)
})

test('a listener that subscribes another has it called from the next time on', () => {
  const listeners = createListeners()
  const calls: string[] = []
  const end = listeners.subscribe(() => {
    calls.push('first')
    listeners.subscribe(() => calls.push('second'))
    end()
  })
  listeners.notify()
  expect(calls).toEqual(['first'])
  listeners.notify()
  expect(calls).toEqual(['first', 'second'])
})

test('a listener that ends another has it called no more', () => {
  const listeners = createListeners()
  const calls: string[] = []
  listeners.subscribe(() => {
    calls.push('first')
    end()
  })
  const end = listeners.subscribe(() => calls.push('second'))
  listeners.notify()
  expect(calls).toEqual(['first'])
})

test('a listener may cause the next event', () => {
  const listeners = createListeners()
  let calls = 0
  listeners.subscribe(() => {
    calls += 1
    if (calls < 3) listeners.notify()
  })
  listeners.notify()
  expect(calls).toBe(3)
})

test('a fault that is no error is a warning as well', async () => {
  const listeners = createListeners()
  const warned = new Promise((resolve) => process.once('warning', resolve))
  listeners.subscribe(() => {
    // oxlint-disable-next-line typescript/only-throw-error -- applications do
    throw undefined
  })
  listeners.notify()
  expect(await warned).toMatchObject({ message: 'a listener failed' })
})
