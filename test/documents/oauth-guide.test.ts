import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type OAuthClient, OAuthError, type OAuthErrorCode } from '@portcullis/client/oauth'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import express from 'express'
import { fastify } from 'fastify'
import { decodeJwt } from 'jose'
import Koa from 'koa'
import request from 'supertest'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { ExplainedError, TokenClientError } from '../../packages/client/src/answer/errors.ts'
import { oauthErrors } from '../../packages/client/src/oauth/oauth-error.ts'
import { serve } from '../bound-tokens/serve.ts'
import { writtenExamples } from './examples.ts'
import { AUDIENCE, ISSUER } from './identity-provider.ts'
import { codeSpans, exampleOf, tableUnder } from './markdown.ts'

// Every piece of code in packages/client/OAUTH.md, as it stands, with a server of @portcullis/testing; and its table of errors.

const guide = readFileSync(
  fileURLToPath(new URL('../../packages/client/OAUTH.md', import.meta.url)),
  'utf8',
)
const examples = writtenExamples('.readme-oauth')
const folder = mkdtempSync(join(tmpdir(), 'oauth-guide-'))
const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
  'sign',
  'verify',
])

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const options = { clients: { shop: { secret: 'secret' } } }
const service = await tokenService(issuer, options).listen()
const api = await serve((_url) => (incoming, answer) => {
  const [, token = ''] = incoming.headers.authorization?.split(' ') ?? []
  const { sub, aud } = decodeJwt(token)
  answer.setHeader('content-type', 'application/json')
  answer.end(JSON.stringify({ sub, aud, url: incoming.url }))
})
vi.stubEnv('CLIENT_SECRET', 'secret')
vi.stubEnv('ORDERS_URL', api.url)

afterAll(async () => {
  await service.close()
  await api[Symbol.asyncDispose]()
  examples.remove()
  rmSync(folder, { recursive: true })
})

async function run(place: number, url = service.authUrl) {
  const code = exampleOf(guide, place).replaceAll(`'${ISSUER}'`, `'${url}'`)
  return (await examples.run(`oauth-${place}`, code, '')) as {
    app?: RequestListener
    tokens?: OAuthClient
    response?: Response
  }
}

test('for the service itself', async () => {
  const { response } = await run(0)
  expect(await response?.json()).toEqual({
    sub: 'shop',
    aud: 'https://orders.example.com',
    url: '/v1/orders',
  })
})

describe('on behalf of a caller', async () => {
  const { app = () => undefined } = await run(1)
  const claims = { iss: service.authUrl, aud: AUDIENCE, sub: 'ada' }

  test('the other service sees who it is, and for whom the token is', async () => {
    const headers = await issuer.bearer({ claims })
    const response = await request(app).get('/orders/7').set(headers)
    expect(response.status).toBe(200)
    expect(response.body).toEqual({ sub: 'ada', aud: 'orders', url: '/v1/orders/7' })
  })

  test('while the server answers with a page, the route answers 502', async () => {
    const outage = issuer.outage('html', { endpoint: 'token' })
    const first = await request(app)
      .get('/orders/7')
      .set(await issuer.bearer({ claims: { ...claims, sub: 'bob' } }))
    outage.restore()
    expect(first.status).toBe(502)
  })
})

test('a private key, from a file of PEM', async () => {
  const file = join(folder, 'key.pem')
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey))
  const lines = ['-----BEGIN PRIVATE KEY-----', der.toString('base64'), '-----END PRIVATE KEY-----']
  writeFileSync(file, lines.join('\n'))
  vi.stubEnv('KEY_FILE', file)
  const publicJwk = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const clients = { shop: { publicJwk } }
  await using keyed = await tokenService(issuer, { clients }).listen()
  const { tokens } = await run(2, keyed.authUrl)
  expect(decodeJwt((await tokens?.get()) ?? '')).toMatchObject({ sub: 'shop' })
})

test('an assertion of the platform, from its file', async () => {
  const clients = { shop: { publicJwk: issuer.publicJwk } }
  await using trusting = await tokenService(issuer, { clients }).listen()
  const claims = { iss: 'shop', sub: 'shop', aud: trusting.authUrl, jti: '1' }
  const file = join(folder, 'token')
  writeFileSync(file, await issuer.token({ claims }))
  vi.stubEnv('TOKEN_FILE', file)
  const { tokens } = await run(3, trusting.authUrl)
  expect(decodeJwt((await tokens?.get()) ?? '')).toMatchObject({ sub: 'shop' })
})

describe('without an error handler', () => {
  const refused = new OAuthError('invalid_grant', 'no', { status: 401, retryAfter: 30 })
  const down = new OAuthError('timeout', 'no', { status: 503, retryAfter: 6.2 })

  test.each<[string, (error: OAuthError) => Promise<RequestListener>]>([
    [
      'Express',
      async (error) =>
        await Promise.resolve(
          express()
            .set('env', 'test')
            .use(() => {
              throw error
            }),
        ),
    ],
    [
      'Koa',
      async (error) => {
        const app = new Koa()
        app.silent = true
        app.use(() => {
          throw error
        })
        const callback = app.callback()
        return await Promise.resolve((incoming, answer) => void callback(incoming, answer))
      },
    ],
    [
      'Fastify',
      async (error) => {
        const app = fastify()
        app.get('/', () => {
          throw error
        })
        await app.ready()
        return (incoming, answer) => {
          app.routing(incoming, answer)
        }
      },
    ],
  ])('%s answers with the status and the headers of the error', async (_name, serving) => {
    const first = await request(await serving(refused)).get('/')
    expect(first.status).toBe(401)
    expect(first.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/)
    const second = await request(await serving(down)).get('/')
    expect([second.status, second.headers['retry-after']]).toEqual([503, '7'])
  })
})

describe('the table of errors', () => {
  const { rows } = tableUnder(guide, 'Errors', 'code')

  test.each(rows.flatMap(([codes = '', status]) => codeSpans(codes).map((code) => [code, status])))(
    '%s is %s',
    (code, status) => {
      const error = oauthErrors(true)(
        new ExplainedError('credentials_rejected', 'no', { reason: code ?? '' }),
      ) as OAuthError
      const found = error.code === code ? error : oauthErrors(true)(plain(code as OAuthErrorCode))
      expect(found).toMatchObject({ code, status: Number(status) })
    },
  )
})

function plain(code: OAuthErrorCode): TokenClientError {
  return new TokenClientError(code as TokenClientError['code'], 'no')
}
