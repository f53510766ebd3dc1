import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { decodeProtectedHeader, exportJWK, importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'

import type { TokenClientError } from '../../src/answer/errors.ts'
import type { OAuthClientOptions } from '../../src/oauth.ts'
import { failureOf } from '../login-service.ts'
import { createClient, createServer, ENDPOINT, ISSUER, posts } from './server.ts'

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

async function formOf(options: Partial<OAuthClientOptions>) {
  const server = createServer()
  await createClient(server, options).get()
  return server.forms()[0]
}

describe('a private key', () => {
  test('signs an assertion for the issuer, by the clock of the client', async () => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ])
    const server = createServer()
    const privateKey = { key: pair.privateKey, kid: 'k1' }
    await createClient(server, { issuer: ISSUER, privateKey }).get()
    const [form] = server.forms()
    expect(form).toMatchObject({ client_id: 'shop', client_assertion_type: TYPE })
    const assertion = form?.['client_assertion'] ?? ''
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'ES256', kid: 'k1' })
    const key = await importJWK(await exportJWK(pair.publicKey), 'ES256')
    const now = server.clock.now()
    const { payload } = await jwtVerify(assertion, key, { currentDate: new Date(now * 1000) })
    expect(payload).toEqual({
      iss: 'shop',
      sub: 'shop',
      aud: ISSUER,
      jti: expect.any(String) as unknown,
      iat: Math.floor(now),
      exp: Math.floor(now) + 60,
    })
  })

  test('without an issuer the endpoint is the audience, and the clock is corrected by that of the server', async () => {
    const { privateKey: key } = await crypto.subtle.generateKey(
      { name: 'RSA-PSS', modulusLength: 2048, publicExponent: Buffer.of(1, 0, 1), hash: 'SHA-256' },
      false,
      ['sign', 'verify'],
    )
    const server = createServer()
    const date = new Date((server.clock.now() + 200) * 1000).toUTCString()
    server.answer = () => {
      const answer = server.grant({ expires_in: 10 })
      answer.headers.set('date', date)
      return answer
    }
    const client = createClient(server, { privateKey: { key } })
    await client.get()
    await server.clock.advance(10)
    await client.get()
    const claims = server.forms().map((form) => claimsIn(form['client_assertion'] ?? ''))
    expect(claims.map(({ aud }) => aud)).toEqual([ENDPOINT, ENDPOINT])
    const [first = 0, second = 0] = claims.map(({ iat }) => iat)
    expect(second - first).toBeGreaterThan(205)
  })
})

/** The forms of two logins, the second of which loses its first request. */
async function formsAround(options: Partial<OAuthClientOptions>) {
  const server = createServer()
  const client = createClient(server, { timeout: 0.5, ...options })
  await client.get()
  await server.clock.advance(300)
  const { answer } = server
  server.answer = () => {
    server.answer = answer
    throw new TypeError('fetch failed')
  }
  const outcome: unknown = await client.get().then(
    () => 'a token',
    (error: unknown) => (error as TokenClientError).code,
  )
  return { outcome, assertions: server.forms().map((form) => form['client_assertion']) }
}

describe('a request that is lost with an idle connection', () => {
  test.each<[string, Partial<OAuthClientOptions>]>([
    ['a secret', {}],
    ['a certificate', { certificate: true }],
  ])('is sent again at once with %s', async (_title, options) => {
    const { outcome, assertions } = await formsAround(options)
    expect(outcome).toBe('a token')
    expect(assertions).toHaveLength(3)
  })

  test('is sent again with another assertion of a private key', async () => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ])
    const { outcome, assertions } = await formsAround({ privateKey: { key: pair.privateKey } })
    expect(outcome).toBe('a token')
    expect(new Set(assertions).size).toBe(3)
  })

  test('is sent again if the function has another assertion', async () => {
    let calls = 0
    const { outcome, assertions } = await formsAround({ clientAssertion: () => `a-${calls++}` })
    expect(outcome).toBe('a token')
    expect(assertions).toEqual(['a-0', 'a-1', 'a-2'])
  })

  test('is not sent again with the assertion that it had', async () => {
    const { outcome, assertions } = await formsAround({ clientAssertion: () => 'one' })
    expect(outcome).toBe('service_unavailable')
    expect(assertions).toEqual(['one', 'one'])
  })
})

