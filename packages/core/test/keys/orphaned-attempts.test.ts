import { type ManualClock, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createVerifier, type Verifier, type VerifyOptions } from '../../src/index.ts'
import type { FetchedKeys } from '../../src/keys/fetch-keys.ts'
import { followKeys, type RemoteKeys } from '../../src/keys/key-cache.ts'
import { readUsableKeys } from '../../src/keys/key-document.ts'
import { A, B, forgery, newToken, oldToken } from './world.ts'

// Attempts on a runtime that ends the I/O of a request with it: what is under way then never settles.

/** An attempt that the key endpoint does not answer by itself. */
interface Load {
  readonly at: number
  readonly answer: (jwk: object) => void
  /** Ends the request that began it: whoever waits for the attempt gets an error of the platform. */
  readonly end: () => void
}

interface Scene {
  readonly clock: ManualClock
  readonly keys: RemoteKeys
  readonly loads: readonly Load[]
  /** The verdict on a token: `accepted`, or code and reason. */
  readonly verdict: (token: string, options?: VerifyOptions) => Promise<string>
}

function ended(): never {
  throw new Error('This promise was created by a request that has since ended')
}

function documentOf(jwk: object): FetchedKeys {
  const read = readUsableKeys(jwk, {})
  if (typeof read === 'string') throw new Error(read)
  return { failure: undefined, ...read, freshnessLifetime: undefined }
}

function verdictOf(verifier: Verifier): Scene['verdict'] {
  return async (token, options) =>
    await verifier.verify(token, options).then(
      () => 'accepted',
      (error: unknown) => {
        const { name, code, reason } = error as { name: string; code?: string; reason?: string }
        return `${name} ${code} ${reason}`
      },
    )
}

function scene({ endsWithRequest = true, maxAge = 300 } = {}): Scene {
  const clock = manualClock()
  const loads: Load[] = []
  const options = {
    maxAge,
    staleWhileRevalidate: 300,
    staleIfError: 3600,
    overlap: 0,
    timeout: 5,
    clock,
    url: 'https://auth.test/key',
    endsWithRequest,
  }
  const load = async () =>
    await new Promise<FetchedKeys>((resolve) => {
      loads.push({
        at: clock.monotonic(),
        answer: (jwk) => {
          resolve(documentOf(jwk))
        },
        end: () => {
          resolve(
            Object.defineProperty(documentOf(A.publicJwk), 'freshnessLifetime', { get: ended }),
          )
        },
      })
    })
  const keys = followKeys(load, options, () => 0.5)
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  return { clock, keys, loads, verdict: verdictOf(verifier) }
}

/** With keys that are old enough to be fetched again behind a request. */
async function staleScene(options?: { endsWithRequest: boolean }): Promise<Scene> {
  const made = scene(options)
  const first = made.verdict(oldToken)
  await made.clock.advance(0)
  made.loads[0]?.answer(A.publicJwk)
  expect(await first).toBe('accepted')
  await made.clock.advance(400)
  return made
}

describe('an attempt behind a request that has ended', () => {
  test('is replaced, 1 s after its start, by whoever must wait', async () => {
    const { clock, loads, verdict } = await staleScene()
    expect(await verdict(oldToken)).toBe('accepted')
    expect(loads).toHaveLength(2)
    await clock.advance(0.4)
    const rotated = verdict(newToken)
    await clock.advance(0.5)
    expect(loads).toHaveLength(2)
    await clock.advance(0.1)
    expect(loads).toHaveLength(3)
    expect(Number(loads[2]?.at) - Number(loads[1]?.at)).toBeCloseTo(1)
    loads[2]?.answer(B.publicJwk)
    expect(await rotated).toBe('accepted')
  })

  test('is joined on every other runtime', async () => {
    const { clock, loads, verdict } = await staleScene({ endsWithRequest: false })
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(0.4)
    const rotated = verdict(newToken)
    await clock.advance(3)
    expect(loads).toHaveLength(2)
    loads[1]?.answer(B.publicJwk)
    expect(await rotated).toBe('accepted')
  })

  test('is joined if the runtime was asked to let it go on', async () => {
    const { clock, loads, verdict } = await staleScene()
    const held: unknown[] = []
    expect(await verdict(oldToken, { waitUntil: (work) => held.push(work) })).toBe('accepted')
    expect(held).toHaveLength(1)
    const rotated = verdict(newToken)
    await clock.advance(3)
    expect(loads).toHaveLength(2)
    loads[1]?.answer(B.publicJwk)
    expect(await rotated).toBe('accepted')
    expect(loads).toHaveLength(2)
  })

  test('is not replaced by those who need not wait: each would end the one before it', async () => {
    const { clock, loads, verdict } = await staleScene()
    for (let second = 0; second < 4; second++) {
      expect(await verdict(oldToken)).toBe('accepted')
      await clock.advance(1.1)
    }
    expect(loads).toHaveLength(2)
  })

  test('and its late answer is dropped, once it was replaced', async () => {
    const { clock, keys, loads, verdict } = await staleScene()
    expect(await verdict(oldToken)).toBe('accepted')
    const rotated = verdict(newToken)
    await clock.advance(1)
    loads[2]?.answer(B.publicJwk)
    expect(await rotated).toBe('accepted')
    const { thumbprints } = keys.status()
    loads[1]?.answer(A.publicJwk)
    await clock.advance(0)
    expect(keys.status().thumbprints).toEqual(thumbprints)
    expect(await verdict(newToken)).toBe('accepted')
  })

  test('is no failure: nothing waits longer for the next one than for its pause', async () => {
    const { clock, keys, loads, verdict } = await staleScene()
    expect(await verdict(oldToken)).toBe('accepted')
    const refreshed = keys.refresh()
    await clock.advance(1)
    expect(keys.status()).toMatchObject({ lastFailure: undefined, isFetching: true })
    loads[2]?.answer(A.publicJwk)
    await refreshed
    expect(loads).toHaveLength(3)
  })
})

