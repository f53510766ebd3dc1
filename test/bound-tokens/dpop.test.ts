import { createVerifier, discoverKeys, dpopProofs } from '@portcullis/core'
import { assertChallenge, dpopClient, type DpopClient } from '@portcullis/testing'
import {
  allowInsecureRequests,
  clientCredentialsGrant,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  type DPoPHandle,
  fetchProtectedResource,
  getDPoPHandle,
  randomDPoPKeyPair,
} from 'openid-client'
import { afterAll, describe, expect, test } from 'vitest'

import { APIS } from './apis.ts'
import { API, SECRET, startIssuer } from './issuer.ts'
import { serve } from './serve.ts'

const PATH = '/v1/clientLocations?near=here'
const ALGORITHMS = 'ES256 Ed25519 EdDSA PS256 RS256'

const issuer = await startIssuer()
afterAll(async () => await issuer[Symbol.asyncDispose]())

const keys = discoverKeys(issuer.url)
const verifier = createVerifier({
  keys,
  issuer: issuer.url,
  audience: API,
  algorithms: ['ES256'],
  type: 'at+jwt',
})

/** What was sent to an API, as whoever reads along sees it. */
interface Sent {
  readonly authorization: string
  readonly dpop: string
}

interface ForeignClient {
  readonly token: string
  /** Calls an API as the client's library does. */
  call(url: string, method?: string): Promise<Response>
  /** What it has sent to APIs. */
  readonly sent: readonly Sent[]
}

/** A client that has logged in at the issuer, and got a token that is bound to its key. */
async function logIn(): Promise<ForeignClient> {
  const execute = [allowInsecureRequests]
  const authentication = ClientSecretPost(SECRET)
  const config: Configuration = await discovery(
    new URL(issuer.url),
    'proving',
    undefined,
    authentication,
    { execute },
  )
  const sent: Sent[] = []
  config[customFetch] = async (url, options) => {
    const headers = new Headers(options.headers)
    const [authorization, dpop] = [headers.get('authorization'), headers.get('dpop')]
    if (authorization !== null && dpop !== null) sent.push({ authorization, dpop })
    return await fetch(url, options as RequestInit)
  }
  const proving: DPoPHandle = getDPoPHandle(config, await randomDPoPKeyPair('ES256'))
  const { access_token: token, token_type: type } = await clientCredentialsGrant(
    config,
    { scope: 'read' },
    { DPoP: proving },
  )
  expect(type).toBe('dpop')
  return {
    token,
    sent,
    call: async (url, method = 'GET') =>
      await fetchProtectedResource(config, token, new URL(url), method, null, undefined, {
        DPoP: proving,
      }),
  }
}

async function call(url: string, headers: object, method = 'GET'): Promise<Response> {
  return await fetch(url, { method, headers: { ...headers } })
}

const owner = await logIn()
const thief: DpopClient = await dpopClient()

