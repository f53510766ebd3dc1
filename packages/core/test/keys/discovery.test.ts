import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import {
  type AuthError,
  createVerifier,
  discoverKeys,
  type RemoteKeysOptions,
} from '../../src/index.ts'

const issuer = 'https://auth.test/tenant'
const OPENID = `${issuer}/.well-known/openid-configuration`
const OAUTH = 'https://auth.test/.well-known/oauth-authorization-server/tenant'
const KEYS = 'https://keys.test/jwks'

const signer = await createTestIssuer({ clock: manualClock(), issuer, lifetime: 1_000_000 })
const metadata = { issuer, jwks_uri: KEYS }
const jwks = { keys: [signer.publicJwk] }

/** An authorization server: what it serves by URL, and what was asked of it. */
function world(documents: Record<string, unknown>, options: RemoteKeysOptions = {}) {
  const clock = manualClock()
  const served = new Map(Object.entries(documents))
  const requests: string[] = []
  const keys = discoverKeys(issuer, {
    clock,
    async fetch(url) {
      requests.push(url)
      const document = served.get(url)
      if (document instanceof Response) return document.clone()
      return document === undefined ? new Response(null, { status: 404 }) : Response.json(document)
    },
    ...options,
  })
  const verifier = createVerifier({ keys, issuer, audience: null, clock })
  const verdict = async () => {
    const token = await signer.token()
    return await verifier.verify(token).then(
      () => 'accepted',
      (error: unknown) => (error as AuthError).reason,
    )
  }
  return { clock, keys, served, requests, verdict }
}

test('OpenID Connect metadata lead to the keys', async () => {
  const { requests, verdict } = world({ [OPENID]: metadata, [KEYS]: jwks })
  expect(await verdict()).toBe('accepted')
  expect(requests).toEqual([OPENID, KEYS])
})

test('without them, the metadata of RFC 8414 do', async () => {
  const { requests, verdict } = world({ [OAUTH]: metadata, [KEYS]: jwks })
  expect(await verdict()).toBe('accepted')
  expect(requests).toEqual([OPENID, OAUTH, KEYS])
})

test('an issuer without a path, or with a slash at its end, has its metadata at the usual place', async () => {
  for (const each of ['https://auth.test', 'https://auth.test/']) {
    const asked: string[] = []
    const keys = discoverKeys(each, {
      fetch: async (url) => {
        asked.push(url)
        return await Promise.resolve(new Response(null, { status: 404 }))
      },
    })
    await expect(keys.refresh()).rejects.toMatchObject({ code: 'keys_unavailable' })
    expect(asked).toEqual([
      'https://auth.test/.well-known/openid-configuration',
      'https://auth.test/.well-known/oauth-authorization-server',
    ])
  }
})

describe('metadata that are refused', () => {
  test.each<[string, unknown]>([
    ['of another issuer', { ...metadata, issuer: 'https://auth.test/other' }],
    ['of the issuer with a slash more', { ...metadata, issuer: `${issuer}/` }],
    ['without an issuer', { jwks_uri: KEYS }],
    ['without a key URL', { issuer }],
    ['with a key URL that is no text', { issuer, jwks_uri: [KEYS] }],
    ['with a key URL without TLS', { issuer, jwks_uri: 'http://keys.test/jwks' }],
    ['with a key URL in a file', { issuer, jwks_uri: 'file:///etc/passwd' }],
    ['with credentials in the key URL', { issuer, jwks_uri: 'https://a:b@keys.test/jwks' }],
    ['that are a list', [metadata]],
    ['that are null', null],
  ])('%s: no key is asked for', async (_title, document) => {
    const { keys, requests, verdict } = world({ [OPENID]: Response.json(document), [KEYS]: jwks })
    expect(await verdict()).toBe('bad_document')
    expect(requests).toEqual([OPENID, OAUTH])
    expect(JSON.stringify(keys.status().lastFailure)).not.toContain('https:')
  })

  test('that redirect are none', async () => {
    const elsewhere = new Response(null, {
      status: 302,
      headers: { location: 'https://evil.test' },
    })
    const { requests, verdict } = world({ [OPENID]: elsewhere, [OAUTH]: elsewhere })
    expect(await verdict()).toBe('unreachable')
    expect(requests).toEqual([OPENID, OAUTH])
  })
})

test('metadata are read again daily, keys as usual', async () => {
  const { clock, requests, verdict } = world({ [OPENID]: metadata, [KEYS]: jwks })
  for (let hour = 0; hour < 25; hour++) {
    expect(await verdict()).toBe('accepted')
    await clock.advance(3600)
  }
  expect(requests.filter((url) => url === OPENID)).toHaveLength(2)
  expect(requests.filter((url) => url === KEYS)).toHaveLength(25)
})

test('keys that have moved are found within the attempt that misses them', async () => {
  const { clock, requests, served, verdict } = world({ [OPENID]: metadata, [KEYS]: jwks })
  await verdict()
  served.delete(KEYS)
  served.set(OPENID, { issuer, jwks_uri: 'https://keys.test/new' })
  served.set('https://keys.test/new', jwks)
  await clock.advance(1000)
  expect(await verdict()).toBe('accepted')
  expect(requests).toEqual([OPENID, KEYS, KEYS, OPENID, 'https://keys.test/new'])
})

