import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto'
import { inspect } from 'node:util'

import { createTestIssuer, manualClock, type TokenOptions, tokenService } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import {
  AuthError,
  type AuthErrorReason,
  authenticateRequest,
  authorizeRequest,
  check,
  createVerifier,
  type KeySource,
  localKeys,
  remoteKeys,
  type VerifierOptions,
} from '../../src/index.ts'

const clock = manualClock()
const options = { issuer: 'https://issuer.test', audience: 'api', clock } as const
const issuer = await createTestIssuer({ ...options, lifetime: 300 })
const stranger = await createTestIssuer(options)
const sound = await issuer.token({ claims: { sub: 'ada' } })
const [header = '', payload = '', signature = ''] = sound.split('.')

function verifierWith(more: Partial<VerifierOptions> = {}) {
  return createVerifier({ keys: localKeys(issuer.publicJwk), ...options, ...more })
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

async function refusalOf(token: string, more?: Partial<VerifierOptions>): Promise<AuthError> {
  const verdict: unknown = await verifierWith(more)
    .verify(token)
    .catch((error: unknown) => error)
  if (!(verdict instanceof AuthError)) throw new Error('the token was accepted')
  return verdict
}

/** Of a security event: RFC 8417 section 2.2. */
const EVENTS = { events: { 'https://schemas.test/event': {} } }
const EVENT: TokenOptions = { header: { typ: 'secevent+jwt' }, claims: EVENTS }

const UNPROVEN =
  'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"'
const publicPem = createPublicKey({ key: issuer.publicJwk as JsonWebKey, format: 'jwk' }).export({
  type: 'spki',
  format: 'pem',
})
const hmac = createHmac('sha512', publicPem).update(`${encoded({ alg: 'HS512' })}.${payload}`)

const unproven: [AuthErrorReason, string, string, Partial<VerifierOptions>?][] = [
  ['malformed', 'empty', ''],
  ['malformed', 'two segments', `${header}.${payload}`],
  ['malformed', 'no signature', `${header}.${payload}.`],
  ['malformed', 'alg none, without a signature', `${encoded({ alg: 'none' })}.${payload}.`],
  ['malformed', 'padded', `${header}.${payload}.${signature}==`],
  ['malformed', 'header is not JSON', `AAAA.${payload}.${signature}`],
  ['malformed', 'payload is not JSON', await issuer.token({ payload: 'not JSON' })],
  ['malformed', 'payload is a JSON array', await issuer.token({ payload: '[]' })],
  [
    'malformed',
    'payload has a member twice',
    await issuer.token({ payload: '{"exp":1,"exp":4000000000}' }),
  ],
  ['malformed', 'an endless expiry', await issuer.token({ payload: '{"exp":1e309}' })],
  ['too_large', 'one octet over 16 KiB', 'a'.repeat(16_385)],
  ['too_large', 'above the stated size', sound, { maxTokenSize: sound.length - 1 }],
  ['algorithm', 'alg none', `${encoded({ alg: 'none' })}.${payload}.${signature}`],
  ['algorithm', 'alg None', `${encoded({ alg: 'None' })}.${payload}.${signature}`],
  ['algorithm', 'HS512', `${encoded({ alg: 'HS512' })}.${payload}.${hmac.digest('base64url')}`],
  [
    'algorithm',
    'not listed',
    await (await createTestIssuer({ ...options, algorithm: 'RS256' })).token(),
  ],
  ['algorithm', 'no alg', `${encoded({ typ: 'JWT' })}.${payload}.${signature}`],
  [
    'critical_header',
    'crit',
    `${encoded({ alg: 'RS512', crit: ['exp'] })}.${payload}.${signature}`,
  ],
  [
    'unknown_key',
    'no key of that kid',
    await stranger.token(),
    { keys: localKeys({ keys: [issuer.publicJwk] }) },
  ],
  ['signature', 'of another key', await stranger.token()],
  ['signature', 'tampered payload', `${header}.${encoded({ exp: 4e9, sub: 'eve' })}.${signature}`],
  [
    'signature',
    'tampered header',
    `${encoded({ alg: 'RS512', kid: 'x' })}.${payload}.${signature}`,
  ],
  ['signature', 'tampered signature', `${header}.${payload}.${signature.slice(0, -4)}AAAA`],
  ['signature', 'truncated signature', `${header}.${payload}.${signature.slice(0, 336)}`],
]

const proven: [AuthErrorReason, string, string, TokenOptions, Partial<VerifierOptions>?][] = [
  ['expired', 'expired', 'The access token has expired', { expiresIn: -5 }],
  [
    'expired',
    'with exp equal to now, without tolerance',
    'The access token has expired',
    { expiresIn: 0 },
    { clockTolerance: 0 },
  ],
  ['not_yet_valid', 'not yet valid', 'The access token is not yet valid', { notBefore: 6 }],
  [
    'issued_in_future',
    'issued in the future',
    'The access token was issued in the future',
    { claims: { iat: clock.now() + 61 } },
  ],
  [
    'too_old',
    'too old',
    'The access token was issued too long ago',
    { claims: { iat: clock.now() - 66 } },
    { maxTokenAge: 60 },
  ],
  [
    'issuer',
    'from another issuer',
    'The access token is from another issuer',
    { claims: { iss: 'https://issuer.test.evil' } },
  ],
  [
    'issuer',
    'with a list of issuers',
    'The access token is from another issuer',
    { claims: { iss: ['https://issuer.test'] } },
  ],
  [
    'audience',
    'for another audience',
    'The access token is for another audience',
    { claims: { aud: 'API' } },
  ],
  [
    'audience',
    'without an audience',
    'The access token is for another audience',
    { omit: ['aud'] },
  ],
  ['type', 'of another type', 'The access token is of another type', {}, { type: 'at+jwt' }],
  ['type', 'with events', 'The access token is of another type', { claims: EVENTS }],
  [
    'missing_claim',
    'without an expiry',
    'The access token lacks a required claim',
    { omit: ['exp'] },
  ],
  [
    'missing_claim',
    'without a required claim',
    'The access token lacks a required claim',
    {},
    { requiredClaims: ['jti'] },
  ],
  [
    'claim',
    'with an expiry that is text',
    'The access token has a claim of the wrong form',
    { claims: { exp: '4000000000' } },
  ],
]

describe('a sound token', () => {
  test('is accepted, and proves its claims, its header and itself', async () => {
    const auth = await verifierWith().verify(sound)
    expect(auth).toEqual({
      token: sound,
      header: { alg: 'RS512', kid: issuer.publicJwk.kid, typ: 'JWT' },
      claims: {
        iss: 'https://issuer.test',
        aud: 'api',
        sub: 'ada',
        iat: clock.now(),
        exp: clock.now() + 300,
      },
    })
  })

  test('proves claims that nobody can change', async () => {
    const token = await issuer.token({ claims: { roles: [{ name: 'admin' }] } })
    const { claims, header: provenHeader } = await verifierWith().verify(token)
    expect(Object.isFrozen(claims)).toBe(true)
    expect(Object.isFrozen(provenHeader)).toBe(true)
    expect(Object.isFrozen((claims['roles'] as unknown[])[0])).toBe(true)
  })

  test.each<[string, TokenOptions, Partial<VerifierOptions>]>([
    ['without a kid', { omit: ['kid'] }, {}],
    ['with an unknown kid, against a bare key', { header: { kid: 'other' } }, {}],
    ['without an expiry, where that is waived', { omit: ['exp'] }, { requireExpiry: false }],
    ['in the last moment of the tolerance', { expiresIn: -4.5 }, {}],
    ['from any issuer, where that is stated', { claims: { iss: 'other' } }, { issuer: null }],
    ['for any audience, where that is stated', { omit: ['aud'] }, { audience: null }],
    ['for no audience, where that may be', { omit: ['aud'] }, { audience: ['api', null] }],
    ['for several audiences', { claims: { aud: ['web', 'api'] } }, {}],
    ['from one of several issuers', {}, { issuer: ['a', 'https://issuer.test'] }],
    ['of the wanted type', { header: { typ: 'application/AT+JWT' } }, { type: 'at+jwt' }],
    ['with events, of a type that is wanted', EVENT, { type: 'secevent+jwt' }],
    ['with the required claims', { claims: { jti: null } }, { requiredClaims: ['jti'] }],
    ['young enough', { claims: { iat: clock.now() - 60 } }, { maxTokenAge: 60 }],
    [
      'that names foreign keys',
      { header: { jku: 'https://evil.test', jwk: stranger.publicJwk } },
      {},
    ],
  ])('is accepted %s', async (_title, token, more) => {
    await expect(verifierWith(more).verify(await issuer.token(token))).resolves.toBeDefined()
  })
})

describe('a refused token', () => {
  test.each(unproven)('%s: %s', async (reason, _title, token, more) => {
    const error = await refusalOf(token, more)
    expect(error).toMatchObject({ code: 'invalid_token', reason, status: 401, statusCode: 401 })
    expect(error.headers).toEqual({ 'WWW-Authenticate': UNPROVEN, 'Cache-Control': 'no-store' })
  })

  test.each(proven)('%s: %s', async (reason, _title, description, token, more) => {
    const error = await refusalOf(await issuer.token(token), more)
    expect(error).toMatchObject({ code: 'invalid_token', reason, status: 401, statusCode: 401 })
    expect(error.headers).toEqual({
      'WWW-Authenticate': `Bearer realm="api", error="invalid_token", error_description="${description}"`,
      'Cache-Control': 'no-store',
    })
  })

  test('never shows itself, a claim, or where keys come from', async () => {
    const canary = { sub: 'canary-sub', iss: 'https://canary-issuer.test', aud: 'canary-audience' }
    const down = remoteKeys('https://canary-host.test/key', {
      fetch: () => Promise.reject(new Error('canary-cause')),
    })
    const errors = await Promise.all([
      ...unproven.map(async ([, , token, more]) => await refusalOf(token, more)),
      ...proven.map(async ([, , , token, more]) => {
        const claims = { ...canary, ...token.claims }
        return await refusalOf(await issuer.token({ ...token, claims }), more)
      }),
      refusalOf(sound, { keys: down }),
    ])
    expect(errors).toHaveLength(unproven.length + proven.length + 1)
    for (const error of errors) {
      const shown = [error.message, String(error), error.stack, JSON.stringify(error)]
      const inspected = inspect(error, { depth: 9, showHidden: true })
      const text = [...shown, inspected, JSON.stringify(error.headers)].join('\n')
      expect(text).not.toMatch(/canary|https?:|eyJ/)
      expect(text).not.toContain(signature.slice(0, 16))
    }
  })
})

describe('what a refusal costs', () => {
  test('8 MiB of dots are refused before anything reads them', async () => {
    await expect(verifierWith().verify('.'.repeat(8 * 1024 * 1024))).rejects.toMatchObject({
      reason: 'too_large',
    })
  })

  test.each([
    ['malformed', 'a.b'],
    ['algorithm', `${encoded({ alg: 'none' })}.${payload}.${signature}`],
    ['critical_header', `${encoded({ alg: 'RS512', crit: [] })}.${payload}.${signature}`],
  ])('%s: no key is asked for', async (reason, token) => {
    const service = tokenService(issuer)
    let requests = 0
    const keys = remoteKeys(service.keyUrl, {
      fetch: async (...args) => {
        requests += 1
        return await service.fetch(...args)
      },
    })
    expect(await refusalOf(token, { keys })).toMatchObject({ reason })
    expect(requests).toBe(0)
  })

  test.each([
    { name: 'undefined', token: undefined },
    { name: 'null', token: null },
    { name: 'a number', token: 42 },
    { name: 'a list that reads like a token', token: [sound] },
    { name: 'a text object', token: Object(sound) as unknown },
    { name: 'octets', token: Buffer.from(sound) },
    { name: 'an object that claims a great length', token: { length: 1e9 } },
  ])('$name instead of a text is malformed, not a fault', async ({ token }) => {
    expect(await refusalOf(token as string)).toMatchObject({ reason: 'malformed' })
  })
})

/** `[, value]`: a list whose first entry is missing. */
function holed(value: string): readonly string[] {
  const list: string[] = []
  list[1] = value
  return list
}

describe('the options', () => {
  test('that are inherited count for nothing', async () => {
    const inherited = { clockTolerance: 600, requireExpiry: false, algorithms: ['RS256'] }
    const keys = localKeys(issuer.publicJwk)
    const lax = createVerifier(Object.assign(Object.create(inherited) as object, options, { keys }))
    const expired = await issuer.token({ expiresIn: -60 })
    await expect(lax.verify(expired)).rejects.toMatchObject({ reason: 'expired' })
    const endless = await issuer.token({ omit: ['exp'] })
    await expect(lax.verify(endless)).rejects.toMatchObject({ reason: 'missing_claim' })
    const stated = Object.create({ ...options, keys }) as VerifierOptions
    expect(() => createVerifier(stated)).toThrow(/must be stated/)
  })

  const keys = localKeys(issuer.publicJwk)
  const complete: VerifierOptions = { keys, issuer: null, audience: null }

  test.each<[string, object, RegExp]>([
    ['no keys', { issuer: null, audience: null }, /keys must be stated/],
    ['no issuer', { keys, audience: null }, /issuer must be stated, null to accept any/],
    ['no audience', { keys, issuer: null }, /audience must be stated, null to accept any/],
    ['keys that are none', { ...complete, keys: issuer.publicJwk }, /keys must be a key source/],
    ['an empty issuer', { ...complete, issuer: '' }, /issuer must be/],
    ['an empty list of audiences', { ...complete, audience: [] }, /audience must be/],
    ['a list of no audience alone', { ...complete, audience: [null] }, /audience must be/],
    ['an issuer that may be missing', { ...complete, issuer: ['a', null] }, /issuer must be/],
    ['a misspelt name', { ...complete, audiance: 'api' }, /unknown option "audiance"/],
    ['RSA512', { ...complete, algorithms: ['RSA512'] }, /did you mean RS512\?/],
    ['HS512', { ...complete, algorithms: ['HS512'] }, /"HS512" is not supported/],
    ['none', { ...complete, algorithms: ['none'] }, /"none" is not supported/],
    ['no algorithm', { ...complete, algorithms: [] }, /algorithms must be/],
    [
      'a tolerance that is no number',
      { ...complete, clockTolerance: NaN },
      /clockTolerance must be/,
    ],
    ['an endless tolerance', { ...complete, clockTolerance: Infinity }, /clockTolerance must be/],
    [
      'a tolerance in milliseconds',
      { ...complete, clockTolerance: 5000 },
      /clockTolerance must be/,
    ],
    ['text for a boolean', { ...complete, requireExpiry: 'no' }, /requireExpiry must be/],
    ['no token size', { ...complete, maxTokenSize: 0 }, /maxTokenSize must be/],
    ['a token size above 64 KiB', { ...complete, maxTokenSize: 65_537 }, /maxTokenSize must be/],
    ['a half clock', { ...complete, clock: { now: () => 0 } }, /clock must have/],
    ...[
      [],
      {},
      ['sub', 5],
      [''],
      holed('sub'),
      new Set(['sub']),
      'sub',
      true,
      null,
      { '': true },
      { [Symbol('sub')]: true },
      { sub: true, [Symbol('use')]: 'access' },
      ...[
        [],
        [['a']],
        holed('a'),
        null,
        undefined,
        {},
        5n,
        () => true,
        { pathUnder: 'spiffe://example.org' },
        { pathUnder: 'spiffe://' },
        { pathUnder: '/' },
        { pathUnder: ['a/'] },
        { pathUnder: 'a/', other: true },
        [{ pathUnder: 'a/' }],
      ].map((use) => ({ use })),
    ].map((requiredClaims): [string, object, RegExp] => [
      `the required claims ${inspect(requiredClaims)}`,
      { ...complete, requiredClaims },
      /requiredClaims must be a list of names, or an object/,
    ]),
    ...[NaN, Infinity, 2 ** 53, -(2 ** 53), [1, 1e300]].map((n): [string, object, RegExp] => [
      `the required number ${inspect(n)}`,
      { ...complete, requiredClaims: { sub: true, n } },
      /requiredClaims must have numbers from -9007199254740991 to 9007199254740991/,
    ]),
    ['a list of issuers with a hole', { ...complete, issuer: holed('a') }, /issuer must be/],
    [
      'a list of audiences with a hole and null',
      { ...complete, audience: [...holed('a'), null] },
      /audience must be/,
    ],
    ['a list of audiences with a hole', { ...complete, audience: holed('a') }, /audience must be/],
    ['a list of types with a hole', { ...complete, type: holed('JWT') }, /type must be/],
    [
      'a list of algorithms with a hole',
      { ...complete, algorithms: holed('RS512') },
      /algorithms must be/,
    ],
    ['a pattern as issuer', { ...complete, issuer: /issuer/ }, /issuer must be/],
  ])('are refused at start-up: %s', (_title, wrong, message) => {
    expect(() => createVerifier(wrong as VerifierOptions)).toThrow(TypeError)
    expect(() => createVerifier(wrong as VerifierOptions)).toThrow(message)
  })

  test.each([2 ** 53 - 1, 1 - 2 ** 53])('may require the number %d', (n) => {
    const made = createVerifier({ ...complete, requiredClaims: { n } })
    expect(made).toHaveProperty('verify')
  })

  test('are not read again after start-up', async () => {
    const algorithms: ('RS512' | 'RS256')[] = ['RS512']
    const verifier = createVerifier({ ...complete, algorithms, clock })
    algorithms[0] = 'RS256'
    await expect(verifier.verify(sound)).resolves.toBeDefined()
  })
})

describe('the clock', () => {
  test('is that of the key source, if none is stated', async () => {
    const own = manualClock()
    const keys = remoteKeys('https://auth.test/key', {
      clock: own,
      fetch: async () => Response.json(issuer.publicJwk),
    })
    const verifier = createVerifier({ keys, issuer: null, audience: null })
    const token = await issuer.token({ expiresIn: 60 })
    await expect(verifier.verify(token)).resolves.toMatchObject({ token })
    await own.advance(64)
    await expect(verifier.verify(token)).resolves.toMatchObject({ token })
    await own.advance(1)
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'expired' })
  })

  test.each([{ remember: false }, { remember: { max: 10 } }] as const)(
    'of a verifier may be another one: %j',
    async ({ remember }) => {
      const [own, keyClock] = [manualClock(), manualClock()]
      const keys = remoteKeys('https://auth.test/key', {
        clock: keyClock,
        fetch: async () => Response.json(issuer.publicJwk),
      })
      const verifier = createVerifier({ keys, issuer: null, audience: null, clock: own, remember })
      const token = await issuer.token({ expiresIn: 60 })
      await keyClock.advance(200)
      await expect(verifier.verify(token)).resolves.toMatchObject({ token })
      await expect(verifier.verify(token)).resolves.toMatchObject({ token })
      await own.advance(65)
      await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'expired' })
    },
  )

  test('is that of the system for keys in hand', async () => {
    const verifier = createVerifier({
      keys: localKeys(issuer.publicJwk),
      issuer: null,
      audience: null,
    })
    const now = Math.floor(Date.now() / 1000)
    const valid = await issuer.token({ claims: { iat: now, exp: now + 300 } })
    const expired = await issuer.token({ claims: { iat: now - 600, exp: now - 300 } })
    await expect(verifier.verify(valid)).resolves.toMatchObject({ token: valid })
    await expect(verifier.verify(expired)).rejects.toMatchObject({ reason: 'expired' })
  })
})

