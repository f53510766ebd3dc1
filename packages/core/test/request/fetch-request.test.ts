import { describe, expect, test } from 'vitest'

import type { Auth } from '../../src/claims/auth.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { findAuth, getAuth } from '../../src/request/get-auth.ts'
import { authenticateRequest, authorizeRequest } from '../../src/request/http.ts'
import { scope } from '../../src/requirement/requirement.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'

// `Request`, `Headers` and `Response` of the Fetch standard, in place of what node:http has.

const auth: Auth = { claims: { scope: 'read' }, header: { alg: 'RS512' }, token: 'a.b.c' }
const verifier: Verifier = {
  async verify(token) {
    if (token !== 'a.b.c') throw new AuthError('invalid_token', 'signature')
    return await Promise.resolve(auth)
  },
  async ready() {},
}

function requestWith(...authorization: readonly string[]): Request {
  const headers = authorization.map((value): [string, string] => ['Authorization', value])
  return new Request('https://api.test/', {
    method: 'POST',
    body: 'unread',
    headers,
    duplex: 'half',
  })
}

async function reasonOf(request: Request, options = {}): Promise<string> {
  try {
    await authenticateRequest(verifier, request, options)
    return 'none'
  } catch (error) {
    return error instanceof AuthError ? error.reason : 'none'
  }
}

describe('a Request', () => {
  test('with a good token: its Auth, and the Request is the subject', async () => {
    const request = requestWith('bearer a.b.c')
    expect(await authenticateRequest(verifier, request)).toBe(auth)
    expect(getAuth(request, verifier)).toBe(auth)
    await authorizeRequest(request, [scope('read')])
    const error: unknown = await authorizeRequest(request, [scope('write')]).catch(
      (fault: unknown) => fault,
    )
    expect(error).toMatchObject({ code: 'insufficient_scope', status: 403 })
  })

  test.each([
    { name: 'no header', values: [], reason: 'missing_header' },
    { name: 'another scheme', values: ['Basic YTpi'], reason: 'other_scheme' },
    { name: 'another scheme, twice', values: ['Basic YTpi', 'Basic YTpi'], reason: 'other_scheme' },
  ])('$name: 401, or anonymous where it is optional', async ({ values, reason }) => {
    expect(await reasonOf(requestWith(...values))).toBe(reason)
    const request = requestWith(...values)
    expect(await authenticateRequest(verifier, request, { optional: true })).toBeUndefined()
    expect(findAuth(request)).toBeUndefined()
  })

  test.each([
    { name: 'twice the same', values: ['Bearer a.b.c', 'Bearer a.b.c'] },
    { name: 'another scheme first', values: ['Basic YTpi', 'Bearer a.b.c'] },
    { name: 'another scheme last', values: ['Bearer a.b.c', 'Basic YTpi'] },
    { name: 'a scheme without credentials first', values: ['Negotiate', 'Bearer a.b.c'] },
    { name: 'a bearer between two', values: ['Basic YTpi', 'bearer x', 'Basic YTpi'] },
    { name: 'an empty one first', values: ['', 'Bearer a.b.c'] },
    { name: 'an empty one last', values: ['Bearer a.b.c', ''] },
    { name: 'DPoP last', values: ['Basic YTpi', 'DPoP a.b.c'] },
    { name: 'DPoP twice', values: ['DPoP a.b.c', 'DPoP a.b.c'] },
  ])('repeated headers, which come as one: repeated: $name', async ({ values }) => {
    expect(await reasonOf(requestWith(...values))).toBe('repeated_header')
    expect(await reasonOf(requestWith(...values), { optional: true })).toBe('repeated_header')
  })

  test('the header that middleware has set counts, and one that it has deleted does not', async () => {
    const request = requestWith('Bearer forged')
    request.headers.set('authorization', 'Bearer a.b.c')
    expect(await authenticateRequest(verifier, request)).toBe(auth)
    request.headers.append('authorization', 'Bearer a.b.c')
    expect(await reasonOf(request)).toBe('repeated_header')
    request.headers.delete('authorization')
    expect(await reasonOf(request)).toBe('missing_header')
  })

  test('another Request with the same headers has not passed the guard', async () => {
    const request = requestWith('Bearer a.b.c')
    await authenticateRequest(verifier, request)
    expect(() => getAuth(request.clone())).toThrow(TypeError)
    expect(() => getAuth(new Request(request))).toThrow(TypeError)
  })

  test('its body stays unread, and its signal is not looked at', async () => {
    const controller = new AbortController()
    const request = new Request(requestWith('Bearer a.b.c'), { signal: controller.signal })
    controller.abort()
    await authenticateRequest(verifier, request)
    expect(request.bodyUsed).toBe(false)
    expect(await request.text()).toBe('unread')
  })

  test('onRefusal gets it, with its own type', async () => {
    const seen: string[] = []
    const request = requestWith()
    const onRefusal = (error: AuthError, { method }: Request) => seen.push(method, error.reason)
    await expect(authenticateRequest(verifier, request, { onRefusal })).rejects.toThrow(AuthError)
    expect(seen).toEqual(['POST', 'missing_header'])
  })
})
