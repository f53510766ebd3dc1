import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import type { Clock, Instant } from '@portcullis/kit/time'
import {
  createTestIssuer,
  type ManualClock,
  manualClock,
  type TestIssuer,
} from '@portcullis/testing'
import { beforeEach, describe, expect, test, vi } from 'vitest'

import type { Claims } from '../../src/claims/auth.ts'
import type { Schema } from '../../src/claims/schema.ts'
import {
  type Caller,
  keySource,
  type KeySourceMethods,
  methodsOf,
} from '../../src/keys/key-source.ts'
import { localKeys } from '../../src/keys/local-keys.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { localRevocations } from '../../src/revocation/local-revocations.ts'
import type { Revocations } from '../../src/revocation/revocations.ts'
import { digestOf } from '../../src/revocation/token-digest.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'
import type { SchemaOptions, VerifierOptions } from '../../src/verifier/verifier-options.ts'
import type { Verifier, VerifyOptions } from '../../src/verifier/verifier.ts'

let clock: ManualClock
let issuer: TestIssuer
let token: string

beforeEach(async () => {
  clock = manualClock()
  issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  token = await issuer.token({ claims: { jti: 'one', sub: 'ann' } })
})

type StatusOf = (claims: Claims, now: number, digest: string) => unknown

type Options = Partial<VerifierOptions & SchemaOptions<unknown>>

function guarding(revocations: Revocations, more: Options = {}): Verifier<unknown> {
  return createVerifier({ ...issuer.verifierOptions, clock, revocations, ...more } as never)
}

/** A source that answers whatever the test wants. */
function answering(statusOf: StatusOf): Revocations {
  return { statusOf: statusOf as Revocations['statusOf'] }
}

/** Answers that the test gives by and by. */
function late() {
  const answers: { give(status: unknown): void; fail(error: unknown): void }[] = []
  const source = answering(
    async () =>
      await new Promise((resolve, reject) => {
        answers.push({ give: resolve, fail: reject })
      }),
  )
  return { answers, source }
}

async function outcomeOf(verdict: Promise<unknown>): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}

/** Lets promises go on as far as they can. */
async function settle(): Promise<void> {
  for (let count = 0; count < 5; count++) await clock.advance(0)
}

async function underWay(verifier: Verifier<unknown>, options?: VerifyOptions) {
  const outcome = outcomeOf(verifier.verify(token, options))
  await settle()
  return outcome
}

describe('a revoked token', () => {
  test('is 401 with a description, from then on', async () => {
    const revocations = localRevocations({ clock })
    const verifier = guarding(revocations)
    const auth = await verifier.verify(token)
    await revocations.revoke(auth)
    for (const _ of [1, 2]) {
      await expect(verifier.verify(token)).rejects.toMatchObject({
        code: 'invalid_token',
        reason: 'revoked',
        status: 401,
        message: 'The access token has been revoked',
      })
    }
  })

  test('is refused when it comes for the first time, too', async () => {
    const revocations = localRevocations({ clock })
    await revocations.revokeBefore({ sub: 'ann', iss: undefined }, { time: clock.now() + 1 })
    expect(await outcomeOf(guarding(revocations).verify(token))).toBe('revoked')
  })

  test('costs no further signature check, and is good again when the entry has lapsed', async () => {
    const revocations = localRevocations({ clock })
    const verifier = guarding(revocations)
    await revocations.revokeBefore(
      { sub: 'ann' },
      { time: clock.now() + 1, until: clock.now() + 10 },
    )
    const remembered: unknown[] = []
    const listen = (message: unknown) => {
      remembered.push(Reflect.get(Object(message), 'remembered'))
    }
    subscribe('portcullis:verify', listen)
    expect(await outcomeOf(verifier.verify(token))).toBe('revoked')
    expect(await outcomeOf(verifier.verify(token))).toBe('revoked')
    await clock.advance(10)
    expect(await outcomeOf(verifier.verify(token))).toBe('accepted')
    unsubscribe('portcullis:verify', listen)
    expect(remembered).toEqual([false, true, true])
  })

  test('does not matter to a verifier without the option', async () => {
    const verifier = createVerifier({ ...issuer.verifierOptions, clock })
    expect(await outcomeOf(verifier.verify(token))).toBe('accepted')
  })

  test('that has expired is expired: claims are judged first, and nobody is asked', async () => {
    const statusOf = vi.fn<StatusOf>(() => 'revoked')
    const verifier = guarding(answering(statusOf))
    const [old, foreign] = [
      await issuer.token({ expiresIn: -60 }),
      await (await createTestIssuer({ clock, algorithm: 'ES256' })).token(),
    ]
    expect(await outcomeOf(verifier.verify(old))).toBe('expired')
    expect(await outcomeOf(verifier.verify(foreign))).toMatch(/signature|unknown_key/)
    expect(await outcomeOf(guarding(answering(statusOf), { type: 'at+jwt' }).verify(token))).toBe(
      'type',
    )
    expect(statusOf).not.toHaveBeenCalled()
  })
})

