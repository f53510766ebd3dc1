import { describe, expect, test } from 'vitest'

import { createQueue, type Order } from '../src/queue.ts'

function filled(order: Order, ...names: readonly string[]) {
  const queue = createQueue<string>(order)
  for (const name of names) queue.add(name, name)
  return {
    queue,
    /** All that are left, in the order in which they come. */
    rest: () => {
      const found: string[] = []
      for (let next = queue.next(); next !== undefined; next = queue.next()) {
        found.push(next)
        queue.delete(next)
      }
      return found
    },
  }
}

describe('tokens that wait', () => {
  test('come oldest first, or newest first', () => {
    expect(filled('oldest', 'a', 'b', 'c').rest()).toEqual(['a', 'b', 'c'])
    expect(filled('newest', 'a', 'b', 'c').rest()).toEqual(['c', 'b', 'a'])
  })

  test.each<[Order, string, readonly string[]]>([
    ['newest', 'a', ['a', 'c', 'b']],
    ['newest', 'b', ['b', 'c', 'a']],
    ['newest', 'c', ['c', 'b', 'a']],
    ['newest', 'unknown', ['c', 'b', 'a']],
    ['oldest', 'b', ['a', 'b', 'c']],
  ])('%s first, after a repeat of %s', (order, name, names) => {
    const { queue, rest } = filled(order, 'a', 'b', 'c')
    queue.repeat(name)
    expect(rest()).toEqual(names)
  })

  test.each(['a', 'b', 'c', 'unknown'])('leave when their callers do: %s', (name) => {
    const { queue, rest } = filled('newest', 'a', 'b', 'c')
    queue.delete(name)
    expect(queue.get(name)).toBeUndefined()
    expect(rest()).toEqual(['c', 'b', 'a'].filter((each) => each !== name))
    queue.add('d', 'd')
    expect([queue.get('d'), queue.next()]).toEqual(['d', 'd'])
    expect(rest()).toEqual(['d'])
  })
})
