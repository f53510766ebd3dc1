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
import { Agent, fetch as undiciFetch } from 'undici'
import { afterAll, describe, expect, test } from 'vitest'

import { createCertificate } from '../certificate.ts'
import { APIS } from './apis.ts'
import { API, startIssuer } from './issuer.ts'
import { serve } from './serve.ts'

const certificates = { server: createCertificate(), client: createCertificate() }
const stranger = createCertificate()
const issuer = await startIssuer(certificates)
afterAll(async () => {
  await issuer[Symbol.asyncDispose]()
  for (const each of [...Object.values(certificates), stranger]) each[Symbol.dispose]()
})

type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** A `fetch` that trusts the servers of this test, and shows a certificate of its own. */
function fetchWith(own?: { readonly cert: string; readonly key: string }): Fetch {
  const connect = { ca: certificates.server.cert, ...(own && { cert: own.cert, key: own.key }) }
  const dispatcher = new Agent({ connect })
  // undici's own, since the platform's takes no dispatcher of another version.
  const fetch = async (url: string, init: object = {}) =>
    await undiciFetch(url, { ...init, dispatcher })
  return fetch as unknown as Fetch
}

const owner = fetchWith(certificates.client)
const verifier = createVerifier({
  keys: discoverKeys(issuer.url, { fetch: fetchWith() }),
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
    expect(await response.json()).toBe('certified')
  })

  test.each([
    ['another certificate', fetchWith(stranger)],
    ['no certificate', fetchWith()],
  ])('refuses the stolen token with %s', async (_what, thief) => {
    const response = await thief(url, { headers: { authorization } })
    assertChallenge(response, { status: 401, error: 'invalid_token', reason: 'binding' })
  })
})
