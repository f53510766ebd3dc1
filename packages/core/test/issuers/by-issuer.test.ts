import {
  createTestIssuer,
  type ManualClock,
  manualClock,
  type TestIssuer,
} from '@portcullis/testing'
import { beforeEach, describe, expect, test, vi } from 'vitest'

import {
  type Auth,
  AuthError,
  byIssuer,
  createVerifier,
  localKeys,
  localRevocations,
  type Verifier,
  type VerifierOptions,
  watchToken,
} from '../../src/index.ts'

const A = 'https://a.test'
const B = 'https://b.test'

let clock: ManualClock
let a: TestIssuer
let b: TestIssuer

beforeEach(async () => {
  clock = manualClock()
  ;[a, b] = await Promise.all([
    createTestIssuer({ clock, issuer: A, algorithm: 'ES256' }),
    createTestIssuer({ clock, issuer: B, algorithm: 'ES256' }),
  ])
})

function verifierOf(issuer: TestIssuer, more: Partial<VerifierOptions> = {}): Verifier {
  return createVerifier({ ...issuer.verifierOptions, ...more })
}

const both = () => byIssuer({ [A]: verifierOf(a), [B]: verifierOf(b) })

async function verdictOf(verdict: Promise<unknown>): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
  }
}

/** What a user may put in front of a verifier, whose claims may be others than those proven. */
const wrapped = (inner: Verifier, claims?: object): Verifier => ({
  ...inner,
  async verify(token, options) {
    const auth = await inner.verify(token, options)
    return claims === undefined ? auth : ({ ...auth, claims } as Auth)
  },
})