test('the source is given the claims as signed, the time of the verifier, and the digest of the token', async () => {
  const statusOf = vi.fn<StatusOf>(() => 'valid')
  const schema: Schema<unknown> = {
    '~standard': { version: 1, validate: () => ({ value: { made: 'otherwise' } }) },
  }
  const verifier = guarding(answering(statusOf), { schema })
  expect((await verifier.verify(token)).claims).toEqual({ made: 'otherwise' })
  expect(statusOf.mock.calls).toEqual([
    [expect.objectContaining({ jti: 'one' }), clock.now(), digestOf(token)],
  ])
})

describe('503 with Retry-After, and the cause for us alone: a source that', () => {
  const fault = new Error('secret')

  test.each<[what: string, statusOf: StatusOf, cause: unknown, detail: RegExp]>([
    [
      'answers unknown',
      () => 'unknown',
      undefined,
      /^revocations answered unknown: what they know/,
    ],
    [
      'throws',
      () => {
        throw fault
      },
      fault,
      /^revocations failed/,
    ],
    ['rejects', async () => await Promise.reject(fault), fault, /^revocations failed/],
    ['resolves with unknown', async () => await Promise.resolve('unknown'), undefined, /unknown/],
    ['answers nothing', () => undefined, undefined, /answered with undefined; it must be/],
    ['answers true', () => true, undefined, /answered with a boolean; it must be/],
    ['answers another word', () => 'VALID', undefined, /answered with a string; it must be/],
    ['answers an object', () => ({ status: 'valid' }), undefined, /answered with an object/],
    ['answers a boxed word', () => Object('valid') as unknown, undefined, /with an object/],
    ['answers a function', () => () => 'valid', undefined, /answered with a function/],
    ['resolves with null', async () => await Promise.resolve(null), undefined, /with null/],
    [
      'answers what throws when it is awaited',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- applications do
        get then() {
          throw fault
        },
      }),
      fault,
      /^revocations failed/,
    ],
  ])('%s', async (_what, statusOf, cause, detail) => {
    const verifier = guarding(answering(statusOf))
    // As a new token, and as one that is remembered.
    for (const _ of [1, 2]) {
      const error: unknown = await verifier.verify(token).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'revocation_unavailable', reason: 'stale', status: 503 })
      expect(error).toHaveProperty('detail', expect.stringMatching(detail))
      const { headers, cause: private_ } = error as AuthError
      expect({ ...headers }).toEqual({ 'Retry-After': '1', 'Cache-Control': 'no-store' })
      expect(private_).toBe(cause)
      expect(JSON.stringify(error)).not.toContain('secret')
    }
  })

  test('takes more than a second, and it is heard no more', async () => {
    const { answers, source } = late()
    const verifier = guarding(source)
    const outcome = underWay(verifier)
    await clock.advance(0.99)
    answers[0]?.give('valid')
    expect(await outcome).toBe('accepted')
    const second = underWay(verifier)
    await clock.advance(1)
    expect(await second).toBe('stale')
    answers[1]?.fail(new Error('too late, and no unhandled rejection'))
    await settle()
  })
})

