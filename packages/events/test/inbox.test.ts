import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createInbox } from '../src/inbox.ts'
import { clock, createStore, NEVER } from './scene.ts'

function inboxWith(store: ReturnType<typeof createStore>, time = clock) {
  return createInbox({
    prove: async (token) => ({ claims: { jti: token }, refused: undefined, failure: undefined }),
    read: ({ jti }) => ({
      err: undefined,
      iss: 'i',
      jti: String(jti),
      types: [],
      unreadable: [],
      revokes: [{ type: 'issued_before', iss: 'i', sub: String(jti), time: 1 }],
    }),
    revocations: store.revocations,
    limits: { clock: time, timeout: 10 },
    onEvent: undefined,
    reportedAs: () => store,
  })
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
  const inbox = createInbox({
    prove: async () => await Promise.reject(fault),
    read() {
      throw new Error('not reached')
    },
    revocations,
    limits: { clock, timeout: 10 },
    onEvent: undefined,
    reportedAs: () => store,
  })
  expect(await inbox.take('t')).toEqual({ outcome: 'unavailable', error: fault, failed: 'keys' })
  expect(store.calls).toBe(0)
})

test('who waits for the call of a repeat is given up with it, and each later repeat is a call of its own', async () => {
  const store = createStore()
  const time = manualClock()
  const inbox = inboxWith(store, time)
  store.pause = NEVER
  const both = [inbox.take('j'), inbox.take('j')]
  while (store.calls === 0) await new Promise((resolve) => setImmediate(resolve))
  await time.advance(10)
  const late = { outcome: 'unavailable', failed: 'store' }
  expect(await Promise.all(both)).toMatchObject([late, late])
  expect(store.calls).toBe(1)
  store.pause = undefined
  expect(await inbox.take('j')).toEqual({ outcome: 'accepted', isRecorded: true })
  expect(await inbox.take('j')).toEqual({ outcome: 'accepted', isRecorded: false })
  expect(store.calls).toBe(2)
})