describe('an object of verifiers', () => {
  test('hands each token to the verifier of its issuer', async () => {
    const verifier = both()
    await expect(verifier.verify(await a.token())).resolves.toMatchObject({ claims: { iss: A } })
    await expect(verifier.verify(await b.token())).resolves.toMatchObject({ claims: { iss: B } })
    expect([a.requests().length, b.requests().length]).toEqual([1, 1])
  })

  test('refuses a token that the keys of another issuer have signed', async () => {
    const verifier = both()
    const forged = await a.token({ claims: { iss: B } })
    expect(await verdictOf(verifier.verify(forged))).toMatch(
      /^invalid_token (?:signature|unknown_key)$/,
    )
  })

  test('asks no key endpoint about a token of an unknown issuer', async () => {
    const verifier = both()
    const token = await a.token({ claims: { iss: 'https://c.test' } })
    expect(await verdictOf(verifier.verify(token))).toBe('invalid_token unknown_key')
    expect([...a.requests(), ...b.requests()]).toEqual([])
  })

  test.each([
    ['missing', { omit: ['iss'] }],
    ['a list', { claims: { iss: [A] } }],
    ['a number', { claims: { iss: 5 } }],
    ['null', { claims: { iss: null } }],
    ['an object', { claims: { iss: { [A]: A } } }],
    ['empty', { claims: { iss: '' } }],
    ['in other case', { claims: { iss: A.toUpperCase() } }],
    ['with a slash more', { claims: { iss: `${A}/` } }],
    ['__proto__', { claims: { iss: '__proto__' } }],
    ['constructor', { claims: { iss: 'constructor' } }],
    ['toString', { claims: { iss: 'toString' } }],
    ['of 1,025 characters', { claims: { iss: 'a'.repeat(1025) } }],
  ])('refuses a token whose iss is %s, as any other of an unknown issuer', async (_, options) => {
    const refused = both().verify(await a.token(options))
    expect(await verdictOf(refused)).toBe('invalid_token unknown_key')
  })

  test('accepts a token whose iss has 1,024 characters', async () => {
    const iss = 'a'.repeat(1024)
    const verifier = byIssuer({ [iss]: verifierOf(a, { issuer: iss }) })
    const { claims } = await verifier.verify(await a.token({ claims: { iss } }))
    expect(claims.iss).toBe(iss)
  })

  test.each([
    ['that is no JSON', '{"iss"'],
    ['that is a list', `["${A}"]`],
    ['that has iss twice', `{"iss":"${A}","iss":"${B}"}`],
    ['that names iss with an escape', `{"is\\u0073":"${A}","iss":"${B}","x":"\\u0000"}`],
    ['that has __proto__', `{"__proto__":{"iss":"${A}"},"iss":"${A}"}`],
  ])('refuses a payload %s', async (name, payload) => {
    const [header, , signature] = (await a.token()).split('.')
    const encoded = Buffer.from(payload).toString('base64url')
    const verdict = await verdictOf(both().verify(`${header}.${encoded}.${signature}`))
    // An escape alone changes no name: the token then is of B, whose keys have not signed it.
    const expected = name.includes('escape')
      ? /unknown_key|signature/
      : /^invalid_token unknown_key$/
    expect(verdict).toMatch(expected)
  })

  test.each([
    ['no string', 5, 'malformed'],
    ['no token', 'a.b', 'malformed'],
    ['longer than any verifier takes', `${'a'.repeat(16_385)}.b.c`, 'too_large'],
  ])('judges the form first: %s', async (_, token, reason) => {
    expect(await verdictOf(both().verify(token as string))).toBe(`invalid_token ${reason}`)
  })

  test('takes tokens as long as the most patient of its verifiers does', async () => {
    const verifier = byIssuer({
      [A]: verifierOf(a, { maxTokenSize: 30_000 }),
      [B]: verifierOf(b),
    })
    const claims = { pad: 'x'.repeat(15_000) }
    expect(await verdictOf(verifier.verify(await a.token({ claims })))).toBe('accepted')
    expect(await verdictOf(verifier.verify(await b.token({ claims })))).toBe(
      'invalid_token too_large',
    )
  })

  test('shows the iss of an unproven token nowhere', async () => {
    const canary = 'https://canary.test'
    const error: unknown = await both()
      .verify(await a.token({ claims: { iss: canary } }))
      .catch((refusal: unknown) => refusal)
    expect(error).toBeInstanceOf(AuthError)
    const { message, detail, headers } = error as AuthError
    expect(
      [message, detail, JSON.stringify(headers), JSON.stringify(error)].join('\n'),
    ).not.toContain('canary')
  })

  test('may list issuers that are named like members of every object', async () => {
    const names = ['__proto__', 'constructor', 'toString']
    const issuers = await Promise.all(
      names.map(async (issuer) => await createTestIssuer({ clock, issuer })),
    )
    const record: Record<string, Verifier> = Object.fromEntries(
      issuers.map((each, at) => [names[at] ?? '', verifierOf(each)]),
    )
    const verifier = byIssuer(record)
    for (const each of issuers) {
      expect(await verdictOf(verifier.verify(await each.token()))).toBe('accepted')
    }
  })

  test('is copied: what becomes of it later changes nothing', async () => {
    const record: Record<string, Verifier> = { [A]: verifierOf(a) }
    const verifier = byIssuer(record)
    delete record[A]
    record[B] = verifierOf(b)
    expect(await verdictOf(verifier.verify(await a.token()))).toBe('accepted')
    expect(await verdictOf(verifier.verify(await b.token()))).toBe('invalid_token unknown_key')
  })

  test('an outage of A, and a flood of its tokens, touch no token of B, which rotates meanwhile', async () => {
    const verifier = both()
    await verifier.verify(await b.token())
    a.outage('reset')
    await b.rotate()
    const flood = Array.from(
      { length: 50 },
      async () => await verdictOf(verifier.verify(await a.token())),
    )
    const token = await b.token()
    await clock.advance(1)
    expect(await verdictOf(verifier.verify(token))).toBe('accepted')
    await clock.advance(10)
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['keys_unavailable unreachable']))
  })

  test('may contain another byIssuer, also the one of a function', async () => {
    const inner = byIssuer({ [A]: verifierOf(a) })
    const tenants = byIssuer((issuer) => (issuer === B ? verifierOf(b) : undefined), { clock })
    const verifier = byIssuer({ [A]: inner, [B]: tenants })
    const token = await a.token()
    expect(await verdictOf(verifier.verify(token))).toBe('accepted')
    expect(await verdictOf(verifier.verify(await b.token()))).toBe('accepted')
    expect(await verdictOf(verifier.verify(await b.token({ claims: { iss: A } })))).toMatch(
      /^invalid_token /,
    )
    expect(() => byIssuer({ [B]: inner })).toThrow(TypeError)
  })
})