function thenable(word: string): object {
  // oxlint-disable-next-line unicorn/no-thenable -- that is what is tried
  return { then: (done: (value: string) => void) => done(word) }
}

test('the word may come from anything that can be awaited', async () => {
  expect(await outcomeOf(guarding(answering(() => thenable('valid'))).verify(token))).toBe(
    'accepted',
  )
  expect(await outcomeOf(guarding(answering(() => thenable('revoked'))).verify(token))).toBe(
    'revoked',
  )
})

/** A schema that is done when the test says so. */
function slow() {
  const done: (() => void)[] = []
  const schema: Schema<unknown> = {
    '~standard': {
      version: 1,
      validate: async (value) =>
        await new Promise((resolve) => {
          done.push(() => resolve({ value }))
        }),
    },
  }
  return { done, schema }
}

/** Keys that the test replaces, or makes everybody wait for. */
async function changing() {
  const other = await createTestIssuer({ clock, algorithm: 'ES256' })
  const trusted = methodsOf(localKeys(issuer.publicJwk))
  const waits: (() => void)[] = []
  const state: { source: KeySourceMethods; mustWait: boolean } = {
    source: trusted,
    mustWait: false,
  }
  const keys = keySource({
    ...trusted,
    now: () => ({ wall: clock.now(), monotonic: clock.monotonic() }),
    current: (now: Instant) => (state.mustWait ? undefined : state.source.current(now)),
    async wait(caller: Caller) {
      await new Promise<void>((resolve) => {
        waits.push(resolve)
      })
      return await state.source.wait(caller)
    },
  })
  return { keys, state, waits, others: methodsOf(localKeys(other.publicJwk)) }
}

describe('an answer from before a wait is not believed after it', () => {
  test('revoked while a schema is at work: refused', async () => {
    const revocations = localRevocations({ clock })
    const { done, schema } = slow()
    const outcome = underWay(guarding(revocations, { schema }))
    await vi.waitFor(() => expect(done).toHaveLength(1), 60_000)
    await revocations.revoke({ jti: 'one' })
    done[0]?.()
    expect(await outcome).toBe('revoked')
  })

  test('expired while the source was at work: refused', async () => {
    token = await issuer.token({ expiresIn: 100 })
    const { answers, source } = late()
    const verifier = guarding(source, { clockTolerance: 0 })
    await clock.advance(99.5)
    const outcome = underWay(verifier)
    await vi.waitFor(() => expect(answers).toHaveLength(1), 60_000)
    await clock.advance(0.5)
    answers[0]?.give('valid')
    expect(await outcome).toBe('expired')
  })

  test('the key withdrawn while the source was at work: refused', async () => {
    const { keys, state, others } = await changing()
    const { answers, source } = late()
    const outcome = underWay(guarding(source, { keys }))
    await vi.waitFor(() => expect(answers).toHaveLength(1), 60_000)
    state.source = others
    answers[0]?.give('valid')
    expect(await outcome).toBe('signature')
  })

  test('keys to be waited for once more, after the source has answered: it is asked again', async () => {
    const { keys, state, waits } = await changing()
    const { answers, source } = late()
    const outcome = underWay(guarding(source, { keys }))
    await vi.waitFor(() => expect(answers).toHaveLength(1), 60_000)
    state.mustWait = true
    answers[0]?.give('valid')
    await vi.waitFor(() => expect(waits).toHaveLength(1), 60_000)
    state.mustWait = false
    waits[0]?.()
    await vi.waitFor(() => expect(answers).toHaveLength(2), 60_000)
    answers[1]?.give('revoked')
    expect(await outcome).toBe('revoked')
  })

  test('revoked while keys are waited for: refused', async () => {
    const { keys, state, waits } = await changing()
    const revocations = localRevocations({ clock })
    const verifier = guarding(revocations, { keys })
    await verifier.verify(token)
    state.mustWait = true
    const outcome = underWay(verifier)
    await vi.waitFor(() => expect(waits).toHaveLength(1), 60_000)
    await revocations.revoke({ jti: 'one' })
    state.mustWait = false
    waits[0]?.()
    expect(await outcome).toBe('revoked')
  })
})

