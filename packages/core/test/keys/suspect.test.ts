import { channel } from 'node:diagnostics_channel'

import { expect, test, vi } from 'vitest'

import type { KeysMessage, RemoteKeysOptions } from '../../src/index.ts'
import type { KeyRing, Suspicion } from '../../src/keys/key-source.ts'
import { A, B, C, forged, oldToken, type World, world } from './world.ts'

// A key source that is asked directly, by a token whose proof a test decides.

type Source = World['keys']

function caller(keys: Source) {
  return { arrived: keys.now(), tokenSize: 100, signal: undefined }
}

async function ringOf(keys: Source): Promise<KeyRing> {
  return keys.current(keys.now()) ?? (await keys.wait(caller(keys)))
}

function suspicion(token: string, ring: KeyRing, provingKid?: string) {
  return {
    token,
    ring,
    couldBeAccepted: vi.fn<() => boolean>(() => true),
    findKey: vi.fn<Suspicion['findKey']>(async ({ keys }) =>
      keys.find(({ kid }) => kid === provingKid && kid !== undefined),
    ),
    wasIssuedAfter: vi.fn<Suspicion['wasIssuedAfter']>(() => false),
  }
}

/** Four tokens in four seconds that no key proves: none may ask for 9 to 11 s. */
async function flooded(options: RemoteKeysOptions = {}) {
  const { clock, endpoint, keys } = world(options)
  await keys.refresh()
  const ring = await ringOf(keys)
  for (let count = 0; count < 4; count++) {
    await clock.advance(1)
    await keys.suspect(suspicion(`forged ${count}`, ring), caller(keys))
  }
  const requests = endpoint.requests.length
  expect(requests).toBe(5)
  return { clock, endpoint, keys, ring, requests }
}

test('in a flood the answer is no, and the token is not even looked at', async () => {
  const { endpoint, keys, ring, requests } = await flooded()
  const asked = suspicion('one more', ring)
  expect(await keys.suspect(asked, caller(keys))).toMatchObject({
    why: 'paced',
    ring: { keys: ring.keys },
  })
  expect(asked.couldBeAccepted).not.toHaveBeenCalled()
  expect(endpoint.requests).toHaveLength(requests)
})

test('a key that came while the token was tried proves it, in a flood as well', async () => {
  const { clock, endpoint, keys, ring, requests } = await flooded()
  endpoint.document = B.publicJwk
  await clock.advance(2)
  await keys.refresh()
  const asked = suspicion('genuine', ring, B.publicJwk.kid)
  const answer = await keys.suspect(asked, caller(keys))
  expect(answer.key?.kid).toBe(B.publicJwk.kid)
  expect(endpoint.requests).toHaveLength(requests + 1)
})

test('in a flood, after a failure: unavailable until a suspicion may ask, without a request', async () => {
  const { clock, endpoint, keys, ring, requests } = await flooded()
  endpoint.mode = 'down'
  await clock.advance(1.5)
  await keys.refresh().catch(() => {})
  await clock.advance(1.5)
  const answer = keys.suspect(suspicion('one more', ring), caller(keys))
  await expect(answer).rejects.toMatchObject({
    code: 'keys_unavailable',
    headers: { 'Retry-After': expect.stringMatching(/^(?:[6789]|10)$/) as string },
  })
  expect(endpoint.requests).toHaveLength(requests + 1)
})

test('keys that have grown too old while the token was tried are those it was tried with', async () => {
  const { clock, endpoint, keys } = world()
  await keys.refresh()
  const ring = await ringOf(keys)
  await clock.advance(4000)
  endpoint.mode = 'down'
  const asked = suspicion('genuine', ring, B.publicJwk.kid)
  await expect(keys.suspect(asked, caller(keys))).rejects.toMatchObject({
    code: 'keys_unavailable',
  })
  expect(asked.findKey.mock.calls.map(([{ keys: tried }]) => tried)).toEqual([[]]) // the retired ones
})

test('in a flood, an older flight that helps nobody is the answer, and no last one', async () => {
  const { clock, endpoint, keys, ring, requests } = await flooded()
  await clock.advance(1.5)
  endpoint.mode = 'hanging'
  const refreshing = keys.refresh()
  await clock.advance(0.1)
  const answer = keys.suspect(suspicion('one more', ring), caller(keys))
  endpoint.release(A.publicJwk)
  await refreshing
  expect(await answer).toMatchObject({ why: 'paced' })
  expect(endpoint.requests).toHaveLength(requests + 1)
})

test.each(['before it asks', 'while it waits'])(
  'a key that comes %s, and leaves while the token is tried with it, proves nothing',
  async (moment) => {
    const { clock, endpoint, keys } = world()
    await keys.refresh()
    const ring = await ringOf(keys)
    endpoint.document = B.publicJwk
    await clock.advance(2)
    if (moment === 'before it asks') await keys.refresh()
    const asked = suspicion('genuine', ring, B.publicJwk.kid)
    let isFirst = true
    asked.findKey.mockImplementation(async ({ keys: [key] }) => {
      if (key?.kid !== B.publicJwk.kid || !isFirst) return key
      isFirst = false
      endpoint.document = C.publicJwk
      await clock.advance(2)
      await keys.refresh()
      return key
    })
    const answer = await keys.suspect(asked, caller(keys))
    expect(isFirst).toBe(false)
    expect(answer.key?.kid).not.toBe(B.publicJwk.kid)
  },
)

test('keys that have not changed are not tried again', async () => {
  const { clock, keys } = world()
  await keys.refresh()
  const asked = suspicion('forged', await ringOf(keys))
  await clock.advance(1)
  await keys.suspect(asked, caller(keys))
  expect(asked.findKey.mock.calls.map(([ring]) => ring.keys)).toEqual([[]]) // the retired ones
})

