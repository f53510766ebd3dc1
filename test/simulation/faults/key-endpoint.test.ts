import { LONGEST_PAUSE } from '@portcullis/kit/pace'
import { expect, test } from 'vitest'

import { follow, type Follower } from './following.ts'
import { createKeyEndpoint, type KeyEndpoint } from './key-endpoint.ts'
import { kinds, misbehaviours, serve, stalling, TIMEOUT } from './misbehaviours.ts'
import { forgedToken, newIssuer, newJwk, newToken, oldIssuer, oldJwk, oldToken } from './tokens.ts'

/** Longer than any pause between two attempts. */
const PAUSE = LONGEST_PAUSE + 1
/** How long the endpoint counts as down after a failed attempt: the longest pause and the timeout together. */
const OUTAGE = LONGEST_PAUSE + TIMEOUT
/** The longest and the shortest `maxAge`, which is 300 s spread by 10 %. */
const [LONGEST, SHORTEST] = [330, 270]
const REVALIDATE = 300
const STALE_IF_ERROR = 3600

test.each(misbehaviours)(
  'no keys yet, and the endpoint $name: 503 for all tokens that come together, after one request',
  async ({ behave, reason }) => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdicts } = follow(endpoint)
    endpoint.answerWith(behave)
    const tokens = [oldToken(), newToken(), forgedToken(), oldToken()]
    expect(await verdicts(tokens)).toEqual([`keys_unavailable: ${reason}`])
    expect(endpoint.clock.monotonic()).toBeLessThanOrEqual(TIMEOUT)
    expect(endpoint.requests).toBe(1)
    expect(keys.status()).toMatchObject({ freshness: 'empty', lastFailure: { reason } })
    expect(keys.status().thumbprints).toEqual([])
  },
)

test.each(stalling)(
  'no keys yet, and the endpoint $name: 503 for one token after another, with a request each until the pause is longer than the timeout',
  async ({ behave, reason }) => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict } = follow(endpoint)
    endpoint.answerWith(behave)
    // Pauses count from the start of an attempt. The fourth is 8 s, give or take a fifth.
    for (const [requests, token] of [oldToken, newToken, forgedToken, oldToken].entries()) {
      expect(await verdict(token())).toBe(`keys_unavailable: ${reason}`)
      expect(endpoint.requests).toBe(requests + 1)
    }
    const { nextAttemptIn } = keys.status()
    expect(nextAttemptIn).toBeGreaterThanOrEqual(0.8 * 8 - TIMEOUT)
    expect(nextAttemptIn).toBeLessThanOrEqual(1.2 * 8 - TIMEOUT)
    for (const token of [oldToken, newToken, forgedToken]) {
      expect(await verdict(token())).toBe(`keys_unavailable: ${reason}`)
    }
    expect(endpoint.clock.monotonic()).toBe(4 * TIMEOUT)
    expect(endpoint.requests).toBe(4)
  },
)

test.each(misbehaviours.filter((each) => !stalling.includes(each)))(
  'no keys yet, and the endpoint $name: 503 for one token after another, after one request',
  async ({ behave, reason, retryAfter }) => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict } = follow(endpoint)
    endpoint.answerWith(behave)
    for (const token of [oldToken, newToken, forgedToken]) {
      expect(await verdict(token())).toBe(`keys_unavailable: ${reason}`)
    }
    expect(endpoint.clock.monotonic()).toBe(0)
    expect(endpoint.requests).toBe(1)
    // The first pause is 1 s, give or take a fifth.
    expect(keys.status().nextAttemptIn).toBeGreaterThanOrEqual(retryAfter ?? 0.8)
    expect(keys.status().nextAttemptIn).toBeLessThanOrEqual(retryAfter ?? 1.2)
  },
)

