import { describe, expect, test } from 'vitest'

import { createTokenClient, type TokenClientOptions } from '../../src/index.ts'
import { originSet } from '../../src/login/option-checks.ts'
import { tokenUrl } from '../../src/login/options.ts'

const UNSET = 'is not an absolute URL: is an environment variable unset?'

const valid: TokenClientOptions = {
  authUrl: 'https://auth.test',
  loginId: 'demo',
  password: 'secret',
  origins: [],
}

describe('a wrong option is a TypeError at start-up', () => {
  const text = 'a string that is not empty, or a function that gives one'
  const clock = 'must have the functions now, monotonic and after'

  test.each<[name: string, value: unknown, complaint: string]>([
    ['authUrl', undefined, UNSET],
    ['authUrl', '', UNSET],
    ['authUrl', 'auth.test', UNSET],
    ['authUrl', 'undefined/auth', UNSET],
    ['authUrl', 'https://undefined', UNSET],
    ['authUrl', 'undefined:4010', UNSET],
    ['loginId', undefined, `must be ${text}`],
    ['loginId', '', `must be ${text}`],
    ['loginId', 1, `must be ${text}`],
    ['password', undefined, `must be ${text}`],
    ['password', null, `must be ${text}`],
    ['origins', undefined, 'must be a list of origins, [] for a client that only uses get'],
    ['origins', 'https://api.test', 'must be a list of origins'],
    ['origins', [1], 'must be a list of origins'],
    ['response', 'text', "must be 'auto', { field } or a function"],
    ['response', { field: '' }, "must be 'auto', { field } or a function"],
    ['response', null, "must be 'auto', { field } or a function"],
    ['timeout', 0, 'must be a number of seconds from 0.1 to 300'],
    ['timeout', 301, 'must be a number of seconds from 0.1 to 300'],
    ['timeout', NaN, 'must be a number of seconds from 0.1 to 300'],
    ['timeout', '10', 'must be a number of seconds from 0.1 to 300'],
    ['allowInsecure', 1, 'must be true or false'],
    ['fetch', {}, 'must be a function'],
    ['clock', {}, clock],
    ['clock', { now: Date.now, monotonic: Date.now }, clock],
    ['verifier', () => undefined, 'must be a verifier'],
  ])('%s: %j', (name, value, complaint) => {
    expect(creating({ ...valid, [name]: value })).toThrow(TypeError)
    expect(creating({ ...valid, [name]: value })).toThrow(`createTokenClient: ${name} ${complaint}`)
  })

  test('an unknown one, which lists the known', () => {
    expect(creating({ ...valid, loginID: 'demo' })).toThrow(
      new TypeError(
        'createTokenClient: unknown option "loginID", known are authUrl, loginId, password, origins, response, timeout, allowInsecure, fetch, clock, verifier, dpop',
      ),
    )
  })

  test.each([undefined, null, 'https://auth.test'])('no options: %j', (options) => {
    expect(creating(options)).toThrow(new TypeError('createTokenClient: options must be an object'))
  })

  test('its value is not in the message', () => {
    expect(creating({ ...valid, password: 12_345 })).toThrow(/^(?!.*12345)/)
    expect(creating({ ...valid, authUrl: 'https://me:hunter2@auth.test' })).toThrow(
      new TypeError('createTokenClient: authUrl must not contain credentials'),
    )
  })
})

describe('what may be left out', () => {
  test.each(['response', 'timeout', 'allowInsecure', 'fetch', 'clock', 'verifier'])(
    '%s may be undefined',
    (name) => {
      expect(creating({ ...valid, [name]: undefined })).not.toThrow()
    },
  )

  test('a caller’s options are not changed', () => {
    expect(creating(Object.freeze({ ...valid, origins: Object.freeze([]) }))).not.toThrow()
  })
})

