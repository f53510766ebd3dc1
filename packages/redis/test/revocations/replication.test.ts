import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createReplication } from '../../src/revocations/replication.ts'
import { openConnection } from '../../src/store/connection.ts'
import { following, ISS } from './processes.ts'

/** Replies to `WAIT` that come when the test gives them. */
function scene() {
  const asked: ((reply: unknown) => void)[] = []
  const commands: (readonly string[])[] = []
  const connection = openConnection(
    () => ({
      async send(command) {
        commands.push(command)
        const reply = await new Promise((resolve) => asked.push(resolve))
        if (reply instanceof Error) throw reply
        return reply
      },
      destroy: () => undefined,
    }),
    manualClock(),
  )
  return { asked, commands, connection }
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

test('who appends while others wait is asked for afterwards, once for all', async () => {
  const { asked, commands, connection } = scene()
  const replicated = createReplication(connection, 1)
  const ended: string[] = []
  const wait = (name: string) => {
    void replicated().then(() => ended.push(name))
  }
  wait('a')
  await turns()
  for (const name of ['b', 'c']) wait(name)
  await turns()
  expect(commands).toEqual([['WAIT', '1', '2000']])
  asked[0]?.(1)
  await turns()
  expect(ended).toEqual(['a'])
  expect(commands).toHaveLength(2)
  wait('d')
  asked[1]?.(2)
  await turns()
  expect(ended).toEqual(['a', 'b', 'c'])
  asked[2]?.(1)
  await turns()
  expect(ended).toEqual(['a', 'b', 'c', 'd'])
})

test.each([
  ['too few replicas', 1, 'unreplicated'],
  ['a connection that breaks', new Error('Socket closed unexpectedly'), 'unreplicated'],
  ['a right that is missing', new Error('NOPERM no permissions'), 'refused'],
  ['another answer', 'OK', 'unsupported'],
])('%s: it rejects, and whoever waits for the next one is asked for', async (_, reply, reason) => {
  const { asked, connection } = scene()
  const replicated = createReplication(connection, 2)
  const first = replicated()
  await turns()
  const second = replicated()
  asked[0]?.(reply)
  await expect(first).rejects.toMatchObject({ reason })
  await turns()
  asked[1]?.(2)
  await second
})

test('by default nobody is waited for', async () => {
  const { replica, store } = await following()
  store.replicas = 0
  await replica.revoke({ iss: ISS, jti: 'a' })
  expect(store.commands).not.toContain('WAIT')
})

test('stated: a revocation that no replica has is recorded, refused here and elsewhere, and rejects; again it may be had', async () => {
  const { start, store, clock } = await following()
  const writer = start({ acknowledge: { replicas: 1 } })
  await writer.ready()
  store.replicas = 0
  const revoking = writer.revoke({ iss: ISS, jti: 'a' })
  await expect(revoking).rejects.toMatchObject({ reason: 'unreplicated' })
  await expect(revoking).rejects.toThrow('it was recorded, and a fail-over may lose it')
  expect(writer.statusOf({ iss: ISS, jti: 'a' }, 1)).toBe('revoked')
  const other = start()
  await clock.advance(1)
  expect(other.statusOf({ iss: ISS, jti: 'a' }, 1)).toBe('revoked')
  store.replicas = 2
  await writer.revoke({ iss: ISS, jti: 'a' })
})
