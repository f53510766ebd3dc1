import fc from 'fast-check'
import { expect, test } from 'vitest'

import { createMemory } from '../../src/oauth/memory.ts'

test('what does not fit alone is not kept', () => {
  const memory = createMemory<number>({ max: 10, bytes: 100 })
  memory.set('a', 1, 60)
  memory.set('b', 2, 101)
  expect([memory.get('a'), memory.get('b'), memory.size, memory.bytes]).toEqual([
    undefined,
    undefined,
    0,
    0,
  ])
})

test('what fits exactly is kept', () => {
  const memory = createMemory<number>({ max: 2, bytes: 100 })
  memory.set('a', 1, 60)
  memory.set('b', 2, 40)
  expect([memory.get('a'), memory.get('b'), memory.bytes]).toEqual([1, 2, 100])
})

test('an entry that is replaced counts once, and as just used', () => {
  const memory = createMemory<number>({ max: 2, bytes: 100 })
  memory.set('a', 1, 10)
  memory.set('b', 2, 10)
  memory.set('a', 3, 50)
  memory.set('c', 4, 10)
  expect([memory.get('a'), memory.get('b'), memory.get('c'), memory.bytes]).toEqual([
    3,
    undefined,
    4,
    60,
  ])
})

test('whatever is done, it is within its bounds, and its bytes are those of its entries', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const step = fc.oneof(
    fc.record({ set: key, bytes: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ get: key }),
    fc.record({ forget: key }),
    fc.record({ clear: fc.constant(true) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const memory = createMemory<number>({ max: 3, bytes: 100 })
      for (const each of steps) {
        if ('set' in each) memory.set(each.set, each.bytes, each.bytes)
        else if ('get' in each) memory.get(each.get)
        else if ('forget' in each) memory.forget(each.forget)
        else memory.clear()
        expect('clear' in each && memory.size > 0).toBe(false)
        const held = ['a', 'b', 'c', 'd', 'e'].map((name) => memory.get(name))
        const sizes = held.filter((size) => size !== undefined)
        expect(sizes.length).toBe(memory.size)
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(memory.bytes)
        expect(memory.size <= 3 && memory.bytes <= 100).toBe(true)
      }
    }),
  )
})
