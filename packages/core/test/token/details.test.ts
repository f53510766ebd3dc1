import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createVerifier, type VerifierOptions } from '../../src/index.ts'
import { AuthError } from '../../src/refusal/errors.ts'

const issuer = await createTestIssuer()
const token = await issuer.token()
const [, payload = '', signature = ''] = token.split('.')

async function detailOf(given: unknown, options: Partial<VerifierOptions> = {}): Promise<string> {
  const verifier = createVerifier({ ...issuer.verifierOptions, ...options })
  try {
    await verifier.verify(given as string)
  } catch (error) {
    if (error instanceof AuthError) return error.detail
  }
  throw new Error('nothing was refused')
}

function withText(header: string): string {
  return `${Buffer.from(header).toString('base64url')}.${payload}.${signature}`
}

function withHeader(header: unknown): string {
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`
}

describe('what verify was given', () => {
  test.each([
    ['a promise', Promise.resolve(token), 'is an `await` missing?'],
    ['undefined', undefined, 'verify was given undefined'],
    ['an object', { access_token: token }, 'verify was given an object'],
    ['a list', [token], 'verify was given a list'],
    ['an object that throws', throwing(), 'verify was given an object'],
    ['the whole value of the header', `Bearer ${token}`, 'the text begins with "Bearer "'],
    ['the same, in lower case', `bearer ${token}`, 'the text begins with "Bearer "'],
    ['"Bearer" and an opaque token', 'Bearer abc', 'the text begins with "Bearer "'],
    ['the text of a promise', '[object Promise]', 'is an `await` missing?'],
    ['a word for nothing', 'undefined', 'what JavaScript makes of a missing value'],
    ['the empty text', '', 'what JavaScript makes of a missing value'],
    ['JSON of a token', JSON.stringify(token), 'is it still JSON?'],
    ['a line', `${token}\n`, 'white space before or behind'],
    ['an opaque token', 'abcdefghijklmnop', 'an opaque token cannot be verified here'],
    ['half of a token', token.slice(0, token.lastIndexOf('.')), 'the text has two parts'],
    ['a JWE', 'a.b.c.d.e', 'encrypted tokens (JWE)'],
    ['an unsecured token', `${token.slice(0, token.lastIndexOf('.'))}.`, 'the signature, is empty'],
    ['padded base64url', `${token}==`, 'base64url without padding'],
    ['a header with a member twice', withText('{"alg":"RS512","alg":"RS512"}'), 'a member twice'],
    ['a header with __proto__', withText('{"__proto__":{}}'), 'one named __proto__'],
    ['a header that is no JSON', `e30x.${payload}.${signature}`, 'the first part is not'],
  ])('%s', async (_, given, sentence) => {
    expect(await detailOf(given)).toContain(sentence)
  })

  test('what is no promise lacks no `await`', async () => {
    expect(await detailOf(undefined)).toBe(
      'verify was given undefined; it takes the text of one token',
    )
  })

  test.each([
    ['"Bearer"', `Authorization: Bearer ${token}`],
    ['a quote', `${token}"`],
  ])('%s that is not at the beginning is not said to be there', async (_, given) => {
    expect(await detailOf(given)).toMatch(
      /^not a JWS: (?:the first part is not|it is not three parts of) /,
    )
  })
})

describe('the header', () => {
  test.each([
    [{ alg: 'RS512', kid: 7 }, "the header's kid is a number; it must be a string"],
    [{ alg: 'RS512', typ: ['a'] }, "the header's typ is a list; it must be a string"],
    [{ alg: 'RS512', b64: false }, "the header's b64 is false"],
    [{ alg: 'RS512', crit: ['a', 'b', 'c', 'd'] }, 'crit requires "a", "b", "c", 1 more'],
    [{ alg: 'RS512', crit: {} }, 'crit requires an object'],
    [{}, 'the header has no alg; this verifier accepts RS512'],
    [{ alg: 'none' }, 'a token without a signature proves nothing'],
    [{ alg: 'HS256' }, 'needs a shared secret'],
    [{ alg: 'RSA512' }, 'state algorithmNames: { "RSA512": "RS512" }'],
    [{ alg: 'ES256' }, "state algorithms: ['ES256']"],
    [{ alg: 'rs\n512' }, String.raw`alg is "rs\u000a512"; this verifier accepts RS512`],
    [{ alg: 'x'.repeat(9999) }, `alg is "${'x'.repeat(64)}..."; this verifier`],
  ])('%j', async (header, sentence) => {
    expect(await detailOf(withHeader(header))).toContain(sentence)
  })

  test('without a typ', async () => {
    const detail = await detailOf(await issuer.token({ omit: ['typ'] }), { type: 'at+jwt' })
    expect(detail).toBe('the header has no typ; expected "at+jwt"')
  })
})

test.each([
  ['a number that is too large', '{"exp":1e400}'],
  ['at most 32 levels', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
  ['one named __proto__', '{"__proto__":{}}'],
  ['a member twice', '{"a":1,"a":1}'],
  ['a name that needs an escape', String.raw`{"a\"b":1}`],
  ['UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
])('a payload that is refused for %s: it says so', async (what, text) => {
  const detail = await detailOf(await issuer.token({ payload: text }))
  expect(detail).toContain(what)
  expect(detail).toMatch(/^the payload is not a JSON object /)
})

function throwing(): object {
  return new Proxy(
    {},
    {
      get: () => {
        throw new Error('canary')
      },
    },
  )
}
