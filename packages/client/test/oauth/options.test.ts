import type { webcrypto } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { createOAuthClient, type OAuthClientOptions } from '../../src/oauth.ts'

const valid: OAuthClientOptions = {
  issuer: 'https://as.test',
  clientId: 'shop',
  clientSecret: 'secret',
  origins: [],
}

const { privateKey, publicKey } = await crypto.subtle.generateKey(
  { name: 'ECDSA', namedCurve: 'P-256' },
  false,
  ['sign', 'verify'],
)

const weak = async (algorithm: webcrypto.RsaHashedKeyGenParams) =>
  (await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])).privateKey
const rsa = { name: 'RSASSA-PKCS1-v1_5', publicExponent: Uint8Array.of(1, 0, 1) }
const short = await weak({ ...rsa, modulusLength: 1024, hash: 'SHA-256' })
const old = await weak({ ...rsa, modulusLength: 2048, hash: 'SHA-1' })
const agreeing = await crypto.subtle.generateKey({ name: 'X25519' }, false, ['deriveBits'])
const symmetric = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, [
  'sign',
])

const creating = (options: unknown) => () => createOAuthClient(options as OAuthClientOptions)

describe('a wrong option is a TypeError at start-up', () => {
  test.each<[string, unknown, string]>([
    ['issuer', 'as.test', 'is not an absolute URL'],
    ['issuer', 'http://as.test', 'must begin with https:'],
    ['issuer', 'https://me:canary@as.test', 'must not contain credentials'],
    ['issuer', 'https://as.test?tenant', 'must have neither a query nor a fragment'],
    ['tokenEndpoint', 'http://as.test/token', 'must begin with https:'],
    ['tokenEndpoint', 'https://as.test/token#x', 'must have no fragment'],
    ['clientId', '', 'must be a string that is not empty'],
    ['clientSecret', 1, 'must be a string that is not empty, or a function that gives one'],
    ['clientAuthentication', 'basic', 'must be client_secret_basic or client_secret_post'],
    [
      'privateKey',
      { key: publicKey },
      'must be { key, kid?, certificate? }, with a private CryptoKey that signs',
    ],
    ['privateKey', { key: privateKey, kid: '' }, 'must be { key, kid?, certificate? }'],
    ['privateKey', { key: short }, 'must be { key, kid?, certificate? }'],
    ['privateKey', { key: old }, 'must be { key, kid?, certificate? }'],
    [
      'privateKey',
      { key: 'privateKey' in agreeing && agreeing.privateKey },
      'must be { key, kid?, certificate? }',
    ],
    ['privateKey', { key: symmetric }, 'must be { key, kid?, certificate? }'],
    ['privateKey', privateKey, 'must be { key, kid?, certificate? }'],
    [
      'privateKey',
      { key: privateKey, certificate: 'no PEM' },
      'must be { key, kid?, certificate? }',
    ],
    [
      'privateKey',
      { key: privateKey, kid: 'a', alg: 'RS512' },
      'must be { key, kid?, certificate? }',
    ],
    ['clientAssertion', { file: '/token', encoding: 'utf8' }, 'must be { file }'],
    ['clientAssertion', null, 'must be { file }'],
    ['clientAssertion', 'text', 'must be { file }, or a function that gives an assertion'],
    ['certificate', false, 'must be true, or left out'],
    ['scope', 'a,"b"', 'must be words, separated by spaces'],
    ['resource', 'orders', 'must be an absolute URI without a fragment, or a list of such'],
    ['scope', 7, 'must be words, separated by spaces'],
    ['resource', new URL('https://a.test'), 'must be an absolute URI without a fragment'],
    ['resource', ['https://a.test', 'orders'], 'must be an absolute URI without a fragment'],
    ['resource', ['https://a.test#b'], 'must be an absolute URI without a fragment'],
    ['audience', [], 'must be a string that is not empty, or a list of such'],
    ['origins', undefined, 'must be a list of origins'],
    ['remember', { max: 1 }, 'must be { max, bytes }, two whole numbers from 0'],
    ['remember', { max: 1, bytes: 1, ttl: 1 }, 'must be { max, bytes }'],
    ['remember', null, 'must be { max, bytes }'],
    ['fetch', {}, 'must be a function'],
    ['clientId', undefined, 'must be a string that is not empty'],
    ['remember', { max: -1, bytes: 1 }, 'must be { max, bytes }'],
    ['dpop', 'ES256', 'must be true, false or { algorithm }'],
    ['timeout', 0, 'must be a number of seconds from 0.1 to 300'],
  ])('%s: %j', (name, value, complaint) => {
    expect(creating({ ...valid, [name]: value })).toThrow(TypeError)
    expect(creating({ ...valid, [name]: value })).toThrow(`createOAuthClient: ${name} ${complaint}`)
    expect(creating({ ...valid, [name]: value })).not.toThrow(/canary/)
  })

  test.each<[string, Partial<OAuthClientOptions>]>([
    ['state issuer or tokenEndpoint', { issuer: undefined }],
    ['state one of clientSecret, privateKey, clientAssertion and', { clientSecret: undefined }],
    ['state one of clientSecret, privateKey, clientAssertion and', { certificate: true }],
    [
      'state one of clientSecret, privateKey, clientAssertion and',
      { privateKey: { key: privateKey } },
    ],
    [
      'clientAuthentication is for clientSecret',
      { clientSecret: undefined, certificate: true, clientAuthentication: 'client_secret_post' },
    ],
    ['unknown option "secret"', { secret: 'canary' } as object],
  ])('%s: %j', (complaint, options) => {
    expect(creating({ ...valid, ...options })).toThrow(`createOAuthClient: ${complaint}`)
  })
})

test.each<Partial<OAuthClientOptions>>([
  { tokenEndpoint: new URL('https://as.test/token?tenant=a') },
  { issuer: undefined, tokenEndpoint: 'http://127.0.0.1:3/token' },
  { issuer: 'http://as.test', allowInsecure: true },
  { clientSecret: undefined, privateKey: { key: privateKey } },
  { remember: { max: 0, bytes: 0 } },
])('may be %j', (options) => {
  expect(creating(Object.freeze({ ...valid, ...options }))).not.toThrow()
})
