import { webcrypto } from 'node:crypto'

import { mutualTls, remoteKeys } from '@portcullis/core'
import { checkGuardOptions } from '@portcullis/core/adapter'
import { describe, expect, test } from 'vitest'

import { introspected, type IntrospectedOptions } from '../src/index.ts'
import { claimsWith, createIssuer, ISSUER, setUp, wordOf } from './issuer.ts'

const generate = webcrypto.subtle.generateKey.bind(webcrypto.subtle)
const signing = await generate({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
const agreeing = await generate({ name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits'])
const outdated = await generate(
  {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-1',
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  },
  false,
  ['sign', 'verify'],
)
const rsa = await generate(
  {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  },
  false,
  ['sign', 'verify'],
)
const shared = await generate({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])

const RIGHT = { issuer: ISSUER, audience: 'api', clientId: 'api', clientSecret: 'my secret' }

describe('a wrong option is told at start-up', () => {
  test.each<[string, object, string]>([
    ['no issuer', { issuer: undefined }, 'issuer must be stated'],
    ['no audience', { audience: undefined }, 'audience must be stated'],
    ['no clientId', { clientId: undefined }, 'clientId must be stated'],
    [
      'no way to prove who we are',
      { clientSecret: undefined },
      'client_secret_basic needs clientSecret',
    ],
    ['an issuer that is no URL', { issuer: 'issuer' }, 'issuer'],
    ['an issuer that is no text', { issuer: 1 }, 'issuer must be a string'],
    [
      'an issuer that is no URL, beside an endpoint',
      { issuer: 'issuer', endpoint: `${ISSUER}/i` },
      'issuer is not an absolute URL',
    ],
    ['an issuer without TLS', { issuer: 'http://issuer.test' }, 'issuer'],
    [
      'the URL of the metadata',
      { issuer: `${ISSUER}/.well-known/openid-configuration` },
      'issuer must be without',
    ],
    ['an issuer with a query', { issuer: `${ISSUER}?a=b` }, 'query'],
    ['an endpoint without TLS', { endpoint: 'http://issuer.test/' }, 'endpoint'],
    ['issuer null without an endpoint', { issuer: null }, 'endpoint must be stated'],
    [
      'keys without an issuer',
      { issuer: null, endpoint: `${ISSUER}/i`, keys: remoteKeys(`${ISSUER}/jwks`) },
      'issuer must be stated',
    ],
    ['keys that are none', { keys: {} }, 'keys must be a key source'],
    ['algorithms without keys', { algorithms: ['ES256'] }, 'algorithms needs keys'],
    [
      'an algorithm with a secret',
      { keys: remoteKeys(`${ISSUER}/jwks`), algorithms: ['HS256'] },
      'introspected: algorithms: "HS256" is not supported',
    ],
    [
      'a secret for a certificate',
      { clientAuthentication: 'tls_client_auth' },
      'tls_client_auth has no use for clientSecret',
    ],
    [
      'a method without its key',
      { clientAuthentication: 'private_key_jwt' },
      'private_key_jwt has no use for clientSecret',
    ],
    [
      'a method that is none',
      { clientAuthentication: 'none' },
      'clientAuthentication must be one of',
    ],
    ['a key that is none', { clientSecret: undefined, clientKey: 'PEM' }, 'clientKey must be'],
    [
      'a key that is no CryptoKey',
      { clientSecret: undefined, clientKey: { key: {} } },
      'private CryptoKey',
    ],
    ...[
      { key: { type: 'private', usages: ['sign'] } },
      { key: signing.publicKey },
      { key: agreeing.privateKey },
      { key: shared },
      { key: outdated.privateKey },
      { key: signing.privateKey, kid: 1 },
      { key: signing.privateKey, certificate: 'no PEM' },
      { key: signing.privateKey, alg: 'ES256' },
    ].map((clientKey, index): [string, object, string] => [
      `a wrong clientKey, ${index}`,
      { clientSecret: undefined, clientKey },
      'clientKey must be { key, kid?, certificate? }, with a private CryptoKey that signs',
    ]),
    ['maxAge 0', { maxAge: 0 }, 'maxAge'],
    ['maxAge of two hours', { maxAge: 7200 }, 'maxAge'],
    ['maxAge in milliseconds', { maxAge: 30_000 }, 'maxAge'],
    ['a negative staleIfError', { staleIfError: -1 }, 'staleIfError'],
    ['timeout 0', { timeout: 0 }, 'timeout'],
    ['maxCalls 0', { maxCalls: 0 }, 'maxCalls'],
    ['maxCalls as a text', { maxCalls: '16' }, 'maxCalls'],
    ['maxRate 0', { maxRate: 0 }, 'maxRate'],
    ['maxRate without an end', { maxRate: Infinity }, 'maxRate'],
    ['remember as a number', { remember: 1000 }, 'remember must be { max }'],
    ['remember false', { remember: false }, 'remember must be { max }'],
    ['remember nothing', { remember: { max: 0 } }, 'remember must be { max }'],
    ['remember too many', { remember: { max: 1_000_001 } }, 'remember must be { max }'],
    ['an unknown member of remember', { remember: { max: 1, ttl: 1 } }, 'remember must be { max }'],
    ['form as a pattern', { form: /a/ }, 'form'],
    ['an unknown member of form', { form: { max: 3 } }, 'form has the unknown member "max"'],
    ['a length that is no range', { form: { length: [20, 10] } }, 'length'],
    ['a length from 0', { form: { length: [0, 10] } }, 'length'],
    ['an empty prefix', { form: { prefix: '' } }, 'prefix'],
    ['an empty alphabet', { form: { alphabet: '' } }, 'alphabet'],
    ['a fetch that is none', { fetch: 'fetch' }, 'fetch'],
    ['a name that is misspelt', { maxAges: 30 }, 'maxAges'],
    ['algorithms, which an opaque token has not', { algorithms: ['RS512'] }, 'algorithms'],
  ])('%s', (_name, change, message) => {
    const options = { ...RIGHT, ...change } as IntrospectedOptions
    expect(() => introspected(options)).toThrow(TypeError)
    expect(() => introspected(options)).toThrow(/^introspected: /)
    expect(() => introspected(options)).toThrow(message)
    expect(() => introspected(options)).not.toThrow(/my secret/)
  })

  test('and right ones are taken', () => {
    expect(() => introspected(RIGHT)).not.toThrow()
    expect(() => introspected({ ...RIGHT, endpoint: 'http://127.0.0.1:8080/i' })).not.toThrow()
    expect(() =>
      introspected({ ...RIGHT, clientAuthentication: 'client_secret_basic' }),
    ).not.toThrow()
    expect(() =>
      introspected({ ...RIGHT, endpoint: 'http://issuer.test/', allowInsecure: true }),
    ).not.toThrow()
    expect(() =>
      introspected({
        ...RIGHT,
        form: { length: [20, 256], prefix: 'oat_', alphabet: 'abc_ot' },
        remember: { max: 1 },
      }),
    ).not.toThrow()
  })
})

test('an option that is undefined counts as left out', async () => {
  const { issuer, usual, create } = setUp()
  issuer.tokens.set('token', claimsWith())
  const names = ['requireExpiry', 'clockTolerance', 'maxTokenAge', 'requiredClaims', 'confirmation']
  const others = ['revocations', 'schema', 'type', 'form', 'remember', 'maxAge', 'maxRate', 'keys']
  const options = Object.fromEntries([...names, ...others].map((name) => [name, undefined]))
  const verifier = introspected({ ...usual, ...options })
  expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  expect(await wordOf(create({ requireExpiry: true }).verify('token'))).toBe(
    'invalid_token missing_claim',
  )
})

describe('the API proves who it is', () => {
  test('with its secret in the header, encoded as RFC 6749 section 2.3.1 says', async () => {
    const { issuer, create } = setUp({ clientId: 'api:1', clientSecret: 'p ä+%' })
    issuer.tokens.set('token', claimsWith())
    await create().verify('token')
    const [, credentials = ''] = issuer.asked[0]?.headers.get('authorization')?.split(' ') ?? []
    expect(Buffer.from(credentials, 'base64').toString()).toBe('api%3A1:p+%C3%A4%2B%25')
  })

  test('with its secret in the body', async () => {
    const { issuer, create } = setUp({ clientAuthentication: 'client_secret_post' })
    issuer.tokens.set('token', claimsWith())
    await create().verify('token')
    expect(issuer.asked[0]?.headers.get('authorization')).toBeNull()
    expect(Object.fromEntries(issuer.asked[0]?.body ?? [])).toMatchObject({
      client_id: 'api',
      client_secret: 'secret',
    })
  })

  test('with an assertion that its key has signed, for this issuer, a new one each time', async () => {
    const { publicKey, privateKey } = await webcrypto.subtle.generateKey(
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['sign', 'verify'],
    )
    const { issuer, create } = setUp({
      clientSecret: undefined,
      clientKey: { key: privateKey, kid: 'k1' },
    })
    issuer.tokens.set('one', claimsWith())
    issuer.tokens.set('two', claimsWith())
    const verifier = create()
    await verifier.verify('one')
    await verifier.verify('two')
    const assertions = issuer.asked.map(({ body }) => body.get('client_assertion') ?? '')
    expect(new Set(assertions).size).toBe(2)
    const [header = '', payload = '', signature = ''] = assertions[0]?.split('.') ?? []
    expect(read(header)).toEqual({ alg: 'ES256', kid: 'k1' })
    expect(read(payload)).toMatchObject({ iss: 'api', sub: 'api', aud: ISSUER })
    const isRight = await webcrypto.subtle.verify(
      { name: 'ECDSA', hash: 'SHA-256' },
      publicKey,
      Buffer.from(signature, 'base64url'),
      Buffer.from(`${header}.${payload}`),
    )
    expect(isRight).toBe(true)
    expect(issuer.asked[0]?.body.get('client_secret')).toBeNull()
  })

  test('with the certificate of its connection', async () => {
    const { issuer, create } = setUp({
      clientSecret: undefined,
      clientAuthentication: 'tls_client_auth',
    })
    issuer.tokens.set('token', claimsWith())
    await create().verify('token')
    expect(Object.fromEntries(issuer.asked[0]?.body ?? [])).toMatchObject({ client_id: 'api' })
    expect(issuer.asked[0]?.headers.get('authorization')).toBeNull()
  })
})

test('an issuer without a name: claims need none, and the endpoint is stated', async () => {
  const issuer = createIssuer()
  issuer.tokens.set('token', { sub: 'ada', token_type: 'Bearer' })
  const verifier = introspected({
    issuer: null,
    audience: null,
    endpoint: `${ISSUER}/introspect`,
    clientId: 'api',
    clientSecret: 'secret',
    fetch: issuer.fetch,
  })
  expect((await verifier.verify('token')).claims).toEqual({
    active: true,
    sub: 'ada',
    token_type: 'Bearer',
  })
})

function read(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}

test.each<[title: string, options: object, complaint: string | undefined]>([
  ['plain answers', {}, undefined],
  ['signed answers', { keys: remoteKeys(`${ISSUER}/jwks`), algorithms: ['PS256'] }, undefined],
  [
    'whatever the keys of answers are for',
    { keys: remoteKeys(`${ISSUER}/jwks`) },
    'must state algorithms',
  ],
  [
    'a key of P-256',
    { clientSecret: undefined, clientKey: { key: signing.privateKey } },
    undefined,
  ],
  [
    'a key for RS256',
    { clientSecret: undefined, clientKey: { key: rsa.privateKey } },
    'must not use RS256',
  ],
])('a guard with the profile fapi2 and %s', (_title, options, complaint) => {
  const verifier = introspected({ ...RIGHT, ...options })
  const guard = () =>
    checkGuardOptions(verifier, { profile: 'fapi2' as const, mutualTls: mutualTls() })
  expect(complaintOf(guard)).toContain(complaint ?? 'none')
})

function complaintOf(act: () => unknown): string {
  try {
    act()
    return 'none'
  } catch (error) {
    return String(error)
  }
}