test('one token asks again after 4 s, then at intervals that double', async () => {
  const { clock, endpoint, keys } = world({ maxAge: 3600 })
  await keys.refresh()
  const ring = await ringOf(keys)
  for (const [pause, requests] of [
    [1, 2],
    [3.9, 2],
    [0.1, 3],
    [7.9, 3],
    [0.1, 4],
    [15.9, 4],
    [0.1, 5],
  ] as const) {
    await clock.advance(pause)
    await keys.suspect(suspicion('forged', ring), caller(keys))
    expect(endpoint.requests).toHaveLength(requests)
  }
})

test('several who present one token at the same time ask one question', async () => {
  const { clock, endpoint, keys } = world()
  await keys.refresh()
  const ring = await ringOf(keys)
  await clock.advance(1)
  const askers = Array.from({ length: 3 }, async () => {
    return await keys.suspect(suspicion('forged', ring), caller(keys))
  })
  for (const answer of await Promise.all(askers)) expect(answer).toMatchObject({ why: 'answered' })
  expect(endpoint.requests).toHaveLength(2)
  await clock.advance(4)
  await keys.suspect(suspicion('forged', ring), caller(keys))
  expect(endpoint.requests).toHaveLength(3)
})

test('a token that asks while the endpoint is down has had no answer: it may ask again at once', async () => {
  const { clock, endpoint, keys } = world()
  await keys.refresh()
  const ring = await ringOf(keys)
  endpoint.mode = 'down'
  await clock.advance(1)
  const asked = keys.suspect(suspicion('forged', ring), caller(keys))
  await expect(asked).rejects.toMatchObject({ code: 'keys_unavailable' })
  endpoint.mode = 'up'
  await clock.advance(2)
  expect(await keys.suspect(suspicion('forged', ring), caller(keys))).toMatchObject({
    why: 'answered',
  })
  expect(endpoint.requests).toHaveLength(3)
})

test('a rotation that helps no token is an answer to it', async () => {
  const { clock, endpoint, keys } = world()
  await keys.refresh()
  const ring = await ringOf(keys)
  endpoint.document = B.publicJwk
  for (const [pause, why] of [
    [1, 'answered'],
    [3.9, 'repeated'],
  ] as const) {
    await clock.advance(pause)
    const answer = await keys.suspect(suspicion('forged', ring), caller(keys))
    expect(answer).toMatchObject({ why, ring: { keys: [{ kid: B.publicJwk.kid }] } })
    expect(endpoint.requests).toHaveLength(2)
  }
})

test('when a token was issued is asked only if a key that left proves it, and told from when the key left', async () => {
  const { clock, endpoint, keys } = world()
  await keys.refresh()
  endpoint.document = B.publicJwk
  await clock.advance(10)
  const left = clock.now()
  await keys.refresh()
  const ring = await ringOf(keys)
  await clock.advance(10)
  const unknown = suspicion('forged', ring)
  await keys.suspect(unknown, caller(keys))
  expect(unknown.wasIssuedAfter).not.toHaveBeenCalled()
  expect(endpoint.requests).toHaveLength(3)
  const old = suspicion('old', ring, A.publicJwk.kid)
  expect(await keys.suspect(old, caller(keys))).toMatchObject({
    why: 'retired',
    ring: { keys: ring.keys },
  })
  expect(old.wasIssuedAfter.mock.calls).toEqual([[left]])
  expect(endpoint.requests).toHaveLength(3)
})

test('tokens of a retired key share one question', async () => {
  const { clock, endpoint, keys } = world()
  await keys.refresh()
  endpoint.document = B.publicJwk
  await clock.advance(10)
  await keys.refresh()
  const ring = await ringOf(keys)
  const ask = async (token: string) => {
    await keys.suspect(suspicion(token, ring, A.publicJwk.kid), caller(keys))
  }
  await clock.advance(15)
  await Promise.all([ask('one'), ask('two')])
  await clock.advance(1)
  await ask('three')
  expect(endpoint.requests).toEqual([0, 10, 25])
  await clock.advance(29)
  await ask('four')
  expect(endpoint.requests).toEqual([0, 10, 25, 55])
})

test('the suspicion that found a rotation costs nothing, and is given back once, however many it helped', async () => {
  const { clock, endpoint, keys } = world()
  await keys.refresh()
  const ring = await ringOf(keys)
  endpoint.document = B.publicJwk
  await clock.advance(1)
  const helped = Array.from({ length: 3 }, async (_, count) => {
    const asked = suspicion(`genuine ${count}`, ring, B.publicJwk.kid)
    return await keys.suspect(asked, caller(keys))
  })
  for (const { key } of await Promise.all(helped)) expect(key?.kid).toBe(B.publicJwk.kid)
  const newer = await ringOf(keys)
  for (let count = 0; count < 6; count++) {
    await clock.advance(1)
    await keys.suspect(suspicion(`forged ${count}`, newer), caller(keys))
  }
  expect(endpoint.requests).toEqual([0, 1, 2, 3, 4, 5])
})

test('each attempt says what caused it', async () => {
  const { clock, keys, verdict } = world()
  const triggers: unknown[] = []
  const listen = (message: unknown) => {
    const { source, trigger } = message as KeysMessage
    if (source === keys) triggers.push(trigger)
  }
  channel('portcullis:keys').subscribe(listen)
  await verdict(oldToken)
  await clock.advance(400)
  await verdict(oldToken)
  await clock.advance(2)
  await keys.refresh()
  await clock.advance(2)
  await verdict(forged)
  channel('portcullis:keys').unsubscribe(listen)
  expect(triggers).toEqual(['age', 'age', 'refresh', 'suspicion'])
})
