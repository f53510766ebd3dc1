import { setImmediate as turn } from 'node:timers/promises'

import { backgroundClock } from '@portcullis/kit/time'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { MOST_WAITING, openConnection } from '../../src/store/connection.ts'

/** Seconds. */
const DEADLINE = 0.05

/** Keeps the event loop busy for longer than an answer may take. */
function work(): void {
  const end = performance.now() + DEADLINE * 1000 + 10
  while (performance.now() < end);
}

test('an answer that comes while the process is busy is read, and not taken for missing', async () => {
  const transport = {
    // Connected in one turn of the event loop, and answered in the next ones, as by a socket.
    async send() {
      for (let turns = 0; turns < 4; turns += 1) {
        await turn()
        work()
      }
      return 'OK'
    },
    destroy: () => undefined,
  }
  const connection = openConnection(() => transport, backgroundClock)
  expect(await connection.ask(['PING'], DEADLINE)).toBe('OK')
})

test('an answer that does not come is missed, also by a process that is busy all the time', async () => {
  const transport = {
    send: async () => await new Promise(() => undefined),
    destroy: () => undefined,
  }
  const connection = openConnection(() => transport, backgroundClock)
  let isMissed = false
  const missed = connection.ask(['PING'], DEADLINE).catch(() => {
    isMissed = true
  })
  for (let turns = 0; turns < 20; turns += 1) {
    work()
    await turn()
  }
  await missed
  expect(isMissed).toBe(true)
})

test('too many wait for answers already: the next one is refused before it is sent, and takes nobody else with it', async () => {
  const answers: (() => void)[] = []
  const transport = {
    send: async () =>
      await new Promise((resolve) => {
        answers.push(() => {
          resolve('OK')
        })
      }),
    destroy: () => undefined,
  }
  const connection = openConnection(() => transport, backgroundClock)
  const asked = Array.from({ length: MOST_WAITING }, async () => await connection.ask(['PING'], 60))
  await expect(connection.ask(['PING'], 60)).rejects.toMatchObject({ reason: 'busy' })
  expect(answers).toHaveLength(MOST_WAITING)
  for (const answer of answers) answer()
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['OK']))
  const next = connection.ask(['PING'], 60)
  answers.at(-1)?.()
  expect(await next).toBe('OK')
})

test('what has ended stays so: the first reason is told, and nothing is sent any more', async () => {
  let sent = 0
  let destroyed = 0
  const transport = {
    async send() {
      sent += 1
      return await new Promise(() => undefined)
    },
    destroy: () => void (destroyed += 1),
  }
  const connection = openConnection(() => transport, backgroundClock)
  await expect(connection.ask(['PING'], DEADLINE)).rejects.toMatchObject({ reason: 'timeout' })
  connection.close()
  await expect(connection.ask(['PING'], DEADLINE)).rejects.toMatchObject({ reason: 'timeout' })
  expect([sent, destroyed]).toEqual([1, 1])
})

test('a connection that is closed, or could not begin, says so to whoever asks', async () => {
  const closed = openConnection(
    () => ({ send: async () => await new Promise(() => undefined), destroy: () => undefined }),
    backgroundClock,
  )
  const asked = closed.ask(['PING'], 60)
  closed.close()
  await expect(asked).rejects.toMatchObject({ reason: 'closed' })
  const failed = openConnection(() => {
    throw Object.assign(new Error('no'), { code: 'EMFILE' })
  }, backgroundClock)
  await expect(failed.ask(['PING'], 60)).rejects.toMatchObject({
    reason: 'unreachable',
    detail: 'EMFILE',
  })
})

test('a command that the store refuses ends its own wait, and not the connection', async () => {
  const clock = manualClock()
  let destroyed = 0
  const transport = {
    async send([command]: readonly string[]) {
      if (command === 'PING') return 'PONG'
      throw new Error('ERR no such command')
    },
    destroy: () => void (destroyed += 1),
  }
  const connection = openConnection(() => transport, clock)
  await expect(connection.ask(['OTHER'], 1)).rejects.toMatchObject({ reason: 'refused' })
  await clock.advance(10)
  expect(await connection.ask(['PING'], 1)).toBe('PONG')
  expect(destroyed).toBe(0)
})
