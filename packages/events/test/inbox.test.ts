import { expect, test } from 'vitest'

import { createInbox } from '../src/inbox.ts'
import { createStore } from './scene.ts'

function inboxWith(store: ReturnType<typeof createStore>) {
  return createInbox(
    async (token) => ({ claims: { jti: token }, refused: undefined, failure: undefined }),
    ({ jti }) => ({
      err: undefined,
      iss: 'i',
      jti: String(jti),
      types: [],
      unreadable: [],
      revokes: [{ type: 'issued_before', iss: 'i', sub: String(jti), time: 1 }],
    }),
    store.revocations,
    undefined,
    () => store,
  )
}

test('10,000 events are remembered and no more: an older one is recorded once more', async () => {
  const store = createStore()
  const inbox = inboxWith(store)
  for (let count = 0; count < 10_000; count++) await inbox.take(`j-${count}`)
  await inbox.take('j-0')
  expect(store.calls).toBe(10_000)
  await inbox.take('one more')
  await inbox.take('j-0')
  expect(store.calls).toBe(10_002)
  expect(store.entries()).toHaveLength(10_001)
})

test('what fails before it is read is not acknowledged', async () => {
  const { revocations, ...store } = createStore()
  const fault = new Error('of the clock')
  const inbox = createInbox(
    async () => await Promise.reject(fault),
    () => {
      throw new Error('not reached')
    },
    revocations,
    undefined,
    () => store,
  )
  expect(await inbox.take('t')).toEqual({ outcome: 'unavailable', error: fault })
  expect(store.calls).toBe(0)
})
