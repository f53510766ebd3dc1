import { createVerifier, localKeys } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { setUp } from './service-for-test.ts'

interface Answer {
  readonly verdict: string
  readonly refusal?: { readonly reason: string }
  readonly inHand?: {
    readonly verdict: string
    readonly reason?: string
    readonly from: number
    readonly fault?: string
  }
  readonly madeBy: string
  readonly advice?: string
  readonly hints: readonly { readonly name: string }[]
  readonly stripped: readonly string[]
}

type World = Awaited<ReturnType<typeof setUp>>

const explained = async (world: World, body: object) =>
  (await (await world.post('explain', body)).json()) as Answer
const tokenOf = async (world: World, body: object = {}) =>
  ((await (await world.post('mint', body)).json()) as { token: string }).token
const fetchKeys = async ({ service }: World) => await service.tokens.fetch(service.tokens.keyUrl)

// Each of the kinds is signed and verified twice.
test('every kind of bad token is refused as a verifier refuses it', async () => {
  const world = await setUp()
  const keys = (await (await fetchKeys(world)).json()) as Parameters<typeof localKeys>[0]
  const options = { keys: localKeys(keys), issuer: null, audience: null, clock: world.clock }
  const verifier = createVerifier(options)
  for (const { name, reason } of await world.service.badKinds()) {
    const token = await tokenOf(world, { kind: name })
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason })
    // What is no text has no line to paste.
    if (token === '') continue
    expect((await explained(world, { token })).refusal?.reason).toBe(reason)
  }
})

describe('which keys', () => {
  test('before anybody has fetched any, there are none in hand', async () => {
    const world = await setUp()
    const { verdict, inHand } = await explained(world, { token: await tokenOf(world) })
    expect([verdict, inHand]).toEqual(['accepted', undefined])
  })

  test('after a fetch: those that were served then, until the next fetch', async () => {
    const world = await setUp()
    await fetchKeys(world)
    const old = await tokenOf(world)
    await world.clock.advance(10)
    await world.post('rotate')
    const fresh = await tokenOf(world)
    await world.clock.advance(10)
    expect(await explained(world, { token: fresh })).toMatchObject({
      verdict: 'accepted',
      inHand: { verdict: 'refused', reason: 'signature' },
      hints: [{ name: 'rotation_not_seen' }],
    })
    expect(await explained(world, { token: old })).toMatchObject({
      verdict: 'refused',
      inHand: { verdict: 'accepted' },
      madeBy: expect.stringContaining('which is withdrawn') as string,
      advice: expect.stringMatching(
        /^log in again: curl -d loginId=\.{3} -d password=\.{3} http:\/\/127/,
      ) as string,
    })
    await fetchKeys(world)
    expect((await explained(world, { token: fresh })).inHand?.verdict).toBe('accepted')
  })

  test('after a fetch while a fault put others in their place: that is said', async () => {
    const world = await setUp()
    await world.post('rotate')
    const token = await tokenOf(world)
    const fault = async () => (await explained(world, { token })).inHand?.fault ?? 'none'
    await fetchKeys(world)
    await world.post('fault', { endpoint: 'keys', kind: 'stale-key' })
    expect(await fault()).toBe('none')
    await fetchKeys(world)
    expect(await fault()).toBe('stale-key')
    await world.post('fault/clear', { endpoint: 'token' })
    await fetchKeys(world)
    expect(await fault()).toBe('stale-key')
    await world.post('fault/clear')
    expect(await fault()).toBe('stale-key')
    await fetchKeys(world)
    expect(await fault()).toBe('none')
  })

  test('one that is not published yet is named, and how to publish it', async () => {
    const world = await setUp()
    await world.post('rotate', { publish: 'later' })
    const answer = await explained(world, { token: await tokenOf(world) })
    expect(answer.madeBy).toContain('which is not yet published')
    expect(answer.advice).toContain('finish the rotation')
    expect(answer.hints.map(({ name }) => name)).not.toContain('other_keys')
  })

  test('in a set, each of two is found', async () => {
    const world = await setUp()
    const old = await tokenOf(world)
    await world.post('rotate', { publish: 'both' })
    for (const token of [old, await tokenOf(world)]) {
      expect((await explained(world, { token })).verdict).toBe('accepted')
    }
  })
})

test('a whole line is read, and what was taken off is said', async () => {
  const world = await setUp()
  const token = `Authorization: Bearer ${await tokenOf(world)}`
  expect((await explained(world, { token })).stripped).toEqual(['Authorization:', 'Bearer'])
})

test.each<[error: string, body: object]>([
  ['there is no token', { token: ' ' }],
  ['there is no token', {}],
  ['there is no "at", but token', { token: 'a', at: 1 }],
])('says what is wrong: %s', async (error, body) => {
  const world = await setUp()
  const response = await world.post('explain', body)
  expect(response.status).toBe(400)
  expect(((await response.json()) as { error: string }).error).toContain(error)
})

test('nothing of a token is in the log or in the state', async () => {
  const world = await setUp()
  const token = await tokenOf(world, { claims: { sub: 'ada-of-the-claims' } })
  await explained(world, { token })
  const seen = `${await (await world.ask('log')).text()}${await (await world.ask('state')).text()}`
  for (const part of [...token.split('.'), 'ada-of-the-claims']) expect(seen).not.toContain(part)
})
