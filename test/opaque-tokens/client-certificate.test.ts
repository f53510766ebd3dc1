import { X509Certificate } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { TLSSocket } from 'node:tls'

import { introspected } from '@portcullis/introspection'
import { afterAll, expect, test } from 'vitest'

import { serve } from '../bound-tokens/serve.ts'
import { fetchWith } from '../bound-tokens/tls-fetch.ts'
import { createCertificate } from '../certificate.ts'

// An API that proves who it is by the certificate of its connection, with real TLS (RFC 8705 section 2).

const certificates = [createCertificate(), createCertificate(), createCertificate()] as const
const [ofIssuer, ofApi, ofStranger] = certificates

const API = new X509Certificate(ofApi.cert).raw

function showsCertificate({ socket }: IncomingMessage): boolean {
  return socket instanceof TLSSocket && socket.getPeerX509Certificate()?.raw.equals(API) === true
}

/** An issuer whose endpoint for certificates is another one than its usual endpoint. */
function issuerAt(issuer: string): RequestListener {
  const metadata = {
    issuer,
    introspection_endpoint: `${issuer}/usual`,
    mtls_endpoint_aliases: { introspection_endpoint: `${issuer}/certified` },
  }
  return (request, response) => {
    const isRight = request.url === '/certified' && showsCertificate(request)
    const answer = { active: true, token_type: 'Bearer', iss: issuer, sub: 'ada' }
    const body = request.method === 'GET' ? metadata : answer
    const isAnswered = request.method === 'GET' || isRight
    response.statusCode = isAnswered ? 200 : 401
    const text = JSON.stringify(isAnswered ? body : { error: 'invalid_client' })
    response.setHeader('content-type', 'application/json').end(text)
  }
}

const issuer = await serve(issuerAt, ofIssuer)
afterAll(async () => {
  await issuer[Symbol.asyncDispose]()
  for (const each of certificates) each[Symbol.dispose]()
})

const asking = (fetch: ReturnType<typeof fetchWith>) =>
  introspected({
    issuer: issuer.url,
    audience: null,
    clientId: 'api',
    clientAuthentication: 'tls_client_auth',
    fetch: async (url, init) => await fetch(url, init),
  })

test('the certificate of the connection lets the API ask, at the alias of the metadata', async () => {
  const { claims } = await asking(fetchWith(ofIssuer, ofApi)).verify('token')
  expect(claims.sub).toBe('ada')
})

test.each([
  ['another certificate', fetchWith(ofIssuer, ofStranger)],
  ['no certificate', fetchWith(ofIssuer)],
])('with %s the issuer refuses the API as its client: 503 that says so', async (_what, fetch) => {
  const refusal: unknown = await asking(fetch)
    .verify('token')
    .catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
  expect(Reflect.get(Object(refusal), 'detail')).toContain('refuses this API as its client (401)')
})
