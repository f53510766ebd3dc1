import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { AuthError } from '@portcullis/core'
import { expect, test } from 'vitest'

import { publishEvent } from '../src/diagnostics.ts'
import { createInbox } from '../src/inbox.ts'
import { invalidEvent } from '../src/refused-event.ts'
import { clock, createStore, eventScene, logoutScene, transmitter } from './scene.ts'

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
  const inbox = createInbox({
    prove: async (token) =>
      token === 'forged'
        ? { claims: undefined, refused: invalidEvent('canary'), failure: undefined }
        : { claims: { jti: token }, refused: undefined, failure: undefined },
    read: () => ({ err: undefined, iss: 'i', jti: 'j', types: ['t'], unreadable: [], revokes: [] }),
    revocations: store.revocations,
    limits: { clock, timeout: 10 },
    onEvent: undefined,
    reportedAs: () => source,
  })
  const reports = await reportsOf(async () => {
    await inbox.take('one')
    await inbox.take('forged')
  })
  expect(reports).toEqual([
    { source, outcome: 'ignored', error: undefined },
    { source, outcome: 'refused', error: 'invalid_request' },
  ])
})

test('a request in which no event is found, and a sender who may not send, are reported as well', async () => {
  const { receiver, told } = eventScene({ authorize: 'Bearer 0123456789abcdef' })
  const error = new AuthError('keys_unavailable', 'timeout')
  const unsure = eventScene({
    authorize: { verify: async () => await Promise.reject(error), ready: async () => undefined },
  })
  const logout = logoutScene()
  const authorization = 'Bearer 0123456789abcdef'
  const reports = await reportsOf(async () => {
    await logout.receiver.answer({ headers: {}, body: 'x' })
    await receiver.answer({ headers: { authorization }, body: 'x' })
    await receiver.answer({ headers: {}, body: 'x' })
    await unsure.receiver.answer({ headers: { authorization }, body: 'x' })
  })
  expect(reports).toEqual([
    { source: logout.receiver, outcome: 'refused', error: 'invalid_request' },
    { source: receiver, outcome: 'refused', error: 'invalid_request' },
    { source: receiver, outcome: 'refused', error: 'authentication_failed' },
    { source: unsure.receiver, outcome: 'unavailable', error: undefined },
  ])
  expect([told.length, unsure.told.length]).toEqual([1, 0])
})

test.each([
  ['as it should be', {}],
  ['where a type is only recommended', { type: null }],
] as const)('no event counts as the token of a request, %s', async (_, options) => {
  const verdicts: unknown[] = []
  const listen = (message: unknown) => verdicts.push(message)
  subscribe('portcullis:verify', listen)
  const { send } = logoutScene(options)
  expect(await send(await transmitter.logoutToken({ sid: 's-1' }))).toMatchObject({ status: 200 })
  expect(await send('a.b.c')).toMatchObject({ status: 400 })
  unsubscribe('portcullis:verify', listen)
  expect(verdicts).toEqual([])
})

const unknown = () => {
  throw new Error('asked')
}

test('without a subscriber nobody asks for the source', () => {
  expect(() => {
    publishEvent(unknown, 'recorded', undefined)
  }).not.toThrow()
})
