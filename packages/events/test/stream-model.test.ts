import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../../test/model-runs.ts'
import { type EventStream, openStream } from '../src/index.ts'
import { modelScene } from './model-scene.ts'
import { AUDIENCE, createStore, ISSUER, NEVER } from './scene.ts'
import { OTHER, oursAt } from './stream-processes.ts'
import { CHANGED, DESCRIPTION, REVOKED } from './stream-scene.ts'
import { POLL, streamTransmitter } from './stream-transmitter.ts'

// Processes that open one stream, with events that differ, whose requests and answers take their time or are lost, and which end at any
// moment: in the end there is one stream, and never was another's touched.

interface Way {
  /** Seconds until a request arrives, and until its answer does. */
  readonly there: number
  readonly back: number
  readonly isLost: 'no' | 'request' | 'answer'
}

const way: fc.Arbitrary<Way> = fc.record({
  there: fc.constantFrom(0, 0, 0.1, 1, 3, 15),
  back: fc.constantFrom(0, 0, 0.1, 1, 3, 15),
  isLost: fc.constantFrom('no', 'no', 'no', 'no', 'no', 'no', 'request', 'answer'),
})

type Deed =
  | { readonly deed: 'start'; readonly events: readonly string[] }
  | { readonly deed: 'crash' | 'close' | 'end'; readonly which: number }
  | { readonly deed: 'wait'; readonly seconds: number }

const start = fc.record({
  deed: fc.constant('start' as const),
  events: fc.constantFrom([REVOKED], [REVOKED, CHANGED]),
})
const deed: fc.Arbitrary<Deed> = fc.oneof(
  start,
  start,
  fc.record({ deed: fc.constantFrom('crash' as const, 'close' as const), which: fc.nat(9) }),
  // By its administrator, at the transmitter.
  fc.record({ deed: fc.constant('end' as const), which: fc.nat(9) }),
  fc.record({
    deed: fc.constant('wait' as const),
    seconds: fc.constantFrom(0, 0.1, 1, 3, 31, 301),
  }),
)

test(
  'whatever happens between the requests of processes, one stream of theirs is left, and that of another is as it was',
  async () => {
    const { clock, keys, newTransmitter } = await modelScene()
    await fc.assert(
      fc.asyncProperty(
        fc.array(deed, { minLength: 2, maxLength: 14 }),
        fc.array(way, { maxLength: 60 }),
        fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 30 }),
        async (deeds, ways, letters) => {
          const ids = letters.map((letter, index) => `${letter}${index}`)
          const transmitter = streamTransmitter(newTransmitter, { ids })
          transmitter.put('another', OTHER)
          const before = JSON.stringify(transmitter.streams.get('another')?.configuration)
          const alive: { stream: EventStream; crash: () => void }[] = []
          let isOver = false

          const pass = async (seconds: number) => {
            if (seconds > 0) await new Promise<void>((resolve) => clock.after(seconds, resolve))
          }
          const open = (events: readonly string[]) => {
            let isGone = false
            const stream = openStream({
              transmitter: ISSUER,
              deliver: 'poll',
              events,
              description: DESCRIPTION,
              keys,
              audience: AUDIENCE,
              revocations: createStore().revocations,
              revokes: 'subject',
              clock,
              interval: 300,
              async fetch(url, init) {
                if (isGone) return await NEVER
                if (url.startsWith(`${POLL}/`)) {
                  const isThere = transmitter.streams.has(url.slice(`${POLL}/`.length))
                  return new Response('{}', { status: isThere ? 200 : 404 })
                }
                const { there, back, isLost } = (isOver ? undefined : ways.shift()) ?? AT_ONCE
                await pass(there)
                if (isLost === 'request' || isGone) throw new TypeError('fetch failed')
                const answer = await transmitter.fetch(url, init)
                await pass(back)
                if (isLost === 'answer') throw new TypeError('fetch failed')
                return isGone ? await NEVER : answer
              },
            })
            alive.push({ stream, crash: () => (isGone = true) })
          }
          const check = () => {
            const another = transmitter.streams.get('another')?.configuration
            expect(JSON.stringify(another)).toBe(before)
          }

          for (const each of deeds) {
            if (each.deed === 'start') open(each.events)
            else if (each.deed === 'wait') await clock.advance(each.seconds)
            else if (each.deed === 'end') {
              const ours = oursAt(transmitter)
              transmitter.streams.delete(ours[each.which % ours.length] ?? '')
            } else {
              const [process] = alive.splice(each.which % Math.max(alive.length, 1), 1)
              if (each.deed === 'crash') process?.crash()
              await process?.stream.close()
            }
            check()
          }
          open([REVOKED])
          isOver = true
          // The longest way of a request, the longest pause after failures, and two looks.
          await clock.advance(1000)
          check()
          const ours = oursAt(transmitter)
          expect(ours).toHaveLength(1)
          for (const { stream } of alive) {
            const poll = { state: 'current' }
            expect(stream.status()).toMatchObject({ state: 'open', streamId: ours[0], poll })
          }
          await Promise.all(alive.map(async ({ stream }) => await stream.close()))
        },
      ),
      modelRuns(400, 20_260_901),
    )
  },
  MODEL_LIMIT,
)

const AT_ONCE: Way = { there: 0, back: 0, isLost: 'no' }
