import {
  AuthError,
  authenticateRequest,
  authorizeRequest,
  check,
  expiry,
  getAuth,
  type Possession,
  type Schema,
  scope,
  type Verifier,
} from '@portcullis/core'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'

import { stubVerifier, type StubVerifierOptions } from '../src/stub.ts'

type Reason = Parameters<typeof stubVerifier.refusing>[0]

describe('stubVerifier', () => {
  test('takes any text for a token of its claims', async () => {
    const verifier: Verifier = stubVerifier({ claims: { sub: 'ada', scope: 'read' } })
    await expect(verifier.verify('any')).resolves.toEqual({
      claims: { sub: 'ada', scope: 'read' },
      header: { alg: 'RS512', typ: 'JWT' },
      token: 'any',
    })
    await expect(verifier.ready()).resolves.toBeUndefined()
  })

  test('takes any token as bound to what its sender has proven', async () => {
    const possession = { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' }
    expect((await stubVerifier().verify('any', { possession })).possession).toEqual(possession)
    expect(Object.keys(await stubVerifier().verify('any', {}))).not.toContain('possession')
  })

  test('knows the types of its claims', async () => {
    const { claims } = await stubVerifier({ claims: { roles: ['a'] } }).verify('any')
    expect(claims.roles.map((role) => role.toUpperCase())).toEqual(['A'])
  })

  test('without claims proves none', async () => {
    const verifier: Verifier = stubVerifier()
    await expect(verifier.verify('any')).resolves.toMatchObject({ claims: {} })
  })

  test('freezes what it gives, to the last level, and nothing of the caller`s', async () => {
    const claims = { sub: 'ada', address: { city: ['Oslo'] } }
    const auth = await stubVerifier({ claims }).verify('any')
    for (const part of [auth, auth.header, auth.claims, auth.claims.address]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    expect(Object.isFrozen(auth.claims.address.city)).toBe(true)
    claims.address.city.push('Bergen')
    expect(auth.claims.address.city).toEqual(['Oslo'])
  })

  test('takes claims that have one object twice', async () => {
    const city = { name: 'Oslo' }
    const { claims } = await stubVerifier({ claims: { born: city, lives: { city } } }).verify('any')
    expect(claims).toEqual({ born: city, lives: { city } })
  })

  test.each(['production', 'Production', ' PRODUCTION '])(
    'with NODE_ENV=%j it is a TypeError, unless allowInProduction is true',
    (environment) => {
      vi.stubEnv('NODE_ENV', environment)
      try {
        const complaint = /^stubVerifier: .*allowInProduction: true/
        expect(() => stubVerifier()).toThrow(complaint)
        expect(() => stubVerifier({ claims: {}, allowInProduction: false })).toThrow(complaint)
        expect(() => stubVerifier({ allowInProduction: true })).not.toThrow()
        // It lets nobody in.
        expect(() => stubVerifier.refusing('expired')).not.toThrow()
      } finally {
        vi.unstubAllEnvs()
      }
    },
  )

  test.each<[complaint: string, options: object]>([
    ['unknown option "claim", known are claims, boundTo, schema, allowInProduction', { claim: {} }],
    ['allowInProduction must be true or false', { allowInProduction: 'yes' }],
    ['claims must be an object', { claims: [] }],
    ['claims must not contain themselves', { claims: cyclic() }],
  ])('with a wrong option: %s', (complaint, options) => {
    expect(() => stubVerifier(options)).toThrow(new TypeError(`stubVerifier: ${complaint}`))
  })
})

describe('stubVerifier with a schema', () => {
  interface User {
    readonly user: string
  }

  const schema: Schema<User> = {
    '~standard': {
      version: 1,
      validate(value) {
        const sub: unknown = Reflect.get(Object(value) as object, 'sub')
        return typeof sub === 'string'
          ? { value: { user: sub } }
          : { issues: [{ message: 'sub must be a string' }] }
      },
    },
  }

  const claims = { sub: 'ada', scope: 'read', jti: 'one', exp: 5 }

  test('gives handlers its output, with its type, and everything else the claims', async () => {
    const verifier = stubVerifier({ claims, schema })
    expectTypeOf(verifier).toEqualTypeOf<Verifier<User>>()
    const request = { headers: { authorization: 'Bearer any' } }
    await authenticateRequest(verifier, request, {}, request)
    const auth = getAuth(request, verifier)
    expect(auth.claims).toEqual({ user: 'ada' })
    const isAda = check(verifier, ({ claims: { sub } }, { user }) => sub === user)
    await authorizeRequest(request, [scope('read'), isAda])
    await expect(authorizeRequest(request, [scope('write')])).rejects.toMatchObject({
      code: 'insufficient_scope',
    })
    expect(expiry(auth)).toBe(5)
  })

  test('waits for a schema that hangs until the signal ends it, as a verifier does', async () => {
    const hanging: Schema<unknown> = {
      '~standard': { version: 1, validate: async () => await new Promise<never>(() => {}) },
    }
    const signal = AbortSignal.abort(new Error('gone'))
    const verdict = stubVerifier({ schema: hanging }).verify('any', { signal })
    await expect(verdict).rejects.toThrow('gone')
  })

  test('refuses claims that the schema refuses', async () => {
    await expect(stubVerifier({ claims: { sub: 7 }, schema }).verify('any')).rejects.toMatchObject({
      code: 'invalid_token',
      reason: 'claim',
    })
    await expect(stubVerifier({ schema }).verify('any')).rejects.toThrow(AuthError)
  })

  test('keeps what was proven', async () => {
    const verifier = stubVerifier({ claims, schema, boundTo: { jkt: 'key' } })
    const auth = await verifier.verify('any', { possession: { jkt: 'key' } })
    expect(auth).toMatchObject({ claims: { user: 'ada' }, possession: { jkt: 'key' } })
  })

  test.each([null, {}, { '~standard': {} }, () => true])('%o is none: TypeError', (wrong) => {
    expect(() => stubVerifier({ claims, schema: wrong as never })).toThrow(
      'stubVerifier: schema must be a validator of the Standard Schema specification',
    )
  })

  test('may be a function, as those of some libraries are', async () => {
    const callable = Object.assign(() => true, schema)
    const { claims: output } = await stubVerifier({ claims, schema: callable }).verify('any')
    expect(output).toEqual({ user: 'ada' })
  })
})

describe('stubVerifier.refusing', () => {
  test.each<[reason: Reason, code: string, isReady: boolean]>([
    ['malformed', 'invalid_token', true],
    ['signature', 'invalid_token', true],
    ['expired', 'invalid_token', true],
    ['claim', 'invalid_token', true],
    ['unreachable', 'keys_unavailable', false],
    ['timeout', 'keys_unavailable', false],
    ['bad_document', 'keys_unavailable', false],
    ['revoked', 'invalid_token', true],
    ['stale', 'revocation_unavailable', false],
  ])('%s: a genuine AuthError with the code %s, another each time', async (reason, code, ready) => {
    const verifier = stubVerifier.refusing(reason)
    const one = await errorOf(verifier.verify('a'))
    const two = await errorOf(verifier.verify('b'))
    expect(one).toBeInstanceOf(AuthError)
    expect(one).toMatchObject({ code, reason })
    expect(two).toMatchObject({ code, reason })
    expect(one).not.toBe(two)
    expect(await errorOf(verifier.ready())).toEqual(ready ? undefined : one)
  })

  test.each(['scope', 'missing_header', 'tired'])('%s is no reason of a verifier', (reason) => {
    // A reason that the type does not allow.
    expect(() => stubVerifier.refusing(reason as Reason)).toThrow(TypeError)
  })
})

function cyclic(): object {
  const friends: unknown[] = []
  const claims = { sub: 'ada', friends }
  friends.push({ of: claims })
  return claims
}

async function errorOf(outcome: Promise<unknown>): Promise<unknown> {
  return await outcome.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('stubVerifier with boundTo', () => {
  const boundTo = { jkt: 'key', x5tS256: 'certificate' }

  test('accepts a token with all that it is bound to, and says what was proven', async () => {
    const auth = await stubVerifier({ boundTo }).verify('any', { possession: boundTo })
    expect(auth).toMatchObject({
      claims: { cnf: { jkt: 'key', 'x5t#S256': 'certificate' } },
      possession: boundTo,
    })
    expect(Object.isFrozen(auth.possession)).toBe(true)
  })

  test('says nothing of what the token is not bound to', async () => {
    const bound = stubVerifier({ boundTo: { jkt: 'key' } })
    const both = { possession: { jkt: 'key', x5tS256: 'certificate' } }
    expect(await bound.verify('any', both)).toHaveProperty('possession', { jkt: 'key' })
  })

  test.each<[title: string, options: StubVerifierOptions<object>, possession: Possession]>([
    ['nothing is proven', { boundTo }, {}],
    ['the certificate is missing', { boundTo }, { jkt: 'key' }],
    ['the key is missing', { boundTo }, { x5tS256: 'certificate' }],
    ['it is another key', { boundTo: { jkt: 'key' } }, { jkt: 'other' }],
    ['a proof is sent with a token of a certificate', { boundTo: { x5tS256: 'a' } }, boundTo],
    ['cnf is empty', { claims: { cnf: {} } }, {}],
    ['cnf is no object', { claims: { cnf: 1 } }, {}],
    ['cnf is null', { claims: { cnf: null } }, {}],
    ['cnf has another member', { claims: { cnf: { jkt: 'key', kid: 'a' } } }, { jkt: 'key' }],
    ['a member of cnf is no text', { claims: { cnf: { jkt: ['key'] } } }, { jkt: 'key' }],
  ])('refuses for binding if %s', async (_title, options, possession) => {
    await expect(stubVerifier(options).verify('any', { possession })).rejects.toMatchObject({
      code: 'invalid_token',
      reason: 'binding',
    })
  })
})
