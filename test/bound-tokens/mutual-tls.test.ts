import { createHash, X509Certificate } from 'node:crypto'

import { createVerifier, discoverKeys, mutualTls } from '@portcullis/core'
import { assertChallenge } from '@portcullis/testing'
import {
  clientCredentialsGrant,
  type Configuration,
  customFetch,
  discovery,
  TlsClientAuth,
} from 'openid-client'
import { afterAll, describe, expect, test } from 'vitest'

import { createCertificate } from '../certificate.ts'
import { APIS } from './apis.ts'
import { API, startIssuer } from './issuer.ts'
import { serve } from './serve.ts'
import { fetchWith } from './tls-fetch.ts'

const certificates = { server: createCertificate(), client: createCertificate() }
const stranger = createCertificate()
const issuer = await startIssuer(certificates)
afterAll(async () => {
  await issuer[Symbol.asyncDispose]()
  for (const each of [...Object.values(certificates), stranger]) each[Symbol.dispose]()
})

const owner = fetchWith(certificates.server, certificates.client)
const verifier = createVerifier({
  keys: discoverKeys(issuer.url, { fetch: fetchWith(certificates.server) }),
  issuer: issuer.url,
  audience: API,
  algorithms: ['ES256'],
  type: 'at+jwt',
})

/** Logs in at the foreign issuer with the certificate alone. */
async function logIn(): Promise<string> {
  const config: Configuration = await discovery(
    new URL(issuer.url),
    'certified',
    { use_mtls_endpoint_aliases: true },
    TlsClientAuth(),
    { [customFetch]: async (url, options) => await owner(url, options as RequestInit) },
  )
  const { access_token: token } = await clientCredentialsGrant(config, { scope: 'read' })
  return token
}

const token = await logIn()
const authorization = `Bearer ${token}`

test('the foreign issuer binds its token to the certificate', async () => {
  const { raw } = new X509Certificate(certificates.client.cert)
  const x5tS256 = createHash('sha256').update(raw).digest('base64url')
  const { possession } = await verifier.verify(token, { possession: { x5tS256 } })
  expect(possession).toEqual({ x5tS256 })
})

describe.each(Object.entries(APIS))('an API in %s', async (_name, create) => {
  const api = await serve(
    async () => await create(verifier, { mutualTls: mutualTls() }),
    certificates.server,
  )
  const url = `${api.url}/v1/clientLocations`
  afterAll(async () => await api[Symbol.asyncDispose]())

  test('accepts the client whose certificate the token is bound to', async () => {
    const response = await owner(url, { headers: { authorization } })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ client: 'certified' })
  })

  test.each([
    ['another certificate', fetchWith(certificates.server, stranger)],
    ['no certificate', fetchWith(certificates.server)],
  ])('refuses the stolen token with %s', async (_what, thief) => {
    const response = await thief(url, { headers: { authorization } })
    assertChallenge(response, { status: 401, error: 'invalid_token', reason: 'binding' })
  })
})