describe('functions of the user', () => {
  test('are not called before a signature is proven: neither a schema nor a requirement', async () => {
    const validate = vi.fn<() => { value: object }>(() => ({ value: {} }))
    const schema = { '~standard': { version: 1 as const, vendor: 'test', validate } }
    const decide = vi.fn<() => boolean>(() => true)
    const keys = remoteKeys('https://auth.test/key', {
      clock: manualClock(),
      fetch: async () => Response.json({ keys: [issuer.publicJwk] }),
    })
    const verifier = createVerifier({ ...options, keys, schema })
    /** As a guard and a route do. */
    const request = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const seen = { headers, rawHeaders: ['Authorization', headers.authorization] }
      await authenticateRequest(verifier, seen, {}, seen)
      await authorizeRequest(seen, [check(decide)])
    }
    // Also one that asks for newer keys, because a key is all that it lacks.
    const tokens = [...unproven.map(([, , token]) => token), await stranger.token()]
    for (const token of tokens.filter((each) => each !== sound)) {
      await expect(request(token)).rejects.toBeInstanceOf(AuthError)
    }
    expect([validate.mock.calls, decide.mock.calls]).toEqual([[], []])
    await request(sound)
    expect([validate.mock.calls.length, decide.mock.calls.length]).toEqual([1, 1])
  })
})