test.each(['an object', 'a function'])(
  '%s: each verifier has its own types, a list of them too, and another kind of token asks for no keys',
  async (form) => {
    const type = ['txntoken+jwt', 'wit+jwt']
    const verifiers: Record<string, Verifier> = { [A]: verifierOf(a, { type }), [B]: verifierOf(b) }
    const found = (issuer: string) => verifiers[issuer]
    const verifier = form === 'an object' ? byIssuer(verifiers) : byIssuer(found, { clock })
    const verdict = async (issuer: TestIssuer, typ: string) =>
      await verdictOf(verifier.verify(await issuer.token({ header: { typ } })))
    expect(await verdict(a, 'txntoken+jwt')).toBe('accepted')
    expect(await verdict(a, 'application/WIT+jwt')).toBe('accepted')
    expect(await verdict(a, 'at+jwt')).toBe('invalid_token type')
    expect(await verdict(b, 'at+jwt')).toBe('accepted')
    expect(await verdict(b, 'wit+jwt')).toBe('invalid_token type')
    // Of keys that nobody has: only a token that could be accepted asks for newer ones.
    await clock.advance(60)
    await a.rotate()
    expect(await verdict(a, 'at+jwt')).toMatch(/^invalid_token (?:signature|unknown_key)$/)
    expect(a.requests()).toHaveLength(1)
    expect(await verdict(a, 'wit+jwt')).toBe('accepted')
    expect(a.requests()).toHaveLength(2)
  },
)

describe('what stands in for a verifier of ours', () => {
  test('is asked, and its answer holds if it has proven the issuer', async () => {
    const verifier = byIssuer({ [A]: wrapped(verifierOf(a)) })
    expect(await verdictOf(verifier.verify(await a.token()))).toBe('accepted')
  })

  test.each([
    ['another issuer', { iss: B }],
    ['no issuer', {}],
    ['one that it has only inherited', Object.create({ iss: A }) as object],
  ])('is refused where it proves %s', async (_, claims) => {
    const verifier = byIssuer({ [A]: wrapped(verifierOf(a), claims) })
    expect(await verdictOf(verifier.verify(await a.token()))).toBe('invalid_token issuer')
  })

  test('a schema of ours may leave the iss out, since it was checked before', async () => {
    const schema = {
      '~standard': { version: 1, validate: () => ({ value: { kind: 'a' as const } }) },
    } as const
    const verifier = byIssuer({
      [A]: createVerifier({ ...a.verifierOptions, schema }),
      [B]: verifierOf(b),
    })
    const { claims } = await verifier.verify(await a.token())
    expect(claims).toEqual({ kind: 'a' })
    // The type is the union of what the verifiers answer.
    expect('kind' in claims && claims.kind === 'a').toBe(true)
  })
})

describe('ready', () => {
  test('resolves when all verifiers of an object are, and makes one attempt for each', async () => {
    await both().ready()
    expect([a.requests().length, b.requests().length]).toEqual([1, 1])
  })

  test('rejects with the error of the first that is not, once all have tried', async () => {
    a.outage('reset')
    await expect(both().ready()).rejects.toMatchObject({ code: 'keys_unavailable' })
    expect(b.requests()).toHaveLength(1)
  })

  test('with a function resolves at once, and calls it for nothing', async () => {
    const find = vi.fn<() => undefined>()
    await byIssuer(find).ready()
    expect(find).not.toHaveBeenCalled()
  })
})

