import { createTestIssuer, manualClock, type TokenOptions } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { schemaIssues } from '../../src/claims/details.ts'
import {
  createVerifier,
  type RequiredClaimValue,
  type Schema,
  type VerifierOptions,
} from '../../src/index.ts'
import { AuthError } from '../../src/refusal/errors.ts'

const clock = manualClock()
const issuer = await createTestIssuer({ clock })

async function detailOf(
  token: TokenOptions,
  options: Partial<VerifierOptions & { schema: Schema<unknown> }> = {},
): Promise<string> {
  const verifier = createVerifier({ ...issuer.verifierOptions, ...options })
  try {
    await verifier.verify(await issuer.token(token))
  } catch (error) {
    if (error instanceof AuthError) return error.detail
  }
  throw new Error('nothing was refused')
}

const AFFIRMED = 'must be true, a number other than 0, or a text other than "" and "false"'
const REQUIRED: readonly (readonly [Record<string, unknown>, RequiredClaimValue, string])[] = [
  [{ use: 'secret' }, 'access', 'is a string; expected "access"'],
  [{ use: 'secret' }, ['access', 2, true], 'is a string; expected one of "access", 2, true'],
  [{ use: 'secret' }, ['a', 'b', 'c', 'd'], 'is a string; expected one of "a", "b", "c", 1 more'],
  [{ use: ['secret', 'too'] }, 'access', 'is a list of 2; expected "access"'],
  [{ use: { secret: 1 } }, 'access', 'is an object of 1 member; expected "access"'],
  [{ use: true }, 'access', 'is a boolean; expected "access"'],
  [{ use: null }, 'access', 'is null; expected "access"'],
  [{ use: 7 }, 8, 'is 7; expected 8'],
  [{ use: undefined }, ['access', 2], 'is missing; expected one of "access", 2'],
  [{ use: undefined }, true, 'is missing'],
  [{ use: false }, true, `is false; where true is required, it ${AFFIRMED}`],
  [{ use: 'false' }, true, `is a string; where true is required, it ${AFFIRMED}`],
  [{ use: ['secret'] }, true, `is a list of 1; where true is required, it ${AFFIRMED}`],
  [
    { use: 'secret' },
    { pathUnder: 'spiffe://example.org/' },
    'is a string; it must be "spiffe://example.org/" and a path behind it',
  ],
  [{ use: undefined }, { pathUnder: 'spiffe://example.org/' }, 'is missing'],
  [{ use: 0 }, true, `is 0; where true is required, it ${AFFIRMED}`],
]

/** They name a client, a tenant, a version or a kind. */
const SHOWN = ['azp', 'client_id', 'appid', 'tid', 'ver', 'token_use', 'acr']

describe('a type that is another', () => {
  const typ = 'logout+jwt'

  test.each<[string, Partial<VerifierOptions>, string]>([
    ['of another kind of token', {}, 'which is no access token; to accept it, state type'],
    ['than the only one', { type: 'at+jwt' }, 'expected "at+jwt"'],
    ['than those that are stated', { type: ['at+jwt', 'JWT'] }, 'expected one of "at+jwt", "JWT"'],
    ['where none is accepted too', { type: ['at+jwt', null] }, 'expected "at+jwt", or none'],
  ])('%s', async (_, options, sentence) => {
    const separator = options.type === undefined ? ', ' : '; '
    expect(await detailOf({ header: { typ } }, options)).toBe(
      `the header's typ is "${typ}"${separator}${sentence}`,
    )
  })
})

describe('claims that are missing, or have another value', () => {
  test.each<[TokenOptions, Partial<VerifierOptions>, string]>([
    [{ omit: ['exp'] }, {}, 'exp is missing; only requireExpiry: false accepts'],
    [{ omit: ['iat'] }, { maxTokenAge: 60 }, 'iat is missing, and maxTokenAge needs it'],
    [{}, { requiredClaims: ['a', 'b'] }, 'requiredClaims: "a", "b" are missing'],
    [{}, { issuer: 'a' }, 'iss is missing; expected "a"'],
    ...REQUIRED.map(
      ([claims, value, sentence]): [TokenOptions, Partial<VerifierOptions>, string] => [
        { claims },
        { requiredClaims: { use: value } },
        `requiredClaims: "use" ${sentence}`,
      ],
    ),
    ...SHOWN.map((name): [TokenOptions, Partial<VerifierOptions>, string] => [
      { claims: { [name]: 'other' } },
      { requiredClaims: { [name]: 'a' } },
      `requiredClaims: "${name}" is "other"; expected "a"`,
    ]),
    [
      { claims: { azp: ['secret'] } },
      { requiredClaims: { azp: 'a' } },
      'requiredClaims: "azp" is a list of 1; expected "a"',
    ],
    [
      {},
      { requiredClaims: { a: true, ver: '2.0', azp: ['x', 'y'] } },
      'requiredClaims: "a", "ver", "azp" are missing; expected "ver" "2.0" and "azp" one of "x", "y"',
    ],
    [{}, { audience: ['a', 'b'] }, 'aud is missing; expected one of "a", "b"'],
    [{ claims: { aud: [] } }, { audience: 'a' }, 'aud is an empty list; expected "a"'],
  ])('%j with %j: %s', async (token, options, sentence) => {
    const detail = await detailOf(token, options)
    expect(detail).toContain(sentence)
    expect(detail).not.toContain('secret')
  })
})