test.each(kinds)(
  'keys known, then the endpoint $name: old tokens are accepted until the keys are too old',
  async ({ behave, reason, isAskedTwice }) => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict, verdicts, nextOutcome } = follow(endpoint)
    /** The first attempt is the good one. */
    const afterAttempts = (count: number) => 1 + (count - 1) * (isAskedTwice ? 2 : 1)
    const unavailable = `keys_unavailable: ${reason}`
    await know(endpoint, verdict)
    const untilAge = async (age: number) => {
      await endpoint.pass(age - endpoint.clock.monotonic())
    }
    endpoint.answerWith(behave)

    // So often that the pause is longer than an attempt may take, and than anybody waits for its end.
    for (const attempts of [2, 3, 4, 5]) {
      await endpoint.pass(Math.max(1, keys.status().nextAttemptIn))
      expect(await verdict(newToken())).toBe(unavailable)
      expect(endpoint.requests).toBe(afterAttempts(attempts))
    }
    await endpoint.pass(0) // callers may leave just before the attempt ends
    expect(await verdict(newToken())).toBe(unavailable)
    expect(await verdict(forgedToken())).toBe(unavailable)
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(endpoint.requests).toBe(afterAttempts(5))
    expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: { reason } })

    await untilAge(LONGEST)
    const behindStale = nextOutcome()
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(keys.status()).toMatchObject({ freshness: 'stale', isFetching: true })
    expect(await behindStale).toBe(reason)
    expect(await verdict(newToken())).toBe(unavailable)
    expect(endpoint.requests).toBe(afterAttempts(6))

    await untilAge(LONGEST + REVALIDATE)
    // The last failure is too long ago: the callers wait for an attempt.
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(keys.status()).toMatchObject({ freshness: 'expired', isFetching: false })
    expect(await verdict(newToken())).toBe(unavailable)
    expect(endpoint.requests).toBe(afterAttempts(7))

    await endpoint.pass(OUTAGE - 1)
    const behindExpired = nextOutcome()
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(keys.status()).toMatchObject({ freshness: 'expired', isFetching: true })
    expect(await behindExpired).toBe(reason)
    expect(endpoint.requests).toBe(afterAttempts(8))

    await endpoint.pass(OUTAGE + 1)
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(keys.status()).toMatchObject({ freshness: 'expired', isFetching: false })
    expect(endpoint.requests).toBe(afterAttempts(9))

    // Early enough for an attempt that takes as long as it may.
    await untilAge(SHORTEST + STALE_IF_ERROR - TIMEOUT - 1)
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(keys.status()).toMatchObject({ freshness: 'expired', isFetching: false })
    expect(endpoint.requests).toBe(afterAttempts(10))

    await untilAge(LONGEST + STALE_IF_ERROR + PAUSE)
    expect(await verdict(oldToken())).toBe(unavailable)
    expect(endpoint.requests).toBe(afterAttempts(11))
    expect(keys.status()).toMatchObject({ freshness: 'empty', lastFailure: { reason } })
  },
)

test.each(kinds)(
  'the keys were replaced while the endpoint $name: the first good answer heals',
  async ({ behave, reason, isAskedTwice }) => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict } = follow(endpoint)
    await know(endpoint, verdict)
    endpoint.answerWith(behave)
    await endpoint.pass(PAUSE)
    expect(await verdict(newToken())).toBe(`keys_unavailable: ${reason}`)
    endpoint.answerWith(serve(newJwk))
    await endpoint.pass(PAUSE)
    expect(await verdict(newToken())).toBe('accepted')
    await endpoint.pass(1)
    expect(await verdict(oldToken())).toBe('invalid_token: signature')
    expect(endpoint.requests).toBe(isAskedTwice ? 4 : 3)
    expect(keys.status()).toMatchObject({
      freshness: 'fresh',
      lastFailure: undefined,
      thumbprints: [newIssuer.publicJwk.kid],
      retired: [oldIssuer.publicJwk.kid],
    })
  },
)

test.each(kinds)(
  'no keys yet, and the endpoint $name: the first good answer heals',
  async ({ behave, reason }) => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict } = follow(endpoint)
    endpoint.answerWith(behave, serve(oldJwk))
    expect(await verdict(oldToken())).toBe(`keys_unavailable: ${reason}`)
    await endpoint.pass(PAUSE)
    expect(await verdict(oldToken())).toBe('accepted')
    expect(endpoint.requests).toBe(2)
    expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: undefined })
  },
)

test.each(kinds)(
  'every second time, the endpoint $name: old tokens are accepted throughout',
  async ({ behave, reason, isAskedTwice }) => {
    await using endpoint = await createKeyEndpoint()
    const { keys, verdict, refresh } = follow(endpoint)
    const misbehaving = isAskedTwice ? [behave, behave] : [behave]
    endpoint.answerWith(serve(oldJwk), ...misbehaving)
    const good = ['success', undefined]
    const bad = [`keys_unavailable: ${reason}`, reason]
    for (const [outcome, lastReason] of [good, bad, good, bad, good]) {
      expect(await refresh()).toBe(outcome)
      expect(keys.status().lastFailure?.reason).toBe(lastReason)
      expect(keys.status().freshness).toBe('fresh')
      expect(await verdict(oldToken())).toBe('accepted')
      await endpoint.pass(PAUSE)
    }
    expect(endpoint.requests).toBe(3 + 2 * misbehaving.length)
  },
)

