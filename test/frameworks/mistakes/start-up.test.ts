import { generateKeyPairSync } from 'node:crypto'

import {
  createVerifier,
  discoverKeys,
  localKeys,
  remoteKeys,
  scope,
  type VerifierOptions,
} from '@portcullis/core'
import { PortcullisGuard, PortcullisModule, Requires } from '@portcullis/nest'
import { createTestIssuer, stubVerifier } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { adapters } from '../contract/frameworks/index.ts'

// The usual mistakes that keep a program from starting. Types find many of them, so there are casts here.

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = publicKey.export({ format: 'pem', type: 'spki' })
const jwk = publicKey.export({ format: 'jwk' })
const keys = localKeys(jwk)
const verifier = stubVerifier()
const sound = { keys, issuer: null, audience: null }
const AUTH_URL = undefined as unknown as string

const made = (options: object) => () => createVerifier(options as VerifierOptions)

test.each<[string, () => unknown, string]>([
  [
    'issuer is forgotten',
    made({ keys, audience: null }),
    'issuer must be stated, null to accept any',
  ],
  [
    'audience is forgotten',
    made({ keys, issuer: null }),
    'audience must be stated, null to accept',
  ],
  ['keys are forgotten', made({ issuer: null, audience: null }), 'keys must be stated'],
  ['the issuer is empty', made({ ...sound, issuer: '' }), 'issuer must be a string'],
  [
    'an option is misspelt',
    made({ ...sound, clockTolerence: 10 }),
    'createVerifier: unknown option "clockTolerence", known are keys, issuer, audience,',
  ],
  [
    'an option of the keys is misspelt',
    () => remoteKeys('https://auth.test/keys', { maxage: 60 } as object),
    'remoteKeys: unknown option "maxage", known are maxAge,',
  ],
  [
    'the tolerance is in milliseconds',
    made({ ...sound, clockTolerance: 5000 }),
    'clockTolerance must be a number of seconds from 0 to 600',
  ],
  ['an algorithm is secret', made({ ...sound, algorithms: ['HS256'] }), 'HS256'],
  [
    'a URL is given in place of keys',
    made({ ...sound, keys: 'https://auth.test/keys' }),
    'keys must be a key source, such as remoteKeys(url)',
  ],
  [
    'the key URL is http',
    () => remoteKeys('http://auth.test/keys'),
    'the key URL must begin with https: (allowInsecure: true permits http: beyond the loopback)',
  ],
  [
    'the issuer to discover is http',
    () => discoverKeys('http://auth.test'),
    'must begin with https:',
  ],
  [
    'AUTH_URL is unset',
    () => remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`),
    'the key URL is not an absolute URL: is an environment variable unset?',
  ],
  [
    'AUTH_URL is empty',
    () => remoteKeys('/tokenservice/pubkey.json'),
    'the key URL is not an absolute URL: is an environment variable unset?',
  ],
  [
    'AUTH_URL has no scheme',
    () => remoteKeys('auth.test/tokenservice/pubkey.json'),
    'the key URL is not an absolute URL',
  ],
  [
    'a key is PEM',
    () => localKeys(pem as object),
    'of PEM, pass createPublicKey(pem) of node:crypto',
  ],
  [
    'a key is JSON',
    () => localKeys(JSON.stringify(jwk) as unknown as object),
    'of a text, pass JSON.parse(text)',
  ],
  [
    'a key is a promise',
    () => localKeys(Promise.resolve(jwk) as object),
    'it is a promise, so an `await` is missing',
  ],
  ['a key is private', () => localKeys(privateKey), 'pass createPublicKey(key) instead'],
  [
    'a scope is a list',
    () => scope(['read'] as unknown as string),
    'a space-separated list of scopes',
  ],
  [
    'scopes are two arguments',
    () => void Reflect.apply(scope, undefined, ['read', 'write']),
    'scope: takes one argument; combine requirements with all() or any()',
  ],
])('%s: a TypeError says so', (_, start, cause) => {
  expect(start).toThrow(TypeError)
  expect(start).toThrow(cause)
})

describe.each(adapters)('$folder: an option of the guard', ({ takesOptions }) => {
  test.each<[string, object, string]>([
    ['is misspelt', { optinal: true }, 'unknown option "optinal", known are optional,'],
    ['is a realm with a line break', { realm: 'a\r\nb' }, 'realm must be'],
    [
      'is metadata that is no URL',
      { resourceMetadata: 'meta' },
      'resourceMetadata is not an absolute URL',
    ],
    ['is no way to respond', { respond: 'json' }, 'respond must be one of'],
    ['is a property that is none', { property: '__proto__' }, 'property must be'],
  ])('%s', (_, wrong, cause) => {
    expect(() => takesOptions(wrong as never)).toThrow(TypeError)
    expect(() => takesOptions(wrong as never)).toThrow(cause)
  })
})

const guards = adapters.flatMap(({ folder, functions }) =>
  functions === null ? [] : [{ folder, ...functions }],
)

test.each(guards)('$folder: a guard gets no verifier', ({ authenticate }) => {
  const cause = 'authenticate: the first argument must be a verifier: write authenticate(verifier'
  for (const wrong of [undefined, sound, createVerifier, keys, createTestIssuer()]) {
    expect(() => authenticate(wrong as never)).toThrow(cause)
  }
})

test.each([
  ...guards.map(({ folder, authorize }) => ({ folder, name: 'authorize', require: authorize })),
  { folder: 'nest', name: '@Requires', require: Requires },
])(
  '$folder: $name gets a text, a list or a function: the sentence shows how to write it',
  ({ name, require }) => {
    for (const wrong of ['read', [scope('read')], scope]) {
      expect(() => void Reflect.apply(require, undefined, [wrong])).toThrow(
        new TypeError(`${name}: each argument must be a requirement, as in ${name}(scope('read'))`),
      )
    }
    const cause = `${name}: there must be at least one requirement`
    expect(() => void Reflect.apply(require, undefined, [])).toThrow(cause)
  },
)

test('nest: a guard gets no verifier', () => {
  const cause = 'verifier must be a verifier, as createVerifier makes it'
  expect(() => new PortcullisGuard(verifier as never)).toThrow(cause)
  expect(() => PortcullisModule.forRoot({ verifer: verifier } as never)).toThrow(cause)
})
