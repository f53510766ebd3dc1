import { AuthError, check, findAuth, localKeys, remoteKeys, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import request, { type Response as Answer } from 'supertest'
import { describe, expect, test } from 'vitest'

import type { Application, AppSpec } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { bearer, verifier, verifierOf } from './tokens.ts'

// What the code of an application sees of its guards: its handlers, its error handler and `onRefusal`.

const good = await bearer()
const tenant = await bearer({ claims: { tenant: 'acme' } })
const optional = [{ verifier, options: { optional: true } }]
const other = verifierOf({ requiredClaims: ['tenant'] })

async function get(app: Application, headers: object = {}, path = '/'): Promise<Answer> {
  return await request(app.url)
    .get(path)
    .set({ ...headers })
}

/** The same, with an error handler that keeps what it is given, and forgets the headers of it. */
function watched(spec: AppSpec): { spec: AppSpec; seen: readonly unknown[] } {
  const seen: unknown[] = []
  const onError: AppSpec['onError'] = (error) => {
    seen.push(error)
    return { status: error instanceof AuthError ? error.status : 500, body: {} }
  }
  return { spec: { ...spec, onError }, seen }
}

const NO_GUARD = /no guard has seen the request/

describe.each(frameworks)('$name', ({ createApp }) => {
  test('a handler finds one and the same proof in every way', async () => {
    await using app = await createApp({
      guards: [{ verifier, options: { property: 'proof' } }],
      routes: [
        {
          path: '/',
          handle(view) {
            const proof = view.property('proof')
            const found = [view.getAuth(), view.findAuth()]
            return [...found, view.getAuth(verifier), view.findAuth(verifier)].map(
              (each) => each === proof,
            )
          },
        },
      ],
    })
    await expect(get(app, good)).resolves.toMatchObject({ body: [true, true, true, true] })
  })

  test('a router takes the tokens that its own guard accepts, with the options of that guard', async () => {
    const issuer = await createTestIssuer()
    const keys = localKeys(issuer.publicJwk)
    const route = { path: '/route', handle: () => ({}) }
    await using app = await createApp({
      routers: {
        '/first': { guards: [{ verifier, options: { realm: 'first' } }], routes: [route] },
        '/second': {
          guards: [{ verifier: verifierOf({ keys }) }],
          routes: [route, { ...route, path: '/write', requirements: [scope('write')] }],
        },
      },
    })
    const theirs = await issuer.bearer()
    const statuses = []
    for (const headers of [good, theirs]) {
      for (const path of ['/first/route', '/second/route']) {
        statuses.push((await get(app, headers, path)).status)
      }
    }
    expect(statuses).toEqual([200, 401, 401, 200])
    const first = await get(app, {}, '/first/route')
    expect(first.headers['www-authenticate']).toBe('Bearer realm="first"')
    const second = await get(app, theirs, '/second/write')
    expect(second.headers['www-authenticate']).toMatch(/^Bearer realm="api", error="insufficient_/)
  })

  describe('the error handler', () => {
    test.each<[title: string, spec: AppSpec, tokens: readonly object[], message: RegExp]>([
      [
        'getAuth without a guard',
        { routes: [{ path: '/', handle: (view) => view.getAuth().claims }] },
        [{}, good],
        NO_GUARD,
      ],
      [
        'findAuth without a guard',
        { routes: [{ path: '/', handle: (view) => ({ found: view.findAuth() }) }] },
        [{}, good],
        NO_GUARD,
      ],
      [
        'a requirement without a guard',
        { routes: [{ path: '/', requirements: [scope('read')], handle: () => ({}) }] },
        [{}, good],
        NO_GUARD,
      ],
      [
        'getAuth for a verifier of no guard',
        {
          guards: optional,
          routes: [{ path: '/', handle: (view) => view.getAuth(other).claims }],
        },
        [{}, good],
        /no guard with this verifier/,
      ],
      [
        'getAuth of an anonymous request',
        { guards: optional, routes: [{ path: '/', handle: (view) => view.getAuth().claims }] },
        [{}],
        /anonymous/,
      ],
    ])('is given a TypeError for %s', async (_title, faulty, tokens, message) => {
      const { spec, seen } = watched(faulty)
      await using app = await createApp(spec)
      for (const headers of tokens) expect((await get(app, headers)).status).toBe(500)
      expect(seen).toHaveLength(tokens.length)
      for (const error of seen) {
        expect(error).toBeInstanceOf(TypeError)
        expect(String(error)).toMatch(message)
      }
    })

    test('is given what a check throws, as it was thrown', async () => {
      const fault = new Error('canary')
      const failing = check(() => {
        throw fault
      })
      const { spec, seen } = watched({
        guards: [{ verifier }],
        routes: [{ path: '/', requirements: [failing], handle: () => ({}) }],
      })
      await using app = await createApp(spec)
      expect((await get(app, good)).status).toBe(500)
      expect(seen).toHaveLength(1)
      expect(seen[0]).toBe(fault)
    })

    test('is given what a verifier throws that is no refusal, as it was thrown', async () => {
      const fault = new Error('canary')
      const failing = { ...verifier, verify: async () => await Promise.reject(fault) }
      const { spec, seen } = watched({
        guards: [{ verifier: failing }],
        routes: [{ path: '/', handle: () => ({}) }],
      })
      await using app = await createApp(spec)
      expect((await get(app, good)).status).toBe(500)
      expect(seen).toHaveLength(1)
      expect(seen[0]).toBe(fault)
    })

    test('alone decides about a refusal that a handler throws: no guard in front takes it for its own', async () => {
      const told: unknown[] = []
      const { spec, seen } = watched({
        guards: [{ verifier, options: { onRefusal: (error) => told.push(error) } }],
        routes: [
          {
            path: '/',
            requirements: [scope('read')],
            handle: async () => await verifier.verify('another.token.altogether'),
          },
        ],
      })
      await using app = await createApp(spec)
      const response = await get(app, good)
      expect(response.status).toBe(401)
      expect(response.headers).not.toHaveProperty('www-authenticate')
      expect(seen).toMatchObject([{ code: 'invalid_token', reason: 'malformed' }])
      expect(told).toEqual([])
    })

    test.each(['forward', 'problem'] as const)(
      'is given what a handler behind a requirement throws, once and as it was thrown, with respond: %s',
      async (respond) => {
        const fault = new Error('canary')
        const told: unknown[] = []
        let runs = 0
        const { spec, seen } = watched({
          guards: [{ verifier, options: { respond, onRefusal: (error) => told.push(error) } }],
          routes: [
            {
              path: '/',
              requirements: [scope('read')],
              handle() {
                runs += 1
                throw fault
              },
            },
          ],
        })
        await using app = await createApp(spec)
        const response = await get(app, good)
        expect(response.status).toBe(500)
        expect(response.headers).not.toHaveProperty('www-authenticate')
        expect([seen.length, runs, told]).toEqual([1, 1, []])
        expect(seen[0]).toBe(fault)
      },
    )

    test('that forgets the headers of an outage keeps Retry-After', async () => {
      const keys = remoteKeys('https://auth.test/keys', {
        fetch: async () => await Promise.reject(new Error('down')),
      })
      const { spec, seen } = watched({
        guards: [{ verifier: verifierOf({ keys }) }],
        routes: [{ path: '/', handle: () => ({}) }],
      })
      await using app = await createApp(spec)
      const response = await get(app, good)
      expect(response.status).toBe(503)
      expect(response.headers['retry-after']).toMatch(/^[12]$/)
      expect(response.headers).not.toHaveProperty('www-authenticate')
      expect(seen).toMatchObject([{ code: 'keys_unavailable' }])
    })
  })

  test('onRefusal of a guard, also for a requirement, is told the request that handlers get', async () => {
    const told: unknown[] = []
    const onRefusal = ({ reason }: AuthError, subject: object) =>
      told.push([reason, findAuth(subject, verifier)?.claims.sub])
    await using app = await createApp({
      guards: [{ verifier }, { verifier: other, options: { onRefusal } }],
      routes: [{ path: '/', requirements: [scope('write')], handle: () => ({}) }],
    })
    await get(app, good)
    await get(app, tenant)
    expect(told).toEqual([
      ['missing_claim', 'ada'],
      ['scope', 'ada'],
    ])
  })
})
