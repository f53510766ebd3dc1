import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { createTestIssuer, manualClock, type ManualClock } from '@portcullis/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { checkGuardOptions, hasPassed, isAtOnce } from '../../src/adapter.ts'
import {
  type Auth,
  AuthError,
  authenticateRequest,
  byIssuer,
  createVerifier,
  getAuth,
  localKeys,
  type Verifier,
  type VerifyMessage,
  watchToken,
} from '../../src/index.ts'

const A = 'https://a.test'
const B = 'https://b.test'

const issuer = await createTestIssuer({ clock: manualClock(), issuer: A })
const token = await issuer.token({ expiresIn: 86_400 })
const ofB = await issuer.token({ claims: { iss: B }, expiresIn: 86_400 })

let clock: ManualClock
let a: Verifier
let b: Verifier

beforeEach(() => {
  clock = manualClock()
  ;[a, b] = [verifierOf(A), verifierOf(B)]
})

function verifierOf(iss: string): Verifier {
  return createVerifier({
    keys: localKeys(issuer.publicJwk),
    issuer: iss,
    audience: null,
    clock,
  })
}

function guardedBy(verifier: Verifier<unknown>, text = token) {
  const request = { headers: { authorization: `Bearer ${text}` } }
  return authenticateRequest(verifier, request, checkGuardOptions(verifier, {}), request)
}

/** Whether the token is answered without a promise. */
async function atOnce(verifier: Verifier<unknown>, text = token): Promise<boolean> {
  const answer = guardedBy(verifier, text)
  if (isAtOnce(answer)) return true
  await answer
  return false
}

async function reasonOf(verdict: unknown): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}

const refusing = async () => await Promise.reject<Auth>(new AuthError('invalid_token', 'claim'))

describe('a token that was accepted before', () => {
  test('is answered at once, by the verifier of its issuer', async () => {
    const verifier = byIssuer({ [A]: a, [B]: b })
    expect([await atOnce(verifier), await atOnce(verifier)]).toEqual([false, true])
    expect([await atOnce(verifier, ofB), await atOnce(verifier, ofB)]).toEqual([false, true])
  })

  test('of a function as well, and of a byIssuer in another', async () => {
    const verifier = byIssuer(() => byIssuer({ [A]: a }), { clock })
    expect([await atOnce(verifier), await atOnce(verifier)]).toEqual([false, true])
  })

  test('by the verifier alone, not through byIssuer: the longer way, once', async () => {
    await a.verify(token)
    const verifier = byIssuer({ [A]: a })
    expect([await atOnce(verifier), await atOnce(verifier)]).toEqual([false, true])
  })

  test('with remember: false: the longer way', async () => {
    const verifier = byIssuer({ [A]: a }, { remember: false })
    expect([await atOnce(verifier), await atOnce(verifier)]).toEqual([false, false])
  })

  test('beyond what is remembered: the longer way, without a second signature check', async () => {
    const verifier = byIssuer({ [A]: a, [B]: b }, { remember: { max: 1 } })
    await verifier.verify(token)
    await verifier.verify(ofB)
    const seen = await published(async () => await verifier.verify(token))
    expect(seen).toMatchObject([{ verifier: a, remembered: true }])
    expect(await atOnce(verifier, ofB)).toBe(false)
  })

  test('one character different: no such token', async () => {
    const verifier = byIssuer({ [A]: a })
    await verifier.verify(token)
    const other = `${token.slice(0, -8)}AAAAAAAA`
    expect(await reasonOf(guardedBy(verifier, other))).toBe('signature')
  })

  test('that has expired: refused by the longer way', async () => {
    const verifier = byIssuer({ [A]: a })
    await verifier.verify(token)
    await clock.advance(90_000)
    expect(await reasonOf(guardedBy(verifier))).toBe('expired')
  })

  test('of a tenant that is removed: no longer at once, and refused', async () => {
    const tenants = new Map([[A, a]])
    const verifier = byIssuer((iss) => tenants.get(iss), { clock })
    await verifier.verify(token)
    expect(await atOnce(verifier)).toBe(true)
    tenants.delete(A)
    await clock.advance(600)
    expect(await reasonOf(guardedBy(verifier))).toBe('unknown_key')
  })

  test('of a verifier that others have pushed out: found again, forged tokens of others do not push it out', async () => {
    const [names, isDown] = [
      [A, B, 'https://c.test', 'https://d.test', 'https://e.test'],
      new Set(),
    ]
    const verifiers = new Map(names.map((name) => [name, verifierOf(name)]))
    const find = vi.fn<(iss: string) => Verifier | undefined>((iss) => {
      if (isDown.has(iss)) throw new Error('down')
      return verifiers.get(iss)
    })
    const verifier = byIssuer(find, { clock, max: 2 })
    const tokens = await Promise.all(
      names.map(async (iss) => await issuer.token({ claims: { iss }, expiresIn: 86_400 })),
    )
    const [, , ofC = '', ofD = '', ofE = ''] = tokens
    for (const each of [token, ofB, ofC]) await verifier.verify(each)
    const forge = async (text: string) =>
      await reasonOf(verifier.verify(`${text.slice(0, -8)}AAAAAAAA`))
    expect(await forge(token)).toBe('signature')
    expect(await atOnce(verifier)).toBe(true)
    expect([await forge(ofD), await forge(ofE)]).toEqual(['signature', 'signature'])
    isDown.add(A)
    find.mockClear()
    expect(await atOnce(verifier)).toBe(true)
    expect(find).not.toHaveBeenCalled()
  })

  test('by a verifier that the function has replaced: the new one is asked', async () => {
    const tenants = new Map([[A, a]])
    const verifier = byIssuer((iss) => tenants.get(iss), { clock })
    await verifier.verify(token)
    const newer = { ...verifierOf(A), verify: vi.fn<Verifier['verify']>(refusing) }
    tenants.set(A, newer)
    await clock.advance(600)
    expect(await reasonOf(guardedBy(verifier))).toBe('claim')
    expect(newer.verify).toHaveBeenCalledTimes(1)
  })
})

