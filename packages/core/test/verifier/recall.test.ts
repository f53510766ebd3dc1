import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import {
  createTestIssuer,
  type ManualClock,
  manualClock,
  type TestIssuer,
} from '@portcullis/testing'
import { beforeEach, describe, expect, type Mock, test, vi } from 'vitest'

import type { Auth, Claims } from '../../src/claims/auth.ts'
import type { Schema } from '../../src/claims/schema.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { findAuth, getAuth } from '../../src/request/get-auth.ts'
import { checkGuardOptions } from '../../src/request/guard-options.ts'
import { authenticateRequest } from '../../src/request/http.ts'
import { localRevocations } from '../../src/revocation/local-revocations.ts'
import type { Revocations, RevocationStatus } from '../../src/revocation/revocations.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'
import type { VerifierOptions } from '../../src/verifier/verifier-options.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'

let clock: ManualClock
let issuer: TestIssuer
let options: TestIssuer['verifierOptions']
let token: string

beforeEach(async () => {
  clock = manualClock()
  issuer = await createTestIssuer({ clock })
  options = issuer.verifierOptions
  token = await issuer.token()
})

const requestOf = (authorization = `Bearer ${token}`) => ({ headers: { authorization } })

type Verdict = Auth<unknown> | Promise<Auth<unknown> | undefined> | undefined

function guardedBy(verifier: Verifier<unknown>, request = requestOf()): Verdict {
  const guard = checkGuardOptions(verifier, {})
  return authenticateRequest(verifier, request, guard, request)
}

const isAtOnce = (verdict: Verdict) => !(verdict instanceof Promise)

/** A verifier that has accepted the token once. */
async function knowing(more: Partial<VerifierOptions> = {}): Promise<Verifier> {
  const verifier = createVerifier({ ...options, ...more })
  await verifier.verify(token)
  return verifier
}

async function reasonOf(verdict: Verdict): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}

describe('a token that was accepted before', () => {
  test('is answered at once, and the request has its guard', async () => {
    const verifier = await knowing()
    const request = requestOf()
    const verdict = guardedBy(verifier, request)
    expect(verdict).toMatchObject({ token })
    expect(getAuth(request, verifier)).toBe(verdict)
  })

  test('and one that was not is answered by a promise, once', async () => {
    const verifier = createVerifier(options)
    const first = guardedBy(verifier)
    expect(isAtOnce(first)).toBe(false)
    await first
    expect(isAtOnce(guardedBy(verifier))).toBe(true)
  })

  test.each([
    ['bearer in lower case', () => `bearer ${token}`],
    ['two spaces', () => `Bearer  ${token}`],
  ])('with %s: the longer way, the same verdict', async (_, value) => {
    const verdict = guardedBy(await knowing(), requestOf(value()))
    expect(isAtOnce(verdict)).toBe(false)
    expect(await reasonOf(verdict)).toBe('accepted')
  })

  test.each([
    ['a space behind it', () => `Bearer ${token} `, 'malformed'],
    ['a comma and another token', () => `Bearer ${token}, Bearer ${token}`, 'repeated_header'],
    ['another character at the end', () => `Bearer ${token.slice(0, -4)}AAAA`, 'signature'],
    ['a character less', () => `Bearer ${token.slice(0, -1)}`, 'malformed'],
  ])('with %s is no such token', async (_, value, reason) => {
    expect(await reasonOf(guardedBy(await knowing(), requestOf(value())))).toBe(reason)
  })

  test('in one of two headers: repeated_header', async () => {
    const request = {
      ...requestOf(),
      rawHeaders: ['Authorization', `Bearer ${token}`, 'AUTHORIZATION', `Bearer ${token}`],
    }
    expect(await reasonOf(guardedBy(await knowing(), request))).toBe('repeated_header')
  })

  test('of another verifier: the longer way', async () => {
    await knowing()
    expect(isAtOnce(guardedBy(createVerifier(options)))).toBe(false)
  })

  test('that has expired since: refused by the longer way', async () => {
    const verifier = await knowing()
    await clock.advance(306)
    const verdict = guardedBy(verifier)
    expect(isAtOnce(verdict)).toBe(false)
    expect(await reasonOf(verdict)).toBe('expired')
  })

  test('whose key has left the document since: refused', async () => {
    const verifier = await knowing()
    await issuer.rotate()
    await clock.advance(1)
    await options.keys.refresh()
    expect(await reasonOf(guardedBy(verifier))).toBe('signature')
  })

  test('while the keys are stale: at once, and a refresh behind it', async () => {
    token = await issuer.token({ expiresIn: 10_000 })
    const verifier = await knowing()
    await clock.advance(400)
    expect(isAtOnce(guardedBy(verifier))).toBe(true)
    await clock.advance(0)
    expect(issuer.requests()).toHaveLength(2)
  })

  test('while the keys are too old to be used without asking: the longer way waits for them', async () => {
    token = await issuer.token({ expiresIn: 10_000 })
    const verifier = await knowing()
    await clock.advance(4000)
    const verdict = guardedBy(verifier)
    expect(isAtOnce(verdict)).toBe(false)
    expect(await reasonOf(verdict)).toBe('accepted')
  })

  test('with a clock that throws: the longer way rejects, and nothing is thrown at the adapter', async () => {
    const fault = new Error('no time')
    const now = vi.fn<() => number>(() => clock.now())
    const verifier = await knowing({ clock: { ...clock, now } })
    now.mockImplementation(() => {
      throw fault
    })
    await expect(Promise.resolve(guardedBy(verifier))).rejects.toBe(fault)
  })

  test('with nothing remembered: the longer way', async () => {
    expect(isAtOnce(guardedBy(await knowing({ remember: false })))).toBe(false)
  })
})