describe('an attempt whose first request has ended while it waited', () => {
  test('others hear of it from the platform: one replaces it, the rest join that', async () => {
    const { clock, loads, verdict } = scene()
    void verdict(oldToken)
    await clock.advance(0.3)
    const others = [verdict(oldToken), verdict(oldToken), verdict(oldToken)]
    await clock.advance(0)
    expect(loads).toHaveLength(1)
    loads[0]?.end()
    await clock.advance(0.6)
    expect(loads).toHaveLength(1)
    await clock.advance(0.2)
    expect(loads).toHaveLength(2)
    loads[1]?.answer(A.publicJwk)
    expect(await Promise.all(others)).toEqual(['accepted', 'accepted', 'accepted'])
    expect(loads).toHaveLength(2)
  })

  test('again and again: 503 at the deadline, one attempt a second, and never the error of the platform', async () => {
    const { clock, loads, verdict } = scene()
    const waiting = verdict(oldToken)
    for (let second = 0; second < 5; second++) {
      await clock.advance(0.5)
      loads.at(-1)?.end()
      await clock.advance(0.5)
    }
    expect(await waiting).toBe('AuthError keys_unavailable timeout')
    expect(loads.length).toBeLessThanOrEqual(6)
    expect(loads.length).toBeGreaterThanOrEqual(5)
  })

  test('all who waited have left: the next one replaces it', async () => {
    const { clock, loads, verdict } = scene()
    const leaving = new AbortController()
    const first = verdict(oldToken, { signal: leaving.signal })
    await clock.advance(0.3)
    leaving.abort(new Error('gone'))
    expect(await first).toBe('Error undefined undefined')
    const next = verdict(oldToken)
    await clock.advance(0.7)
    expect(loads).toHaveLength(2)
    loads[1]?.answer(A.publicJwk)
    expect(await next).toBe('accepted')
  })

  test('all who waited have left, on every other runtime: the next one joins it', async () => {
    const { clock, loads, verdict } = scene({ endsWithRequest: false })
    const leaving = new AbortController()
    const first = verdict(oldToken, { signal: leaving.signal })
    await clock.advance(0.3)
    leaving.abort(new Error('gone'))
    expect(await first).toBe('Error undefined undefined')
    const next = verdict(oldToken)
    await clock.advance(2)
    expect(loads).toHaveLength(1)
    loads[0]?.answer(A.publicJwk)
    expect(await next).toBe('accepted')
  })
})

test('forged tokens whose requests end at once have no more attempts than those that wait', async () => {
  const { clock, loads, verdict } = await staleScene()
  const fresh = verdict(newToken)
  await clock.advance(1)
  loads.at(-1)?.answer(A.publicJwk)
  await fresh
  const before = loads.length
  for (let second = 0; second < 60; second++) {
    const leaving = new AbortController()
    const asked = verdict(forgery(), { signal: leaving.signal })
    await clock.advance(0.5)
    leaving.abort(new Error('gone'))
    await asked
    await clock.advance(0.5)
  }
  // A budget of 4, and one more each 13 s.
  expect(loads.length - before).toBeLessThanOrEqual(8)
})
