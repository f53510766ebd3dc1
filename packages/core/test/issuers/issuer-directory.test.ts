import { createTestIssuer, manualClock, type ManualClock } from '@portcullis/testing'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import {
  AuthError,
  byIssuer,
  type ByIssuerOptions,
  createVerifier,
  type FindVerifier,
  localKeys,
  localRevocations,
  type Verifier,
} from '../../src/index.ts'
import { freshnessOf } from '../../src/issuers/issuer-memory.ts'

const A = 'https://a.test'
const B = 'https://b.test'
const SIX_MINUTES = 360

const start = manualClock()
const issuer = await createTestIssuer({ clock: start })
const tokens = new Map<string, string>()

/** A token of an issuer; all have one key. */
async function tokenOf(iss: string): Promise<string> {
  const token = tokens.get(iss) ?? (await issuer.token({ claims: { iss }, expiresIn: 86_400 }))
  tokens.set(iss, token)
  return token
}

function tenant(iss: string): Verifier {
  return createVerifier({ keys: localKeys(issuer.publicJwk), issuer: iss, audience: null, clock })
}

let clock: ManualClock
let tenants: Map<string, Verifier>

beforeEach(() => {
  clock = manualClock()
  tenants = new Map([A, B].map((iss) => [iss, tenant(iss)]))
})

function finding(answer: FindVerifier = (iss) => tenants.get(iss), more: ByIssuerOptions = {}) {
  const find = vi.fn<FindVerifier>(answer)
  return { find, verifier: byIssuer(find, { clock, ...more }) }
}

async function verdictOf(verdict: Promise<unknown>): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
  }
}

const verdict = async (verifier: Verifier<unknown>, iss: string, signal?: AbortSignal) =>
  await verdictOf(verifier.verify(await tokenOf(iss), { signal }))

const nobody = (at: number) => `https://nobody-${at}.test`

const UNKNOWN = 'invalid_token unknown_key'
const UNREACHABLE = 'keys_unavailable unreachable'
const TIMEOUT = 'keys_unavailable timeout'

/** A function whose answers come when they are told to. */
function gated() {
  const open: (() => void)[] = []
  const { find, verifier } = finding(
    async (iss) =>
      await new Promise((resolve) => {
        open.push(() => {
          resolve(tenants.get(iss))
        })
      }),
  )
  return { find, verifier, open }
}

/** A verifier that waits until it is told to go on. */
function slowly(inner: Verifier) {
  const waiting: (() => void)[] = []
  const slow: Verifier = {
    ...inner,
    async verify(token) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
      return await inner.verify(token)
    },
  }
  return { slow, release: () => waiting[0]?.() }
}

/** The same for the first token alone. */
function slowOnce(inner: Verifier) {
  const { slow, release } = slowly(inner)
  let isFirst = true
  const once: Verifier = {
    ...inner,
    async verify(token, options) {
      const judge = isFirst ? slow : inner
      isFirst = false
      return await judge.verify(token, options)
    },
  }
  return { once, release }
}

describe('what the function is called with', () => {
  test('is the issuer and a signal, and this is the first it hears of a token', async () => {
    const { find, verifier } = finding()
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find.mock.calls).toEqual([[A, { signal: expect.any(AbortSignal) as unknown }]])
  })

  test.each([
    ['text that is no token', async () => 'a.b.c'],
    ['a token with crit', async () => await issuer.token({ header: { crit: ['x'], x: 1 } })],
    [
      'a token that is too long',
      async () => await issuer.token({ claims: { iss: A, x: 'x'.repeat(16_000) } }),
    ],
    ['a token without iss', async () => await issuer.token({ omit: ['iss'] })],
    [
      'an iss of 1,025 characters',
      async () => await issuer.token({ claims: { iss: 'x'.repeat(1025) } }),
    ],
  ])('is never %s', async (_, token) => {
    const { find, verifier } = finding()
    expect(await verdictOf(verifier.verify(await token()))).toMatch(/^invalid_token /)
    expect(find).not.toHaveBeenCalled()
  })
})

