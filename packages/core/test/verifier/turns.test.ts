import { createTestIssuer, manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createVerifier, remoteKeys } from '../../src/index.ts'
import { timeReading } from '../../src/token/event-loop.ts'

// What a token meets that waits for the event loop before it is read.

/** Reading that takes longer than it may of one iteration, by a clock of its own. */
function readLong(): void {
  const times = [0, 0.006].values()
  timeReading({ monotonic: () => times.next().value ?? 1 }, () => undefined)
}

async function setUp() {
  const clock = manualClock()
  const [old, newer] = [await createTestIssuer({ clock }), await createTestIssuer({ clock })]
  let document: object = old.publicJwk
  const keys = remoteKeys('https://auth.test/keys', {
    clock,
    overlap: 10,
    fetch: async () => Response.json(document),
  })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  await verifier.ready()
  const token = await old.token({ expiresIn: 10_000 })
  document = newer.publicJwk
  await clock.advance(2)
  await keys.refresh()
  return { clock, token, verifier }
}

test('its key is asked for after the turn: one whose overlap has ended meanwhile proves nothing', async () => {
  const { clock, token, verifier } = await setUp()
  await clock.advance(9)
  readLong()
  const verdict = verifier.verify(token)
  // Before the event loop has turned.
  clock.set(clock.now() + 60)
  await expect(verdict).rejects.toMatchObject({ reason: 'signature' })
})

test('without such a wait it is accepted', async () => {
  const { clock, token, verifier } = await setUp()
  await clock.advance(9)
  expect(await verifier.verify(token)).toMatchObject({ token })
})

test('who has left meanwhile hears of it', async () => {
  const { token, verifier } = await setUp()
  readLong()
  const leaving = new AbortController()
  const verdict = verifier.verify(token, { signal: leaving.signal })
  leaving.abort(new Error('left'))
  await expect(verdict).rejects.toThrow('left')
})