describe('the signal of a caller', () => {
  test('ends the wait for a source, and what comes of it is no unhandled rejection', async () => {
    const { answers, source } = late()
    const controller = new AbortController()
    const verdict = guarding(source).verify(token, { signal: controller.signal })
    const outcome = outcomeOf(verdict)
    await vi.waitFor(() => expect(answers).toHaveLength(1), 60_000)
    controller.abort(new Error('gone'))
    expect(await outcome).toBe('Error: gone')
    answers[0]?.fail(new Error('nobody hears it'))
    await settle()
  })

  test('that has ended before ends it at once; a source that needs no wait is heard', async () => {
    const signal = AbortSignal.abort(new Error('gone'))
    const { source } = late()
    await issuer.verifierOptions.keys.refresh()
    expect(await outcomeOf(guarding(source).verify(token, { signal }))).toBe('Error: gone')
    const verifier = guarding(answering(() => 'revoked'))
    expect(await outcomeOf(verifier.verify(token, { signal }))).toBe('revoked')
  })

  test('leaves no listener and no timer behind', async () => {
    const { answers, source } = late()
    const { signal } = new AbortController()
    const [added, removed] = [
      vi.spyOn(signal, 'addEventListener'),
      vi.spyOn(signal, 'removeEventListener'),
    ]
    let timers = 0
    const counting: Clock = {
      ...clock,
      after(seconds, fn) {
        timers += 1
        const cancel = clock.after(seconds, fn)
        return () => {
          timers -= 1
          cancel()
        }
      },
    }
    const outcome = outcomeOf(guarding(source, { clock: counting }).verify(token, { signal }))
    await vi.waitFor(() => expect(answers).toHaveLength(1), 60_000)
    expect(timers).toBe(1)
    answers[0]?.give('valid')
    expect(await outcome).toBe('accepted')
    expect(timers).toBe(0)
    expect(added.mock.calls.length).toBe(removed.mock.calls.length)
  })
})

describe('ready', () => {
  const source = answering(() => 'valid')

  test('waits for keys, then for the revocations', async () => {
    const calls: string[] = []
    const fetched = vi.spyOn(methodsOf(issuer.verifierOptions.keys), 'wait')
    const ready = async () => {
      calls.push(`after ${fetched.mock.calls.length} fetch`)
      await Promise.resolve()
    }
    await guarding({ ...source, ready }).ready()
    expect(calls).toEqual(['after 1 fetch'])
  })

  test('resolves where the source has nothing to say about it', async () => {
    await expect(guarding(source).ready()).resolves.toBeUndefined()
    await expect(guarding(localRevocations()).ready()).resolves.toBeUndefined()
  })

  test.each([
    ['rejects', async () => await Promise.reject(new Error('secret'))],
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
  ])('is refused with 503 if the source %s', async (_, ready) => {
    await expect(guarding({ ...source, ready }).ready()).rejects.toMatchObject({
      code: 'revocation_unavailable',
      reason: 'stale',
      cause: { message: 'secret' },
    })
  })

  test('is refused with 503 after 30 s if the source hangs, and asks anew the next time', async () => {
    let calls = 0
    const ready = async () => {
      calls += 1
      if (calls === 1) await new Promise<never>(() => {})
    }
    const verifier = guarding({ ...source, ready })
    const refusal = verifier.ready().catch((error: unknown) => error)
    await clock.advance(30)
    expect(await refusal).toMatchObject({ code: 'revocation_unavailable', reason: 'stale' })
    await expect(verifier.ready()).resolves.toBeUndefined()
    expect(calls).toBe(2)
  })

  test('takes a source whose ready resolves with something', async () => {
    await expect(
      guarding({ ...source, ready: async () => await Promise.resolve('PONG') }).ready(),
    ).resolves.toBeUndefined()
  })

  test('leaves a refusal of the source as it is', async () => {
    const refusal = new AuthError('revocation_unavailable', 'stale', () => 'no snapshot yet')
    const ready = async () => await Promise.reject(refusal)
    await expect(guarding({ ...source, ready }).ready()).rejects.toBe(refusal)
  })
})