describe('calls', () => {
  test('two tokens of one issuer at once: one call', async () => {
    const { find, verifier, open } = gated()
    const verdicts = [verdict(verifier, A), verdict(verifier, A)]
    await clock.advance(0)
    for (const answer of open) answer()
    expect(await Promise.all(verdicts)).toEqual(['accepted', 'accepted'])
    expect(find).toHaveBeenCalledTimes(1)
  })

  test('an answer after the caller has gone: nobody else is cancelled, and it is remembered', async () => {
    const { find, verifier, open } = gated()
    const exit = new AbortController()
    const gone = verdict(verifier, A, exit.signal)
    const patient = verdict(verifier, A)
    await clock.advance(1)
    exit.abort(new Error('gone'))
    expect(await gone).toBe('Error: gone')
    open[0]?.()
    expect(await patient).toBe('accepted')
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(1)
  })

  test('all callers have gone: the answer is remembered all the same', async () => {
    const { find, verifier, open } = gated()
    const exit = new AbortController()
    const gone = verdict(verifier, A, exit.signal)
    await clock.advance(0)
    exit.abort(new Error('gone'))
    await gone
    open[0]?.()
    await clock.advance(0)
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(1)
  })

  test('a caller who has gone before: no call', async () => {
    const { verifier } = finding()
    expect(await verdict(verifier, A, AbortSignal.abort(new Error('gone')))).toBe('Error: gone')
  })

  test('a hang: 503 at the deadline, the signal aborts, and the late answer is not believed', async () => {
    const { find, verifier, open } = gated()
    const first = verdict(verifier, A)
    await clock.advance(5)
    expect(await first).toBe(TIMEOUT)
    expect(find.mock.calls[0]?.[1].signal.aborted).toBe(true)
    open[0]?.()
    await clock.advance(0.5)
    expect(await verdict(verifier, A)).toBe(TIMEOUT)
    expect(find).toHaveBeenCalledTimes(1)
    await clock.advance(0.5)
    const second = verdict(verifier, A)
    await clock.advance(0)
    open[1]?.()
    expect(await second).toBe('accepted')
  })

  test('a timer that the platform has lost: the issuer is asked for again', async () => {
    const { find, verifier, open } = gated()
    const after = vi.spyOn(clock, 'after').mockReturnValue(() => {})
    void verdict(verifier, A)
    await clock.advance(7)
    after.mockRestore()
    const second = verdict(verifier, A)
    await clock.advance(0)
    expect(find).toHaveBeenCalledTimes(2)
    open[1]?.()
    expect(await second).toBe('accepted')
    // What the first one answers in the end is not believed.
    tenants.delete(A)
    open[0]?.()
    await clock.advance(0)
    expect(await verdict(verifier, A)).toBe('accepted')
  })
})

describe('a function that fails is an outage of one issuer', () => {
  test.each<readonly [string, FindVerifier]>([
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    ['rejects', async () => await Promise.reject(new Error('secret'))],
    [
      'rejects with a refusal of ours',
      async () => await Promise.reject(new AuthError('insufficient_scope', 'scope')),
    ],
    ['answers a text', (() => 'no verifier') as never],
    ['answers false', (() => false) as never],
    ['answers an empty object', (() => ({})) as never],
    [
      'answers an object whose members throw',
      (() =>
        new Proxy(
          {},
          {
            get() {
              throw new Error('secret')
            },
          },
        )) as never,
    ],
    ['answers a list', (() => [tenants.get(A)]) as never],
    ['answers a verifier of another issuer', () => tenants.get(B)],
    [
      'answers a verifier that accepts any issuer',
      () => createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null }),
    ],
  ])('%s: 503, and other issuers are well', async (_, fail) => {
    const { verifier } = finding((iss, context) =>
      iss === A ? fail(iss, context) : tenants.get(iss),
    )
    const error: unknown = await verifier.verify(await tokenOf(A)).catch((fault: unknown) => fault)
    expect(error).toMatchObject({ code: 'keys_unavailable', reason: 'unreachable', status: 503 })
    expect((error as AuthError).detail).toMatch(/^the function given to byIssuer /)
    expect((error as AuthError).detail).not.toMatch(/secret|a\.test/)
    expect((error as AuthError).headers).toMatchObject({ 'Retry-After': '1' })
    expect(await verdict(verifier, B)).toBe('accepted')
  })

  test('is left alone for a second, then called again', async () => {
    let isDown = true
    const { find, verifier } = finding((iss) => {
      if (isDown) throw new Error('down')
      return tenants.get(iss)
    })
    expect(await verdict(verifier, A)).toBe(UNREACHABLE)
    isDown = false
    expect(await verdict(verifier, A)).toBe(UNREACHABLE)
    expect(find).toHaveBeenCalledTimes(1)
    await clock.advance(1)
    expect(await verdict(verifier, A)).toBe('accepted')
  })

  test('each caller has a refusal of its own, with the cause', async () => {
    const fault = new Error('down')
    const { verifier } = finding(async () => await Promise.reject(fault))
    const token = await tokenOf(A)
    const errors = await Promise.all(
      [1, 2].map(async () => await verifier.verify(token).catch((error: unknown) => error)),
    )
    expect(errors[0]).not.toBe(errors[1])
    expect(errors.map((error) => (error as AuthError).cause)).toEqual([fault, fault])
  })
})