describe.each(Object.entries(APIS))('an API in %s', async (_name, create) => {
  const api = await serve(
    async (origin) => await create(verifier, { dpop: dpopProofs({ origin }) }),
  )
  const url = `${api.url}${PATH}`
  afterAll(async () => await api[Symbol.asyncDispose]())

  test('accepts the client that the token was given to, each time', async () => {
    for (const method of ['GET', 'POST', 'GET']) {
      const response = await owner.call(url, method)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ client: 'proving' })
    }
  })

  test('refuses the token as a bearer token', async () => {
    const response = await call(url, { authorization: `Bearer ${owner.token}` })
    assertChallenge(response, { status: 401, error: 'invalid_token', reason: 'binding' })
    assertChallenge(response, { scheme: 'DPoP', error: null, algs: ALGORITHMS })
  })

  test('refuses it as a bearer token with the thief`s proof beside it', async () => {
    const { dpop } = await thief.headers({ url, token: owner.token })
    const response = await call(url, { authorization: `Bearer ${owner.token}`, dpop })
    assertChallenge(response, { status: 401, error: 'invalid_token', reason: 'binding' })
  })

  test('refuses it with a sound proof of another key', async () => {
    const response = await call(url, await thief.headers({ url, token: owner.token }))
    assertChallenge(response, {
      scheme: 'DPoP',
      status: 401,
      error: 'invalid_token',
      reason: 'binding',
      algs: ALGORITHMS,
    })
  })

  test('refuses a request that is sent a second time', async () => {
    expect((await owner.call(url)).status).toBe(200)
    const response = await call(url, owner.sent.at(-1) ?? {})
    assertChallenge(response, {
      scheme: 'DPoP',
      status: 401,
      error: 'invalid_dpop_proof',
      reason: 'replayed_proof',
      algs: ALGORITHMS,
    })
    assertChallenge(response, { error: null })
  })

  test.each([
    ['URL', 'GET', '/v1/others', 'proof_url'],
    ['method', 'DELETE', PATH, 'proof_method'],
  ] as const)('refuses the owner`s proof for another %s', async (_what, method, path, reason) => {
    // It never reaches this API: the thief was in the way.
    const proofs: Sent[] = []
    const elsewhere = await serve(() => (request, response) => {
      const { authorization = '', dpop } = request.headers
      proofs.push({ authorization, dpop: String(dpop) })
      response.end()
    })
    await owner.call(`${elsewhere.url}${PATH}`)
    await elsewhere[Symbol.asyncDispose]()
    expect(proofs).toHaveLength(1)
    const other = await call(url, proofs[0] ?? {})
    assertChallenge(other, { scheme: 'DPoP', error: 'invalid_dpop_proof', reason: 'proof_url' })
    const own = await thief.headers({ url, token: owner.token })
    const response = await call(`${api.url}${path}`, own, method)
    assertChallenge(response, {
      scheme: 'DPoP',
      status: 401,
      error: 'invalid_dpop_proof',
      reason,
      algs: ALGORITHMS,
    })
  })

  test('refuses the token with every bad proof, for its reason', async () => {
    for (const { name, code, reason, headers } of await thief.badProofs({
      url,
      token: owner.token,
    })) {
      const response = await call(url, headers)
      expect.soft(response.status, name).toBe(401)
      assertChallenge(response, { scheme: 'DPoP', error: code, reason })
    }
  })
})

describe.each(Object.entries(APIS))(
  'an API in %s that wants nonces, and bound tokens alone',
  async (_name, create) => {
    const nonces = { secret: 'a secret of at least 32 octets, for tests' }
    const api = await serve(
      async (origin) =>
        await create(verifier, { dpop: dpopProofs({ origin, nonces, required: true }) }),
    )
    const url = `${api.url}${PATH}`
    afterAll(async () => await api[Symbol.asyncDispose]())

    test('is answered by the foreign client in a second request', async () => {
      const client = await logIn()
      expect((await client.call(url)).status).toBe(200)
      expect(client.sent).toHaveLength(2)
      expect((await client.call(url)).status).toBe(200)
      expect(client.sent).toHaveLength(3)
    })

    test('says so, with a nonce', async () => {
      const response = await call(url, await thief.headers({ url, token: owner.token }))
      assertChallenge(response, {
        scheme: 'DPoP',
        status: 401,
        error: 'use_dpop_nonce',
        reason: 'missing_nonce',
        algs: ALGORITHMS,
      })
      expect(response.headers.get('dpop-nonce')).toMatch(/^\S+$/)
    })

    test('refuses a stolen token with the thief`s proof, nonce and all', async () => {
      const first = await call(url, await thief.headers({ url, token: owner.token }))
      const nonce = first.headers.get('dpop-nonce') ?? ''
      const response = await call(url, await thief.headers({ url, token: owner.token, nonce }))
      assertChallenge(response, { scheme: 'DPoP', error: 'invalid_token', reason: 'binding' })
    })
  },
)
