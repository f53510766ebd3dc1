import { dpopClient } from '@portcullis/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type Api, startApi } from './api.ts'
import type { Side } from './applications.ts'
import { AFTER, type Behaviour, type Peer, peers } from './peers.ts'
import { type PublishedKeys, publishKeys } from './published-keys.ts'

// An application of each package that people migrate from, before and after. The same tests pass on both; then what differs.

const SIDES = ['before', 'after'] as const

const keys = await publishKeys()
const brokenKeys = await publishKeys()
const rotations = [
  { row: 'a new key, tokens without `kid`', kid: 'none', published: await publishKeys(['kid']) },
  { row: 'a new key behind the same `kid`', kid: 'same', published: await publishKeys() },
] as const

interface Application {
  readonly name: string
  readonly peer: Peer
  readonly side: Side
}

const applications: readonly Application[] = peers.flatMap((peer) =>
  SIDES.map((side) => ({ name: `${peer.name}, ${side}`, peer, side })),
)
const open: AsyncDisposable[] = [keys, brokenKeys, ...rotations.map(({ published }) => published)]
const apis = new Map<string, Api>()
/** What we are slow to refuse: a second after the last fetch, since such a token may be of a new key. */
const forgeries = new Map<string, { places: Response; hello: Response }>()
const afterRotations = new Map<string, Partial<Behaviour>>()

beforeAll(async () => {
  await Promise.all([
    ...rotations.map(rotate),
    ...applications.map(async (application) => {
      const api = await start(application, keys)
      apis.set(application.name, api)
      const [places, hello] = await Promise.all([
        answered(async () => await api.call('/places', forged(await api.bearer()))),
        answered(async () => await api.call('/hello', forged(await api.bearer()))),
      ])
      forgeries.set(application.name, { places, hello })
    }),
  ])
})

/** What it answers once it has had its keys in time, which a busy machine may not let it at first. */
async function answered(call: () => Promise<Response>): Promise<Response> {
  return await vi.waitFor(async () => {
    const response = await call()
    expect(response.status).not.toBe(503)
    return response
  }, 60_000)
}

afterAll(async () => {
  await Promise.all(open.map(async (each) => await each[Symbol.asyncDispose]()))
})

describe.each(applications)('$name', ({ name, peer, side }) => {
  const refusal = Number(behaviourOf(peer, side)['no token, or a bad one'])

  test('answers everybody at a route in front of the guard', async () => {
    expect(await bodyOf(apiOf(name).call('/health'))).toBe('well')
  })

  test('shows a handler who the token is for', async () => {
    const api = apiOf(name)
    expect(await bodyOf(api.call('/places', await api.bearer()))).toEqual({ readBy: 'ada' })
  })

  test('greets strangers at the optional route, and bearers by name', async () => {
    const api = apiOf(name)
    expect(await bodyOf(api.call('/hello'))).toEqual({ hello: 'stranger' })
    expect(await bodyOf(api.call('/hello', await api.bearer()))).toEqual({ hello: 'ada' })
  })

  test('writes for who may, and answers 403 to who may not', async () => {
    const api = apiOf(name)
    const written = await api.call('/places', await api.bearer(), 'POST')
    expect(written.status).toBe(201)
    expect(await written.json()).toEqual({ savedBy: 'ada' })
    const claims = { scope: 'places:read', realm_access: { roles: ['reader'] } }
    expect((await api.call('/places', await api.bearer({ claims }), 'POST')).status).toBe(403)
  })

  test('refuses a request without a token, and a forged token', async () => {
    expect((await apiOf(name).call('/places')).status).toBe(refusal)
    expect(forgeries.get(name)?.places.status).toBe(refusal)
  })

  test.each([
    ['has expired', { expiresIn: -60 }],
    ['is for another API', { claims: { aud: 'shop' } }],
    ['is of another issuer', { claims: { iss: 'https://other.test' } }],
  ])('refuses a token that %s', async (_, options) => {
    const api = apiOf(name)
    expect((await api.call('/places', await api.bearer(options))).status).toBe(refusal)
  })
})