describe('an issuer that the function has no verifier for', () => {
  test.each([undefined, null])('%s: unknown_key, remembered apart from verifiers', async (none) => {
    const { find, verifier } = finding(() => none)
    expect(await verdict(verifier, A)).toBe(UNKNOWN)
    expect(await verdict(verifier, A)).toBe(UNKNOWN)
    expect(find).toHaveBeenCalledTimes(1)
  })

  test('created later: known once the miss has ended', async () => {
    const { verifier } = finding()
    const [c, created] = ['https://c.test', tenant('https://c.test')]
    expect(await verdict(verifier, c)).toBe(UNKNOWN)
    tenants.set(c, created)
    await clock.advance(59)
    expect(await verdict(verifier, c)).toBe(UNKNOWN)
    await clock.advance(1)
    expect(await verdict(verifier, c)).toBe('accepted')
  })

  test('created while the function was at work: the time of the miss began with the call', async () => {
    const { verifier, open } = gated()
    const c = 'https://c.test'
    const early = verdict(verifier, c)
    await clock.advance(4)
    const created = tenant(c)
    open[0]?.()
    expect(await early).toBe(UNKNOWN)
    tenants.set(c, created)
    await clock.advance(56)
    const late = verdict(verifier, c)
    await clock.advance(0)
    open[1]?.()
    expect(await late).toBe('accepted')
  })

  test('missAge 0: asked for each time', async () => {
    const { find, verifier } = finding(() => undefined, { missAge: 0 })
    await verdict(verifier, A)
    await verdict(verifier, A)
    expect(find).toHaveBeenCalledTimes(2)
  })
})