function claimsIn(assertion: string) {
  const [, payload = ''] = assertion.split('.')
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return claims as { aud: string; iat: number } // what oauth4webapi has signed
}

describe('an assertion of somebody else', () => {
  test('comes from a function, which is called for each request', async () => {
    const server = createServer()
    let calls = 0
    const client = createClient(server, { clientAssertion: async () => `assertion-${calls++}` })
    await client.get()
    await server.clock.advance(300)
    await client.get()
    const base = { client_id: 'shop', client_assertion_type: TYPE }
    expect(server.forms()).toMatchObject([
      { ...base, client_assertion: 'assertion-0' },
      { ...base, client_assertion: 'assertion-1' },
    ])
  })

  test('comes from a file, which is read again when the platform has changed it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'assertion-'))
    const file = join(folder, 'token')
    await writeFile(file, 'first\n')
    const server = createServer()
    const clientAssertion = { file }
    const client = createClient(server, { clientAssertion, timeout: 0.1 })
    clientAssertion.file = '/not/what/was/stated'
    await client.get()
    const longest = 'x'.repeat(65_536)
    await writeFile(file, longest)
    await server.clock.advance(300)
    await client.get()
    expect(server.forms().map((form) => form['client_assertion'])).toEqual(['first', longest])
    await writeFile(file, `${longest}x`)
    client.invalidate(await client.get())
    expect(await failureOf(client.get())).toMatchObject({
      code: 'service_unavailable',
      status: 503,
      message: 'the file of clientAssertion is too large',
    })
    await rm(folder, { recursive: true })
    expect(posts(server)).toHaveLength(2)
  })

  test('is not waited for where the file is a pipe', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'assertion-'))
    const file = join(folder, 'pipe')
    execFileSync('mkfifo', [file])
    const client = createClient(createServer(), { clientAssertion: { file }, timeout: 0.1 })
    const isEmpty = { message: 'the file of clientAssertion is empty' }
    expect(await failureOf(client.get())).toMatchObject(isEmpty)
    await rm(folder, { recursive: true })
  })

  test.each<[string, OAuthClientOptions['clientAssertion'], string]>([
    [
      'a file that is missing',
      { file: '/nowhere/canary' },
      'the file of clientAssertion cannot be read (ENOENT)',
    ],
    ['a folder', { file: tmpdir() }, 'the file of clientAssertion cannot be read (EISDIR)'],
    ['an empty file', { file: '/dev/null' }, 'the file of clientAssertion is empty'],
    [
      'a function that fails',
      () => {
        throw new Error('canary')
      },
      'the function clientAssertion failed',
    ],
    ['a function that gives nothing', () => '', 'the function clientAssertion gave no text'],
  ])(
    '%s: nothing is sent, and the error does not quote it',
    async (_title, clientAssertion, message) => {
      const server = createServer()
      const client = createClient(server, { clientAssertion, timeout: 0.1 })
      const failure = await failureOf(client.get())
      expect(failure).toMatchObject({ code: 'service_unavailable', status: 503, message })
      expect(String(failure)).not.toContain('canary')
      expect(server.requests).toEqual([])
    },
  )
})

test('a secret may come from a function, and be in the form', async () => {
  const options = {
    clientSecret: () => 'fresh',
    clientAuthentication: 'client_secret_post',
  } as const
  expect(await formOf(options)).toMatchObject({ client_id: 'shop', client_secret: 'fresh' })
})

test('a certificate says who the client is by its name alone', async () => {
  const form = await formOf({ certificate: true })
  expect(form).toEqual({ client_id: 'shop', grant_type: 'client_credentials' })
})
