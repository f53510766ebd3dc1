import { createPublicKey, generateKeyPairSync, type JsonWebKey, verify } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { expect, test } from 'vitest'

import { follow } from './following.ts'
import { type Behaviour, createKeyEndpoint } from './key-endpoint.ts'
import { MIB, serve, TIMEOUT } from './misbehaviours.ts'
import {
  forgedToken,
  keyPair,
  newJwk,
  newToken,
  oldJwk,
  oldToken,
  rsaJwk,
  stranger,
  thumbprintOf,
  tokenOf,
  tokenWithExponentOne,
} from './tokens.ts'

interface Oddity {
  /** Completes the sentence "the endpoint …". */
  readonly name: string
  readonly behave: Behaviour
  readonly skipped?: number
  /** The key that counts, and a token that it signed. */
  readonly jwk?: JsonWebKey
  readonly accepted?: () => Promise<string>
  /** What somebody may sign who profits from the oddity. */
  readonly forged?: () => Promise<string>
}

const GOOD = JSON.stringify(oldJwk)
const ALMOST = TIMEOUT - 0.1

const ways: readonly Oddity[] = [
  { name: 'serves a bare key', behave: serve(oldJwk) },
  {
    name: 'calls the key a web page',
    behave: serve(oldJwk, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  },
  {
    name: 'states no content type',
    behave: ({ response }) => {
      response.end(GOOD)
    },
  },
  { name: 'begins with a byte order mark', behave: serve(`\uFEFF${GOOD}`) },
  { name: 'serves 1 MiB, mostly white space', behave: serve(GOOD.padEnd(MIB)) },
  {
    name: 'compresses, though it was asked not to',
    behave: ({ response }) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(GOOD))
    },
  },
  {
    name: 'speaks HTTP/1.0 and ends the body by closing',
    behave: ({ socket }) => {
      socket.end(`HTTP/1.0 200 OK\r\n\r\n${GOOD}`)
    },
  },
  {
    name: 'sends early hints first',
    behave: ({ response }) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.end(GOOD)
    },
  },
  {
    name: 'sends its headers just in time',
    behave: async ({ response, pass }) => {
      await pass(ALMOST)
      response.end(GOOD)
    },
  },
  {
    name: 'sends its body octet by octet, just in time',
    behave: async ({ response, heard, pass }) => {
      response.flushHeaders()
      await heard
      for (const octet of GOOD) {
        response.write(octet)
        await pass(ALMOST / GOOD.length)
      }
      response.end()
    },
  },
  {
    name: 'repeats a member, of which the last counts (RFC 7517 section 4)',
    behave: serve(`{"n":"${stranger.publicJwk.n}",${GOOD.slice(1)}`),
  },
]

const sets: readonly Oddity[] = [
  { name: 'serves a set of one', behave: serve({ keys: [oldJwk] }) },
  {
    name: 'repeats the set, of which the last counts (RFC 7517 section 4)',
    behave: serve(`{"keys":[${JSON.stringify(stranger.publicJwk)}],"keys":[${GOOD}]}`),
  },
  {
    name: 'serves the same key twice',
    behave: serve({ keys: [oldJwk, { ...oldJwk, kid: 'another name' }] }),
  },
  {
    name: 'serves keys of other kinds beside ours',
    behave: serve({
      keys: [
        ecJwk('P-256'),
        generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }),
        { ...newJwk, alg: 'ES256' },
        { ...newJwk, alg: 'RSA-OAEP-512' },
        { ...newJwk, use: 'enc' },
        { ...newJwk, use: undefined, key_ops: ['encrypt', 'wrapKey'] },
        { ...newJwk, kty: 'rsa' },
        generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }),
        ecJwk('secp256k1'),
        { kty: 'oct', k: newJwk.n, alg: 'RS512', kid: newJwk['kid'] },
        { kty: 'AKP', alg: 'ML-DSA-65', pub: newJwk.n },
        oldJwk,
      ],
    }),
    skipped: 9,
  },
  {
    name: 'serves entries beside ours that are no keys',
    behave: serve({
      keys: [null, true, 17, 'a key', [], [newJwk], {}, { keys: [newJwk] }, oldJwk],
    }),
    skipped: 8,
  },
  {
    name: 'serves our key after half a megabyte of entries that are no keys',
    behave: serve({ keys: [...Array.from({ length: MIB / 4 }, () => 1), oldJwk] }),
    skipped: MIB / 4,
  },
  {
    name: 'serves our key after 499 points that are not on their curve',
    behave: serve({ keys: [...Array.from({ length: 499 }, offCurve), oldJwk] }),
    skipped: 499,
  },
  ...[512, 1024, 16_384].map((bits) => ({
    name: `serves a key of ${bits} bits beside ours`,
    behave: serve({ keys: [rsaJwk(bits), oldJwk] }),
    skipped: 1,
  })),
]

