import fc from 'fast-check'
import { expect, test } from 'vitest'

import { pollEvents } from '../src/index.ts'
import { eventOf, LIMIT, modelScene, runs, user } from './model-scene.ts'
import { AUDIENCE, createStore, ISSUER } from './scene.ts'

// Polls whose requests, answers and store fail, in virtual time: each event is recorded and acknowledged in the end.

const FAULT = fc.constantFrom<'fine' | 'lost' | 'unheard' | 'broken' | 'store' | 'silent'>(
  'fine',
  'fine',
  'lost',
  'unheard',
  'broken',
  'store',
  'silent',
)

test(
  'of what waits at a transmitter, all is recorded and acknowledged in the end, and what is forged is named',
  async () => {
    const { clock, issuerClock, newTransmitter, transmitter, forgery, keys } = await modelScene()
    await fc.assert(
      fc.asyncProperty(
        fc.array(FAULT, { maxLength: 12 }),
        fc.array(fc.tuple(user, fc.boolean()), { minLength: 1, maxLength: 8 }),
        async (faults, events) => {
          issuerClock.set(clock.now())
          const source = newTransmitter()
          const store = createStore()
          const poll = pollEvents({
            endpoint: 'https://login.test/poll',
            async fetch(url, init) {
              const fault = faults.shift() ?? 'fine'
              store.isDown = fault === 'store'
              if (fault === 'lost') throw new Error('not sent')
              if (fault === 'silent') return await new Promise(() => undefined)
              const answer = await source.pollFetch(url, init)
              if (fault === 'unheard') throw new Error('the answer is lost')
              return fault === 'broken' ? new Response('{"sets":{') : answer
            },
            keys,
            issuer: ISSUER,
            audience: AUDIENCE,
            revocations: store.revocations,
            revokes: 'subject',
            clock,
          })
          const forged: string[] = []
          for (const [sub, isForged] of events) {
            const event = eventOf(sub)
            const { jti } = event.claims
            if (isForged) forged.push(jti)
            source.publish(jti, await (isForged ? forgery : transmitter).securityEvent(event))
            await clock.advance(0.5)
          }
          while (source.waiting().length > 0) {
            await clock.advance(0.5)
          }
          await poll.close()
          expect([...source.errors().keys()].toSorted()).toEqual(forged.toSorted())
          expect(source.acknowledged()).toHaveLength(events.length - forged.length)
          const whose = new Set(events.filter(([, isForged]) => !isForged).map(([sub]) => sub))
          expect(
            new Set(store.entries().flatMap((entry) => ('sub' in entry ? [entry.sub] : []))),
          ).toEqual(whose)
        },
      ),
      runs(60),
    )
  },
  LIMIT,
)
