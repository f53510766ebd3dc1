import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { expect, test } from 'vitest'

import { publishEvent } from '../src/diagnostics.ts'
import { createInbox } from '../src/inbox.ts'
import { invalidEvent } from '../src/refused-event.ts'
import { createStore } from './scene.ts'

async function reportsOf(act: () => unknown): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  const listen = (message: unknown) => seen.push(message)
  subscribe('portcullis:events', listen)
  await act()
  unsubscribe('portcullis:events', listen)
  return seen
}

test('the channel says of which source an event came, and what became of it; nothing of the event', async () => {
  const store = createStore()
  const source = {}
  const inbox = createInbox(
    async (token) =>
      token === 'forged'
        ? { claims: undefined, refused: invalidEvent('canary'), failure: undefined }
        : { claims: { jti: token }, refused: undefined, failure: undefined },
    () => ({ err: undefined, iss: 'i', jti: 'j', types: ['t'], revokes: [] }),
    store.revocations,
    undefined,
    () => source,
  )
  const reports = await reportsOf(async () => {
    await inbox.take('one')
    await inbox.take('forged')
  })
  expect(reports).toEqual([
    { source, outcome: 'ignored', error: undefined },
    { source, outcome: 'refused', error: 'invalid_request' },
  ])
})

const unknown = () => {
  throw new Error('asked')
}

test('without a subscriber nobody asks for the source', () => {
  expect(() => {
    publishEvent(unknown, 'recorded', undefined)
  }).not.toThrow()
})