describe('an audience or an issuer that is another', () => {
  test.each([
    ['https://api.test/', 'https://api.test', 'they differ only in the slash at the end'],
    ['http://api.test', 'https://api.test', 'they differ only in http and https'],
    ['API', 'api', 'they differ only in upper and lower case'],
    [' api', 'api', 'they differ only in white space around it'],
    [['x', 'Api'], 'api', 'aud is "x", "Api"; expected "api"; they differ only in upper'],
    [{ secret: 1 }, 'api', 'aud is an object; expected "api"'],
  ])('%j where %j is expected', async (aud, audience, sentence) => {
    expect(await detailOf({ claims: { aud } }, { audience })).toContain(sentence)
  })

  test.each([
    [['api', 5], 'aud is "api", a number; expected "api"'],
    [
      ['API', 5],
      'aud is "API", a number; expected "api"; they differ only in upper and lower case',
    ],
    [['a', 'b', 'c', 'api', null], 'aud is "a", "b", "c", 2 more; expected "api"'],
  ])('may be a list with something else in it: %j', async (aud, sentence) => {
    expect(await detailOf({ claims: { aud } }, { audience: 'api' })).toBe(
      `${sentence}; the list has something that is no string`,
    )
  })

  test.each([
    ['a.test', 'http:a.test'],
    ['urn:https:a.test', 'urn:http:a.test'],
  ])('differs not only in http if it is no scheme: %s and %s', async (iss, expected) => {
    const detail = await detailOf({ claims: { iss } }, { issuer: expected })
    expect(detail).toBe(`iss is "${iss}"; expected "${expected}"`)
  })

  test('has no near miss where two are simply different', async () => {
    const detail = await detailOf({ claims: { iss: 'a' } }, { issuer: ['b', 'c', 'd', 'e'] })
    expect(detail).toBe('iss is "a"; expected one of "b", "c", "d", 1 more')
  })

  test.each(['nonce', 'at_hash'])('may be an ID token, which %s tells', async (name) => {
    const detail = await detailOf({ claims: { aud: 'app', [name]: 'canary' } }, { audience: 'api' })
    expect(detail).toMatch(
      /^aud is "app"; expected "api"; .*an ID token has: .* access token instead$/,
    )
  })

  test('is shown as far as two tenants of one provider differ', async () => {
    const [ours, theirs] = ['1', '2'].map(
      (end) => `https://login.microsoftonline.com/${end.padStart(36, '1')}/v2.0`,
    )
    const detail = await detailOf({ claims: { iss: theirs } }, { issuer: String(ours) })
    expect(detail).toBe(`iss is "${theirs}"; expected "${ours}"`)
  })

  test('may be a list of 1,000', async () => {
    const aud = Array.from({ length: 1000 }, (_, at) => `a${at}`)
    const detail = await detailOf({ claims: { aud } }, { audience: 'api' })
    expect(detail).toBe('aud is "a0", "a1", "a2", 997 more; expected "api"')
  })
})

