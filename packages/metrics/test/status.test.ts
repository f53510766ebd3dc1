import { expect, expectTypeOf, test } from 'vitest'

import type { MeasuredKeys, Sources } from '../src/sources.ts'
import { statusOf } from '../src/status.ts'
import { replica, setUp } from './scene.ts'

test('the status of each source that has one, by its kind and name, as JSON', async () => {
  const { keys, sources } = await setUp()
  const statuses = statusOf(sources)
  expect(statuses).toEqual({
    keys: { main: keys.status() },
    revocations: { redis: replica.status() },
    polls: { hub: { state: 'failing', failures: 2 } },
    clients: { orders: { isLoggingIn: false } },
  })
  // Its types are those of the sources.
  const { freshness } = statuses.keys.main
  expect(freshness).toBe('empty')
  expect(JSON.parse(JSON.stringify(statuses))).toMatchObject({ polls: { hub: { failures: 2 } } })
})

test('nothing of nothing; a name that is no name is a TypeError', () => {
  expect(statusOf({})).toEqual({})
  expect(() => statusOf({ clients: { 'a b': replica } })).toThrow(TypeError)
})

test('sources that may lack a kind: its statuses may be undefined, and those of a name are those of its source', () => {
  const sources: Sources = {}
  const { keys } = statusOf(sources)
  expect(keys).toBe(undefined)
  expectTypeOf(keys).toEqualTypeOf<
    Readonly<Record<string, ReturnType<MeasuredKeys['status']>>> | undefined
  >()
})
