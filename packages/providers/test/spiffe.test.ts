import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { AuthError, createVerifier, remoteKeys, type Verifier } from '@portcullis/core'
import { createTestIssuer, type TestIssuer } from '@portcullis/testing'
import { expect, onTestFinished, test } from 'vitest'

import { spiffe } from '../src/index.ts'

// Which key of a bundle counts, wherever the bundle is.

const [svid, certificate, signing, unstated, edwards] = await Promise.all([
  createTestIssuer({ algorithm: 'ES256' }),
  createTestIssuer({ algorithm: 'ES256' }),
  createTestIssuer({ algorithm: 'ES256' }),
  createTestIssuer({ algorithm: 'ES256' }),
  createTestIssuer({ algorithm: 'EdDSA' }),
])
const entry = (issuer: TestIssuer, use: string | undefined) => {
  const { alg: _, ...jwk } = issuer.publicJwk
  return JSON.parse(JSON.stringify({ ...jwk, use })) as object
}
const BUNDLE = {
  spiffe_sequence: 7,
  spiffe_refresh_hint: 600,
  keys: [
    { kty: 'RSA', use: 'x509-svid', x5c: ['MIIB'] },
    entry(certificate, 'x509-svid'),
    entry(signing, 'sig'),
    entry(unstated, undefined),
    entry(edwards, 'jwt-svid'),
    { kty: 'PQ', use: 'jwt-svid' },
    entry(svid, 'jwt-svid'),
  ],
}
const STATED = { trustDomain: 'example.org', audience: 'orders' }
const BUNDLE_URL = 'https://spire.example.org/bundle.json'

function endpoint(document: unknown = BUNDLE) {
  const asked: string[] = []
  const fetch = async (url: string) => {
    asked.push(url)
    return await Promise.resolve(Response.json(document))
  }
  return { asked, fetch }
}

function bundleFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-spiffe-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  const path = join(folder, 'bundle.json')
  writeFileSync(path, JSON.stringify(BUNDLE))
  return path
}

async function verdict(verifier: Verifier, issuer: TestIssuer, header: object = {}) {
  const claims = { aud: 'orders', sub: 'spiffe://example.org/web' }
  const token = await issuer.token({ claims, header: { ...header }, omit: ['iss'] })
  try {
    await verifier.verify(token)
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
  }
}

test.each<[string, TestIssuer, string]>([
  ['with the use jwt-svid', svid, 'accepted'],
  ['with the use x509-svid', certificate, 'invalid_token unknown_key'],
  ['with the use sig', signing, 'invalid_token unknown_key'],
  ['without a use', unstated, 'invalid_token unknown_key'],
  ['of Ed25519, which SPIFFE does not have', edwards, 'invalid_token algorithm'],
])('of a bundle, what a key %s has signed is %s', async (_, issuer, expected) => {
  const { asked, fetch } = endpoint()
  const options = spiffe({ ...STATED, bundle: BUNDLE_URL }, { fetch })
  expect(await verdict(createVerifier(options), issuer)).toBe(expected)
  expect(asked.every((url) => url === BUNDLE_URL)).toBe(true)
  expect(asked.length).toBeLessThanOrEqual(1)
})

test('a file, and keys of the caller, are as good as a URL, and nothing is asked for', async () => {
  const ofFile = createVerifier(spiffe({ ...STATED, bundle: bundleFile() }))
  expect(await verdict(ofFile, svid)).toBe('accepted')
  expect(await verdict(ofFile, certificate)).toBe('invalid_token unknown_key')
  const { fetch } = endpoint()
  const keys = remoteKeys(BUNDLE_URL, { use: 'jwt-svid', fetch })
  const ofKeys = createVerifier(spiffe({ ...STATED, keys }, { fetch: () => expect.unreachable() }))
  expect(await verdict(ofKeys, svid)).toBe('accepted')
})

test.each([{}, { use: 'sig' } as const])(
  'keys of the caller for another use are a mistake at start-up: %j',
  (options) => {
    const keys = remoteKeys(BUNDLE_URL, options)
    expect(() => spiffe({ ...STATED, keys })).toThrow(
      "spiffe: keys must be made with use: 'jwt-svid'",
    )
  },
)

test('a use that only Object.prototype has is that of no keys', () => {
  const methods = remoteKeys(BUNDLE_URL, { use: 'jwt-svid' })
  const { use: _, ...others } = methods
  const keys = Object.assign(Object.create({ use: 'jwt-svid' }) as object, others) as typeof methods
  expect(() => spiffe({ ...STATED, keys })).toThrow(TypeError)
})

test('the use cannot be changed by options of the keys', async () => {
  const { fetch } = endpoint()
  const options = spiffe({ ...STATED, bundle: BUNDLE_URL }, { fetch, use: 'sig' })
  expect(await verdict(createVerifier(options), signing)).toBe('invalid_token unknown_key')
})

test.each<[typ: string | undefined, expected: string]>([
  ['JWT', 'accepted'],
  ['JOSE', 'accepted'],
  [undefined, 'accepted'],
  ['secevent+jwt', 'invalid_token type'],
  ['SVID', 'invalid_token type'],
])('a header whose typ is %j: %s', async (typ, expected) => {
  const options = spiffe({ ...STATED, bundle: BUNDLE_URL }, { fetch: endpoint().fetch })
  expect(await verdict(createVerifier(options), svid, { typ })).toBe(expected)
})

test('the options of fetching are a mistake beside a file', () => {
  expect(() => spiffe({ ...STATED, bundle: 'bundle.json' }, { allowInsecure: true })).toThrow(
    'fileKeys: unknown option "allowInsecure"',
  )
})

test.each([
  'https:/x',
  'https:x',
  ' https://x',
  'HTTPS://x',
  'http:/x',
  'ftp://x',
  ' file:/x',
  '\nhttps://x',
  'spiffe://x',
])('a bundle at %j is neither a file nor a URL', (bundle) => {
  expect(() => spiffe({ ...STATED, bundle })).toThrow(
    'spiffe: bundle must be the path of a file, or an https URL',
  )
})

test.each([
  './bundle.json',
  '/var/run/bundle.json',
  'C:\\spire\\bundle.json',
  'c:/bundle.json',
  './https:/x',
])('a bundle at %j is a file', (bundle) => {
  expect(() => spiffe({ ...STATED, bundle })).not.toThrow()
})