describe('the time of a verifier', () => {
  test.each([
    [0, 'current'],
    [299, 'current'],
    [300, 'due'],
    [599, 'due'],
    [600, 'over'],
    [NaN, 'over'],
  ])('after %s s of 600 it is %s', (age, word) => {
    expect(
      freshnessOf({ since: { wall: 0, monotonic: 0 } }, { wall: age, monotonic: 0 }, 600),
    ).toBe(word)
    expect(
      freshnessOf({ since: { wall: 0, monotonic: 0 } }, { wall: -5, monotonic: age }, 600),
    ).toBe(word)
  })

  test('first half: nobody is asked; second half: behind the requests, once', async () => {
    const { find, verifier, open } = gated()
    const first = verdict(verifier, A)
    await clock.advance(0)
    open[0]?.()
    await first
    await clock.advance(299)
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(1)
    await clock.advance(1)
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(2)
  })

  test('over while the call is under way: requests wait for that call', async () => {
    const { find, verifier, open } = gated()
    const first = verdict(verifier, A)
    await clock.advance(0)
    open[0]?.()
    await first
    await clock.advance(598)
    expect(await verdict(verifier, A)).toBe('accepted')
    await clock.advance(2)
    const waiting = verdict(verifier, A)
    await clock.advance(0)
    open[1]?.()
    expect(await waiting).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(2)
  })

  test('a tenant that is removed: unknown at the latest after maxAge, remembered tokens as well', async () => {
    const { verifier } = finding()
    expect(await verdict(verifier, A)).toBe('accepted')
    tenants.delete(A)
    await clock.advance(600)
    expect(await verdict(verifier, A)).toBe(UNKNOWN)
  })

  test('a tenant that is removed and asked for: unknown after the call behind a request', async () => {
    const { verifier } = finding()
    await verdict(verifier, A)
    tenants.delete(A)
    await clock.advance(SIX_MINUTES)
    await verdict(verifier, A)
    await clock.advance(0)
    expect(await verdict(verifier, A)).toBe(UNKNOWN)
  })

  test('an outage shorter than half of it is not noticed, a longer one is 503 and heals', async () => {
    let isDown = false
    const { verifier } = finding((iss) => {
      if (isDown) throw new Error('down')
      return tenants.get(iss)
    })
    await verdict(verifier, A)
    isDown = true
    const verdicts: string[] = []
    for (let at = 0; at < 600; at += 10) {
      await clock.advance(10)
      verdicts.push(await verdict(verifier, A))
    }
    expect(verdicts.slice(0, -1).every((each) => each === 'accepted')).toBe(true)
    expect(await verdict(verifier, A)).toBe(UNREACHABLE)
    isDown = false
    await clock.advance(1)
    expect(await verdict(verifier, A)).toBe('accepted')
  })

  test('while it is due and the function fails, it is called once a second at most', async () => {
    let isDown = false
    const { find, verifier } = finding((iss) => {
      if (isDown) throw new Error('down')
      return tenants.get(iss)
    })
    await verdict(verifier, A)
    isDown = true
    await clock.advance(SIX_MINUTES)
    for (let each = 0; each < 50; each++) {
      expect(await verdict(verifier, A)).toBe('accepted')
      await clock.advance(0.1)
    }
    expect(find.mock.calls.length).toBeLessThanOrEqual(7)
  })

  test('replaced while a token is judged: the new verifier judges it as well', async () => {
    const { slow, release } = slowly(tenant(A))
    const newer = vi.spyOn(tenant(A), 'verify')
    tenants.set(A, slow)
    const { verifier } = finding()
    const verdicts = verdict(verifier, A)
    await clock.advance(0)
    tenants.set(A, { ...slow, verify: newer })
    await clock.advance(600)
    release()
    await verdicts
    expect(newer).toHaveBeenCalledTimes(1)
  })

  test('removed while a token is judged: unknown_key', async () => {
    const { slow, release } = slowly(tenant(A))
    tenants.set(A, slow)
    const { verifier } = finding()
    const late = verdict(verifier, A)
    await clock.advance(0)
    tenants.delete(A)
    await clock.advance(600)
    release()
    expect(await late).toBe(UNKNOWN)
  })

  test.each([
    ['and the miss is over as well', false, [UNKNOWN]],
    ['and the function has failed since', true, [UNREACHABLE, UNREACHABLE]],
  ])('removed while a token is judged, %s: not accepted', async (_, fails, expected) => {
    const { slow, release } = slowly(tenant(A))
    tenants.set(A, slow)
    let isDown = false
    const { find, verifier } = finding(
      (iss) => {
        if (isDown) throw new Error('down')
        return tenants.get(iss)
      },
      { missAge: 2 },
    )
    const late = verdict(verifier, A)
    await clock.advance(300)
    tenants.delete(A)
    // It is due: the function is called behind this request.
    void verdict(verifier, A)
    await clock.advance(2)
    isDown = fails
    const others = fails ? [await verdict(verifier, A)] : []
    release()
    expect([...others, await late]).toEqual(expected)
    expect(find).toHaveBeenCalledTimes(3)
  })

  test('over while a token is judged, then revoked while the function is waited for: refused', async () => {
    const revocations = localRevocations({ clock })
    const keys = localKeys(issuer.publicJwk)
    const inner = createVerifier({ keys, issuer: A, audience: null, clock, revocations })
    const { once, release } = slowOnce(inner)
    tenants.set(A, once)
    const { verifier, open } = gated()
    const late = verdict(verifier, A)
    await clock.advance(0)
    open[0]?.()
    await clock.advance(600)
    release()
    await vi.waitFor(() => expect(open).toHaveLength(2), 60_000)
    await revocations.revokeBefore({ iss: A }, { time: clock.now() })
    open[1]?.()
    expect(await late).toBe('invalid_token revoked')
  })

  test('removed while the new verifier judges a token: unknown_key', async () => {
    const [first, second] = [slowOnce(tenant(A)), slowOnce(tenant(A))]
    tenants.set(A, first.once)
    const { find, verifier } = finding()
    const late = verdict(verifier, A)
    await clock.advance(0)
    tenants.set(A, second.once)
    await clock.advance(600)
    first.release()
    await vi.waitFor(() => expect(find).toHaveBeenCalledTimes(2), 60_000)
    tenants.delete(A)
    await clock.advance(600)
    second.release()
    expect(await late).toBe(UNKNOWN)
  })

  test('always over when a token has been judged: 503 after three times, and no endless work', async () => {
    const made: (() => void)[] = []
    const { find, verifier } = finding(() => {
      const { once, release } = slowOnce(tenant(A))
      made.push(release)
      return once
    })
    const late = verdict(verifier, A)
    for (let round = 0; round < 3; round++) {
      await vi.waitFor(() => expect(made).toHaveLength(round + 1), 60_000)
      await clock.advance(600)
      made[round]?.()
    }
    expect(await late).toBe(TIMEOUT)
    expect(find).toHaveBeenCalledTimes(3)
  })

  test('a wall clock that is set back makes no verifier younger', async () => {
    const { verifier } = finding()
    await verdict(verifier, A)
    tenants.delete(A)
    clock.set(clock.now() - 100)
    await clock.advance(600)
    expect(await verdict(verifier, A)).toBe(UNKNOWN)
  })
})

