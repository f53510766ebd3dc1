import { describe, expect, test } from 'vitest'

import type { FetchResponse } from '../src/http.ts'
import { createRetry } from '../src/http.ts'
import { createExchange } from '../src/http/exchange.ts'
import {
  afterStatus,
  checkIssuer,
  findUrl,
  metadataUrls,
  readPlaces,
  urlInMetadata,
} from '../src/metadata.ts'
import { systemClock } from '../src/time.ts'

const ISSUER = 'https://issuer.test'
const OPENID = `${ISSUER}/.well-known/openid-configuration`
const OAUTH = `${ISSUER}/.well-known/oauth-authorization-server`

test.each([
  [ISSUER, 'openid-configuration', [OPENID, OAUTH]],
  [ISSUER, 'oauth-authorization-server', [OAUTH, OPENID]],
  [`${ISSUER}/`, 'oauth-authorization-server', [OAUTH, OPENID]],
  [
    `${ISSUER}/a/b`,
    'openid-configuration',
    [`${ISSUER}/a/b/.well-known/openid-configuration`, `${OAUTH}/a/b`],
  ],
] as const)('the metadata of %s are asked for as %s first', (identifier, first, urls) => {
  expect(metadataUrls(identifier, first)).toEqual(urls)
})

test.each([
  [200, 'next'],
  [302, 'next'],
  [401, 'next'],
  [404, 'next'],
  [410, 'next'],
  [429, 'pause'],
  [500, 'next'],
  [502, 'next'],
  [503, 'next'],
  [undefined, 'next'],
] as const)('after the status %s: %s', (status, word) => {
  expect(afterStatus(status)).toBe(word)
})

const KEYS = `${ISSUER}/keys`
const named = () => Response.json({ issuer: ISSUER, jwks_uri: KEYS })

/** What comes of an issuer whose first place answers so, and whose second has the metadata; and how often it was asked. */
async function after(first: () => FetchResponse) {
  const asked: string[] = []
  const fetch = async (url: string) => {
    asked.push(url)
    return url === OPENID ? first() : named()
  }
  const { signal } = new AbortController()
  const reading = { fetch, retry: createRetry(), clock: systemClock, headers: {} }
  const found = await findUrl(checkIssuer(ISSUER, false), createExchange(reading, signal), 1)
  return { found, asked: asked.length }
}

function reset(): never {
  throw new TypeError('fetch failed')
}

describe('the second place is asked', () => {
  test.each<[string, () => FetchResponse]>([
    ['404', () => new Response(null, { status: 404 })],
    ['500', () => new Response(null, { status: 500 })],
    [
      '503 with a pause',
      () => new Response(null, { status: 503, headers: { 'retry-after': '9' } }),
    ],
    ['a redirect', () => new Response(null, { status: 302 })],
    ['a connection that fails', reset],
    ['what is no JSON', () => new Response('<html>')],
    ['the metadata of another issuer', () => Response.json({ issuer: 'https://other.test' })],
    ['metadata without the URL', () => Response.json({ issuer: ISSUER })],
  ])('after %s', async (_title, first) => {
    expect(await after(first)).toEqual({ found: KEYS, asked: 2 })
  })
})

test.each([
  ['first', [() => Response.json({ issuer: 'https://other.test' }), () => Response.error()]],
  ['second', [() => Response.error(), () => Response.json({ issuer: 'https://other.test' })]],
] as const)(
  'of two failures the document with wrong content is told, which is the %s',
  async (_, answers) => {
    const [first, second] = answers
    const fetch = async (url: string) => await Promise.resolve(url === OPENID ? first() : second())
    const { signal } = new AbortController()
    const reading = { fetch, retry: createRetry(), clock: systemClock, headers: {} }
    const found = await findUrl(checkIssuer(ISSUER, false), createExchange(reading, signal), 1)
    expect(found).toMatchObject({ failure: 'bad_document' })
  },
)

test('after 429 nothing else is asked, and its pause is told', async () => {
  const { found, asked } = await after(
    () => new Response(null, { status: 429, headers: { 'retry-after': '9' } }),
  )
  expect(found).toMatchObject({ failure: 'unreachable', retryAfter: 9 })
  expect(asked).toBe(1)
})

test('once the attempt is over nothing more is asked', async () => {
  const asked: string[] = []
  const ending = new AbortController()
  const reader = {
    read: async (url: string) => {
      asked.push(url)
      ending.abort()
      return url
    },
    isWanted: (outcome: string): outcome is 'never' => outcome === 'never',
    wantsPause: () => false,
  }
  const timing = { clock: systemClock, signal: ending.signal }
  expect(await readPlaces([OPENID, OAUTH], reader, 1, timing)).toEqual([OPENID])
  expect(asked).toEqual([OPENID])
})

describe('the URL in metadata', () => {
  const reader = {
    factory: 'f',
    alsoIn: '',
    find: (metadata: Readonly<Record<string, unknown>>) => metadata['x'],
    name: 'thing',
  }
  const asked = { reader, identifier: ISSUER, allowInsecure: false }

  test.each<[unknown, string]>([
    [{ issuer: ISSUER, x: `${KEYS}#a` }, KEYS],
    [{ issuer: `${ISSUER}/`, x: KEYS }, 'with a slash at the end: write it so in f'],
    [{ issuer: 'https://other.test', x: KEYS }, 'the metadata are of another issuer'],
    [{ issuer: ISSUER, x: 'http://other.test' }, 'the metadata name no usable thing'],
    [{ issuer: ISSUER, x: 'http://127.0.0.1/' }, 'of an https issuer name a thing that is not'],
    [{ issuer: ISSUER, x: 1 }, 'the metadata name no usable thing'],
    [[ISSUER], 'the metadata are of another issuer'],
    [Object.create({ issuer: ISSUER, x: KEYS }), 'the metadata are of another issuer'],
  ])('of %j: %s', (metadata, expected) => {
    const outcome = urlInMetadata(metadata, asked)
    expect(typeof outcome === 'string' ? outcome : outcome.detail).toContain(expected)
  })
})
