import { createTestIssuer, tokenService } from '@portcullis/testing'
import { calculateJwkThumbprint } from 'jose'
import { describe, expect, test } from 'vitest'

import { type Fetch, remoteKeys } from '../../src/index.ts'

const UNSET = /the key URL is not an absolute URL: is an environment variable unset\?$/

describe('the URL', () => {
  test.each([
    'https://auth.test/tokenservice/pubkey.json',
    'http://127.0.0.1:4010/key',
    'http://localhost/key',
    'http://[::1]:80/key',
    new URL('https://auth.test/key'),
  ])('may be %s', (url) => {
    expect(() => remoteKeys(url)).not.toThrow()
  })

  test('must be https whatever the options inherit', () => {
    const options = Object.create({ allowInsecure: true }) as object
    expect(() => remoteKeys('http://auth.test/key', options)).toThrow(/https:/)
  })

  test.each<[string, string, RegExp]>([
    ['without TLS beyond the loopback', 'http://auth.test/key', /https: \(allowInsecure: true/],
    [
      'that only looks like the loopback',
      'http://127.0.0.1.evil.test/key',
      /must begin with https:/,
    ],
    ['in a file', 'file:///key.json', /must begin with https:/],
    ['that holds its data', 'data:application/json,{}', /must begin with https:/],
    ['with credentials', 'https://user:canary@auth.test/key', /must not contain credentials/],
    ['with a name alone', 'https://canary@auth.test/key', /must not contain credentials/],
    ['with a password alone', 'https://:canary@auth.test/key', /must not contain credentials/],
    ['of another scheme on the loopback', 'ftp://127.0.0.1/key', /must begin with https:$/],
    ['that is none', 'canary', UNSET],
    ['that is missing', undefined as unknown as string, UNSET],
    ['that begins with an unset variable', 'undefined/canary/pubkey.json', UNSET],
    ['that begins with an empty variable', '/canary/pubkey.json', UNSET],
    ['with an unset host', 'https://undefined/canary', UNSET],
    ['with an unset host and port', 'undefined:undefined/canary', UNSET],
    ['with credentials that cannot be read', 'https://user:canary@', UNSET],
  ])('%s is refused at start-up, and not shown', (_title, url, message) => {
    expect(() => remoteKeys(url)).toThrow(TypeError)
    expect(() => remoteKeys(url)).toThrow(message)
    expect(() => remoteKeys(url)).not.toThrow(/canary/)
  })

  test('without TLS is taken where that is stated, and no other scheme is', () => {
    expect(() => remoteKeys('http://auth.test/key', { allowInsecure: true })).not.toThrow()
    expect(() => remoteKeys('ftp://auth.test/key', { allowInsecure: true })).toThrow(TypeError)
  })

  test('is asked for without its fragment', async () => {
    const asked: string[] = []
    const keys = remoteKeys('https://auth.test/key?a=b#c', {
      fetch: async (url) => {
        asked.push(url)
        return await Promise.resolve(new Response(null, { status: 404 }))
      },
    })
    await expect(keys.refresh()).rejects.toMatchObject({ reason: 'unreachable' })
    expect(asked).toEqual(['https://auth.test/key?a=b'])
  })
})

test('without a fetch of its own it asks with that of the platform', async () => {
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  const keys = remoteKeys(service.keyUrl)
  await keys.refresh()
  expect(keys.status().thumbprints).toEqual([await calculateJwkThumbprint(issuer.publicJwk)])
})

describe('the options', () => {
  test.each<[string, object]>([
    ['a misspelt one', { maxage: 60 }],
    ['milliseconds', { timeout: 5000 }],
    ['no time at all', { timeout: 0 }],
    ['a negative age', { maxAge: -1 }],
    ['an endless age', { maxAge: Infinity }],
    ['an endless overlap', { overlap: Infinity }],
    ['text for a number', { staleIfError: '3600' }],
    ['a number that is none', { staleWhileRevalidate: NaN }],
    ['a fetch that is none', { fetch: 'fetch' }],
    ['half a clock', { clock: { now: () => 0 } }],
    ['text for a boolean', { allowInsecure: 'true' }],
    ['a use that is not known', { use: 'x509-svid' }],
  ])('are refused at start-up: %s', (_title, options) => {
    const name = Object.keys(options)[0] ?? ''
    const act = () => remoteKeys('https://auth.test/key', options)
    expect(act).toThrow(TypeError)
    expect(act).toThrow(`remoteKeys: ${name === 'maxage' ? 'unknown option "maxage"' : name}`)
  })
})

test('each request asks for the document itself, with the same headers and no validators', async () => {
  const asked: unknown[] = []
  const fetch: Fetch = async (...request) => {
    asked.push(request)
    return new Response('{}')
  }
  const keys = remoteKeys('https://auth.test/key', { fetch })
  await keys.refresh().catch(() => undefined)
  expect(asked).toEqual([
    [
      'https://auth.test/key',
      {
        method: 'GET',
        headers: {
          accept: 'application/jwk+json, application/jwk-set+json, application/json',
          'cache-control': 'no-cache',
          'user-agent': 'portcullis',
        },
        redirect: 'manual',
        credentials: 'omit',
        cache: 'no-store',
        signal: expect.any(AbortSignal) as AbortSignal,
      },
    ],
  ])
})