test.each(stalling)(
  'keys expired and the endpoint $name: it stalls the callers once, and again only after a time without requests',
  async ({ behave }) => {
    await using endpoint = await createKeyEndpoint()
    const { verdict, verdicts, nextOutcome } = follow(endpoint)
    await know(endpoint, verdict)
    endpoint.answerWith(behave)
    await endpoint.pass(LONGEST + REVALIDATE)
    const start = endpoint.clock.monotonic()
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(endpoint.clock.monotonic()).toBe(start + TIMEOUT)
    for (const requests of [3, 4, 5]) {
      await endpoint.pass(PAUSE)
      const next = endpoint.clock.monotonic()
      const behind = nextOutcome()
      expect(await verdicts(many(oldToken))).toEqual(['accepted'])
      expect(endpoint.clock.monotonic()).toBe(next)
      expect(await behind).toBe('timeout')
      expect(endpoint.requests).toBe(requests)
    }
    await endpoint.pass(OUTAGE)
    const later = endpoint.clock.monotonic()
    expect(await verdicts(many(oldToken))).toEqual(['accepted'])
    expect(endpoint.clock.monotonic()).toBe(later + TIMEOUT)
    expect(endpoint.requests).toBe(6)
  },
)

test('nobody listens any more: old tokens are accepted, others cannot be judged', async () => {
  const endpoint = await createKeyEndpoint()
  const { keys, verdict } = follow(endpoint)
  await know(endpoint, verdict)
  await endpoint[Symbol.asyncDispose]()
  await endpoint.pass(PAUSE)
  expect(await verdict(newToken())).toBe('keys_unavailable: unreachable')
  expect(await verdict(oldToken())).toBe('accepted')
  expect(keys.status().lastFailure?.detail).toBe(
    'the connection to the key URL failed (ECONNREFUSED)',
  )
  expect(endpoint.requests).toBe(1)
})

test.each([301, 302, 303, 307, 308])(
  'a redirect with %i to another origin is not followed, though good keys are there',
  async (status) => {
    await using canary = await createKeyEndpoint()
    await using endpoint = await createKeyEndpoint()
    const { verdict } = follow(endpoint)
    canary.answerWith(serve(newJwk))
    endpoint.answerWith(serve(oldJwk), serve(newJwk, { status, headers: { location: canary.url } }))
    expect(await verdict(oldToken())).toBe('accepted')
    await endpoint.pass(PAUSE)
    expect(await verdict(newToken())).toBe('keys_unavailable: unreachable')
    expect(endpoint.requests).toBe(2)
    expect(canary.requests).toBe(0)
  },
)

test('the endpoint stays down: each pause is twice the last, up to half a minute', async () => {
  await using endpoint = await createKeyEndpoint()
  const { keys, verdict } = follow(endpoint)
  endpoint.answerWith(serve(oldJwk, { status: 500 }))
  for (const pause of [1, 2, 4, 8, 16, 30, 30, 30]) {
    expect(await verdict(oldToken())).toBe('keys_unavailable: unreachable')
    const { nextAttemptIn } = keys.status()
    // Give or take a fifth.
    expect(nextAttemptIn).toBeGreaterThanOrEqual(0.8 * pause)
    expect(nextAttemptIn).toBeLessThanOrEqual(1.2 * pause)
    await endpoint.pass(nextAttemptIn + 0.01)
  }
  expect(endpoint.requests).toBe(8)
})

test.each([
  ['seconds', () => '45', 45],
  ['a date', (now: number) => new Date((now + 45) * 1000).toUTCString(), 45],
  ['a date that is over', (now: number) => new Date((now - 45) * 1000).toUTCString(), 0],
  ['words', () => 'soon', 0],
  ['a negative number', () => '-45', 0],
  ['a fraction', () => '4.5e1', 0],
])('Retry-After as %s: no request before the pause is over', async (_, retryAfter, pause) => {
  await using endpoint = await createKeyEndpoint()
  const { keys, verdict } = follow(endpoint)
  const now = endpoint.clock.now()
  const headers = { 'retry-after': retryAfter(now), date: new Date(now * 1000).toUTCString() }
  endpoint.answerWith(serve(oldJwk, { status: 503, headers }), serve(oldJwk))
  expect(await verdict(oldToken())).toBe('keys_unavailable: unreachable')
  const { nextAttemptIn } = keys.status()
  expect(nextAttemptIn).toBeGreaterThanOrEqual(Math.max(0.8, pause))
  expect(nextAttemptIn).toBeLessThanOrEqual(Math.max(1.2, pause))
  await endpoint.pass(nextAttemptIn - 0.01)
  expect(await verdict(oldToken())).toBe('keys_unavailable: unreachable')
  expect(endpoint.requests).toBe(1)
  await endpoint.pass(0.02)
  expect(await verdict(oldToken())).toBe('accepted')
  expect(endpoint.requests).toBe(2)
})

async function know(endpoint: KeyEndpoint, verdict: Follower['verdict']): Promise<void> {
  endpoint.answerWith(serve(oldJwk))
  expect(await verdict(oldToken())).toBe('accepted')
}

/** As many as are judged without the thread pool, for which no manual clock waits. */
function many(token: () => Promise<string>): Promise<string>[] {
  return Array.from({ length: 4 }, token)
}
