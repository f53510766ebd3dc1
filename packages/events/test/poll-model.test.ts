import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../../test/model-runs.ts'
import { pollEvents } from '../src/index.ts'
import { eventOf, modelScene, user } from './model-scene.ts'
import { AUDIENCE, createStore, ISSUER, NEVER } from './scene.ts'

// Polls whose requests, answers, store and mapping fail and hang, in virtual time: each event is recorded and acknowledged in the end,
// but for those that fail by themselves.

const FAULT = fc.constantFrom<
  | 'fine'
  | 'ended connection'
  | 'lost'
  | 'unheard'
  | 'broken'
  | 'store'
  | 'hanging store'
  | 'hanging mapping'
  | 'silent'
>(
  'fine',
  'fine',
  'ended connection',
  'lost',
  'unheard',
  'broken',
  'store',
  'hanging store',
  'hanging mapping',
  'silent',
)

/** After another answer such a request is sent again. */
const UNANSWERED: ReadonlySet<string> = new Set(['ended connection', 'lost', 'unheard'])

test(
  'of what waits at a transmitter, all is recorded and acknowledged in the end, and what is forged is named',
  async () => {
    const { clock, issuerClock, newTransmitter, transmitter, forgery, keys } = await modelScene()
    await fc.assert(
      fc.asyncProperty(
        fc.array(FAULT, { maxLength: 12 }),
        fc.array(
          fc.tuple(user, fc.constantFrom('sound', 'sound', 'strange time', 'forged', 'poisoned')),
          { minLength: 1, maxLength: 8 },
        ),
        async (faults, events) => {
          issuerClock.set(clock.now())
          const source = newTransmitter()
          const store = createStore()
          let isMappingHanging = false
          let hasAnswered = false
          let lostAfter: number | undefined
          let unrepeated = 0
          const poll = pollEvents({
            endpoint: 'https://login.test/poll',
            async fetch(url, init) {
              const fault = faults.shift() ?? 'fine'
              store.isDown = fault === 'store'
              store.pause = fault === 'hanging store' ? NEVER : undefined
              isMappingHanging = fault === 'hanging mapping'
              // Nothing counts as a failure before it was sent again.
              const failures = hasAnswered ? poll.status().failures : undefined
              const isRepeated = lostAfter !== undefined
              if (isRepeated && lostAfter !== failures) unrepeated++
              lostAfter = UNANSWERED.has(fault) && !isRepeated ? failures : undefined
              if (fault === 'ended connection') throw new TypeError('fetch failed')
              if (fault === 'lost') throw new Error('not sent')
              if (fault === 'silent') return await new Promise(() => undefined)
              const answer = await source.pollFetch(url, init)
              if (fault === 'unheard') throw new Error('the answer is lost')
              hasAnswered = true
              return fault === 'broken' ? new Response('{"sets":{') : answer
            },
            keys,
            issuer: ISSUER,
            audience: AUDIENCE,
            revocations: store.revocations,
            revokes: 'subject',
            clock,
            async mapSubject({ format }) {
              if (format === 'poison') throw new Error('of the directory')
              return isMappingHanging ? await NEVER : undefined
            },
          })
          const forged: string[] = []
          const poisoned: string[] = []
          for (const [sub, kind] of events) {
            const usual = eventOf(sub, kind === 'strange time' ? { event_timestamp: 1.9e12 } : {})
            const event = kind === 'poisoned' ? { ...usual, subject: { format: 'poison' } } : usual
            const { jti } = event.claims
            if (kind === 'forged') forged.push(jti)
            if (kind === 'poisoned') poisoned.push(jti)
            const signer = kind === 'forged' ? forgery : transmitter
            source.publish(jti, await signer.securityEvent(event))
            await clock.advance(0.5)
          }
          while (source.waiting().length > poisoned.length) {
            await clock.advance(0.5)
          }
          const closed = poll.close()
          await clock.advance(30)
          await closed
          expect(unrepeated).toBe(0)
          expect(source.waiting()).toEqual(poisoned)
          expect([...source.errors().keys()].toSorted()).toEqual(forged.toSorted())
          expect(source.acknowledged()).toHaveLength(
            events.length - forged.length - poisoned.length,
          )
          const recorded = events.filter(([, kind]) => kind === 'sound' || kind === 'strange time')
          const whose = new Set(recorded.map(([sub]) => sub))
          expect(
            new Set(store.entries().flatMap((entry) => ('sub' in entry ? [entry.sub] : []))),
          ).toEqual(whose)
        },
      ),
      modelRuns(60, 20_261_122),
    )
  },
  MODEL_LIMIT,
)
