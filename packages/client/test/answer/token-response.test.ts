import { setImmediate } from 'node:timers/promises'

import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import {
  expiryOf,
  findToken as findTokenIn,
  type ResponseFormat,
  validityOf,
} from '../../src/answer/token-response.ts'
import { jws } from '../login-service.ts'

const token = jws({ exp: 1 })
const other = jws({ exp: 2 })
const findToken = (body: string, format: ResponseFormat, headers: Record<string, string> = {}) =>
  findTokenIn(body, format, { headers: new Headers(headers) })
const encoded = (text: string) => Buffer.from(text).toString('base64url')

test('a function is not given a body of more than 1000 levels, which it may parse', () => {
  const given: string[] = []
  const format = (body: string) => {
    given.push(body)
    return token
  }
  const deepest = `${'['.repeat(1000)}${']'.repeat(1000)}`
  expect(findToken(deepest, format)).toBe(token)
  expect(findToken(`[${deepest}]`, format)).toBeUndefined()
  expect(given).toEqual([deepest])
})

describe('auto', () => {
  test.each<[string, string]>([
    ['the token itself', token],
    ['the token in white space', ` \r\n${token}\n`],
    ['a JSON string', JSON.stringify(token)],
    ['access_token', JSON.stringify({ access_token: token, token_type: 'Bearer' })],
    ['accessToken', JSON.stringify({ accessToken: token })],
    ['token', JSON.stringify({ token, expires: 300 })],
    ['jwt', JSON.stringify({ jwt: token })],
    ['two fields that agree', JSON.stringify({ token, jwt: token })],
    [
      'a usual field that is no token beside one that is',
      JSON.stringify({ token: 'x', jwt: token }),
    ],
  ])('%s', (_title, body) => {
    expect(findToken(body, 'auto')).toBe(token)
  })

  test.each<[string, string]>([
    ['nothing', ''],
    ['a web page', '<!doctype html><p>Sign in'],
    ['null', 'null'],
    ['a number', '1'],
    ['a list', JSON.stringify([token])],
    ['a field that is not usual', JSON.stringify({ id_token: token })],
    ['a field further down', JSON.stringify({ data: { token } })],
    ['a field that is inherited', '{"__proto__":{"token":"a"}}'],
    ['two fields that differ', JSON.stringify({ token, jwt: other })],
    ['two tokens', `${token} ${other}`],
    ['broken JSON', `{"token":"${token}"`],
  ])('%s: no token', (_title, body) => {
    expect(findToken(body, 'auto')).toBeUndefined()
  })
})

describe('what looks like a JWT', () => {
  const [header = '', payload = '', signature = ''] = token.split('.')

  test.each<[string, string]>([
    ['two segments', `${header}.${payload}`],
    ['four segments', `${token}.${signature}`],
    ['an empty signature', `${header}.${payload}.`],
    ['a header that is no JSON', `${encoded('{')}.${payload}.${signature}`],
    ['a header that is no object', `${encoded('"alg"')}.${payload}.${signature}`],
    ['a header that is null', `${encoded('null')}.${payload}.${signature}`],
    ['a header without alg', `${encoded('{"typ":"JWT"}')}.${payload}.${signature}`],
    ['a payload that is no JSON', `${header}.opaque.${signature}`],
    ['a payload without an end', `${header}.${encoded('[1,[1,[1,"x')}.${signature}`],
    ['a payload that is a list', `${header}.${encoded('[{"exp":1}]')}.${signature}`],
    ['a payload that is null', `${header}.${encoded('null')}.${signature}`],
    ['a line feed in it', `${header}.${payload}\n.${signature}`],
    ['a line feed behind it, in JSON', JSON.stringify(`${token}\n`)],
    ['padding', `${header}=.${payload}.${signature}`],
    ['three words', 'www.example.com'],
  ])('is not %s', (_title, body) => {
    expect(findToken(body, 'auto')).toBeUndefined()
  })

  test('never has what could end a header field', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const found = findToken(JSON.stringify({ token: before + token + after }), 'auto')
        expect(found ?? '').toMatch(/^[\w.-]*$/)
      }),
    )
  })
})

describe('a field', () => {
  const body = JSON.stringify({ id_token: token, token: other })

  test('is read by its name, and no other', () => {
    expect(findToken(body, { field: 'id_token' })).toBe(token)
    expect(findToken(body, { field: 'jwt' })).toBeUndefined()
    expect(findToken(body, { field: 'toString' })).toBeUndefined()
    expect(findToken(token, { field: 'token' })).toBeUndefined()
  })
})

