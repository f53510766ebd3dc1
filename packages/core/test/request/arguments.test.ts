import { createTestIssuer, stubVerifier } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { requireAudience } from '../../src/adapter.ts'
import {
  authenticateRequest,
  type AuthError,
  authorizeRequest,
  byIssuer,
  createVerifier,
  type GuardOptions,
  type RequestHeaders,
  scope,
} from '../../src/index.ts'

const verifier = stubVerifier({ claims: { aud: 'api' } })
const authorization = 'Bearer a.b.c'

async function refusalOf(
  request: unknown,
  options: GuardOptions<RequestHeaders> = {},
): Promise<Pick<AuthError, 'code' | 'reason' | 'detail'> | undefined> {
  try {
    await authenticateRequest(verifier, request as RequestHeaders, options)
    return undefined
  } catch (error) {
    return error as AuthError
  }
}

describe('an event of API Gateway in place of a request', () => {
  const event = { httpMethod: 'GET', path: '/', headers: { Authorization: authorization } }

  test('is refused, and the detail says that other spellings are not read', async () => {
    const refusal = await refusalOf(event)
    expect(refusal).toMatchObject({ code: 'missing_token', reason: 'missing_header' })
    expect(refusal?.detail).toBe(
      'the request has no header authorization: names of headers are read in lower case, as node:http and a `Request` have them, and other spellings are not: an event of API Gateway is no request',
    )
  })

  test('says so of another header that has the token', async () => {
    const headers = { 'X-Access-Token': 'a.b.c' }
    const refusal = await refusalOf({ headers }, { credentials: { header: 'x-access-token' } })
    expect(refusal).toMatchObject({ code: 'missing_token', reason: 'missing_header' })
    expect(refusal?.detail).toContain('no header x-access-token, which this guard reads: names of')
  })

  test('does not say so where there is no such header', async () => {
    const refusal = await refusalOf({ headers: { host: 'a.test' } })
    expect(refusal?.detail).toBe('the request has no Authorization header')
  })

  test.each<[string, GuardOptions<RequestHeaders>]>([
    ['Bearer', {}],
    ['another header', { credentials: { header: 'x-access-token' } }],
  ])('whose headers are null has no token, in %s', async (_, options) => {
    const refusal = await refusalOf({ ...event, headers: null }, options)
    expect(refusal).toMatchObject({ code: 'missing_token', reason: 'missing_header' })
  })

  test('whose headers are null is anonymous where that is allowed', async () => {
    expect(await refusalOf({ ...event, headers: null }, { optional: true })).toBeUndefined()
  })
})

test.each([undefined, null, 5, 'text', [], { authorization }, { headers: 'text' }])(
  '%j is no request: a TypeError says what to pass',
  async (request) => {
    const fault = await refusalOf(request)
    expect(fault).toBeInstanceOf(TypeError)
    expect(fault).toHaveProperty('message', expect.stringContaining('not its headers'))
  },
)

test('what is no list of requirements lets nobody in, and is no fault of the engine', async () => {
  const request = { headers: { authorization } }
  await authenticateRequest(verifier, request)
  await expect(authorizeRequest(request, scope('a') as never)).rejects.toThrow(
    "authorizeRequest: the requirements must be a list, as [scope('read')]",
  )
  expect(() => {
    requireAudience(request, undefined as never)
  }).toThrow('requireAudience: the audience must be a string')
})

test('verify with what are no options is a TypeError, as of every verifier', async () => {
  const issuer = await createTestIssuer({ issuer: 'https://a.test' })
  const one = createVerifier(issuer.verifierOptions)
  for (const each of [one, byIssuer(() => one)]) {
    const verdict = each.verify(await issuer.token(), 5 as never)
    await expect(verdict).rejects.toThrow('verify: options must be an object')
  }
})
