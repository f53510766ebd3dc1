import type { JsonWebKey } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { follow } from './following.ts'
import { createKeyEndpoint } from './key-endpoint.ts'
import { serve } from './misbehaviours.ts'
import {
  forgedToken,
  newIssuer,
  newJwk,
  newToken,
  oldIssuer,
  oldJwk,
  oldToken,
  stranger,
  thumbprintOf,
  tokenOf,
} from './tokens.ts'

/** Ages of keys, whatever the spread. */
const STALE = 331
const EXPIRED = 631

interface Rotation {
  readonly kids: string
  readonly shape: string
  readonly oldKid: string | null
  readonly newKid: string | null
  readonly document: (...keys: JsonWebKey[]) => unknown
  /** How the token of a key that has gone is refused. */
  readonly gone: 'signature' | 'unknown_key'
}

const bare = { shape: 'a bare key', document: (jwk?: JsonWebKey) => jwk }
const set = { shape: 'a set', document: (...keys: JsonWebKey[]) => ({ keys }) }

const rotations: readonly Rotation[] = [
  { kids: 'a new kid', oldKid: 'one', newKid: 'two', ...bare, gone: 'signature' },
  { kids: 'the same kid', oldKid: 'key', newKid: 'key', ...bare, gone: 'signature' },
  { kids: 'no kid', oldKid: null, newKid: null, ...bare, gone: 'signature' },
  { kids: 'a new kid', oldKid: 'one', newKid: 'two', ...set, gone: 'unknown_key' },
  { kids: 'the same kid', oldKid: 'key', newKid: 'key', ...set, gone: 'signature' },
  { kids: 'no kid', oldKid: null, newKid: null, ...set, gone: 'signature' },
]

describe.each(rotations)('rotation with $kids, as $shape', (rotation) => {
  const { oldKid, newKid, document, gone } = rotation
  const before = serve(document(named(oldJwk, oldKid)))
  const after = serve(document(named(newJwk, newKid)))

  test('the first new token finds it with one request; old ones are then refused without any', async () => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict } = follow(endpoint)
    endpoint.answerWith(before)
    expect(await verdict(tokenOf(oldIssuer, oldKid))).toBe('accepted')
    endpoint.answerWith(after)
    await endpoint.pass(1)
    expect(await verdict(tokenOf(newIssuer, newKid))).toBe('accepted')
    await endpoint.pass(1)
    expect(await verdict(tokenOf(oldIssuer, oldKid))).toBe(`invalid_token: ${gone}`)
    expect(await verdict(tokenOf(newIssuer, newKid))).toBe('accepted')
    expect(endpoint.requests).toBe(2)
    expect(await verdict(tokenOf(stranger, newKid))).toBe('invalid_token: signature')
    expect(endpoint.requests).toBe(3)
    expect(keys.status()).toMatchObject({
      freshness: 'fresh',
      lastFailure: undefined,
      thumbprints: [thumbprintOf(newJwk)],
      retired: [thumbprintOf(oldJwk)],
    })
  })

  test('old tokens alone notice nothing until the keys have aged', async () => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict, nextOutcome } = follow(endpoint)
    endpoint.answerWith(before, after)
    expect(await verdict(tokenOf(oldIssuer, oldKid))).toBe('accepted')
    await endpoint.pass(STALE)
    const behind = nextOutcome()
    expect(await verdict(tokenOf(oldIssuer, oldKid))).toBe('accepted')
    expect(await behind).toBe('success')
    await endpoint.pass(1)
    expect(await verdict(tokenOf(oldIssuer, oldKid))).toBe(`invalid_token: ${gone}`)
    expect(await verdict(tokenOf(newIssuer, newKid))).toBe('accepted')
    expect(endpoint.requests).toBe(2)
    expect(keys.status()).toMatchObject({
      thumbprints: [thumbprintOf(newJwk)],
      retired: [thumbprintOf(oldJwk)],
    })
  })
})

test('the keys were replaced long ago: an expired key is not trusted before the endpoint has been asked', async () => {
  await using endpoint = await createKeyEndpoint()
  const { verdict } = follow(endpoint)
  endpoint.answerWith(serve(oldJwk), serve(newJwk))
  expect(await verdict(oldToken())).toBe('accepted')
  await endpoint.pass(EXPIRED)
  expect(await verdict(oldToken())).toBe('invalid_token: signature')
  await endpoint.pass(1)
  expect(await verdict(oldToken())).toBe('invalid_token: signature')
  expect(await verdict(newToken())).toBe('accepted')
  expect(endpoint.requests).toBe(2)
})

