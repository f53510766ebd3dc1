import { createHash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'

import {
  authenticateRequest,
  createVerifier,
  localKeys,
  type Verifier,
  watchToken,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { byForm } from '../src/index.ts'
import { claimsWith, setUp, wordOf } from './issuer.ts'

function both(encrypted?: 'jwt' | 'opaque') {
  const { issuer, verifier, clock } = setUp()
  const asked: string[] = []
  const jwt: Verifier = {
    async verify(token) {
      asked.push(token)
      return await Promise.resolve({ claims: {}, header: { alg: 'RS512' }, token })
    },
    ready: async () => {},
  }
  return {
    clock,
    issuer,
    asked,
    opaque: verifier,
    verifier: byForm({ jwt, opaque: verifier, encrypted }),
  }
}

test('a text that no JWT has goes to who states its form, unless it begins as a JWT', async () => {
  const { issuer, clock, create } = setUp({
    form: { alphabet: 'abcdefghijklmnopqrstuvwxyz:.eyJhbGciOiJSUzUxMiJ9|' },
  })
  const keys = localKeys([(await createTestIssuer({ clock })).publicJwk])
  const jwt = createVerifier({ issuer: null, audience: null, keys, clock })
  const verifier = byForm({ jwt, opaque: create() })
  for (const each of ['user:grant', `${HEADER}.a|b`]) issuer.tokens.set(each, claimsWith({}))
  const outcomeOf = async (token: string) =>
    await wordOf(authenticateRequest(verifier, { headers: { authorization: `Bearer ${token}` } }))
  expect(await outcomeOf('user:grant')).toBe('accepted')
  expect(await outcomeOf(`${HEADER}.a|b`)).toBe('invalid_token malformed')
  expect(await outcomeOf('user:grant#')).toBe('invalid_token malformed')
  expect(issuer.asked.map(({ token }) => token)).toEqual(['user:grant'])
})

const encode = (text: string) => Buffer.from(text).toString('base64url')
const HEADER = encode('{"alg":"RS512"}')

describe('what begins as a JWT is one, and reaches the issuer in no way', () => {
  test.each<[string, string]>([
    ['three parts', `${HEADER}.e30.c2ln`],
    ['no signature', `${HEADER}.e30.`],
    ['two parts', `${HEADER}.e30`],
    ['one part and a dot', `${HEADER}.`],
    ['six parts', `${HEADER}.a.b.c.d.e`],
    ['a padded header', `${encode('{"alg":"RS512" }')}==.e30.c2ln`],
    ['white space before the header', `${encode(' \n\t{"alg":"RS512"}')}.e30.c2ln`],
    ['much of it', `${encode(`${' '.repeat(500)}{"alg":"RS512"}`)}.e30.c2ln`],
    ['more than any header has', `${encode(' '.repeat(9000))}.e30.c2ln`],
    ['a byte order mark', `${encode('\u{FEFF}{"alg":"RS512"}')}.e30.c2ln`],
    [
      'the alphabet of base64',
      `${Buffer.from('{"a":"\u{3FF}\u{3FF}>>??"}').toString('base64')}.e30.c2ln`,
    ],
    ['a character of no alphabet in the header', `e*yJhbGciOiJSUzUxMiJ9.e30.c2ln`],
    ['padding before the header', `=${HEADER}.e30.c2ln`],
    ['padding within the header', `${HEADER.slice(0, 1)}==${HEADER.slice(1)}.e30.c2ln`],
    ['a hundred of it before the header', `${'='.repeat(100)}${HEADER}.e30.c2ln`],
    ['white space before the token', ` \t${HEADER}.e30.c2ln`],
    [
      'letters beyond ASCII, which are read as others',
      `${HEADER.replace('e', '\u{165}')}${HEADER}.e30.c2ln`,
    ],
    ['a header that is not whole', `${encode('{"alg":')}.e30.c2ln`],
    ['JWE', `${encode('{"alg":"dir","enc":"A256GCM"}')}.a.b.c.d`],
    ['five parts without enc', `${HEADER}.a.b.c.d`],
  ])('%s', async (_name, token) => {
    const { issuer, asked, verifier } = both()
    await verifier.verify(token)
    expect(asked).toEqual([token])
    expect(issuer.asked).toHaveLength(0)
  })
})

test('encrypted tokens are for the verifier of JWTs, also if that is stated', async () => {
  const { issuer, asked, verifier } = both('jwt')
  const token = `${encode('{"alg":"dir","enc":"A256GCM"}')}.a.b.c.d`
  await verifier.verify(token)
  expect([asked, issuer.asked]).toEqual([[token], []])
})

describe('everything else is opaque', () => {
  test.each<[string, string]>([
    ['no dot', 'oat_1234567890'],
    ['a JSON header without a dot', HEADER],
    ['dots', 'a.b.c'],
    ['a dot at the beginning', `.${HEADER}`],
    ['a list as the header', `${encode('["a"]')}.b.c`],
    ['a brace that begins no object', `${encode('{\u{1}\u{7F}random')}.b`],
  ])('%s', async (_name, token) => {
    const { issuer, asked, verifier } = both()
    expect(await wordOf(verifier.verify(token))).toBe('invalid_token inactive')
    expect(asked).toEqual([])
    expect(issuer.asked).toHaveLength(1)
  })

  test('5,000 random texts with a dot, as some issuers make their tokens', async () => {
    const reached: string[] = []
    const named = (name: string): Verifier => ({
      async verify(token) {
        reached.push(name)
        return await Promise.resolve({ claims: {}, header: { alg: 'opaque' }, token })
      },
      ready: async () => {},
    })
    const verifier = byForm({ jwt: named('jwt'), opaque: named('opaque') })
    for (let each = 0; each < 5000; each++) {
      const random = createHash('sha512').update(`${each}`).digest()
      const parts = [random.subarray(0, 32), random.subarray(32)]
      await verifier.verify(parts.map((part) => part.toString('base64url')).join('.'))
    }
    expect(reached).toHaveLength(5000)
    expect(reached.filter((name) => name === 'jwt')).toEqual([])
  })

  test('JWE, if that is stated: only with five parts and an enc that is a text', async () => {
    const { issuer, asked, verifier } = both('opaque')
    const token = `${encode('{"alg":"dir","enc":"A256GCM"}')}.a.b.c.d`
    issuer.tokens.set(token, claimsWith())
    expect(await wordOf(verifier.verify(token))).toBe('accepted')
    for (const other of [
      `${HEADER}.a.b.c.d`,
      `${encode('{"alg":"dir","enc":1}')}.a.b.c.d`,
      `${encode('{"alg":"dir","enc":"A256GCM","enc":"none"}')}.a.b.c.d`,
      `${encode('{"alg":"dir","enc":"A256GCM"}')}.a.b`,
      `${encode(`${' '.repeat(9000)}{"enc":"A256GCM"}`)}.a.b.c.d`,
    ]) {
      await verifier.verify(other)
      expect(asked.at(-1)).toBe(other)
    }
    expect(issuer.asked).toHaveLength(1)
  })
})

test('a JWT with a wrong signature is refused, although a lenient issuer would say that it is active', async () => {
  const issuer = await createTestIssuer()
  const other = await createTestIssuer()
  const { issuer: lenient, verifier: opaque } = setUp()
  lenient.answer = () => Response.json({ active: true, ...claimsWith() })
  const jwt = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
  const verifier = byForm({ jwt, opaque })
  expect(await wordOf(verifier.verify(await issuer.token()))).toBe('accepted')
  expect(await wordOf(verifier.verify(await other.token()))).toMatch(/^invalid_token/)
  expect(lenient.asked).toHaveLength(0)
})

test('ready waits for both, and says what is missing', async () => {
  const { opaque } = both()
  const jwt: Verifier = {
    verify: async (token) => await opaque.verify(token),
    ready: async () => {
      throw new Error('no keys')
    },
  }
  await expect(byForm({ jwt, opaque }).ready()).rejects.toThrow('no keys')
})

test('the token of a connection is watched by the verifier that has accepted it', async () => {
  const { clock, issuer, verifier } = both()
  issuer.tokens.set('token', claimsWith())
  const auth = await verifier.verify('token')
  const told = new Promise((resolve) => {
    watchToken(verifier, auth, resolve, { clock })
  })
  issuer.tokens.clear()
  await clock.advance(61)
  expect(await told).toMatchObject({ reason: 'inactive' })
})

test('what is no text is refused, and told on the channel of verdicts', async () => {
  const { verifier } = both()
  const verdicts: { code?: string }[] = []
  const note = (message: unknown) => verdicts.push(message as { code?: string })
  channel('portcullis:verify').subscribe(note)
  expect(await wordOf(verifier.verify(undefined as never))).toBe('invalid_token malformed')
  channel('portcullis:verify').unsubscribe(note)
  expect(verdicts.map(({ code }) => code)).toEqual(['invalid_token'])
})

test.each<[object, string]>([
  [{}, 'byForm: jwt must be stated'],
  [{ jwt: both().opaque }, 'byForm: opaque must be stated'],
  [{ jwt: {}, opaque: both().opaque }, 'byForm: jwt must be a verifier'],
  [
    { jwt: both().opaque, opaque: both().opaque, encrypted: true },
    'encrypted must be one of jwt, opaque',
  ],
  [{ jwt: both().opaque, opaque: both().opaque, other: 1 }, 'other'],
])('wrong options are told at start-up: %#', (options, message) => {
  expect(() => byForm(options as Parameters<typeof byForm>[0])).toThrow(message)
})