describe.each(applications)('where they differ, $name', ({ name, peer, side }) => {
  test('answers as the guide says', async () => {
    const api = apiOf(name)
    const missing = await api.call('/places')
    const withoutExpiry = await api.bearer({ omit: ['exp'] })
    const bound = await api.bearer({ claims: { cnf: { jkt: 'a'.repeat(43) } } })
    await using broken = await startApi(peer, side, brokenKeys)
    brokenKeys.issuer.outage(503)
    expect({
      'no token, or a bad one': shown(missing),
      ...afterRotations.get(name),
      'the key endpoint is down': shown(await broken.call('/places', await broken.bearer())),
      'the same on an optional route': shown(await broken.call('/hello', await broken.bearer())),
      '`WWW-Authenticate`': missing.headers.has('www-authenticate') ? 'yes' : 'no',
      'a bad token on an optional route': shown(forgeries.get(name)?.hello),
      'a token without `exp`': shown(await api.call('/places', withoutExpiry)),
      'a bound token, as `Bearer`': shown(await api.call('/places', bound)),
      '`Authorization: Bearer a b`': shown(await api.call('/places', 'Bearer a b')),
      '`Authorization: Basic ...`': shown(await api.call('/places', 'Basic YTpi')),
    }).toEqual(behaviourOf(peer, side))
  })
})

describe.each(SIDES)(
  'express-oauth2-jwt-bearer, %s: a token that is bound to a key',
  async (side) => {
    const [client, thief] = [await dpopClient(), await dpopClient()]
    const apiOfSide = () => apiOf(`express-oauth2-jwt-bearer, ${side}`)

    /** @param made What is in the proof instead of what is in the request. */
    async function call(
      path: string,
      method: string,
      made: { path?: string; method?: string; of?: typeof client } = {},
    ): Promise<Response> {
      const api = apiOfSide()
      const token = (await api.bearer({ boundTo: client })).slice('Bearer '.length)
      const proof = {
        url: `${api.origin}${made.path ?? path}`,
        method: made.method ?? method,
        token,
      }
      const { authorization, dpop } = await (made.of ?? client).headers(proof)
      return await api.call(path, authorization, method, dpop)
    }

    test('is accepted with a proof of that key, also at the optional route', async () => {
      expect(await bodyOf(call('/places', 'GET'))).toEqual({ readBy: 'ada' })
      expect(await bodyOf(call('/hello', 'GET'))).toEqual({ hello: 'ada' })
      expect((await call('/places', 'POST')).status).toBe(201)
    })

    test.each([
      ['of another key', { of: thief }, 401],
      ['for another method', { method: 'POST' }, 400],
      ['for another URL', { path: '/hello' }, 400],
    ])('is refused with a proof %s', async (_, made, before) => {
      expect((await call('/places', 'GET', made)).status).toBe(side === 'before' ? before : 401)
    })

    test(`is ${side === 'before' ? 'accepted' : 'refused'} with a proof that was used`, async () => {
      const api = apiOfSide()
      const token = (await api.bearer({ boundTo: client })).slice('Bearer '.length)
      const { authorization, dpop } = await client.headers({ url: `${api.origin}/places`, token })
      expect((await api.call('/places', authorization, 'GET', dpop)).status).toBe(200)
      const again = await api.call('/places', authorization, 'GET', dpop)
      expect(again.status).toBe(side === 'before' ? 200 : 401)
    })
  },
)