describe('whoever stands before a verifier, or before byIssuer, is asked about each token', () => {
  test('a spy on the verifier, which is there for a while', async () => {
    const verifier = byIssuer({ [A]: a })
    await verifier.verify(token)
    const spy = vi.spyOn(a, 'verify')
    await guardedBy(verifier)
    await guardedBy(verifier)
    expect(spy).toHaveBeenCalledTimes(2)
    spy.mockRestore()
    expect(await atOnce(verifier)).toBe(true)
  })

  test('a stub in its place, from the very next request', async () => {
    const verifier = byIssuer({ [A]: a })
    await verifier.verify(token)
    a.verify = refusing
    expect(await reasonOf(guardedBy(verifier))).toBe('claim')
  })

  test.each<readonly [string, (inner: Verifier) => Verifier]>([
    ['a copy', (inner) => ({ ...inner, verify: refusing })],
    [
      'an object made of it',
      (inner) => Object.create(inner, { verify: { value: refusing } }) as Verifier,
    ],
    [
      'a proxy',
      (inner) =>
        new Proxy(inner, {
          get: (target, name): unknown =>
            name === 'verify' ? refusing : Reflect.get(target, name),
        }),
    ],
  ])('%s with a check of its own', async (_, wrap) => {
    await a.verify(token)
    expect(await reasonOf(guardedBy(byIssuer({ [A]: wrap(a) })))).toBe('claim')
    const verifier = byIssuer({ [A]: a })
    await verifier.verify(token)
    expect(await reasonOf(guardedBy(wrap(verifier)))).toBe('claim')
  })

  test('a schema, which runs on each use', async () => {
    const validate = vi.fn<(value: unknown) => { value: unknown }>((value) => ({ value }))
    const schema = { '~standard': { version: 1, validate } } as const
    const keys = localKeys(issuer.publicJwk)
    const verifier = byIssuer({
      [A]: createVerifier({ keys, issuer: A, audience: null, clock, schema }),
    })
    expect([await atOnce(verifier), await atOnce(verifier)]).toEqual([false, true])
    expect(validate).toHaveBeenCalledTimes(2)
  })

  test('a subscriber to verdicts, from the very next request', async () => {
    const verifier = byIssuer({ [A]: a })
    await verifier.verify(token)
    const seen = await published(async () => await guardedBy(verifier))
    expect(seen).toMatchObject([{ verifier: a, code: undefined, remembered: true }])
    expect(await atOnce(verifier)).toBe(true)
  })
})

