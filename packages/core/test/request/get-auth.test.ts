import { expect, test } from 'vitest'

import type { Auth } from '../../src/claims/auth.ts'
import type { RequestHeaders } from '../../src/request/bearer.ts'
import { findAuth, getAuth } from '../../src/request/get-auth.ts'
import { authenticateRequest } from '../../src/request/http.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'

const auth: Auth = { claims: { sub: 'ada' }, header: { alg: 'RS512' }, token: 'a.b.c' }

const verifierOf = (): Verifier => ({ verify: () => Promise.resolve(auth), async ready() {} })

const bearer = (): RequestHeaders => ({
  rawHeaders: ['Authorization', 'Bearer a.b.c'],
  headers: { authorization: 'Bearer a.b.c' },
})

const anonymous = (): RequestHeaders => ({ rawHeaders: [], headers: {} })

test('a guarded request: the Auth, with and without its verifier', async () => {
  const verifier = verifierOf()
  const seen = bearer()
  await authenticateRequest(verifier, seen)
  expect(getAuth(seen)).toBe(auth)
  expect(getAuth(seen, verifier)).toBe(auth)
  expect(findAuth(seen)).toBe(auth)
  expect(findAuth(seen, verifier)).toBe(auth)
})

test('an anonymous request: TypeError and undefined', async () => {
  const verifier = verifierOf()
  const seen = anonymous()
  await authenticateRequest(verifier, seen, { optional: true })
  expect(findAuth(seen)).toBeUndefined()
  expect(findAuth(seen, verifier)).toBeUndefined()
  expect(() => getAuth(seen)).toThrow(
    new TypeError('getAuth: the request is anonymous; use findAuth on an optional route'),
  )
})

test('no guard: TypeError from both', () => {
  const expected = new TypeError(
    'no guard has seen the request (in Koa and Hono, the context): authenticate(verifier) or PortcullisGuard must come before, and authenticateRequest() must be awaited',
  )
  expect(() => getAuth(bearer())).toThrow(expected)
  expect(() => findAuth(bearer())).toThrow(expected)
})

test('another verifier: TypeError from both, for an anonymous request too', async () => {
  const [proven, tokenless] = [bearer(), anonymous()]
  await authenticateRequest(verifierOf(), proven)
  await authenticateRequest(verifierOf(), tokenless, { optional: true })
  for (const seen of [proven, tokenless]) {
    expect(() => findAuth(seen, verifierOf())).toThrow(
      new TypeError('no guard with this verifier has seen the request'),
    )
    expect(() => getAuth(seen, verifierOf())).toThrow(TypeError)
  }
})