describe('what only one of them has', () => {
  test('express-jwt lets a preflight through that asks for `Authorization`, we want a token', async () => {
    for (const [side, status] of [
      ['before', 200],
      ['after', 401],
    ] as const) {
      await using api = await startApi(peerOf('express-jwt'), side, keys)
      expect((await api.preflight('/places')).status).toBe(status)
    }
  })

  test('express-oauth2-jwt-bearer answers 401 where a claim is not met, we answer 403', async () => {
    const peer = peerOf('express-oauth2-jwt-bearer')
    for (const [side, status] of [
      ['before', 401],
      ['after', 403],
    ] as const) {
      await using api = await startApi(peer, side, keys)
      expect((await api.call('/places', await api.bearer(), 'DELETE')).status).toBe(204)
      const user = await api.bearer({ claims: { roles: ['user'] } })
      expect((await api.call('/places', user, 'DELETE')).status).toBe(status)
    }
  })

  test.each(SIDES)('keycloak-connect, %s: roles of a client, and no ID token', async (side) => {
    await using api = await startApi(peerOf('keycloak-connect'), side, keys)
    expect((await api.call('/places', await api.bearer(), 'DELETE')).status).toBe(204)
    const user = await api.bearer({ claims: { resource_access: { shop: { roles: ['admin'] } } } })
    expect((await api.call('/places', user, 'DELETE')).status).toBe(403)
    const idToken = await api.bearer({ claims: { typ: 'ID' } })
    expect((await api.call('/places', idToken)).status).toBe(403)
  })

  test('hono/jwk fetches the keys for each request, we fetch them once', async () => {
    for (const [side, fetches] of [
      ['before', 3],
      ['after', 1],
    ] as const) {
      await using api = await startApi(peerOf('hono/jwk'), side, keys)
      const before = keys.issuer.requests().length
      for (let call = 0; call < 3; call += 1) await api.call('/places', await api.bearer())
      expect(keys.issuer.requests().length - before).toBe(fetches)
    }
  })

  test('hono/jwk answers 401 where the key endpoint cannot be reached, we answer 503', async () => {
    const outage = brokenKeys.issuer.outage('reset')
    for (const [side, status] of [
      ['before', 401],
      ['after', 503],
    ] as const) {
      await using api = await startApi(peerOf('hono/jwk'), side, brokenKeys)
      expect((await api.call('/places', await api.bearer())).status).toBe(status)
    }
    outage.restore()
  })
})

/** All applications at once, so that the second that ours wait for passes once. */
async function rotate({ row, kid, published }: (typeof rotations)[number]): Promise<void> {
  const started = await Promise.all(
    applications.map(async (application) => ({
      name: application.name,
      api: await start(application, published),
    })),
  )
  const callAll = async () =>
    await Promise.all(
      started.map(async ({ name, api }) => {
        const answer = shown(await api.call('/places', await api.bearer()))
        afterRotations.set(name, { ...afterRotations.get(name), [row]: answer })
      }),
    )
  await callAll()
  await published.issuer.rotate({ kid })
  await callAll()
}

async function start({ peer, side }: Application, published: PublishedKeys): Promise<Api> {
  const api = await startApi(peer, side, published)
  open.push(api)
  return api
}

function apiOf(name: string): Api {
  const api = apis.get(name)
  if (api === undefined) throw new Error(`${name} has not started`)
  return api
}

function shown(response: Response | undefined): string {
  if (response === undefined) return 'nothing'
  const { status, headers } = response
  return headers.has('retry-after') ? `${status}, \`Retry-After\`` : `${status}`
}

function behaviourOf({ before }: Peer, side: Side): Behaviour {
  return side === 'before' ? before : AFTER
}

function peerOf(name: string) {
  const peer = peers.find((each) => each.name === name)
  if (peer === undefined) throw new Error(`there is no ${name}`)
  return peer
}

function forged(bearer: string): string {
  const [head = '', payload = '', signature = ''] = bearer.split('.')
  return [
    head,
    payload,
    signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`,
  ].join('.')
}

async function bodyOf(answer: Promise<Response>): Promise<unknown> {
  const response = await answer
  expect(response.status).toBe(200)
  return await response.json()
}
