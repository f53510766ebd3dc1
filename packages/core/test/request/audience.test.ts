import { describe, expect, test } from 'vitest'

import type { AuthError } from '../../src/refusal/errors.ts'
import { findAuth } from '../../src/request/get-auth.ts'
import { authenticateRequest, requireAudience } from '../../src/request/http.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'

const API = 'https://api.test'

async function guarded(aud: unknown, options: object = {}) {
  const verifier: Verifier = {
    verify: async (token) =>
      await Promise.resolve({ claims: { aud }, header: { alg: 'RS512' }, token }),
    ready: async () => {},
  }
  const request = { headers: { authorization: 'Bearer a.b.c' } }
  await authenticateRequest(verifier, request, options, request)
  return request
}

describe('a token that was accepted must name an audience', () => {
  test.each([API, [API], ['other', API]])('%j does', async (aud) => {
    const request = await guarded(aud)
    requireAudience(request, API)
    expect(findAuth(request)?.claims.aud).toEqual(aud)
  })

  test.each([undefined, null, '', 'other', `${API}/`, [], [[API]], [API, 1]])(
    '%j does not: 401 with the challenge of the guard, reported once',
    async (aud) => {
      const refused: AuthError[] = []
      const onRefusal = (error: AuthError) => refused.push(error)
      const request = await guarded(aud, { realm: 'here', scope: 'read', onRefusal })
      expect(() => {
        requireAudience(request, API)
      }).toThrow(
        expect.objectContaining({ code: 'invalid_token', reason: 'audience', status: 401 }),
      )
      expect(refused.map(({ headers }) => headers['WWW-Authenticate'])).toEqual([
        expect.stringMatching(/^Bearer realm="here", error="invalid_token".*scope="read"$/),
      ])
    },
  )

  test('a request without a token is asked for one', async () => {
    const verifier = {
      verify: async () => await Promise.reject(new Error()),
    } as unknown as Verifier
    const request = { headers: {} }
    await authenticateRequest(verifier, request, { optional: true }, request)
    expect(() => {
      requireAudience(request, API)
    }).toThrow(expect.objectContaining({ code: 'missing_token' }))
  })

  test('without a guard it is a mistake of the program', () => {
    expect(() => {
      requireAudience({}, API)
    }).toThrow(/no guard has seen the request/)
  })
})