const refusing = async () => await Promise.reject<Auth>(new AuthError('invalid_token', 'claim'))

describe('whoever stands between a guard and the verifier is asked about each token', () => {
  test('a spy on verify', async () => {
    const verifier = await knowing()
    const spy = vi.spyOn(verifier, 'verify')
    await guardedBy(verifier)
    await guardedBy(verifier)
    expect(spy.mock.calls).toEqual([[token], [token]])
    spy.mockRestore()
    expect(isAtOnce(guardedBy(verifier))).toBe(true)
  })

  test('a stub in its place, from the very next request', async () => {
    const verifier = await knowing()
    expect(isAtOnce(guardedBy(verifier))).toBe(true)
    verifier.verify = refusing
    expect(await reasonOf(guardedBy(verifier))).toBe('claim')
  })

  test('a copy with a check of its own', async () => {
    const verifier = await knowing()
    expect(await reasonOf(guardedBy({ ...verifier, verify: refusing }))).toBe('claim')
  })

  test('an object made of the verifier, with a check of its own', async () => {
    const made = Object.create(await knowing(), { verify: { value: refusing } }) as Verifier
    expect(await reasonOf(guardedBy(made))).toBe('claim')
  })

  test('a proxy that answers for verify', async () => {
    const proxy = new Proxy(await knowing(), {
      get: (target, name): unknown => (name === 'verify' ? refusing : Reflect.get(target, name)),
    })
    expect(await reasonOf(guardedBy(proxy))).toBe('claim')
  })

  test('a proxy of verify itself', async () => {
    const verifier = await knowing()
    const asked: unknown[] = []
    // oxlint-disable-next-line typescript/unbound-method -- it needs no `this`
    verifier.verify = new Proxy(verifier.verify, {
      apply: async (verify, self, given: [string]) => {
        asked.push(given[0])
        return await Reflect.apply(verify, self, given)
      },
    })
    await guardedBy(verifier)
    expect(asked).toEqual([token])
  })

  test('a getter that answers with another function each time', async () => {
    const inner = await knowing()
    const verifier = {
      ready: async () => {},
      get verify() {
        return async (text: string) => await inner.verify(text)
      },
    }
    expect(isAtOnce(guardedBy(verifier))).toBe(false)
  })
})

const passing = (value: Claims) => ({ value: { sub: value.sub } })

