import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import type { Connect, Transport } from '../../src/store/connection.ts'
import type { Primary } from '../../src/store/sentinel-answers.ts'
import { sentinelTransport } from '../../src/store/sentinel-transport.ts'

// Sequences of events between a process, three sentinels and two servers, with neither.

const INTERVAL = 2.5
const PATIENCE = 1
const LONGEST_SILENCE = 10
const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

const failureOf = async (answer: Promise<unknown>) => await answer.catch((error: unknown) => error)

/** What a sentinel does: it answers with that primary, hangs, is away, or knows no such name. */
type Sentinel = Primary | 'hangs' | 'away' | 'unnamed'

const A: Primary = { host: '10.0.0.1', port: 6379, epoch: 1 }
const B: Primary = { host: '10.0.0.2', port: 6379, epoch: 2 }

interface Listening {
  readonly at: number
  readonly onMessage: (message: string) => void
  readonly onEnd: () => void
  isOpen: boolean
}

function scene(...sentinels: Sentinel[]) {
  const clock = manualClock()
  const opened: { readonly primary: Primary; isOpen: boolean }[] = []
  const questions: boolean[] = []
  const listening: Listening[] = []
  const connects = sentinels.map((_, at): Connect => () => {
    const place = questions.push(true) - 1
    return {
      async send(command) {
        expect(command).toEqual(['SENTINEL', 'MASTER', 'main'])
        const how = sentinels[at]
        if (how === 'hangs') return await new Promise(() => undefined)
        if (how === 'away') throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
        if (how === 'unnamed') throw new Error('ERR No such master with that name')
        const reply = { ip: how?.host, port: String(how?.port), 'config-epoch': String(how?.epoch) }
        return Object.entries(reply).flat()
      },
      destroy() {
        questions[place] = false
      },
    }
  })
  const connect = sentinelTransport({
    name: 'main',
    sentinels: connects,
    clock,
    interval: INTERVAL,
    patience: PATIENCE,
    longestSilence: LONGEST_SILENCE,
    subscriptions: sentinels.map((_, at) => (onMessage, onEnd) => {
      const one = { at, onMessage, onEnd, isOpen: true }
      listening.push(one)
      return () => {
        one.isOpen = false
      }
    }),
    open(primary): Transport {
      const own = { primary, isOpen: true }
      const waiting: ((error: Error) => void)[] = []
      opened.push(own)
      return {
        send: async (command) =>
          await new Promise((resolve, reject) => {
            if (command[0] === 'WAIT') waiting.push(reject)
            else if (own.isOpen) resolve(primary.host)
            else reject(new Error('closed'))
          }),
        destroy() {
          own.isOpen = false
          for (const reject of waiting) reject(new Error('destroyed'))
        },
      }
    },
  })
  const asking = () => questions.filter(Boolean).length
  const heard = () => listening.filter(({ isOpen }) => isOpen)
  return {
    clock,
    opened,
    sentinels,
    connect,
    asking,
    heard,
    listening,
    asked: () => questions.length,
  }
}

test('commands go to the primary that the sentinels name, and no connection to a sentinel stays', async () => {
  const { connect, opened, asking } = scene(A, A, A)
  const transport = connect()
  expect(asking()).toBe(3)
  expect(await transport.send(['PING'])).toBe(A.host)
  expect(opened).toEqual([{ primary: A, isOpen: true }])
  expect(asking()).toBe(0)
})

test('a sentinel that has not heard of the fail-over yet is outvoted by one that has', async () => {
  expect(await scene(A, B, A).connect().send(['PING'])).toBe(B.host)
})

test('one sentinel hangs: nobody waits for it', async () => {
  const { connect, asking } = scene('hangs', A, A)
  expect(await connect().send(['PING'])).toBe(A.host)
  expect(asking()).toBe(0)
})

test('two sentinels hang: the third is believed after a moment', async () => {
  const { connect, clock, asking } = scene('hangs', A, 'hangs')
  const answer = connect().send(['PING'])
  await clock.advance(PATIENCE)
  expect(await answer).toBe(A.host)
  expect(asking()).toBe(0)
})

