import { createHash, type webcrypto, X509Certificate } from 'node:crypto'

import { createOAuthClient, type OAuthClientOptions } from '@portcullis/client/oauth'
import { introspected } from '@portcullis/introspection'
import { manualClock } from '@portcullis/testing'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'

import { createCertificate } from '../certificate.ts'

// How the two packages that call an authorization server prove who they are: one table for both, since neither may import the other.

const ISSUER = 'https://as.test'
const clock = manualClock()

type Authentication = Pick<
  OAuthClientOptions,
  'clientSecret' | 'clientAuthentication' | 'privateKey' | 'certificate'
> & { readonly clientSecret?: string | undefined }

interface Sent {
  readonly authorization: string | null
  readonly form: Readonly<Record<string, string>>
}

/** A `fetch` that notes what it is sent, and answers everything that it may be asked for. */
function recording() {
  const sent: Sent[] = []
  const fetch = async (
    _url: string,
    init: { readonly headers?: RequestInit['headers']; readonly body?: unknown },
  ) => {
    const form = Object.fromEntries(
      new URLSearchParams(String(init.body as string | URLSearchParams)),
    )
    sent.push({ authorization: new Headers(init.headers).get('authorization'), form })
    return Response.json({ access_token: 'a', token_type: 'Bearer', active: true, iss: ISSUER })
  }
  return { sent, fetch }
}

async function sentByClient(clientId: string, options: Authentication): Promise<Sent | undefined> {
  const { sent, fetch } = recording()
  const tokenEndpoint = `${ISSUER}/token`
  const base = { issuer: ISSUER, tokenEndpoint, clientId, origins: [], clock, fetch }
  await createOAuthClient({ ...base, ...options }).get()
  return sent[0]
}

async function sentByVerifier(
  clientId: string,
  { privateKey, certificate, ...options }: Authentication,
): Promise<Sent | undefined> {
  const { sent, fetch } = recording()
  const endpoint = `${ISSUER}/introspect`
  const verifier = introspected({
    issuer: ISSUER,
    audience: null,
    endpoint,
    clientId,
    clock,
    fetch,
    ...options,
    ...(privateKey !== undefined && { clientKey: privateKey }),
    ...(certificate === true && { clientAuthentication: 'tls_client_auth' as const }),
  })
  await verifier.verify('opaque').catch(() => undefined)
  return sent[0]
}

const pem = createCertificate()
afterAll(() => {
  pem[Symbol.dispose]()
})

describe.each([
  ['createOAuthClient', sentByClient],
  ['introspected', sentByVerifier],
])('%s', (_name, sentBy) => {
  test.each([
    // Unreserved: RFC 3986 section 2.3.
    ['shop', 'aZ09-._~', 'shop:aZ09-._~'],
    ['a-b.c_d~e', 's', 'a-b.c_d~e:s'],
    ['a:b', 'c:d', 'a%3Ab:c%3Ad'],
    ['a b', 'c+d', 'a+b:c%2Bd'],
    ['100%', '%41', '100%25:%2541'],
    ['shop', "!'()*", 'shop:%21%27%28%29%2A'],
    ['shop', 'a/b=?&#', 'shop:a%2Fb%3D%3F%26%23'],
    ['é', 'ü€😀', '%C3%A9:%C3%BC%E2%82%AC%F0%9F%98%80'],
  ])('the id %j with the secret %j is, as Basic, %s', async (clientId, clientSecret, pair) => {
    const sent = await sentBy(clientId, { clientSecret })
    expect(sent?.authorization).toBe(`Basic ${btoa(pair)}`)
    expect(sent?.form).not.toHaveProperty('client_id')
    // Whoever decodes reads what was meant.
    const decoded = pair.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
    expect(decoded).toEqual([clientId, clientSecret])
  })

  test('in the form a secret is as it is', async () => {
    const clientAuthentication = 'client_secret_post'
    const sent = await sentBy('shop', { clientSecret: '-._~!:', clientAuthentication })
    expect(sent?.authorization).toBeNull()
    expect(sent?.form).toMatchObject({ client_id: 'shop', client_secret: '-._~!:' })
  })

  test('a certificate of the connection needs the id alone', async () => {
    const sent = await sentBy('shop', { certificate: true })
    expect(sent?.authorization).toBeNull()
    expect(sent?.form).toMatchObject({ client_id: 'shop' })
    expect(Object.keys(sent?.form ?? {}).filter((name) => name.startsWith('client_'))).toEqual([
      'client_id',
    ])
  })

  const EC = { name: 'ECDSA', namedCurve: 'P-256' }
  const RSA = { modulusLength: 2048, publicExponent: Buffer.of(1, 0, 1), hash: 'SHA-256' }
  test.each<[string, webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams | object]>([
    ['ES256', EC],
    ['PS256', { name: 'RSA-PSS', ...RSA }],
    ['RS256', { name: 'RSASSA-PKCS1-v1_5', ...RSA }],
    ['Ed25519', { name: 'Ed25519' }],
  ])('a key for %s signs an assertion of a minute, without nbf', async (alg, algorithm) => {
    const key = await privateKeyOf(algorithm)
    const sent = await sentBy('shop', { privateKey: { key, kid: 'k1' } })
    const assertion = sent?.form['client_assertion'] ?? ''
    expect(decodeProtectedHeader(assertion)).toEqual({ alg, kid: 'k1' })
    const iat = Math.floor(clock.now())
    expect(decodeJwt(assertion)).toEqual({
      iss: 'shop',
      sub: 'shop',
      aud: ISSUER,
      jti: expect.any(String) as unknown,
      iat,
      exp: iat + 60,
    })
    expect(sent?.form).toMatchObject({
      client_id: 'shop',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    })
    expect(sent?.authorization).toBeNull()
  })

  test('with the certificate of the key, the assertion names it by both thumbprints', async () => {
    const key = await privateKeyOf(EC)
    const sent = await sentBy('shop', { privateKey: { key, certificate: pem.cert } })
    const { raw } = new X509Certificate(pem.cert)
    const digest = (name: string) => createHash(name).update(raw).digest('base64url')
    expect(decodeProtectedHeader(sent?.form['client_assertion'] ?? '')).toEqual({
      alg: 'ES256',
      x5t: digest('sha1'),
      'x5t#S256': digest('sha256'),
    })
  })
})

async function privateKeyOf(algorithm: object): Promise<webcrypto.CryptoKey> {
  const usages = ['sign', 'verify'] as const
  const pair = await crypto.subtle.generateKey(algorithm as webcrypto.EcKeyGenParams, false, usages)
  return pair.privateKey
}
