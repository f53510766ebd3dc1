import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import {
  AuthError,
  authenticateRequest,
  createVerifier,
  findAuth,
  getAuth,
  type RemoteKeys,
  remoteKeys,
  type Verifier,
  type VerifierOptions,
} from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService, type TokenOptions } from '@portcullis/testing'
import { describe, expect, expectTypeOf, test } from 'vitest'

// The usual mistakes that show with a token, and what `error.detail` says of each.

const clock = manualClock()
const issuer = await createTestIssuer({ clock, issuer: 'https://auth.test', audience: 'api' })
const { verifierOptions } = issuer
const verifier = createVerifier(verifierOptions)

async function detailOf(refusing: Promise<unknown>): Promise<string> {
  const error: unknown = await refusing.catch((reason: unknown) => reason)
  if (!(error instanceof AuthError)) throw new Error('nothing was refused', { cause: error })
  return error.detail
}

describe('a token for somebody else', () => {
  test.each<[string, TokenOptions, Partial<VerifierOptions>, string]>([
    ['another audience', { claims: { aud: 'shop' } }, {}, 'aud is "shop"; expected "api"'],
    ['no audience', { omit: ['aud'] }, {}, 'aud is missing; expected "api"'],
    [
      'a slash at the end of the issuer',
      { claims: { iss: 'https://auth.test/' } },
      {},
      'they differ only in the slash at the end',
    ],
    [
      'an ID token',
      { claims: { aud: 'web-app', nonce: 'n' } },
      {},
      'it has nonce or at_hash, as an ID token has: an API takes the access token instead',
    ],
    [
      'an ID token where access tokens have a type',
      { claims: { nonce: 'n' } },
      { type: 'at+jwt' },
      'the header\'s typ is "JWT"; expected "at+jwt"',
    ],
  ])('%s', async (_, token, options, cause) => {
    const strict = createVerifier({ ...verifierOptions, ...options })
    expect(await detailOf(strict.verify(await issuer.token(token)))).toContain(cause)
  })

  test('a token of RS256, where nobody has stated that', async () => {
    const other = await createTestIssuer({ clock, algorithm: 'RS256' })
    expect(await detailOf(verifier.verify(await other.token()))).toBe(
      `the header's alg is "RS256"; this verifier accepts RS512; if your tokens are signed so, state algorithms: ['RS256']`,
    )
  })
})

/** @param offset How much our clock is ahead, in seconds. */
function verifierAt(offset: number): Verifier {
  return createVerifier({
    ...verifierOptions,
    clock: { ...clock, now: () => clock.now() + offset },
  })
}

describe('a clock that is wrong', () => {
  test.each<[string, number, TokenOptions, string]>([
    ['ours is ahead', 3600, {}, 'if it is newer than its iat says, one of the clocks is wrong'],
    ['ours is behind', -3600, {}, 'is after now, by '],
    ['ours is behind', -3600, {}, "is this clock slow, or the issuer's fast?"],
    ['ours is behind, and nbf is stated', -60, { notBefore: 0 }, 'is this clock slow'],
  ])('%s', async (_, offset, token, cause) => {
    expect(await detailOf(verifierAt(offset).verify(await issuer.token(token)))).toContain(cause)
  })

  test('ours counts milliseconds', async () => {
    const milliseconds = { ...clock, now: () => clock.now() * 1000 }
    const wrong = createVerifier({ ...verifierOptions, clock: milliseconds })
    expect(await detailOf(wrong.verify(await issuer.token()))).toContain(
      'does the clock count milliseconds? It must be seconds',
    )
  })

  test.each(['iat', 'nbf'])('the issuer writes %s in milliseconds', async (name) => {
    const token = await issuer.token({ claims: { [name]: clock.now() * 1000 } })
    expect(await detailOf(verifier.verify(token))).toContain(`${name} is in milliseconds or finer`)
  })

  test('the issuer writes exp as a text', async () => {
    const token = await issuer.token({ claims: { exp: new Date().toISOString() } })
    expect(await detailOf(verifier.verify(token))).toContain(
      'exp is a string; it must be a number of seconds',
    )
  })
})