test('keys that are down where the metadata still say: asked for once', async () => {
  const { clock, keys, requests, served, verdict } = world({ [OPENID]: metadata, [KEYS]: jwks })
  await verdict()
  served.delete(KEYS)
  await clock.advance(1000)
  expect(await verdict()).toBe('accepted') // as long as staleIfError
  expect(requests).toEqual([OPENID, KEYS, KEYS, OPENID])
  expect(keys.status().lastFailure?.detail).toBe('the key URL answered 404')
})

test('metadata that fail a day later do not take the keys away', async () => {
  const { clock, keys, requests, served, verdict } = world({ [OPENID]: metadata, [KEYS]: jwks })
  await verdict()
  served.delete(OPENID)
  await clock.advance(90_000)
  expect(await verdict()).toBe('accepted')
  expect(requests).toEqual([OPENID, KEYS, OPENID, OAUTH, KEYS])
  expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: undefined })
})

test('neither metadata nor keys: an outage', async () => {
  const { clock, keys, requests, served, verdict } = world({ [OPENID]: metadata, [KEYS]: jwks })
  await verdict()
  served.clear()
  await clock.advance(1000)
  expect(await verdict()).toBe('accepted')
  expect(requests).toEqual([OPENID, KEYS, KEYS, OPENID, OAUTH])
  expect(keys.status().lastFailure?.reason).toBe('unreachable')
})

test('metadata of somebody else do not hide the right ones', async () => {
  const { requests, verdict } = world({ [OPENID]: {}, [OAUTH]: metadata, [KEYS]: jwks })
  expect(await verdict()).toBe('accepted')
  expect(requests).toEqual([OPENID, OAUTH, KEYS])
})

test.each<[string, object, string]>([
  ['of another issuer', { issuer: 'https://evil.test', jwks_uri: KEYS }, 'are of another issuer'],
  [
    'with a slash more',
    { issuer: `${issuer}/`, jwks_uri: KEYS },
    'write the issuer with a slash at the end: write it so in discoverKeys and in the verifier',
  ],
  ['without a key URL', { issuer }, 'name no usable key URL'],
  [
    'that name a service of this machine',
    { issuer, jwks_uri: 'http://127.0.0.1/keys' },
    'of an https issuer name a key URL that is not',
  ],
])('metadata %s: status() says so', async (_title, document, detail) => {
  const { keys, verdict } = world({ [OPENID]: document })
  expect(await verdict()).toBe('bad_document')
  expect(keys.status().lastFailure?.detail).toBe(`the metadata ${detail}`)
})

test('an issuer with a slash more than its metadata: status() and the refusal say so, with one attempt', async () => {
  const asked: string[] = []
  const keys = discoverKeys('https://auth.test/', {
    async fetch(url) {
      asked.push(url)
      return Response.json({ issuer: 'https://auth.test', jwks_uri: KEYS })
    },
  })
  const error: unknown = await keys.refresh().catch((each: unknown) => each)
  expect(error).toMatchObject({ code: 'keys_unavailable', reason: 'bad_document' })
  const mend =
    'the metadata write the issuer without the slash at the end: write it so in discoverKeys and in the verifier'
  expect((error as AuthError).detail).toContain(mend)
  expect(JSON.stringify(error)).not.toContain('slash')
  expect(keys.status().lastFailure?.detail).toBe(mend)
  expect(asked).toHaveLength(2)
})

test('a wrong option is named by this factory', () => {
  expect(() => discoverKeys(issuer, { timeout: 0 })).toThrow(/^discoverKeys: timeout/)
})

test('a key URL is asked for without its fragment', async () => {
  const withFragment = { issuer, jwks_uri: `${KEYS}#keys` }
  const { requests, verdict } = world({ [OPENID]: withFragment, [KEYS]: jwks })
  expect(await verdict()).toBe('accepted')
  expect(requests).toEqual([OPENID, KEYS])
})

test('metadata and keys are one attempt under one deadline', async () => {
  const clock = manualClock()
  const requests: string[] = []
  const keys = discoverKeys(issuer, {
    clock,
    fetch: async (url) => {
      requests.push(url)
      await new Promise<void>((resolve) => {
        clock.after(3, resolve)
      })
      return Response.json(url === OPENID ? metadata : jwks)
    },
  })
  const refreshed = keys.refresh().catch((error: unknown) => error)
  await clock.advance(5)
  expect(await refreshed).toMatchObject({ reason: 'timeout' })
  expect(requests).toEqual([OPENID, OAUTH, KEYS])
})

test.each<[string, string, RegExp]>([
  ['without TLS', 'http://auth.test', /must begin with https/],
  [
    'that is no URL',
    'auth.test',
    /the issuer is not an absolute URL: is an environment variable unset\?$/,
  ],
  ['that begins with an unset variable', 'undefined/tenant', /is not an absolute URL/],
  ['with a query', 'https://auth.test/?tenant=1', /neither a query nor a fragment/],
  ['with a fragment', 'https://auth.test/#a', /neither a query nor a fragment/],
  ['that is the URL of the OpenID metadata', OPENID, /must be without "\/\.well-known\/\.\.\."/],
  ['that is the URL of the OAuth metadata', OAUTH, /must be without "\/\.well-known\/\.\.\."/],
  ['that is missing', undefined as unknown as string, /is an environment variable unset\?$/],
  ['that is no text', new URL('https://auth.test') as unknown as string, /must be a string/],
])('an issuer %s is refused at start-up', (_title, wrong, message) => {
  expect(() => discoverKeys(wrong)).toThrow(message)
})
