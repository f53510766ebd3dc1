import { createVerifier, type SchemaOptions } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { Subject } from '../../src/oauth.ts'
import { bearerSubject } from '../../src/oauth/subject.ts'
import { failureOf, jws } from '../login-service.ts'
import { createClient, createServer } from './server.ts'

// What is exchanged is judged by the claims as they were signed, whatever a schema of the verifier makes of them for handlers.

/** What `z.object({ sub })` makes of claims: a new object each time, without `exp` and `cnf`. */
const onlySub = schemaOf(({ sub }) => ({ sub }))

function schemaOf(
  output: (claims: Readonly<Record<string, unknown>>) => object,
): SchemaOptions<object>['schema'] {
  const validate = (claims: unknown) => ({ value: output({ ...(claims as object) }) }) // a verifier gives an object
  return { '~standard': { version: 1, validate } }
}

const JKT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'

async function setUp(schema = onlySub) {
  const server = createServer()
  const { clock } = server
  const issuer = await createTestIssuer({ clock })
  const verifier = createVerifier({ ...issuer.verifierOptions, schema })
  const verify = async (claims: object) => {
    const token = await issuer.token({ claims: { sub: 'ada', ...claims } })
    const possession = 'cnf' in claims ? { possession: { jkt: JKT } } : {}
    return await verifier.verify(token, possession)
  }
  return { server, clock, client: createClient(server), verifier, verify }
}

describe('an Auth whose schema keeps nothing but sub', () => {
  test('gives an exchanged token until the signed exp, and not a second longer', async () => {
    const { server, clock, client, verify } = await setUp()
    const auth = await verify({ exp: clock.now() + 60 })
    expect(auth.claims).toEqual({ sub: 'ada' })
    const handle = client.onBehalfOf(auth)
    expect(await handle.get()).toBe('opaque-0')
    expect(handle.status().expiresIn).toBeCloseTo(60)
    await clock.advance(60)
    expect(await failureOf(handle.get())).toMatchObject({ code: 'invalid_grant', status: 401 })
    expect(server.requests).toHaveLength(1)
  })

  test('is a TypeError if the token is bound, and nothing is sent', async () => {
    const { server, clock, client, verify } = await setUp()
    const auth = await verify({ exp: clock.now() + 60, cnf: { jkt: JKT } })
    expect(() => client.onBehalfOf(auth)).toThrow(
      'onBehalfOf: the token is bound to a key or certificate',
    )
    expect(server.requests).toEqual([])
  })

  test.each([
    ['each as its verifier made it', (auth: Subject) => auth],
    ['each a copy', (auth: Subject) => ({ ...auth })],
  ])('20 requests of one caller are one exchange: %s', async (_title, given) => {
    const { server, clock, client, verifier, verify } = await setUp()
    const { token, claims } = await verify({ exp: clock.now() + 120 })
    for (let count = 0; count < 20; count++) {
      const auth = await verifier.verify(token)
      expect(auth.claims).not.toBe(claims)
      expect(await client.onBehalfOf(given(auth)).get()).toBe('opaque-0')
    }
    expect(server.requests).toHaveLength(1)
  })
})

/** As core notes an answer at the `Auth` of a verifier with a schema. */
function answered(token: string, claims: object): Subject {
  const auth = { token, claims: { sub: 'ada' } }
  const value = { of: auth, signed: { token, claims } }
  return Object.defineProperty(auth, Symbol.for('@portcullis/core signed'), { value })
}

describe('a JWT about which its issuer was asked: what was signed is the answer, and the token counts as well', () => {
  test.each<[string, object, number]>([
    ['without exp', {}, 100],
    ['with a later exp', { exp: 200 }, 100],
    ['with an earlier exp', { exp: 50 }, 50],
  ])('an answer %s', (_title, claims, end) => {
    expect(bearerSubject(answered(jws({ exp: 100 }), claims)).end).toBe(end)
  })

  test('a bound token is a TypeError, also if the answer has no cnf', () => {
    const auth = answered(jws({ exp: 100, cnf: { jkt: JKT } }), { exp: 100 })
    expect(() => bearerSubject(auth)).toThrow('onBehalfOf: the token is bound')
  })
})

describe('where nobody has noted what was signed', () => {
  const token = jws({ exp: 100 })

  test.each<[string, Subject, number | undefined]>([
    ['the claims say when the token ends', { token: 'opaque', claims: { exp: 7 } }, 7],
    ['the token does', { token, claims: {} }, 100],
    ['the earlier of the two counts: the claims', { token, claims: { exp: 99 } }, 99],
    ['the earlier of the two counts: the token', { token, claims: { exp: 101 } }, 100],
    ['what is no number is none', { token, claims: { exp: new Date() } }, 100],
    ['neither does', { token: jws({}), claims: {} }, undefined],
    ['what has dots and is no JWT says nothing', { token: 'a.b.c', claims: { exp: 7 } }, 7],
  ])('%s', (_title, auth, end) => {
    expect(bearerSubject(auth)).toEqual({ token: auth.token, end })
  })

  test.each<[string, Subject]>([
    ['the claims', { token, claims: { cnf: {} } }],
    ['the token', { token: jws({ cnf: { jkt: JKT } }), claims: {} }],
  ])('a cnf in %s is enough to refuse', (_title, auth) => {
    expect(() => bearerSubject(auth)).toThrow('onBehalfOf: the token is bound')
  })

  test('a copy of an Auth, and a Proxy around it, are read so', async () => {
    const { clock, verify } = await setUp(schemaOf(() => ({ exp: 9e9 })))
    const exp = Math.floor(clock.now()) + 60
    const auth = await verify({ exp })
    expect(bearerSubject(auth).end).toBe(exp)
    expect(bearerSubject({ ...auth }).end).toBe(exp)
    expect(bearerSubject(new Proxy(auth, {})).end).toBe(exp)
  })

  test('a note about another Auth is none', async () => {
    const { clock, verify } = await setUp()
    const [earlier, later] = [await verify({ exp: clock.now() + 9 }), await verify({})]
    const [record] = Object.getOwnPropertySymbols(later)
    const taken = Object.defineProperty({ ...earlier }, record ?? '', {
      value: Reflect.get(later, record ?? ''),
    })
    expect(bearerSubject(taken).end).toBe(Math.floor(clock.now()) + 9)
  })
})

/** An opaque token until 50, with a note of its own. */
function noted(note: object): Subject {
  const auth = { token: 'opaque', claims: { exp: 50 } }
  const value = { of: auth, ...note }
  return Object.defineProperty(auth, Symbol.for('@portcullis/core signed'), { value })
}

describe('a note that does not count: what the Auth says does', () => {
  test.each<[string, object]>([
    ['at another Auth', { of: {}, signed: { claims: { exp: 100 } } }],
    ['without claims', { signed: {} }],
    ['with claims that are null', { signed: { claims: null } }],
    ['with claims that are a text', { signed: { claims: 'exp' } }],
    ['of nothing', { signed: undefined }],
  ])('%s', (_title, value) => {
    expect(bearerSubject(noted(value)).end).toBe(50)
  })

  test('and one that does says alone when the token ends', () => {
    expect(bearerSubject(noted({ signed: { claims: { exp: 100 } } })).end).toBe(100)
  })
})