const shortPair = keyPair(1024)
const publishedPair = keyPair(2048)
const exponentOne = rsaJwk(2048, 'AQ')

const attacks: readonly Oddity[] = [
  {
    name: 'serves a key beside ours whose 1024 bits have been factored',
    behave: serve({ keys: [shortPair.privateJwk, oldJwk] }),
    skipped: 1,
    forged: async () => shortPair.token,
  },
  {
    name: 'serves a key beside ours with e = 1, for which anybody can sign',
    behave: serve({ keys: [exponentOne, oldJwk] }),
    skipped: 1,
    forged: async () => tokenWithExponentOne(exponentOne),
  },
  {
    name: 'serves a key with e = 1 under our kid',
    behave: serve({ keys: [{ ...exponentOne, kid: oldJwk['kid'] }, oldJwk] }),
    skipped: 1,
    forged: async () => tokenWithExponentOne({ ...exponentOne, kid: oldJwk['kid'] }),
  },
  {
    name: 'serves private members by mistake, of which the public ones are used',
    behave: serve({ keys: [publishedPair.privateJwk] }),
    jwk: publishedPair.privateJwk,
    accepted: async () => publishedPair.token,
    forged: async () => await tokenOf(stranger, String(publishedPair.privateJwk['kid'])),
  },
]

test.each(ways)('the endpoint $name: one key counts, and no other', async (row) => {
  await expectOneKeyToCount(row, 'signature') // a bare key is a candidate whatever the token's `kid`
})

test.each([...sets, ...attacks])(
  'the endpoint $name: one key counts, and no other',
  async (row) => {
    await expectOneKeyToCount(row, 'unknown_key')
  },
)

async function expectOneKeyToCount(row: Oddity, refusal: string): Promise<void> {
  const { behave, skipped = 0, jwk = oldJwk } = row
  const { accepted = oldToken, forged = forgedToken } = row
  await using endpoint = await createKeyEndpoint()
  const { keys, verdict } = follow(endpoint)
  endpoint.answerWith(behave)

  expect(await verdict(accepted())).toBe('accepted')
  expect(endpoint.requests).toBe(1)
  expect(endpoint.clock.monotonic()).toBeLessThan(TIMEOUT)
  expect(keys.status().thumbprints).toContain(thumbprintOf(jwk))
  expect(keys.status()).toMatchObject({
    freshness: 'fresh',
    lastFailure: undefined,
    skippedKeys: skipped,
  })

  // Both may ask whether there has been a rotation, and share an answer: they are signed first, to arrive together.
  await endpoint.pass(1)
  const tokens = [newToken(), forged()]
  await Promise.all(tokens)
  const [ofNew, ofForged] = await Promise.all(tokens.map(verdict))
  expect(ofNew).toBe(`invalid_token: ${refusal}`)
  expect(ofForged).toMatch(/^invalid_token: (?:signature|unknown_key)$/)
  expect(endpoint.requests).toBe(2)
  expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: undefined })
}

test.each([
  ['a short key', shortPair.privateJwk, shortPair.token],
  ['a key with e = 1', exponentOne, tokenWithExponentOne(exponentOne)],
])('node:crypto itself takes the token that was forged with %s', (_, jwk, token) => {
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const [input, signature] = token.split(/\.(?=[^.]*$)/)
  expect(
    verify('sha512', Buffer.from(input ?? ''), key, Buffer.from(signature ?? '', 'base64url')),
  ).toBe(true)
})

function offCurve(): JsonWebKey {
  const jwk = ecJwk('P-256')
  return { ...jwk, y: String(jwk.x) }
}

function ecJwk(namedCurve: string): JsonWebKey {
  return generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
}