test.each([
  ['nothing to ask', {}],
  ['no functions', { statusOf: 'valid' }],
  ['something else in place of ready', { ...localRevocations(), ready: true }],
  ['something else in place of subscribe', { ...localRevocations(), subscribe: null }],
  ['something else in place of whyUnknown', { ...localRevocations(), whyUnknown: 'down' }],
  ['a list', ['jti']],
])('revocations with %s are a TypeError at start-up', (_, revocations) => {
  expect(() => guarding(revocations as never)).toThrow(
    'createVerifier: revocations must have the function statusOf',
  )
})

describe('a source that says why it does not know', () => {
  const OWN = 'revocations answered unknown: '
  const USUAL = `${OWN}what they know is too old, or they know nothing yet`

  test.each<[what: string, whyUnknown: () => unknown, detail: string]>([
    ['in words', () => 'the table is empty', `${OWN}the table is empty`],
    ['in words for a terminal', () => 'a\u001B[2Jb', `${OWN}a\\u001b[2Jb`],
    ['with nothing', () => undefined, USUAL],
    ['with an empty text', () => '', USUAL],
    ['with a number', () => 7, USUAL],
    ['with a promise that rejects', async () => await Promise.reject(new Error('secret')), USUAL],
    [
      'by throwing',
      () => {
        throw new Error('secret')
      },
      USUAL,
    ],
  ])('%s: the detail repeats words, and nothing else', async (_, whyUnknown, detail) => {
    const asked = vi.fn<() => unknown>(whyUnknown)
    for (const statusOf of [() => 'unknown', async () => await Promise.resolve('unknown')]) {
      const verifier = guarding({ statusOf, whyUnknown: asked } as Revocations)
      const error: unknown = await verifier.verify(token).catch((thrown: unknown) => thrown)
      expect((error as AuthError).detail).toBe(detail)
      expect(error).toMatchObject({ code: 'revocation_unavailable', reason: 'stale' })
      expect(JSON.stringify(error)).not.toMatch(/empty|secret/)
    }
    expect(asked).toHaveBeenCalledTimes(2)
  })

  test('is not asked about a token that it knows', async () => {
    const whyUnknown = vi.fn<() => string>()
    const answers = ['valid', 'revoked'] as const
    for (const answer of answers) {
      await outcomeOf(guarding({ statusOf: () => answer, whyUnknown }).verify(token))
    }
    expect(whyUnknown).not.toHaveBeenCalled()
  })
})

test('verdicts are observed as others are', async () => {
  const revocations = localRevocations({ clock })
  const verifier = guarding(revocations)
  const seen: unknown[] = []
  const listen = (message: unknown) => seen.push(message)
  subscribe('portcullis:verify', listen)
  await verifier.verify(token)
  await revocations.revoke({ jti: 'one' })
  await outcomeOf(verifier.verify(token))
  await outcomeOf(guarding(answering(() => 'unknown')).verify(token))
  unsubscribe('portcullis:verify', listen)
  expect(seen).toMatchObject([
    { code: undefined, remembered: false },
    { code: 'invalid_token', reason: 'revoked', remembered: true },
    { code: 'revocation_unavailable', reason: 'stale', remembered: false },
  ])
})