describe('diagnostics', () => {
  test('each token is published once: by its verifier, or by byIssuer if it reaches none', async () => {
    const verifier = byIssuer({ [A]: a, [B]: b })
    const stranger = await issuer.token({ claims: { iss: 'https://c.test' } })
    const forged = `${token.slice(0, -8)}AAAAAAAA`
    const seen = await published(async () => {
      for (const text of [token, ofB, stranger, forged, 'a.b.c']) {
        await reasonOf(verifier.verify(text))
      }
    })
    expect(
      seen.map(({ verifier: by, reason }) => [
        by === verifier ? 'byIssuer' : by === a ? 'a' : 'b',
        reason,
      ]),
    ).toEqual([
      ['a', undefined],
      ['b', undefined],
      ['byIssuer', 'unknown_key'],
      ['a', 'signature'],
      ['byIssuer', 'malformed'],
    ])
    expect(JSON.stringify(seen)).not.toContain('c.test')
    expect(seen.every(({ duration }) => duration >= 0)).toBe(true)
  })

  test('of a byIssuer in another: once, by the inner one', async () => {
    const inner = byIssuer((): Verifier | undefined => undefined, { clock })
    const outer = byIssuer({ [A]: inner })
    const seen = await published(async () => await reasonOf(outer.verify(token)))
    expect(seen.map(({ verifier }) => verifier)).toEqual([inner])
  })

  test('an outage of the function is published, a caller who left is not', async () => {
    const verifier = byIssuer(
      async (iss): Promise<Verifier> =>
        iss === A ? await Promise.reject(new Error('down')) : await new Promise(() => {}),
      { clock },
    )
    const exit = new AbortController()
    const seen = await published(async () => {
      await reasonOf(verifier.verify(token))
      const left = reasonOf(verifier.verify(ofB, { signal: exit.signal }))
      await clock.advance(0)
      exit.abort(new Error('gone'))
      await left
    })
    expect(seen).toMatchObject([{ verifier, code: 'keys_unavailable', reason: 'unreachable' }])
  })
})

describe('with guards and watches', () => {
  const cancels: (() => void)[] = []
  afterEach(() => {
    for (const cancel of cancels.splice(0)) cancel()
  })

  test('getAuth and hasPassed know the byIssuer verifier, and not those behind it', async () => {
    const verifier = byIssuer({ [A]: a })
    const options = checkGuardOptions(verifier, {})
    const request = { headers: { authorization: `Bearer ${token}` } }
    for (let each = 0; each < 2; each++) {
      await authenticateRequest(verifier, request, options, request)
      expect(getAuth(request, verifier).claims.iss).toBe(A)
      expect(hasPassed(request, options)).toBe(true)
      expect(() => getAuth(request, a)).toThrow(TypeError)
    }
  })

  test('watchToken ends a connection whose tenant is removed', async () => {
    const tenants = new Map([[A, a]])
    const verifier = byIssuer((iss) => tenants.get(iss), { clock })
    const refused: unknown[] = []
    const auth = await verifier.verify(token)
    cancels.push(watchToken(verifier, auth, (error) => refused.push(error), { clock }))
    await clock.advance(120)
    expect(refused).toEqual([])
    tenants.delete(A)
    await clock.advance(660)
    expect(refused).toMatchObject([{ code: 'invalid_token', reason: 'unknown_key' }])
  })
})

/** What is published while something runs. */
async function published(run: () => Promise<unknown>): Promise<readonly VerifyMessage[]> {
  const seen: VerifyMessage[] = []
  const listen = (message: unknown) => {
    seen.push(message as VerifyMessage)
  }
  subscribe('portcullis:verify', listen)
  try {
    await run()
  } finally {
    unsubscribe('portcullis:verify', listen)
  }
  return seen
}