describe.each(rotations.filter(({ shape }) => shape === set.shape))(
  'rotation with $kids, with both keys in the set for a while',
  ({ oldKid, newKid, document }) => {
    test('no token of either key is refused', async () => {
      await using endpoint = await createKeyEndpoint()
      const { keys, verdict } = follow(endpoint)
      const [one, two] = [named(oldJwk, oldKid), named(newJwk, newKid)]
      endpoint.answerWith(serve(document(one)), serve(document(one, two)), serve(document(two)))
      expect(await verdict(tokenOf(oldIssuer, oldKid))).toBe('accepted')
      await endpoint.pass(1)
      expect(await verdict(tokenOf(newIssuer, newKid))).toBe('accepted')
      expect(await verdict(tokenOf(oldIssuer, oldKid))).toBe('accepted')
      expect(endpoint.requests).toBe(2)
      await endpoint.pass(1)
      await keys.refresh()
      expect(await verdict(tokenOf(newIssuer, newKid))).toBe('accepted')
      expect(endpoint.requests).toBe(3)
      expect(keys.status().retired).toEqual([thumbprintOf(oldJwk)])
    })
  },
)

test('overlap 60: the old key is trusted for 60 s after the document that lacked it', async () => {
  await using endpoint = await createKeyEndpoint()
  const { verdict } = follow(endpoint, { overlap: 60 })
  endpoint.answerWith(serve(oldJwk))
  expect(await verdict(oldToken())).toBe('accepted')
  endpoint.answerWith(serve(newJwk))
  await endpoint.pass(1)
  expect(await verdict(newToken())).toBe('accepted')
  await endpoint.pass(59.9)
  expect(await verdict(oldToken())).toBe('accepted')
  expect(endpoint.requests).toBe(2)
  await endpoint.pass(0.2)
  // The first one asks whether the key is back: the key left more than 15 s ago.
  expect(await verdict(oldToken())).toBe('invalid_token: signature')
  expect(endpoint.requests).toBe(3)
  await endpoint.pass(1)
  expect(await verdict(oldToken())).toBe('invalid_token: signature')
  expect(await verdict(newToken())).toBe('accepted')
  expect(endpoint.requests).toBe(3)
})

test('two keys served in turn, overlap 60: once both have been seen, tokens of both are accepted', async () => {
  await using endpoint = await createKeyEndpoint()
  const { keys, verdict } = follow(endpoint, { overlap: 60 })
  endpoint.answerWith(serve(oldJwk), serve(newJwk))
  expect(await verdict(oldToken())).toBe('accepted')
  await endpoint.pass(1)
  expect(await verdict(newToken())).toBe('accepted')
  // Each refresh brings the other key, for five minutes in all.
  for (const requests of [3, 4, 5, 6, 7, 8, 9, 10]) {
    await endpoint.pass(40)
    await keys.refresh()
    expect(await verdict(oldToken())).toBe('accepted')
    expect(await verdict(newToken())).toBe('accepted')
    expect(endpoint.requests).toBe(requests)
  }
  expect(keys.status().thumbprints.toSorted()).toEqual(
    [thumbprintOf(oldJwk), thumbprintOf(newJwk)].toSorted(),
  )
  await endpoint.pass(1)
  expect(await verdict(forgedToken())).toBe('invalid_token: signature')
  expect(endpoint.requests).toBe(11)
})

test('two keys served in turn, overlap 0: only the key served last is trusted, and it costs no further requests', async () => {
  await using endpoint = await createKeyEndpoint()
  const { keys, verdict, nextOutcome } = follow(endpoint)
  endpoint.answerWith(serve(oldJwk), serve(newJwk))
  expect(await verdict(oldToken())).toBe('accepted')
  await endpoint.pass(1)
  expect(await verdict(newToken())).toBe('accepted')
  await endpoint.pass(1)
  expect(await verdict(oldToken())).toBe('invalid_token: signature')
  expect(await verdict(newToken())).toBe('accepted')
  expect(endpoint.requests).toBe(2)
  await endpoint.pass(STALE)
  const behind = nextOutcome()
  expect(await verdict(newToken())).toBe('accepted')
  expect(await behind).toBe('success')
  await endpoint.pass(1)
  expect(await verdict(newToken())).toBe('invalid_token: signature')
  expect(await verdict(oldToken())).toBe('accepted')
  expect(endpoint.requests).toBe(3)
  expect(keys.status()).toMatchObject({
    thumbprints: [thumbprintOf(oldJwk)],
    retired: [thumbprintOf(newJwk)],
  })
})

function named(jwk: JsonWebKey, kid: string | null): JsonWebKey {
  return { ...jwk, kid: kid ?? undefined }
}