test('two sentinels are away: the third is believed at once', async () => {
  expect(await scene('away', A, 'away').connect().send(['PING'])).toBe(A.host)
})

test.each([
  ['all are away', ['away', 'away', 'away'], { reason: 'unreachable', detail: 'ECONNREFUSED' }],
  [
    'none knows the name',
    ['unnamed', 'unnamed', 'unnamed'],
    { reason: 'refused', detail: 'no sentinel knows a primary of that name' },
  ],
  ['all hang', ['hangs', 'hangs', 'hangs'], { reason: 'timeout', detail: 'no sentinel answered' }],
] as const)('%s: commands fail, and nothing is opened', async (_title, sentinels, failure) => {
  const { connect, clock, opened, asking } = scene(...sentinels)
  const answer = failureOf(connect().send(['PING']))
  await clock.advance(PATIENCE)
  expect(await answer).toMatchObject(failure)
  expect(opened).toEqual([])
  expect(asking()).toBe(0)
})

test('given up while the sentinels are asked: nothing is opened afterwards', async () => {
  const { connect, clock, opened, asking } = scene('hangs', 'hangs', A)
  const transport = connect()
  const answer = failureOf(transport.send(['PING']))
  transport.destroy()
  expect(await answer).toMatchObject({ reason: 'closed' })
  expect(asking()).toBe(0)
  await clock.advance(60)
  expect(opened).toEqual([])
})

test('all are away, and nobody has sent anything: whoever sends later is told', async () => {
  const { connect, clock } = scene('away', 'away', 'away')
  const transport = connect()
  // A rejection that nobody handles would end the process.
  await clock.advance(PATIENCE)
  await expect(transport.send(['PING'])).rejects.toMatchObject({ reason: 'unreachable' })
})

test('given up just after they have answered: what was opened is closed', async () => {
  const { connect, opened, clock, asked } = scene(A, A, A)
  const transport = connect()
  await turns()
  transport.destroy()
  await clock.advance(60)
  expect(opened.filter(({ isOpen }) => isOpen)).toEqual([])
  expect(asked()).toBe(3)
})

test('the primary is cut off and another promoted: the connection ends at the next question, also for those who wait', async () => {
  const { connect, clock, sentinels, opened } = scene(A, A, A)
  const transport = connect()
  await transport.send(['PING'])
  const waiting = failureOf(transport.send(['WAIT']))
  sentinels.splice(0, 3, A, B, B)
  await clock.advance(INTERVAL)
  const detail = 'the sentinels name another primary'
  expect(await waiting).toMatchObject({ reason: 'unreachable', detail })
  expect(opened).toEqual([{ primary: A, isOpen: false }])
  await expect(transport.send(['PING'])).rejects.toMatchObject({ reason: 'unreachable' })
  // Whoever goes on opens another one.
  expect(await connect().send(['PING'])).toBe(B.host)
  transport.destroy()
  await expect(transport.send(['PING'])).rejects.toMatchObject({ reason: 'unreachable', detail })
})

test('sentinels that are late with the news, or away, end no connection, and are asked again', async () => {
  const { connect, clock, sentinels, opened, asked } = scene(B, B, B)
  await connect().send(['PING'])
  for (const answers of [['away'], ['hangs'], [A]] as Sentinel[][]) {
    sentinels.splice(0, 3, ...answers.flatMap((each) => [each, each, each]))
    await clock.advance(INTERVAL + PATIENCE)
  }
  expect(opened).toEqual([{ primary: B, isOpen: true }])
  expect(asked()).toBeGreaterThanOrEqual(3 + 3 * 3)
})

test('a connection that is closed asks no more', async () => {
  const { connect, clock, asked } = scene(A, A, A)
  const transport = connect()
  await transport.send(['PING'])
  transport.destroy()
  await clock.advance(60)
  expect(asked()).toBe(3)
})