describe('times', () => {
  test('name both units where the clock counts milliseconds', async () => {
    const inMilliseconds = { ...clock, now: () => Date.now() }
    const detail = await detailOf({}, { clock: inMilliseconds })
    expect(detail).toContain('does the clock count milliseconds? It must be seconds')
  })

  test('name the unit where the token has milliseconds', async () => {
    expect(await detailOf({ claims: { nbf: 1_767_225_600_000 } })).toBe(
      'nbf is in milliseconds or finer; it must be in seconds',
    )
  })

  test('say that a clock may be wrong, whichever it is', async () => {
    const now = clock.now()
    const ours = (offset: number) => ({ clock: { ...clock, now: () => now + offset } })
    expect(await detailOf({}, ours(3600))).toContain(
      'if it is newer than its iat says, one of the clocks is wrong',
    )
    expect(await detailOf({}, ours(-3600))).toContain("is this clock slow, or the issuer's fast?")
    expect(await detailOf({ notBefore: 60 })).toContain("is this clock slow, or the issuer's fast?")
  })

  test.each([
    ['without an iat', { omit: ['iat'] }],
    ['with one that is later', { claims: { iat: clock.now() + 7200 } }],
  ])('say of an expired token %s only when it expired', async (_, token) => {
    const late = { clock: { ...clock, now: () => clock.now() + 3600 } }
    expect(await detailOf(token, late)).toBe('exp was before now, by clockTolerance (5 s) or more')
  })

  test('say of a token that expires now that it was valid until now', async () => {
    const now = clock.now()
    const token = { claims: { exp: now, iat: now - 60 } }
    expect(await detailOf(token, { clockTolerance: 0 })).toBe(
      'exp was before now, by clockTolerance (0 s) or more; if it is newer than its iat says, one of the clocks is wrong',
    )
  })

  test('say of a token that expires when it is issued that its iat says when that was', async () => {
    const at = clock.now() - 60
    expect(await detailOf({ claims: { exp: at, iat: at } })).toContain('newer than its iat says')
  })

  test.each<[string, TokenOptions, Partial<VerifierOptions>, object]>([
    ['an exp', { claims: { exp: 1000, iat: 900 } }, {}, { exp: 1000, iat: 900, now: clock.now() }],
    ['an exp alone', { claims: { exp: 1000 }, omit: ['iat'] }, {}, { exp: 1000, now: clock.now() }],
    ['an iat', { claims: { iat: 1e9 } }, { maxTokenAge: 1 }, { iat: 1e9, now: clock.now() }],
    ['milliseconds', { claims: { nbf: 1.7e12 } }, {}, { nbf: 1.7e12 }],
    ['an aud', {}, { audience: 'api' }, {}],
  ])('are fields beside the sentence, of %s', async (_title, token, options, numbers) => {
    const verifier = createVerifier({ ...issuer.verifierOptions, ...options })
    const refusal = verifier.verify(await issuer.token(token))
    const error = await refusal.catch((caught: unknown) => caught)
    expect(error).toMatchObject({ numbers })
    expect((error as AuthError).numbers).toEqual(numbers)
    expect(JSON.stringify(error)).not.toContain('numbers')
  })

  test('say how far ahead an iat may be', async () => {
    const detail = await detailOf({ claims: { iat: clock.now() + 61, exp: clock.now() + 99 } })
    expect(detail).toMatch(
      /^iat is after now, by the tolerance of clocks \(60 s\) or more: is this clock slow/,
    )
  })

  test('may be no dates', async () => {
    expect(await detailOf({ claims: { exp: -1e300 } })).toMatch(/^exp was before now, /)
    const broken = { ...clock, now: () => Number.NaN }
    expect(await detailOf({}, { clock: broken })).toBe(
      "the verifier's clock shows NaN, which is no time",
    )
  })
})

describe('what a schema finds wrong', () => {
  test('is shown by its place, without what the validator says of it', async () => {
    const issues = [
      { message: 'canary', path: ['address', { key: 'city' }] },
      { message: 'canary', path: [] },
      { message: 'canary' },
    ]
    const schema: Schema<unknown> = {
      '~standard': { version: 1, validate: () => ({ issues }) },
    }
    expect(await detailOf({}, { schema })).toBe(
      'the schema does not accept address.city, the claims as a whole, the claims as a whole',
    )
  })

  test('is bounded and never throws', () => {
    const deep = { path: Array.from({ length: 1e4 }, () => 'x'.repeat(1e4)) }
    const many = schemaIssues(Array.from({ length: 1e4 }, () => deep))
    expect(many().length).toBeLessThan(600)
    expect(many()).toMatch(/ and 9,995 other places$/)
    expect(schemaIssues([{ path: ['a', 'b', 'c', 'd', 'e', 'f'] }])()).toMatch(/ a\.b\.c\.d\.e$/)
    const hostile = {
      get path(): never {
        throw new Error('canary')
      },
    }
    expect(schemaIssues([hostile, null, 7])()).toBe(
      'the schema does not accept the claims as a whole',
    )
  })

  test.each([null, 7, {}, 'canary'])('may be %j instead of a list', async (issues) => {
    const schema = { '~standard': { version: 1, validate: () => ({ issues }) } }
    const detail = await detailOf({}, { schema: schema as unknown as Schema<unknown> })
    expect(detail).toBe('the schema does not accept the claims as a whole')
  })

  test('is what it was when the token was refused, though the validator uses its list again', async () => {
    const issues: unknown[] = []
    const schema: Schema<unknown> = {
      '~standard': {
        version: 1,
        validate(claims) {
          issues.splice(0, 1, { path: [(claims as { sub: string }).sub] })
          return { issues }
        },
      },
    }
    const verifier = createVerifier({ ...issuer.verifierOptions, schema })
    const refusals: unknown[] = []
    for (const sub of ['one', 'two']) {
      const token = await issuer.token({ claims: { sub } })
      await verifier.verify(token).catch((error: unknown) => refusals.push(error))
    }
    expect(refusals).toMatchObject([
      { detail: 'the schema does not accept one' },
      { detail: 'the schema does not accept two' },
    ])
  })
})