describe('a flood', () => {
  beforeAll(async () => {
    // Signing takes real time, which a flood must not.
    const strangers = Array.from({ length: 30 }, (_, at) => nobody(at))
    await Promise.all([A, B, 'https://c.test', ...strangers].map(tokenOf))
  })

  test('of issuers that nobody knows, while the function is slow: calls are limited, the others get 503, known tenants are well', async () => {
    const { find, verifier, open } = gated()
    const first = verdict(verifier, A)
    await clock.advance(0)
    open[0]?.()
    await first
    const flood = Array.from({ length: 30 }, async (_, at) => await verdict(verifier, nobody(at)))
    await clock.advance(1)
    expect(find).toHaveBeenCalledTimes(1 + 16)
    expect(await verdict(verifier, A)).toBe('accepted')
    for (const answer of open) answer()
    await clock.advance(5)
    const counts = new Map<string, number>()
    for (const each of await Promise.all(flood)) counts.set(each, (counts.get(each) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual({ [UNKNOWN]: 16, [TIMEOUT]: 14 })
  })

  test('of forged tokens of other tenants pushes a new tenant out while its token is judged: it is accepted, and known', async () => {
    const { once, release } = slowOnce(tenant(A))
    tenants.set(A, once)
    const { find, verifier } = finding(undefined, { max: 1 })
    const late = verdict(verifier, A)
    await clock.advance(0)
    const forged = await createTestIssuer({ clock })
    for (let round = 0; round < 4; round++) {
      const token = await forged.token({ claims: { iss: B } })
      expect(await verdictOf(verifier.verify(token))).toBe('invalid_token signature')
    }
    release()
    expect(await late).toBe('accepted')
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(2)
  })

  test('pushes a new tenant out, and its token is accepted during the next call: a verifier that is due causes no other', async () => {
    const { once, release } = slowOnce(tenant(A))
    tenants.set(A, once)
    let callsForA = 0
    const answer: FindVerifier = async (iss) => {
      if (iss === A) callsForA += 1
      return callsForA === 2 ? await new Promise<never>(() => {}) : tenants.get(iss)
    }
    const { verifier } = finding(answer, { max: 1, maxAge: 4 })
    const late = verdict(verifier, A)
    await clock.advance(0)
    const forged = await createTestIssuer({ clock })
    await verdictOf(verifier.verify(await forged.token({ claims: { iss: B } })))
    const during = verdict(verifier, A)
    await clock.advance(2)
    release()
    expect(await late).toBe('accepted')
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(callsForA).toBe(2)
    await clock.advance(3)
    expect(await during).toBe(TIMEOUT)
  })

  test('takes no call away from a known tenant whose verifier is due, or over', async () => {
    const hanging = new Set<string>()
    const { verifier } = finding(async (iss) =>
      hanging.has(iss) ? await new Promise<never>(() => {}) : tenants.get(iss),
    )
    await verdict(verifier, A)
    await clock.advance(600)
    for (let at = 0; at < 16; at++) hanging.add(nobody(at))
    const flood = Array.from({ length: 16 }, async (_, at) => await verdict(verifier, nobody(at)))
    await clock.advance(0)
    const newcomer = verdict(verifier, 'https://c.test')
    expect(await verdict(verifier, A)).toBe('accepted')
    await clock.advance(5)
    expect(new Set(await Promise.all(flood))).toEqual(new Set([TIMEOUT]))
    expect(await newcomer).toBe(UNKNOWN)
  })

  test('of tokens of many tenants at a cold start: all are accepted, with few calls at once', async () => {
    let [now, most] = [0, 0]
    const { verifier } = finding(async (iss) => {
      now++
      most = Math.max(most, now)
      await Promise.resolve()
      now--
      return tenant(iss)
    })
    const verdicts = Array.from(
      { length: 30 },
      async (_, at) => await verdict(verifier, nobody(at)),
    )
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['accepted']))
    expect(most).toBe(16)
  })

  test('a caller who leaves before a call was begun for it: none is', async () => {
    const { find, verifier } = finding(async () => await new Promise<never>(() => {}))
    const flood = Array.from({ length: 16 }, async (_, at) => await verdict(verifier, nobody(at)))
    const exit = new AbortController()
    const gone = verdict(verifier, A, exit.signal)
    const patient = verdict(verifier, B)
    await clock.advance(1)
    exit.abort(new Error('gone'))
    expect(await gone).toBe('Error: gone')
    await clock.advance(5)
    expect(new Set([...(await Promise.all(flood)), await patient])).toEqual(new Set([TIMEOUT]))
    expect(find.mock.calls.map(([iss]) => iss)).not.toContain(A)
  })

  test('that fills the room: 503 at once, and there is room again when they have gone', async () => {
    const { verifier } = finding(async () => await new Promise<never>(() => {}))
    const token = await issuer.token({ claims: { iss: A, x: 'x'.repeat(10_000) } })
    const flood = Array.from({ length: 1500 }, async () => await verdictOf(verifier.verify(token)))
    const error: unknown = await verifier.verify(token).catch((fault: unknown) => fault)
    expect((error as AuthError).detail).toContain('too many tokens wait for the function')
    await clock.advance(5)
    expect(new Set(await Promise.all(flood))).toEqual(new Set([TIMEOUT]))
  })

  test('of unknown issuers that fills the room takes no place away from a known tenant whose verifier is over', async () => {
    const { verifier } = finding(async (iss) =>
      iss === A ? tenants.get(A) : await new Promise<never>(() => {}),
    )
    await verdict(verifier, A)
    await clock.advance(600)
    const token = await issuer.token({ claims: { iss: B, x: 'x'.repeat(10_000) } })
    const small = await tokenOf(B) // these take what is left
    const flood = Array.from(
      { length: 1500 },
      async (_, at) => await verdictOf(verifier.verify(at < 1400 ? token : small)),
    )
    expect(await verdict(verifier, A)).toBe('accepted')
    await clock.advance(5)
    expect(new Set(await Promise.all(flood))).toEqual(new Set([TIMEOUT]))
  })

  test('of misses takes a bounded memory, and pushes no verifier out', async () => {
    const { find, verifier } = finding(undefined, { max: 2, maxMisses: 3 })
    await verdict(verifier, A)
    for (let at = 0; at < 10; at++) await verdict(verifier, nobody(at))
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(11)
    await verdict(verifier, nobody(9))
    expect(find).toHaveBeenCalledTimes(11)
    await verdict(verifier, nobody(0))
    expect(find).toHaveBeenCalledTimes(12)
  })

  test('of forged tokens that name real tenants pushes out no tenant that a token has proven', async () => {
    const names = Array.from({ length: 10 }, (_, at) => `https://tenant-${at}.test`)
    for (const name of names) tenants.set(name, tenant(name))
    const { find, verifier } = finding(undefined, { max: 2 })
    await verdict(verifier, A)
    await verdict(verifier, B)
    for (const name of names) {
      const [header, payload] = (await tokenOf(name)).split('.')
      const forged = `${header}.${payload}.${'A'.repeat(342)}`
      expect(await verdictOf(verifier.verify(forged))).toMatch(/^invalid_token /)
    }
    const calls = find.mock.calls.length
    expect([await verdict(verifier, A), await verdict(verifier, B)]).toEqual([
      'accepted',
      'accepted',
    ])
    expect(find).toHaveBeenCalledTimes(calls)
  })

  test('more tenants than max: the one used longest ago is asked for again', async () => {
    const { find, verifier } = finding(undefined, { max: 1 })
    await verdict(verifier, A)
    await verdict(verifier, B)
    expect(await verdict(verifier, A)).toBe('accepted')
    expect(find).toHaveBeenCalledTimes(3)
  })
})
