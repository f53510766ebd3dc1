import { createTestIssuer, dpopClient, tokenService } from '@portcullis/testing'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'

import { asSigned, isRecorded, signedClaims } from '../../src/claims/signed-claims.ts'
import {
  acr,
  all,
  any,
  type Auth,
  authenticatedWithin,
  authenticateRequest,
  AuthError,
  authorizeRequest,
  byIssuer,
  check,
  claim,
  createVerifier,
  expiry,
  getAuth,
  grantedScopes,
  localRevocations,
  type Requirement,
  type Schema,
  scope,
  type Verifier,
} from '../../src/index.ts'

const issuer = await createTestIssuer({ issuer: 'https://auth.test', algorithm: 'ES256' })
const claims = {
  sub: 'ada',
  jti: 'one',
  scope: 'read',
  role: 'admin',
  realm_access: { roles: ['editor'] },
  acr: 'gold',
  auth_time: Math.floor(issuer.verifierOptions.clock.now()) - 10,
}
const clock = issuer.verifierOptions.clock

/** Leaves one claim, under another name, as a schema that strips does. */
const stripping: Schema<{ user: string }> = {
  '~standard': {
    version: 1,
    validate: (value) => ({ value: { user: String((value as { sub?: unknown }).sub) } }),
  },
}

const options = { ...issuer.verifierOptions, schema: stripping }
const verifier = createVerifier(options)
const token = await issuer.token({ claims })

const ready = async () => {}

async function requestWith(used: Verifier<unknown>, text = token): Promise<object> {
  const request = { headers: { authorization: `Bearer ${text}` } }
  await authenticateRequest(used, request, {}, request)
  return request
}

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => 'let in',
    (error: unknown) => error,
  )
}

/** What stands for the verifier of a service, each of which has a schema that strips. */
const verifiers: readonly (readonly [name: string, verifier: Verifier<unknown>])[] = [
  ['a verifier', verifier],
  ['a verifier that remembers nothing', createVerifier({ ...options, remember: false })],
  ['byIssuer', byIssuer({ 'https://auth.test': verifier })],
  ['byIssuer of a function', byIssuer(() => verifier)],
  [
    'byIssuer of what passes on our answers',
    byIssuer(() => ({
      verify: async (text: string) => await verifier.verify(text),
      ready,
    })),
  ],
]

describe.each(verifiers)('with a schema that strips claims, behind %s', (_name, used) => {
  const requirements: readonly (readonly [name: string, requirement: Requirement])[] = [
    ['a scope', scope('read')],
    ['a claim', claim('role', 'admin')],
    ['a nested claim', claim(['realm_access', 'roles'], 'editor')],
    ['a function of a claim', claim('role', (value) => value === 'admin')],
    ['a log-in', authenticatedWithin(60, { clock })],
    ['a class of log-in', acr('gold')],
    ['a check', check((auth) => auth.claims['role'] === 'admin')],
    [
      'all of some',
      all(
        scope('read'),
        check((auth) => auth.claims.sub === 'ada'),
      ),
    ],
    [
      'any of some',
      any(
        scope('write'),
        check((auth) => auth.claims.sub === 'ada'),
      ),
    ],
    [
      'something of the application`s own making',
      { reason: 'check', description: 'own', isMetBy: (auth) => auth.claims['role'] === 'admin' },
    ],
  ]

  test.each(requirements)('%s is judged by the claims as they were signed', async (_, wanted) => {
    const [once, again] = [await requestWith(used), await requestWith(used)]
    expect(await outcomeOf(authorizeRequest(once, [wanted]))).toBe('let in')
    expect(await outcomeOf(authorizeRequest(again, [wanted]))).toBe('let in')
  })

  test('a check of what is not there fails closed: the claim is there for it', async () => {
    const suspended = await issuer.token({ claims: { ...claims, suspended: true } })
    const request = await requestWith(used, suspended)
    const isActive = check((auth) => auth.claims['suspended'] !== true)
    for (const requirement of [isActive, all(isActive), any(isActive)]) {
      expect(await outcomeOf(authorizeRequest(request, [requirement]))).toMatchObject({
        code: 'insufficient_scope',
        reason: 'check',
      })
    }
  })

  test('a refusal says what the signed claims lack', async () => {
    const request = await requestWith(used)
    const refusal = await outcomeOf(authorizeRequest(request, [scope('write')]))
    expect((refusal as AuthError).detail).toBe(
      'the token lacks "write"; the route requires scope write',
    )
  })

  test('handlers get the output, and a check gets it second', async () => {
    const request = await requestWith(used)
    expect(getAuth(request).claims).toEqual({ user: 'ada' })
    const decide = vi.fn<(auth: Auth, output: unknown) => boolean>(() => true)
    await authorizeRequest(request, [check(decide), all(check(decide)), any(check(decide))])
    expect(decide).toHaveBeenCalledTimes(3)
    for (const [auth, output] of decide.mock.calls) {
      expect(auth.claims).toMatchObject(claims)
      expect(auth.token).toBe(token)
      expect(output).toBe(getAuth(request).claims)
    }
  })

  test('expiry and grantedScopes read them as well', async () => {
    const auth = await used.verify(token)
    expect(expiry(auth)).toBeGreaterThan(clock.now())
    expect([...grantedScopes(auth)]).toEqual(['read'])
  })

  test('revoke(auth) revokes this token, of this issuer', async () => {
    const revocations = localRevocations({ clock })
    await revocations.revoke(await used.verify(token))
    const { entries } = revocations.toSnapshot()
    expect(entries).toMatchObject([{ type: 'token', iss: 'https://auth.test', jti: 'one' }])
  })
})