describe('a function', () => {
  test.each<[string, ResponseFormat, string | undefined]>([
    ['gives the token', (body) => body.slice(1), token],
    ['gives nothing', () => undefined, undefined],
    ['gives what is no token', () => 'x', undefined],
    [
      'throws',
      () => {
        throw new Error('no')
      },
      undefined,
    ],
  ])('that %s', (_title, format, found) => {
    expect(findToken(`!${token}`, format)).toBe(found)
  })
})

describe('a function that reads the headers', () => {
  test.each<[string, ResponseFormat, string | undefined]>([
    ['finds the token there', (_body, { headers }) => headers.get('x-token'), token],
    ['writes the name in any case', (_body, { headers }) => headers.get('X-TOKEN'), token],
    [
      'takes the scheme away',
      (_body, { headers }) => headers.get('authorization')?.replace(/^Bearer /i, ''),
      token,
    ],
    ['leaves the scheme', (_body, { headers }) => headers.get('authorization'), undefined],
    ['asks for one that is missing', (_body, { headers }) => headers.get('x-other'), undefined],
    ['asks for one that was sent twice', (_body, { headers }) => headers.get('x-two'), undefined],
    ['asks for what is no name', (_body, { headers }) => headers.get('no name'), undefined],
  ])('and %s', (_title, format, found) => {
    const headers = {
      'x-token': token,
      'x-two': `${token}, ${token}`,
      authorization: `Bearer ${token}`,
    }
    expect(findToken('<p>Welcome', format, headers)).toBe(found)
  })

  test('is what it takes: nothing else looks for a token there', () => {
    const headers = { token, access_token: token, authorization: `Bearer ${token}` }
    expect(findToken('', 'auto', headers)).toBeUndefined()
    expect(findToken('', { field: 'token' }, headers)).toBeUndefined()
  })
})

describe('a function that gives a promise', () => {
  test.each<[string, () => unknown]>([
    ['that brings the token', async () => await Promise.resolve(token)],
    ['that fails', async () => await Promise.reject(new Error('hunter2'))],
    [
      'of another kind',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable
        then: (_resolve: unknown, reject: (reason: Error) => void) => {
          reject(new Error('hunter2'))
        },
      }),
    ],
  ])('%s is refused, and its failure is never unhandled', async (_title, find) => {
    const unhandled = vi.fn<() => void>()
    process.on('unhandledRejection', unhandled)
    onTestFinished(() => void process.off('unhandledRejection', unhandled))
    // The types forbid what plain JavaScript can do.
    expect(() => findToken(token, find as () => string)).toThrow(
      new TypeError('response: the function must give the token at once, not a promise'),
    )
    await setImmediate()
    expect(unhandled).not.toHaveBeenCalled()
  })

  test('that cannot be looked at: an answer without a token', () => {
    const found: unknown = new Proxy({}, { get: failing })
    // The types forbid what plain JavaScript can do.
    expect(findToken(token, () => found as string)).toBeUndefined()
  })
})

function failing(): never {
  throw new Error('no')
}

describe('the expiry', () => {
  test.each<[unknown, number | undefined]>([
    [1_767_225_600, 1_767_225_600],
    [1.5, 1.5],
    [0, 0],
    ['1767225600', undefined],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
  ])('exp %j is %s', (exp, expiry) => {
    expect(expiryOf(jws({ exp }))).toBe(expiry)
  })

  test.each<[string, string]>([
    ['is no JSON', 'opaque'],
    ['is no object', encoded('1')],
    ['has a number that is infinite', encoded('{"exp":1e999}')],
  ])('a payload that %s has none', (_title, payload) => {
    expect(expiryOf(`a.${payload}.c`)).toBeUndefined()
  })

  test('what is no token has none', () => {
    expect(expiryOf('')).toBeUndefined()
  })

  test.each<[object, number]>([
    [{ iat: 100, exp: 400 }, 300],
    [{ iat: 100 }, Infinity],
    [{ exp: 400 }, Infinity],
    [{ iat: '100', exp: 400 }, Infinity],
  ])('from iat to it, in %j: %d s', (claims, validity) => {
    expect(validityOf(jws(claims))).toBe(validity)
  })
})