/** At start-up, with a token, and in the status of the keys. */
async function expectCause(keys: RemoteKeys, cause: string | RegExp): Promise<void> {
  const waiting = createVerifier({ keys, issuer: null, audience: null })
  expect(await detailOf(waiting.ready())).toMatch(cause)
  expect(await detailOf(waiting.verify(await issuer.token()))).toMatch(cause)
  expect(keys.status().lastFailure?.detail).toMatch(cause)
}

describe('a key URL that gives no keys', () => {
  test('nobody listens there', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    await expectCause(
      remoteKeys(`http://127.0.0.1:${port}/keys`),
      'the connection to the key URL failed (ECONNREFUSED)',
    )
  })

  test('the path is wrong', async () => {
    await using service = await tokenService(issuer).listen()
    await expectCause(remoteKeys(`${service.authUrl}/pubkey.json`), 'the key URL answered 404')
  })

  const METADATA = { issuer: 'https://auth.test', jwks_uri: 'https://auth.test/keys' }

  test.each<[string, string | object, string]>([
    [
      'a page',
      '<!doctype html><title>Welcome</title>',
      'it begins with "<", as HTML does. Is the path',
    ],
    ['PEM', '-----BEGIN PUBLIC KEY-----', 'it looks like PEM, and must be a JWK or a JWK set'],
    ['nothing', '', 'the document is not JSON: it is empty'],
    ['metadata', METADATA, 'the metadata of an issuer, so write discoverKeys(issuer)'],
    ['a fault', { error: 'not found' }, 'the document is neither a JWK nor a JWK set'],
    ['no keys', { keys: [] }, 'the document has no usable key'],
  ])('there is %s', async (_, body, cause) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const fetch = async () => new Response(text)
    await expectCause(remoteKeys('https://auth.test/keys', { fetch, clock }), cause)
  })
})

describe('what is given to verify', async () => {
  test.each<[string, unknown, string]>([
    [
      'a whole header',
      await issuer.bearer().then(({ authorization }) => authorization),
      'the text begins with "Bearer "; verify takes the token alone',
    ],
    [
      'a promise',
      issuer.token(),
      'verify was given a promise; it takes the text of one token: is an `await` missing?',
    ],
    ['the text of a promise', '[object Promise]', 'is an `await` missing?'],
    ['nothing', undefined, 'verify was given undefined; it takes the text of one token'],
    ['the text of nothing', 'undefined', 'what JavaScript makes of a missing value'],
    [
      'JSON',
      JSON.stringify(await issuer.token()),
      'the text begins with a quote: is it still JSON?',
    ],
    ['the answer to a login', { token: await issuer.token() }, 'verify was given an object'],
    ['an opaque token', '2YotnFZFEjr1zCsicMWpAA', 'an opaque token cannot be verified here'],
  ])('%s', async (_, token, cause) => {
    expect(await detailOf(verifier.verify(token as string))).toContain(cause)
  })
})

describe('an await that is forgotten', () => {
  test('before verify: TypeScript knows no claims of a promise, and there are none', async () => {
    const verdict = verifier.verify(await issuer.token())
    expectTypeOf(verdict).not.toHaveProperty('claims')
    expect(Reflect.get(verdict, 'claims')).toBeUndefined()
    await verdict
  })

  test('before authenticateRequest: what reads its result names it', async () => {
    const request = new Request('http://api.test/', { headers: await issuer.bearer() })
    const authenticated = authenticateRequest(verifier, request)
    const cause = 'authenticateRequest() must be awaited'
    expect(() => getAuth(request)).toThrow(cause)
    expect(() => findAuth(request)).toThrow(cause)
    await authenticated
    expect(getAuth(request).claims).toMatchObject({ aud: 'api' })
  })
})