test('a verifier behind byIssuer need not be ours for a schema to remove iss', async () => {
  const wrapped = {
    verify: async (text: string) => await verifier.verify(text),
    ready,
  }
  const auth = await byIssuer({ 'https://auth.test': verifier }).verify(token)
  expect(await byIssuer(() => wrapped).verify(token)).toEqual(auth)
})

test('what was signed stays with a token that is bound, together with what was proven', async () => {
  const client = await dpopClient()
  const bound = await issuer.token({ claims, boundTo: client })
  const { jkt } = client
  const auth = await verifier.verify(bound, { possession: { jkt } })
  expect(auth).toMatchObject({ claims: { user: 'ada' }, possession: { jkt } })
  expect(asSigned(auth)).toMatchObject({ claims, possession: { jkt } })
})

test('an output that is no object keeps nothing from anybody', async () => {
  const schema: Schema<string> = { '~standard': { version: 1, validate: () => ({ value: 'ada' }) } }
  const request = await requestWith(createVerifier({ ...options, schema }))
  const wanted = [
    scope('read'),
    check((auth, output) => output === 'ada' && auth.claims.sub === 'ada'),
  ]
  expect(await outcomeOf(authorizeRequest(request, wanted))).toBe('let in')
})

test('an output that is undefined is what a check gets', async () => {
  const schema: Schema<undefined> = {
    '~standard': { version: 1, validate: () => ({ value: undefined }) },
  }
  const request = await requestWith(createVerifier({ ...options, schema }))
  const wanted = [any(check((_, output) => output === undefined))]
  expect(await outcomeOf(authorizeRequest(request, wanted))).toBe('let in')
})

test('without a schema a check gets the claims twice', async () => {
  const request = await requestWith(createVerifier(issuer.verifierOptions))
  const wanted = [check((auth, output) => output === auth.claims && auth.claims.sub === 'ada')]
  expect(await outcomeOf(authorizeRequest(request, wanted))).toBe('let in')
})

describe('an Auth', () => {
  test('shows nothing more than before: its members, frozen', async () => {
    const auth = await verifier.verify(token)
    expect(Reflect.ownKeys(auth).filter((key) => typeof key === 'string')).toEqual([
      'claims',
      'header',
      'token',
    ])
    expect(Object.isFrozen(auth)).toBe(true)
    expect(JSON.parse(JSON.stringify(auth))).toEqual({ ...auth })
    expect(Object.getOwnPropertySymbols({ ...auth })).toEqual([])
    expect(Object.getOwnPropertySymbols(structuredClone(auth))).toEqual([])
  })

  test('without a schema has nothing beside its members', async () => {
    const auth = await createVerifier(issuer.verifierOptions).verify(token)
    expect(Object.getOwnPropertySymbols(auth).map(String)).toEqual([
      'Symbol(@portcullis/core copy)', // whose it is, for a message about two copies
    ])
    expect(asSigned(auth)).toBe(auth)
  })

  const copies: readonly (readonly [name: string, copy: (auth: Auth<unknown>) => Auth<unknown>])[] =
    [
      ['spread', (auth) => ({ ...auth, claims: { scope: 'write' } })],
      [
        'of all its properties',
        (auth) => {
          const properties = Object.getOwnPropertyDescriptors(auth)
          const given = { ...properties.claims, value: { scope: 'write' } }
          return Object.defineProperties({}, { ...properties, claims: given }) as Auth<unknown>
        },
      ],
      [
        'that inherits from it',
        (auth) => Object.create(auth, { claims: { value: { scope: 'write' } } }) as Auth<unknown>,
      ],
    ]
  test.each(copies)('that a wrapper has made, %s, has the claims that it says', async (_, copy) => {
    const made = copy(await verifier.verify(token))
    expect(isRecorded(made)).toBe(false)
    expect([...grantedScopes(made)]).toEqual(['write'])
    const request = await requestWith({
      verify: async () => await Promise.resolve(made),
      ready,
    })
    expect(await outcomeOf(authorizeRequest(request, [scope('write')]))).toBe('let in')
    expect(await outcomeOf(authorizeRequest(request, [scope('read')]))).toMatchObject({
      code: 'insufficient_scope',
    })
  })

  test('in a Proxy has the claims that the Proxy says', async () => {
    const auth = { ...(await verifier.verify(token)) }
    Object.defineProperties(auth, Object.getOwnPropertyDescriptors(await verifier.verify(token)))
    const proxy = new Proxy(await verifier.verify(token), {})
    expect(signedClaims(proxy)).toEqual({ user: 'ada' })
    expect(signedClaims(auth)).toEqual({ user: 'ada' })
  })

  test.each([null, undefined, 'text', 7, ['read']])(
    'of a wrapper whose claims are %j meets no requirement, and breaks none',
    async (given) => {
      const auth = { claims: given, header: { alg: 'RS512' }, token: 'a.b.c' }
      const request = await requestWith({
        verify: async () => await Promise.resolve(auth),
        ready,
      })
      for (const wanted of [
        scope('read'),
        claim('role', 'admin'),
        acr('gold'),
        authenticatedWithin(60),
      ]) {
        expect(await outcomeOf(authorizeRequest(request, [wanted]))).toBeInstanceOf(AuthError)
      }
    },
  )

  test('of another copy of core in this process is understood, where a wrapper hands it on', async () => {
    vi.resetModules()
    const other = await import('../../src/index.ts')
    expect(other.AuthError).not.toBe(AuthError)
    const { keyUrl, fetch } = tokenService(issuer)
    const theirs = other.createVerifier({ ...options, keys: other.remoteKeys(keyUrl, { fetch }) })
    const request = await requestWith({ verify: async (each) => await theirs.verify(each), ready })
    expect(await outcomeOf(authorizeRequest(request, [scope('read')]))).toBe('let in')
  })
})

