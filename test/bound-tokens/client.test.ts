import { createTokenClient } from '@portcullis/client'
import { createVerifier, dpopProofs, remoteKeys } from '@portcullis/core'
import { assertChallenge, createTestIssuer, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { APIS } from './apis.ts'
import { serve } from './serve.ts'

const nonces = { secret: 'a secret of at least 32 octets, for tests' }
const issuer = await createTestIssuer({ algorithm: 'ES256' })
const dpopNonce = () => 'nonce-of-the-token-service'
const logins = { demo: { password: 'demo', claims: { client_id: 'ours' } } }

describe.each(Object.entries(APIS))('an API in %s', (_name, create) => {
  test('answers our client, with nonces at the token service and at the API', async () => {
    await using service = await tokenService(issuer, { logins, dpopNonce }).listen()
    const verifier = createVerifier({
      keys: remoteKeys(service.keyUrl),
      issuer: null,
      audience: null,
      algorithms: ['ES256'],
    })
    await using api = await serve(
      async (origin) =>
        await create(verifier, { dpop: dpopProofs({ origin, nonces, required: true }) }),
    )
    const { authUrl } = service
    const account = { authUrl, loginId: 'demo', password: 'demo', origins: [api.url] }
    await using client = createTokenClient({ ...account, dpop: true, verifier })
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await client.fetch(`${api.url}/v1/a%20b?c=d`, { method })
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ client: 'ours' })
    }
    const many = Array.from({ length: 20 }, async () => await client.fetch(`${api.url}/v1/many`))
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]))
    const stolen = await fetch(api.url, {
      headers: { authorization: `Bearer ${await client.get()}` },
    })
    assertChallenge(stolen, {
      scheme: 'DPoP',
      status: 401,
      error: 'invalid_token',
      reason: 'binding',
    })
  })
})
