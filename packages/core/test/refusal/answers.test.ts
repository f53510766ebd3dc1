import { describe, expect, test } from 'vitest'

import { refusal, refusalMessage, refusalResponse } from '../../src/refusal/answers.ts'
import { AuthError } from '../../src/refusal/errors.ts'

describe('refusal', () => {
  test('of an AuthError: its status, headers and body', () => {
    const answer = refusal(new AuthError('missing_token', 'missing_header'))
    expect(answer).toMatchObject({
      status: 401,
      headers: { 'WWW-Authenticate': 'Bearer realm="api"', 'Cache-Control': 'no-store' },
      body: undefined,
    })
  })

  test.each([
    { name: 'another error', error: new Error('status 401') },
    {
      name: 'something that looks like one',
      error: { name: 'AuthError', code: 'missing_token', status: 401, headers: {} },
    },
    { name: 'a text', error: 'AuthError' },
    { name: 'null', error: null },
    { name: 'nothing', error: undefined },
  ])('of $name: none', ({ error }) => {
    expect(refusal(error)).toBeUndefined()
  })
})

describe('refusalResponse', () => {
  test('has the status, the headers and the message of the refusal', async () => {
    const response = refusalResponse(new AuthError('invalid_token', 'expired'))
    expect(response.status).toBe(401)
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-store',
      'content-type': 'text/plain; charset=utf-8',
      'www-authenticate':
        'Bearer realm="api", error="invalid_token", error_description="The access token has expired"',
    })
    expect(await response.text()).toBe('The access token has expired')
  })

  test('has the problem document where the guard asks for one', async () => {
    const error = new AuthError('keys_unavailable', 'timeout', {
      respond: 'problem',
      retryAfter: 7,
    })
    const response = refusalResponse(error)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({ status: 503, code: 'keys_unavailable' })
  })

  test.each([
    { name: 'a fault', error: new TypeError('a bug') },
    { name: 'what looks like a refusal', error: { status: 401, headers: {}, message: 'no' } },
    { name: 'a text', error: 'no' },
    { name: 'nothing', error: undefined },
  ])('throws $name on, as it is', ({ error }) => {
    let thrown: unknown = 'nothing'
    try {
      refusalResponse(error)
    } catch (fault) {
      thrown = fault
    }
    expect(thrown).toBe(error)
  })
})

describe('refusalMessage', () => {
  test('is the whole answer, for a socket that has no response', () => {
    expect(refusalMessage(new AuthError('invalid_token', 'expired'))).toBe(
      [
        'HTTP/1.1 401 Unauthorized',
        'Content-Type: text/plain; charset=utf-8',
        'WWW-Authenticate: Bearer realm="api", error="invalid_token", error_description="The access token has expired"',
        'Cache-Control: no-store',
        'Content-Length: 28',
        'Connection: close',
        '',
        'The access token has expired',
      ].join('\r\n'),
    )
  })

  test('has the problem document where the guard asks for one', () => {
    const options = { respond: 'problem', retryAfter: 7 } as const
    const message = refusalMessage(new AuthError('keys_unavailable', 'timeout', options))
    const [head = '', body = ''] = message.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
    expect(head.split('\r\n')).toContain('Content-Type: application/problem+json')
    expect(head.split('\r\n')).toContain('Retry-After: 7')
    expect(head.split('\r\n')).toContain(`Content-Length: ${Buffer.byteLength(body)}`)
    expect(JSON.parse(body)).toMatchObject({ status: 503, code: 'keys_unavailable' })
  })

  test('throws on what is no refusal', () => {
    const fault = new TypeError('a bug')
    expect(() => refusalMessage(fault)).toThrow(fault)
  })
})