describe('the URL to log in at', () => {
  test.each<[string | URL, string]>([
    ['https://auth.test', 'https://auth.test/tokenservice/token/api'],
    ['https://auth.test/', 'https://auth.test/tokenservice/token/api'],
    ['https://auth.test/base/', 'https://auth.test/base/tokenservice/token/api'],
    ['https://AUTH.test:443/base', 'https://auth.test/base/tokenservice/token/api'],
    [new URL('http://localhost:80'), 'http://localhost/tokenservice/token/api'],
    ['http://127.0.0.1:4010', 'http://127.0.0.1:4010/tokenservice/token/api'],
    ['http://[::1]:4010', 'http://[::1]:4010/tokenservice/token/api'],
  ])('%s', (authUrl, url) => {
    expect(tokenUrl(authUrl, false)).toBe(url)
  })

  test.each([
    'http://auth.test',
    'http://localhost.auth.test',
    'http://127.0.0.1.auth.test',
    'ftp://auth.test',
    'file:///etc',
    'data:text/plain,',
  ])('%s would show the password to the network', (authUrl) => {
    expect(() => tokenUrl(authUrl, false)).toThrow(/authUrl must begin with https:/)
  })

  test('http: can be allowed, in writing; other schemes cannot', () => {
    expect(tokenUrl('http://auth.test', true)).toBe('http://auth.test/tokenservice/token/api')
    expect(() => tokenUrl('ftp://auth.test', true)).toThrow(/authUrl must begin with https:/)
  })

  test.each([
    'https://auth.test?a=b',
    'https://auth.test/#a',
    'https://auth.test/base?',
    'https://auth.test#',
    new URL('https://auth.test/?#'),
  ])('%s has too much', (authUrl) => {
    expect(() => tokenUrl(authUrl, false)).toThrow(/neither a query nor a fragment/)
  })
})

describe('origins', () => {
  test('are written as URL writes them', () => {
    expect(
      originSet('createTokenClient', ['HTTPS://API.test:443', 'http://localhost:3000/'], false),
    ).toEqual(new Set(['https://api.test', 'http://localhost:3000']))
  })

  test.each([
    ['https://api.test/v1', 'must be an origin, without a path'],
    ['https://api.test?', 'must be an origin, without a path'],
    ['https://api.test#', 'must be an origin, without a path'],
    ['https://*.api.test', 'must be one origin, without *: list each'],
    ['https://api.*', 'must be one origin, without *: list each'],
    ['api.test', UNSET],
    ['http://api.test', 'must begin with https:'],
    ['https://me@api.test', 'must not contain credentials'],
    ['null', UNSET],
    ['undefined', UNSET],
  ])('%s: %s', (origin, complaint) => {
    expect(() => originSet('createTokenClient', [origin], false)).toThrow(TypeError)
    expect(() => originSet('createTokenClient', [origin], false)).toThrow(complaint)
  })

  test('of http: can be allowed, in writing', () => {
    expect(originSet('createTokenClient', ['http://api.test'], true)).toEqual(
      new Set(['http://api.test']),
    )
  })
})

describe('the options of get', () => {
  test('an unknown one is a TypeError that lists the known', async () => {
    const client = createTokenClient(valid)
    const options = { minValidty: 60 }
    const complaint = new TypeError(
      'get: unknown option "minValidty", known are minValidity, signal',
    )
    await expect(client.get(options as object)).rejects.toThrow(complaint)
    await expect(client.getAuthorization(options as object)).rejects.toThrow(complaint)
  })

  test.each([-1, 86_401, NaN, '10', null])(
    'a minValidity of %j is a TypeError',
    async (minValidity) => {
      const client = createTokenClient(valid)
      // The types forbid what plain JavaScript can do.
      const options = { minValidity: minValidity as number }
      await expect(client.get(options)).rejects.toThrow(
        new TypeError('get: minValidity must be a number of seconds from 0 to 86400'),
      )
    },
  )
})

// The types forbid what plain JavaScript can do.
function creating(options: unknown) {
  return () => createTokenClient(options as TokenClientOptions)
}
