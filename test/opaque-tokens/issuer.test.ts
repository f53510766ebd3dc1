import { createVerifier, discoverKeys, dpopProofs, type Verifier } from '@portcullis/core'
import { byForm, introspected } from '@portcullis/introspection'
import { assertChallenge, dpopClient, manualClock } from '@portcullis/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { APIS } from '../bound-tokens/apis.ts'
import { serve } from '../bound-tokens/serve.ts'
import { start } from '../simulation/flow/processes.ts'
import { API, API_CLIENT, SECRET, startIssuer } from './issuer.ts'

// Our guards with an issuer of other authors: opaque tokens, signed answers, revocations there, and keys that clients prove.

const issuer = await startIssuer()
afterAll(async () => await issuer[Symbol.asyncDispose]())

const PATHS = { token: '/token', revoke: '/token/revocation' }

async function post(path: string, form: object, headers: object = {}): Promise<Response> {
  const body = new URLSearchParams({ client_secret: SECRET, ...form })
  return await fetch(`${issuer.url}${path}`, { method: 'POST', body, headers: { ...headers } })
}

async function logIn(client = 'plain', headers: object = {}): Promise<string> {
  const form = { client_id: client, grant_type: 'client_credentials', scope: 'read' }
  const answer = await post(PATHS.token, form, headers)
  const { access_token: token } = (await answer.json()) as { readonly access_token: string }
  expect([answer.status, token.split('.').length]).toEqual([200, 1])
  return token
}

async function revoke(token: string): Promise<void> {
  expect((await post(PATHS.revoke, { client_id: 'plain', token })).status).toBe(200)
}

type Options = Partial<Parameters<typeof introspected>[0]>

/** Counts how often the issuer is asked about a token. */
function asking(more: Options = {}) {
  let asked = 0
  const verifier = introspected({
    issuer: issuer.url,
    audience: API,
    clientId: API_CLIENT,
    clientSecret: SECRET,
    async fetch(url, init) {
      if (init.method === 'POST') asked++
      return await fetch(url, init)
    },
    ...more,
  })
  return { verifier, asked: () => asked }
}

const signed = { keys: discoverKeys(issuer.url) }

async function call(url: string, headers: object): Promise<Response> {
  return await fetch(url, { headers: { ...headers } })
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe.each(Object.entries(APIS))('%s', (_, createApi) => {
  const startApi = async (verifier: Verifier, options = {}) =>
    await serve(async () => await createApi(verifier, options))

  test.each([
    { answers: 'plain', more: {} },
    { answers: 'signed', more: signed },
  ])('lets an opaque token in by $answers answers, and asks once', async ({ more }) => {
    const { verifier, asked } = asking(more)
    await using api = await startApi(verifier)
    const token = await logIn()
    for (let each = 0; each < 3; each++) {
      const answer = await call(api.url, bearer(token))
      expect([answer.status, await answer.json()]).toEqual([200, { client: 'plain' }])
    }
    expect(asked()).toBe(1)
    const invented = await call(api.url, bearer('invented'))
    assertChallenge(invented, { status: 401, error: 'invalid_token', reason: 'inactive' })
  })

  test('sees within maxAge that a token was revoked there', async () => {
    const clock = manualClock(Date.now() / 1000)
    const { verifier, asked } = asking({ clock, maxAge: 30 })
    await using api = await startApi(verifier)
    const token = await logIn()
    const status = async () => (await call(api.url, bearer(token))).status
    expect(await status()).toBe(200)
    await revoke(token)
    await clock.advance(14.9)
    expect([await status(), asked()]).toEqual([200, 1])
    await clock.advance(15.1)
    expect([await status(), asked()]).toEqual([401, 2])
  })

  test('wants the proof of the key that an opaque token is bound to', async () => {
    await using api = await serve(
      async (url) => await createApi(asking().verifier, { dpop: dpopProofs({ origin: url }) }),
    )
    const client = await dpopClient({ algorithm: 'ES256' })
    const dpop = await client.proof({ method: 'POST', url: `${issuer.url}${PATHS.token}` })
    const token = await logIn('proving', { dpop })
    const headers = await client.headers({ method: 'GET', url: `${api.url}/`, token })
    expect(await (await call(`${api.url}/`, headers)).json()).toEqual({ client: 'proving' })
    const stolen = await call(`${api.url}/`, bearer(token))
    assertChallenge(stolen, { status: 401, error: 'invalid_token', reason: 'binding' })
    const thief = await dpopClient({ algorithm: 'ES256' })
    const byThief = await thief.headers({ method: 'GET', url: `${api.url}/`, token })
    expect((await call(`${api.url}/`, byThief)).status).toBe(401)
  })

  test('takes no wrong JWT to the issuer', async () => {
    const { verifier: opaque, asked } = asking()
    const jwt = createVerifier({ keys: signed.keys, issuer: issuer.url, audience: API })
    await using api = await startApi(byForm({ jwt, opaque }))
    expect((await call(api.url, bearer(await logIn()))).status).toBe(200)
    const forged = `${btoa('{"alg":"ES256"}')}.e30.AAAA`
    expect([(await call(api.url, bearer(forged))).status, asked()]).toEqual([401, 1])
  })
})

test('a refresh token, which the issuer calls active as well, is no access token', async () => {
  const { verifier, asked } = asking({ audience: null })
  const refused = verifier.verify(await issuer.refreshToken())
  await expect(refused).rejects.toMatchObject({ code: 'invalid_token', reason: 'type' })
  expect(asked()).toBe(1)
  // What the issuer says of an access token names its kind.
  await verifier.verify(await logIn())
  // It is active there: nothing but the missing kind was wrong with it.
  const { claims } = await asking({ audience: null, type: null }).verifier.verify(
    await issuer.refreshToken(),
  )
  expect(claims).toMatchObject({ active: true, sub: 'ada' })
})

test('two processes that ask for themselves both see a revocation within maxAge', async () => {
  const file = new URL('api-process.ts', import.meta.url)
  await using first = await start(file, { ISSUER: issuer.url })
  await using second = await start(file, { ISSUER: issuer.url })
  const all = async (question: string, argument?: unknown) =>
    await Promise.all([first, second].map(async (each) => await each.ask(question, argument)))
  const token = await logIn()
  expect(await first.ask('verdict', token)).toBe('accepted')
  await revoke(token)
  // The second has nothing that it could remember.
  expect(await all('verdict', token)).toEqual(['accepted', 'inactive'])
  await all('advance', 30)
  expect(await all('verdict', token)).toEqual(['inactive', 'inactive'])
  // After 30 seconds the word that it is not active is as old as any other.
  expect(await all('calls')).toEqual([2, 2])
})