describe('a schema is asked about a remembered token at each use', () => {
  let validate: Mock<(claims: Claims) => unknown>

  async function knowingWith(
    answer: (claims: Claims) => unknown,
    more: Partial<VerifierOptions> = {},
  ): Promise<Verifier<unknown>> {
    validate = vi.fn<(claims: Claims) => unknown>(answer)
    const schema = { '~standard': { version: 1, validate } } as unknown as Schema<unknown>
    const verifier = createVerifier({ ...options, ...more, schema })
    await verifier.verify(token)
    return verifier
  }

  test('one that answers at once: there is no promise, and each gets an output of its own', async () => {
    const verifier = await knowingWith(passing)
    const answers = [guardedBy(verifier), guardedBy(verifier)] as Auth<unknown>[]
    expect(answers.map(isAtOnce)).toEqual([true, true])
    const [one, other] = answers.map(({ claims }) => claims)
    expect(one).toEqual(other)
    expect(one).not.toBe(other)
    expect(validate).toHaveBeenCalledTimes(3)
    expect(validate.mock.calls.every(([claims]) => Object.isFrozen(claims))).toBe(true)
  })

  test('one that takes its time: waited for, and asked once a use', async () => {
    const verifier = await knowingWith(async (value) => passing(value))
    for (let use = 1; use <= 3; use++) {
      const answer = guardedBy(verifier)
      expect(isAtOnce(answer)).toBe(false)
      await answer
      expect(validate).toHaveBeenCalledTimes(use + 1)
    }
  })

  const later: [string, (claims: Claims) => unknown, string][] = [
    ['refuses', () => ({ issues: [{ message: 'no' }] }), 'claim'],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
      'Error: broken',
    ],
    ['answers in another shape', () => true, 'TypeError: schema: its validate'],
    ['refuses by a promise', async () => ({ issues: [] }), 'claim'],
    ['rejects', async () => await Promise.reject(new Error('broken')), 'Error: broken'],
    ['accepts by a promise', async (value) => passing(value), 'accepted'],
  ]

  test.each(later)(
    'one that %s from some use on: asked twice then, and once from then on',
    async (_, answer, verdict) => {
      const verifier = await knowingWith(passing)
      validate.mockImplementation(answer)
      for (const calls of [2, 1, 1]) {
        validate.mockClear()
        expect(await reasonOf(guardedBy(verifier))).toContain(verdict)
        expect(validate).toHaveBeenCalledTimes(calls)
      }
      validate.mockImplementation(passing)
      expect(await reasonOf(guardedBy(verifier))).toBe('accepted')
      expect(isAtOnce(guardedBy(verifier))).toBe(true)
    },
  )

  test('not about one that has expired', async () => {
    const verifier = await knowingWith(passing)
    await clock.advance(3600 * 24)
    validate.mockClear()
    expect(await reasonOf(guardedBy(verifier))).toBe('expired')
    expect(validate).not.toHaveBeenCalled()
  })

  describe('which may do anything meanwhile', () => {
    test('the token is revoked: refused', async () => {
      const revocations = localRevocations({ clock })
      token = await issuer.token({ claims: { jti: 'one' } })
      const verifier = await knowingWith(passing, { revocations })
      validate.mockImplementation((value) => {
        void revocations.revoke({ jti: 'one' })
        return passing(value)
      })
      expect(await reasonOf(guardedBy(verifier))).toBe('revoked')
    })

    test('the token expires: refused', async () => {
      const verifier = await knowingWith(passing)
      validate.mockImplementation((value) => {
        clock.set((value.exp ?? 0) + 60)
        return passing(value)
      })
      expect(await reasonOf(guardedBy(verifier))).toBe('expired')
    })

    test('the same token is guarded again: by the way that can wait, so that it has an end', async () => {
      const verifier = await knowingWith(passing)
      const inner: Verdict[] = []
      validate.mockImplementationOnce((value) => {
        inner.push(guardedBy(verifier))
        return passing(value)
      })
      expect(isAtOnce(guardedBy(verifier))).toBe(true)
      expect(inner.map(isAtOnce)).toEqual([false])
      expect(await inner[0]).toMatchObject({ token })
    })
  })
})