test('closed while a question is under way: nobody waits for the answer', async () => {
  const { connect, clock, sentinels, asking, asked } = scene(A, A, A)
  const transport = connect()
  await transport.send(['PING'])
  sentinels.splice(0, 3, 'hangs', 'hangs', 'hangs')
  await clock.advance(INTERVAL)
  expect(asking()).toBe(3)
  transport.destroy()
  expect(asking()).toBe(0)
  await clock.advance(60)
  expect(asked()).toBe(6)
})

test('a sentinel tells of a fail-over: all are asked at once, not at the next question', async () => {
  const { connect, clock, sentinels, heard, asked } = scene(A, A, A)
  const transport = connect()
  await transport.send(['PING'])
  expect(heard().map(({ at }) => at)).toEqual([0, 1, 2])
  sentinels.splice(0, 3, A, B, B)
  await clock.advance(0.1)
  heard()[1]?.onMessage(`other ${A.host} 6379 ${B.host} 6379`)
  await turns()
  expect(asked()).toBe(3)
  heard()[1]?.onMessage(`main ${A.host} 6379 ${B.host} 6379`)
  await turns()
  expect(asked()).toBe(6)
  await expect(transport.send(['PING'])).rejects.toMatchObject({
    detail: 'the sentinels name another primary',
  })
  expect(heard()).toEqual([])
})

test('several sentinels tell of one fail-over: they are asked once, and what one says before it is so ends nothing', async () => {
  const { connect, heard, asked, opened } = scene(A, A, A)
  await connect().send(['PING'])
  for (const { onMessage } of heard()) onMessage(`main ${A.host} 6379 ${B.host} 6379`)
  await turns()
  expect(asked()).toBe(6)
  expect(opened).toEqual([{ primary: A, isOpen: true }])
})

test('a subscription that has ended is made again with the next question', async () => {
  const { connect, clock, heard, listening } = scene(A, A, A)
  await connect().send(['PING'])
  const [, second] = listening
  second?.onEnd()
  await clock.advance(INTERVAL)
  await turns()
  expect(listening).toHaveLength(4)
  expect(heard().map(({ at }) => at)).toEqual([0, 1, 2, 1])
})

test('no sentinel has answered for the longest silence: the connection ends, and none is made until one answers', async () => {
  const { connect, clock, sentinels, opened } = scene(A, A, A)
  const transport = connect()
  await transport.send(['PING'])
  const since = clock.monotonic()
  expect(transport.confirmedAt?.()?.monotonic).toBe(since)
  sentinels.splice(0, 3, 'away', 'away', 'away')
  await clock.advance(LONGEST_SILENCE)
  expect(await transport.send(['PING'])).toBe(A.host)
  expect(transport.confirmedAt?.()?.monotonic).toBe(since)
  await clock.advance(0.01)
  const silent = { reason: 'unreachable', detail: 'no sentinel has answered for too long' }
  await expect(transport.send(['PING'])).rejects.toMatchObject(silent)
  expect(opened).toEqual([{ primary: A, isOpen: false }])
  await expect(connect().send(['PING'])).rejects.toMatchObject({ reason: 'unreachable' })
  sentinels.splice(0, 1, A)
  expect(await connect().send(['PING'])).toBe(A.host)
})

test('one of the sentinels answers now and then: the connection stays, and is known to be to the primary since it was asked', async () => {
  const { connect, clock, sentinels, opened } = scene(A, A, A)
  const transport = connect()
  await transport.send(['PING'])
  for (const answers of [
    ['away', 'hangs', 'away'],
    ['away', 'hangs', A],
    ['hangs', 'away', 'away'],
  ]) {
    sentinels.splice(0, 3, ...(answers as Sentinel[]))
    await clock.advance(INTERVAL + PATIENCE)
  }
  await clock.advance(2)
  expect(opened).toEqual([{ primary: A, isOpen: true }])
  expect(clock.monotonic() - (transport.confirmedAt?.()?.monotonic ?? 0)).toBeGreaterThan(2)
})