describe('an opaque token that looks like a JWT', () => {
  const payload = Buffer.from(JSON.stringify({ jti: 'other', exp: 5 })).toString('base64url')
  const auth = { claims: { iss: 'a', jti: 'mine', exp: 9 }, header: { alg: 'RS512' } }
  const opaque = { ...auth, token: `eyJhbGciOiJSUzUxMiJ9.${payload}.AAAA` }

  test('is revoked by its own jti, not by that in its text', async () => {
    const revocations = localRevocations({ clock: { ...clock, now: () => 1 } })
    await revocations.revoke(opaque)
    expect(revocations.toSnapshot().entries).toEqual([
      { type: 'token', iss: 'a', jti: 'mine', exp: 9 },
    ])
  })

  test('expires by its own exp', () => {
    expect(expiry(opaque)).toBe(9)
  })
})

describe('check with a verifier', () => {
  test('types the output', async () => {
    const wanted = check(verifier, (auth, output) => {
      expectTypeOf(auth).toEqualTypeOf<Auth>()
      expectTypeOf(output).toEqualTypeOf<{ user: string }>()
      return output.user === 'ada'
    })
    const request = await requestWith(verifier)
    for (const requirement of [wanted, all(wanted), any(scope('write'), wanted)]) {
      expect(await outcomeOf(authorizeRequest(request, [requirement]))).toBe('let in')
    }
    check((_auth, output) => {
      expectTypeOf(output).toBeUnknown()
      return true
    })
  })

  test('of another verifier than the guard`s is a fault of the application', async () => {
    const decide = vi.fn<() => boolean>(() => true)
    const wanted = check(verifier, decide)
    const request = await requestWith(createVerifier(options))
    for (const requirement of [wanted, all(wanted), any(wanted)]) {
      expect(await outcomeOf(authorizeRequest(request, [requirement]))).toEqual(
        new TypeError(
          'check: another verifier than that of check(verifier, ...) has let the request through',
        ),
      )
    }
    expect(decide).not.toHaveBeenCalled()
  })

  test('can be asked in a test, without a request', async () => {
    const auth = await verifier.verify(token)
    const wanted = check(verifier, ({ claims: signed }, { user }) => signed.sub === user)
    for (const requirement of [wanted, all(wanted), any(wanted)]) {
      expect(await requirement.isMetBy(auth as unknown as Auth)).toBe(true)
    }
  })

  test.each([
    ['a function', () => true],
    ['null', null],
    ['no verifier', {}],
  ])('and %s in its place is a TypeError', (_, wrong) => {
    expect(() => check(wrong as unknown as Verifier<unknown>, () => true)).toThrow(
      'check: the first of two arguments must be a verifier',
    )
  })

  test('and no decision is a TypeError', () => {
    expect(() => check(verifier, undefined as never)).toThrow(
      'check: the decision must be a function',
    )
  })
})