test('subscribers hear of a token that is answered at once, from the very next request', async () => {
  const verifier = await knowing()
  await clock.advance(1)
  const seen: unknown[] = []
  const listen = (message: unknown) => seen.push(message)
  subscribe('portcullis:verify', listen)
  expect(isAtOnce(guardedBy(verifier))).toBe(true)
  unsubscribe('portcullis:verify', listen)
  expect(isAtOnce(guardedBy(verifier))).toBe(true)
  const nothing = { code: undefined, reason: undefined, detail: undefined }
  expect(seen).toEqual([{ verifier, ...nothing, remembered: true, duration: 0 }])
})

describe('revocations are asked about a remembered token at each use', () => {
  test('one that answers at once is asked at once', async () => {
    const revocations = localRevocations({ clock })
    token = await issuer.token({ claims: { jti: 'one' } })
    const verifier = await knowing({ revocations })
    expect(isAtOnce(guardedBy(verifier))).toBe(true)
    await revocations.revoke({ jti: 'one' })
    expect(await reasonOf(guardedBy(verifier))).toBe('revoked')
    expect(await reasonOf(guardedBy(verifier))).toBe('revoked')
  })

  test('one that does not know: refused', async () => {
    let answer: RevocationStatus = 'valid'
    const verifier = await knowing({ revocations: { statusOf: () => answer } })
    expect(isAtOnce(guardedBy(verifier))).toBe(true)
    answer = 'unknown'
    expect(await reasonOf(guardedBy(verifier))).toBe('stale')
    answer = 'valid'
    expect(isAtOnce(guardedBy(verifier))).toBe(true)
  })

  test('one that throws: refused, and nothing is thrown at the adapter', async () => {
    const statusOf = vi.fn<Revocations['statusOf']>(() => 'valid')
    const verifier = await knowing({ revocations: { statusOf } })
    statusOf.mockImplementation(() => {
      throw new Error('a bug')
    })
    expect(await reasonOf(guardedBy(verifier))).toBe('stale')
  })

  test('one that takes its time: the longer way, and it is asked once for each request', async () => {
    const statusOf = vi.fn<Revocations['statusOf']>(async () => await Promise.resolve('valid'))
    const verifier = await knowing({ revocations: { statusOf } })
    const verdict = guardedBy(verifier)
    expect(isAtOnce(verdict)).toBe(false)
    expect(await reasonOf(verdict)).toBe('accepted')
    expect(statusOf).toHaveBeenCalledTimes(2)
  })

  test('one that begins to take its time: what it rejects with is handled', async () => {
    const statusOf = vi.fn<Revocations['statusOf']>(() => 'valid')
    const verifier = await knowing({ revocations: { statusOf } })
    statusOf.mockImplementation(async () => await Promise.reject(new Error('down')))
    expect(await reasonOf(guardedBy(verifier))).toBe('stale')
  })

  test('a token that is no longer in time is not asked about', async () => {
    const statusOf = vi.fn<Revocations['statusOf']>(() => 'valid')
    const verifier = await knowing({ revocations: { statusOf } })
    await clock.advance(4000)
    expect(await reasonOf(guardedBy(verifier))).toBe('expired')
    expect(statusOf).toHaveBeenCalledTimes(1)
  })

  test('a spy on statusOf is heard from the next request on', async () => {
    const revocations = localRevocations({ clock })
    const verifier = await knowing({ revocations })
    vi.spyOn(revocations, 'statusOf').mockReturnValue('revoked')
    expect(await reasonOf(guardedBy(verifier))).toBe('revoked')
  })
})

describe('the guard of a request', () => {
  test('is found by the request alone, not by a copy, a proxy or an heir of it', async () => {
    const verifier = await knowing()
    const request = requestOf()
    await guardedBy(verifier, request)
    for (const other of [
      { ...request },
      new Proxy(request, {}),
      Object.create(request) as object,
    ]) {
      expect(() => findAuth(other)).toThrow(TypeError)
    }
    expect(findAuth(request)).toMatchObject({ token })
  })

  test('leaves no trace that others can read or write', async () => {
    const request = requestOf()
    await guardedBy(await knowing(), request)
    expect(Reflect.ownKeys(request)).toEqual(['headers'])
  })

  test.each([undefined, null, 'text', 5])('of %s, which is no request: TypeError', (subject) => {
    expect(() => findAuth(subject as never)).toThrow('no guard has seen the request')
  })
})
