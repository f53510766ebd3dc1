import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { AuthError, createVerifier, localKeys } from '../../src/index.ts'
import { foundVerifiers } from '../../src/issuers/issuer-directory.ts'

// Calls on a runtime that ends the work of a request with it. What is so on every runtime is in issuer-directory.test.ts.

const A = 'https://a.test'
const B = 'https://b.test'
const { publicJwk } = await createTestIssuer()

function setUp({ maxCalls = 16, endsWithRequest = true } = {}) {
  const clock = manualClock()
  const asked: { issuer: string; at: number; answer: () => void }[] = []
  const find = async (issuer: string) =>
    await new Promise<ReturnType<typeof createVerifier>>((resolve) => {
      const answer = () => {
        resolve(createVerifier({ keys: localKeys(publicJwk), issuer, audience: null }))
      }
      asked.push({ issuer, at: clock.monotonic(), answer })
    })
  const limits = { max: 10, maxAge: 600, maxMisses: 10, missAge: 60, maxCalls, timeout: 5, clock }
  const directory = foundVerifiers(find, { ...limits, endsWithRequest })
  const wait = async (issuer: string, signal?: AbortSignal) =>
    await directory.wait(issuer, { tokenSize: 10, signal, waitUntil: undefined }).then(
      (found) => (found === undefined ? 'none' : 'found'),
      (error: unknown) => (error instanceof AuthError ? error.reason : 'left'),
    )
  return { asked, clock, directory, wait }
}

async function leave(scene: ReturnType<typeof setUp>): Promise<void> {
  const leaving = new AbortController()
  const first = scene.wait(A, leaving.signal)
  await scene.clock.advance(0.3)
  leaving.abort()
  expect(await first).toBe('left')
}

describe('a call that nobody waits for any more', () => {
  test('is replaced 1 s after it began, by one call for all who come', async () => {
    const scene = setUp()
    await leave(scene)
    const others = [scene.wait(A), scene.wait(A)]
    await scene.clock.advance(0.6)
    expect(scene.asked).toHaveLength(1)
    await scene.clock.advance(0.2)
    expect(scene.asked).toHaveLength(2)
    scene.asked[1]?.answer()
    expect(await Promise.all(others)).toEqual(['found', 'found'])
    expect(scene.asked).toHaveLength(2)
  })

  test('is joined on every other runtime', async () => {
    const scene = setUp({ endsWithRequest: false })
    await leave(scene)
    const other = scene.wait(A)
    await scene.clock.advance(2)
    expect(scene.asked).toHaveLength(1)
    scene.asked[0]?.answer()
    expect(await other).toBe('found')
  })

  test('is joined if the runtime was asked to let it go on', async () => {
    const { asked, clock, directory, wait } = setUp()
    const first = wait(A)
    await clock.advance(0)
    asked[0]?.answer()
    expect(await first).toBe('found')
    await clock.advance(400)
    const held: unknown[] = []
    const renew = () => directory.find(A, (work) => held.push(work))
    expect([typeof renew(), asked.length, held.length]).toEqual(['object', 2, 1])
    await clock.advance(201)
    const late = wait(A)
    await clock.advance(0)
    // Its own timer has ended the renewal long ago.
    expect(asked).toHaveLength(3)
    asked[2]?.answer()
    expect(await late).toBe('found')
  })
})

test('who finds no room begins the call by itself, once there is room', async () => {
  const { asked, clock, wait } = setUp({ maxCalls: 1 })
  const [first, second] = [wait(A), wait(B)]
  await clock.advance(0.5)
  expect(asked.map(({ issuer }) => issuer)).toEqual([A])
  asked[0]?.answer()
  expect(await first).toBe('found')
  await clock.advance(0.1)
  expect(asked.map(({ issuer }) => issuer)).toEqual([A, B])
  asked[1]?.answer()
  expect(await second).toBe('found')
})

test('who waits for room in vain is refused at the deadline, and never calls', async () => {
  const { asked, clock, wait } = setUp({ maxCalls: 1 })
  void wait(A)
  await clock.advance(0.1)
  const second = wait(B)
  const leaving = new AbortController()
  const third = wait(B, leaving.signal)
  await clock.advance(0.1)
  leaving.abort()
  expect(await third).toBe('left')
  await clock.advance(4.8)
  asked[0]?.answer()
  await clock.advance(0.1)
  expect(asked.map(({ issuer }) => issuer)).toEqual([A, B])
  await clock.advance(5)
  expect(await second).toBe('timeout')
})

test('a call that has ended with its request makes room for that of another issuer', async () => {
  const scene = setUp({ maxCalls: 1 })
  await leave(scene)
  const other = scene.wait(B)
  await scene.clock.advance(0.1)
  expect(scene.asked.map(({ issuer }) => issuer)).toEqual([A, B])
  scene.asked[1]?.answer()
  expect(await other).toBe('found')
})
