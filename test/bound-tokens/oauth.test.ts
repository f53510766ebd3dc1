import { createOAuthClient, type OAuthClientOptions } from '@portcullis/client/oauth'
import { createVerifier, discoverKeys, dpopProofs, type Verifier } from '@portcullis/core'
import { exportJWK, generateKeyPair } from 'jose'
import { errors, Provider } from 'oidc-provider'
import { afterAll, describe, expect, test } from 'vitest'

import { APIS } from './apis.ts'
import { serve } from './serve.ts'

// Calls onwards with an authorization server of others (oidc-provider): client credentials with a secret and with a key, bound to a
// key of DPoP, and an exchange as its custom grant.

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const SECRET = 'a secret of this client alone'
const RESOURCE = 'https://orders.example.com'

const assertionKey = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
  'sign',
  'verify',
])

async function startProvider() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const client = { redirect_uris: [], response_types: [] as [] }
  let verifier: Verifier | undefined
  const provider = await serve(async (url) => {
    const handle = new Provider(url, {
      clients: [
        {
          ...client,
          client_id: 'shop',
          client_secret: SECRET,
          grant_types: ['client_credentials', EXCHANGE],
        },
        {
          ...client,
          client_id: 'keyed',
          grant_types: ['client_credentials'],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: [{ ...(await exportJWK(assertionKey.publicKey)), kid: 'k1' }] },
        },
      ],
      jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, resource) => ({
            scope: 'orders:read',
            audience: resource,
            accessTokenFormat: 'jwt',
          }),
        },
      },
      extraTokenClaims: (_context, { extra }) => extra,
      ttl: { ClientCredentials: 600 },
    })
    const { ClientCredentials, ResourceServer } = handle
    handle.registerGrantType(
      EXCHANGE,
      async (context) => {
        const { params, client: known } = context.oidc
        const subject = await verifier
          ?.verify(String(params?.['subject_token']))
          .catch(() => undefined)
        if (subject === undefined || known === undefined) {
          throw new errors.InvalidRequest('no subject of ours')
        }
        const audience = String(params?.['audience'])
        if (audience !== RESOURCE) throw new errors.InvalidTarget()
        const token = new ClientCredentials({ client: known })
        token.resourceServer = new ResourceServer(audience, {
          audience,
          scope: 'orders:read',
          accessTokenFormat: 'jwt',
        })
        token.extra = { behalf: subject.claims.sub }
        const value = await token.save()
        context.body = {
          access_token: value,
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          token_type: 'Bearer',
          expires_in: token.expiration,
        }
      },
      ['subject_token', 'subject_token_type', 'audience'],
    )
    const answer = handle.callback()
    return (incoming, outgoing) => void answer(incoming, outgoing)
  })
  const { url } = provider
  const keys = discoverKeys(url)
  verifier = createVerifier({ issuer: url, audience: RESOURCE, keys })
  return { url, verifier, provider }
}

const { url, verifier, provider } = await startProvider()
afterAll(async () => {
  await provider[Symbol.asyncDispose]()
})

function createClient(options: Partial<OAuthClientOptions>) {
  return createOAuthClient({
    issuer: url,
    clientId: 'shop',
    scope: 'orders:read',
    resource: RESOURCE,
    origins: [],
    ...options,
  })
}

const { privateKey: key } = assertionKey
const keyed = { clientId: 'keyed', privateKey: { key, kid: 'k1' } }

test.each<[string, Partial<OAuthClientOptions>, string]>([
  ['a secret', { clientSecret: SECRET }, 'shop'],
  ['a key', keyed, 'keyed'],
])('client credentials with %s', async (_title, options, clientId) => {
  await using client = createClient(options)
  const { claims } = await verifier.verify(await client.get())
  expect(claims).toMatchObject({ client_id: clientId, scope: 'orders:read' })
  expect(client.status()).toMatchObject({ freshness: 'fresh' })
})

describe.each(Object.entries(APIS))('an API in %s', (_name, create) => {
  test('accepts tokens that are bound to the client’s key; the server wants nonces', async () => {
    await using api = await serve(
      async (origin) => await create(verifier, { dpop: dpopProofs({ origin, required: true }) }),
    )
    await using client = createClient({ ...keyed, dpop: true, origins: [api.url] })
    for (const path of ['/v1/a', '/v1/b']) {
      const response = await client.fetch(`${api.url}${path}`)
      expect([response.status, await response.json()]).toEqual([200, { client: 'keyed' }])
    }
  })
})

describe('an exchange', () => {
  test('as a custom grant of the server', async () => {
    await using client = createClient({ clientSecret: SECRET })
    const subject = await verifier.verify(await client.get())
    const handle = client.onBehalfOf(subject, { audience: RESOURCE })
    const { claims } = await verifier.verify(await handle.get())
    expect(claims).toMatchObject({ aud: RESOURCE, behalf: 'shop' })
  })

  test.each([
    ['a subject that is none', { token: 'none' }, RESOURCE, 'invalid_request', 401],
    ['another audience', {}, 'https://other.example.com', 'invalid_target', 403],
  ])('for %s is refused', async (_title, replaced, audience, code, status) => {
    await using client = createClient({ clientSecret: SECRET })
    const subject = { ...(await verifier.verify(await client.get())), ...replaced }
    const exchanged = client.onBehalfOf(subject, { audience }).get()
    await expect(exchanged).rejects.toMatchObject({ code, status })
  })
})

test('a wrong secret is refused, with nothing of what the server says', async () => {
  await using client = createClient({ clientSecret: 'wrong' })
  await expect(client.get()).rejects.toMatchObject({
    code: 'invalid_client',
    status: 502,
    message: 'the token service answered with status 401 and invalid_client',
  })
})