describe('keys that cannot be had', () => {
  const unreachable: KeySource = remoteKeys('https://auth.test/key', {
    fetch: () => Promise.reject(new Error('down')),
  })

  test('are an outage, not a bad token', async () => {
    const error = await refusalOf(sound, { keys: unreachable })
    expect(error).toMatchObject({ code: 'keys_unavailable', reason: 'unreachable', status: 503 })
    expect(Object.keys(error.headers)).toEqual(['Retry-After', 'Cache-Control'])
  })

  test('make ready() reject', async () => {
    await expect(verifierWith({ keys: unreachable }).ready()).rejects.toMatchObject({
      code: 'keys_unavailable',
    })
    await expect(verifierWith().ready()).resolves.toBeUndefined()
  })
})

test.each([true, null, 0, {}, { max: 0 }, { max: 1.5 }, { max: 1_000_001 }, { max: 9, ttl: 9 }])(
  'remember: %j is a TypeError at start-up',
  (remember) => {
    const wrong = { remember } as unknown as Partial<VerifierOptions>
    expect(() => verifierWith(wrong)).toThrow(
      'remember must be false or { max }, a number of tokens from 1 to 1000000',
    )
  },
)

test.each([{ remember: { max: 1 } }, { remember: { max: 1_000_000 } }, { maxTokenSize: 1 }])(
  '%j is taken',
  (boundary) => {
    expect(() => verifierWith(boundary)).not.toThrow()
  },
)
