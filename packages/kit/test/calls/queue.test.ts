import { describe, expect, test } from 'vitest'

import { createQueue } from '../../src/calls/queue.ts'

function filled(...names: readonly string[]) {
  const queue = createQueue<string>()
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

describe('those who wait', () => {
  test('come newest first', () => {
    expect(filled('a', 'b', 'c').rest()).toEqual(['c', 'b', 'a'])
  })

  test.each<[string, readonly string[]]>([
    ['a', ['a', 'c', 'b']],
    ['b', ['b', 'c', 'a']],
    ['c', ['c', 'b', 'a']],
    ['unknown', ['c', 'b', 'a']],
  ])('after a repeat of %s: %s', (name, names) => {
    const { queue, rest } = filled('a', 'b', 'c')
    queue.repeat(name)
    expect(rest()).toEqual(names)
  })

  test.each(['a', 'b', 'c', 'unknown'])('leave when their callers do: %s', (name) => {
    const { queue, rest } = filled('a', 'b', 'c')
    queue.delete(name)
    expect(queue.get(name)).toBeUndefined()
    expect(rest()).toEqual(['c', 'b', 'a'].filter((each) => each !== name))
    queue.add('d', 'd')
    expect([queue.get('d'), queue.next()]).toEqual(['d', 'd'])
    expect(rest()).toEqual(['d'])
  })
})