describe('a mistake at start-up is a TypeError', () => {
  test.each([
    ['no argument', () => undefined, 'must be an object of verifiers'],
    ['a list', () => [verifierOf(a)], 'must be an object of verifiers'],
    ['no verifier at all', () => ({}), 'at least one'],
    [
      'an object with nothing of its own',
      () => Object.create({ [A]: verifierOf(a) }) as object,
      'at least',
    ],
    ['what is no verifier', () => ({ [A]: { verify() {} } }), `"${A}" must be a verifier`],
    ['an empty issuer', () => ({ '': verifierOf(a) }), '1 to 1024 characters'],
    [
      'a verifier that accepts any issuer',
      () => ({
        [A]: createVerifier({ keys: localKeys(a.publicJwk), issuer: null, audience: null }),
      }),
      `the verifier of "${A}" must have it in its option issuer`,
    ],
    ['a verifier of another issuer', () => ({ [B]: verifierOf(a) }), 'in its option issuer'],
  ])('%s', (_, from, message) => {
    expect(() => byIssuer(from() as never)).toThrow(message)
    expect(() => byIssuer(from() as never)).toThrow(TypeError)
  })

  test.each([
    [{ maxage: 5 }, 'unknown option "maxage", known are remember, max, maxAge, maxMisses, missAge'],
    [{ max: 0 }, 'max must be a number from 1'],
    [{ maxAge: 0 }, 'maxAge must be a number of seconds'],
    [{ maxMisses: 1.5 }, 'maxMisses must be a number from 1'],
    [{ missAge: -1 }, 'missAge must be a number of seconds'],
    [{ maxCalls: Infinity }, 'maxCalls must be a number from 1'],
    [{ timeout: 0 }, 'timeout must be a number of seconds'],
    [{ maxTokenSize: 65_537 }, 'maxTokenSize must be a number of bytes'],
    [{ remember: true }, 'remember must be false or { max }'],
    [{ clock: {} }, 'clock must have the functions'],
  ])('%j', (options, message) => {
    expect(() => byIssuer(() => undefined, options as never)).toThrow(`byIssuer: ${message}`)
  })

  test('an option of the function, for an object', () => {
    expect(() => byIssuer({ [A]: verifierOf(a) }, { maxAge: 5 } as never)).toThrow(
      'byIssuer: unknown option "maxAge", known are remember',
    )
  })
})

describe('what is revoked of one issuer', () => {
  const at = { time: 1_767_225_600 + 1 }

  test.each(['an object', 'a function'])(
    'with %s: ends the open connections of its tokens at once, and no others',
    async (form) => {
      const revocations = localRevocations({ clock })
      const verifiers = { [A]: verifierOf(a, { revocations }), [B]: verifierOf(b) }
      const verifier =
        form === 'an object'
          ? byIssuer(verifiers)
          : byIssuer((issuer) => (issuer === A ? verifiers[A] : verifiers[B]))
      const refusals: unknown[] = []
      for (const issuer of [a, b]) {
        const auth = await verifier.verify(await issuer.token())
        watchToken(verifier, auth, (error) => refusals.push([issuer, error]), { clock })
      }
      await revocations.revokeBefore({ iss: A }, at)
      await clock.advance(0)
      expect(refusals).toMatchObject([[a, { code: 'invalid_token', reason: 'revoked' }]])
    },
  )

  test('is refused although the token is remembered, and other issuers go on', async () => {
    const revocations = localRevocations({ clock })
    const verifier = byIssuer({
      [A]: verifierOf(a, { revocations }),
      [B]: verifierOf(b, { revocations }),
    })
    const [ofA, ofB] = [await a.token(), await b.token()]
    await Promise.all([verifier.verify(ofA), verifier.verify(ofB)])
    await revocations.revokeBefore({ iss: A }, at)
    expect(await verdictOf(verifier.verify(ofA))).toBe('invalid_token revoked')
    expect(await verdictOf(verifier.verify(ofB))).toBe('accepted')
  })
})
