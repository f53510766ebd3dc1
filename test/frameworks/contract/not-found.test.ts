import { type AuthErrorReason, createVerifier, localKeys, scope } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth } from '@portcullis/fastify'
import { createTestIssuer } from '@portcullis/testing'
import fastify5, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fastify4 from 'fastify4'
import { describe, expect, test } from 'vitest'

// What Fastify has no route for: the not-found handlers, and the ways that lead to them.

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const reader = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })
const writer = await issuer.bearer({ claims: { sub: 'bob', scope: 'read write' } })
const open = { config: { auth: false } } as const

const frameworks: [string, (options?: FastifyServerOptions) => FastifyInstance][] = [
  ['Fastify 5', (options) => fastify5(options)],
  // What these tests use, both majors have alike, with types of their own.
  ['Fastify 4', (options) => fastify4(options as never) as unknown as FastifyInstance],
]

describe.each(frameworks)('%s', (name, createApp) => {
  describe('an unknown path', () => {
    test('of a guarded app without a token: 401, with a token: 404', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      const refused = await app.inject({ url: '/unknown' })
      expect(refused.statusCode).toBe(401)
      expect(refused.headers['www-authenticate']).toBe('Bearer realm="api"')
      await expectStatuses(app, '/unknown', { token: 404, bad: 401 })
    })

    test('of a scope that requires something: 401, 403 and 404', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.addHook('onRequest', authorize(scope('write')))
      await expectStatuses(app, '/unknown', { none: 401, token: 403, writer: 404 })
    })

    test('of a scope that requires something without a guard is a fault of the application: 500', async () => {
      const app = createApp()
      app.addHook('onRequest', authorize(scope('write')))
      await expectStatuses(app, '/unknown', { none: 500, token: 500 })
    })

    test('in front of an optional guard: 404 without a token, and 401 with a bad one', async () => {
      const app = createApp()
      await app.register(authenticate(verifier, { optional: true }))
      await expectStatuses(app, '/unknown', { none: 404, token: 404, bad: 401 })
    })

    test('below the prefix of a guarded scope without a not-found handler belongs to the scope around it', async () => {
      const app = createApp()
      await app.register(
        async (nested) => {
          await nested.register(authenticate(verifier))
          nested.get('/route', () => 'route')
        },
        { prefix: '/nested' },
      )
      await expectStatuses(app, '/nested/unknown', { none: 404, token: 404 })
      await expectStatuses(app, '/nested/route', { none: 401, token: 200 })
    })

    test.each(['POST', 'DELETE', 'OPTIONS', 'HEAD'] as const)(
      'is refused for %s, also where another method has an open route',
      async (method) => {
        const app = createApp({ exposeHeadRoutes: false })
        await app.register(authenticate(verifier))
        app.get('/open', open, () => 'open')
        expect((await app.inject({ method, url: '/open' })).statusCode).toBe(401)
        const known = await app.inject({ method, url: '/open', headers: reader })
        expect(known.statusCode).toBe(404)
      },
    )

    test('is refused once, and reported once', async () => {
      const { told, onRefusal } = reports()
      const app = createApp()
      await app.register(authenticate(verifier, { onRefusal, respond: 'problem' }))
      app.setNotFoundHandler(() => 'not found')
      const refused = await app.inject({ url: '/unknown' })
      expect(refused.headers['content-type']).toBe('application/problem+json')
      expect(told).toEqual(['missing_header'])
    })
  })

  describe('a HEAD route', () => {
    test('that Fastify adds to an open route is open, and to a guarded one guarded', async () => {
      const app = createApp({ exposeHeadRoutes: true })
      await app.register(authenticate(verifier))
      app.get('/open', open, () => 'open')
      app.get('/closed', () => 'closed')
      const head = async (url: string) => (await app.inject({ method: 'HEAD', url })).statusCode
      expect([await head('/open'), await head('/closed')]).toEqual([200, 401])
    })

    test('of its own is guarded, whatever its GET route is', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.head('/', () => '')
      app.get('/', open, () => 'open')
      expect((await app.inject({ method: 'HEAD', url: '/' })).statusCode).toBe(401)
      expect((await app.inject({ method: 'GET', url: '/' })).statusCode).toBe(200)
    })
  })

  describe('a not-found handler', () => {
    test.each(['before', 'after'])('that is set %s the guard is guarded', async (when) => {
      const app = createApp()
      if (when === 'before') app.setNotFoundHandler((request) => getAuth(request).claims.sub)
      await app.register(authenticate(verifier))
      if (when === 'after') app.setNotFoundHandler((request) => getAuth(request).claims.sub)
      await expectStatuses(app, '/unknown', { none: 401, token: 200 })
      expect((await app.inject({ url: '/unknown', headers: reader })).payload).toBe('ada')
    })

    test('of a nested scope inherits the guard of the scope around it', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      await app.register(
        async (nested) => {
          nested.setNotFoundHandler(() => 'nested')
        },
        { prefix: '/nested' },
      )
      await expectStatuses(app, '/nested/unknown', { none: 401, token: 200 })
    })

    test.each(['before', 'after'])(
      'of a guarded scope is guarded if it is set %s the guard, and the one around it is open',
      async (when) => {
        const app = createApp()
        app.setNotFoundHandler(() => 'around')
        await app.register(
          async (nested) => {
            if (when === 'before') nested.setNotFoundHandler(() => 'nested')
            await nested.register(authenticate(verifier))
            if (when === 'after') nested.setNotFoundHandler(() => 'nested')
          },
          { prefix: '/nested' },
        )
        await expectStatuses(app, '/nested/unknown', { none: 401, token: 200 })
        await expectStatuses(app, '/nested', { none: 401, token: 200 })
        await expectStatuses(app, '/unknown', { none: 200 })
      },
    )

    test('with a requirement as its own preHandler holds to it', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.setNotFoundHandler({ preHandler: authorize(scope('write')) }, () => 'secret')
      await expectStatuses(app, '/unknown', { none: 401, token: 403, writer: 200 })
    })

    test('is not opened by a configuration of its own', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.setNotFoundHandler(open as object, () => 'secret')
      await expectStatuses(app, '/unknown', { none: 401, token: 200 })
    })

    test('is behind every guard of its scope, and each is asked once', async () => {
      const [outer, inner] = [reports(), reports()]
      const app = createApp()
      await app.register(authenticate(verifier, { onRefusal: outer.onRefusal, optional: true }))
      await app.register(
        async (nested) => {
          await nested.register(authenticate(verifier, { onRefusal: inner.onRefusal }))
          nested.setNotFoundHandler(() => 'nested')
        },
        { prefix: '/nested' },
      )
      await expectStatuses(app, '/nested/unknown', { none: 401, token: 200 })
      expect([outer.told, inner.told]).toEqual([[], ['missing_header']])
    })
  })

  describe.each([
    ['at once', (reply: { callNotFound: () => unknown }) => reply.callNotFound()],
    [
      'later',
      async (reply: { callNotFound: () => unknown }) => {
        await Promise.resolve()
        return reply.callNotFound()
      },
    ],
  ])('reply.callNotFound(), %s', (_when, pass) => {
    const orders = [
      { order: 'before', prefix: '' },
      { order: 'after', prefix: '' },
      { order: 'before', prefix: '/nested' },
      { order: 'after', prefix: '/nested' },
    ]

    test.each(orders)(
      'from an open route leads to a guarded handler that was set $order it (prefix "$prefix")',
      async ({ order, prefix }) => {
        const { told, onRefusal } = reports()
        const app = createApp()
        await app.register(authenticate(verifier, { onRefusal }))
        await app.register(
          async (within) => {
            if (order === 'before') within.setNotFoundHandler(whoAmI)
            within.get('/open', open, (_request, reply) => pass(reply))
            if (order === 'after') within.setNotFoundHandler(whoAmI)
          },
          { prefix },
        )
        const refused = await app.inject({ url: `${prefix}/open` })
        expect(refused.statusCode).toBe(401)
        expect(refused.headers['www-authenticate']).toBe('Bearer realm="api"')
        expect(told).toEqual(['missing_header'])
        const accepted = await app.inject({ url: `${prefix}/open`, headers: reader })
        expect([accepted.statusCode, accepted.json()]).toEqual([200, { sub: 'ada' }])
      },
    )

    test.each(orders)(
      'from an open route of a guarded scope leads to its guarded handler, set $order it (prefix "$prefix")',
      async ({ order, prefix }) => {
        const app = createApp()
        let ran = 0
        const handler = () => ({ ran: (ran += 1) })
        await app.register(
          async (within) => {
            await within.register(authenticate(verifier, { respond: 'problem' }))
            if (order === 'before') within.setNotFoundHandler(handler)
            within.get('/open', open, (_request, reply) => pass(reply))
            if (order === 'after') within.setNotFoundHandler(handler)
          },
          { prefix },
        )
        const refused = await app.inject({ url: `${prefix}/open` })
        expect(refused.statusCode).toBe(401)
        expect(refused.headers['content-type']).toBe('application/problem+json')
        expect(ran).toBe(0)
        const accepted = await app.inject({ url: `${prefix}/open`, headers: reader })
        expect([accepted.statusCode, ran]).toEqual([200, 1])
      },
    )

    test('from a guarded route does not verify again', async () => {
      let verified = 0
      const counting = {
        ...verifier,
        verify: async (token: string) => {
          verified += 1
          return await verifier.verify(token)
        },
      }
      const { told, onRefusal } = reports()
      const app = createApp()
      await app.register(authenticate(counting, { onRefusal }))
      app.get('/closed', (_request, reply) => pass(reply))
      await expectStatuses(app, '/closed', { token: 404 })
      expect(verified).toBe(1)
      await expectStatuses(app, '/closed', { none: 401 })
      expect([verified, told]).toEqual([1, ['missing_header']])
    })

    test('from an anonymous request of an optional guard goes on as anonymous', async () => {
      const app = createApp()
      await app.register(authenticate(verifier, { optional: true }))
      app.setNotFoundHandler((request) => ({ isAnonymous: findAuth(request) === undefined }))
      app.get('/closed', (_request, reply) => pass(reply))
      app.get('/open', open, (_request, reply) => pass(reply))
      for (const url of ['/closed', '/open']) {
        expect((await app.inject({ url })).json()).toEqual({ isAnonymous: true })
      }
      await expectStatuses(app, '/open', { bad: 401 })
    })

    // Fastify 4 loses the hooks of a handler that is set after the route, whoever they are of.
    test.each(name === 'Fastify 4' ? ['before'] : ['before', 'after'])(
      'from a route outside of the guard leads to a guarded handler that was set %s it',
      async (order) => {
        const app = createApp()
        if (order === 'before') await app.register(guarded)
        app.get('/outside', (_request, reply) => pass(reply))
        app.get('/plain', () => 'plain')
        if (order === 'after') await app.register(guarded)
        await expectStatuses(app, '/plain', { none: 200 })
        await expectStatuses(app, '/outside', { none: 401, token: 200, bad: 401 })
      },
    )

    test('from an open route holds to the requirement of the handler', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.setNotFoundHandler({ preHandler: authorize(scope('write')) }, () => 'secret')
      await app.register(async (nested) => {
        nested.get('/open', open, (_request, reply) => pass(reply))
      })
      await expectStatuses(app, '/open', { none: 401, token: 403, writer: 200 })
    })

    test('from an open route passes each guard of the handler, the inner one as well', async () => {
      const other = await createTestIssuer()
      const inner = createVerifier({
        keys: localKeys(other.publicJwk),
        issuer: null,
        audience: null,
      })
      const app = createApp()
      await app.register(authenticate(verifier, { realm: 'outer' }))
      await app.register(
        async (nested) => {
          await nested.register(authenticate(inner, { realm: 'inner' }))
          nested.get('/open', open, (_request, reply) => pass(reply))
          nested.setNotFoundHandler(() => 'secret')
        },
        { prefix: '/nested' },
      )
      await expectStatuses(app, '/nested/open', { none: 401, token: 401 })
      const foreign = await app.inject({ url: '/nested/open', headers: await other.bearer() })
      expect(foreign.statusCode).toBe(401)
    })
  })
})

/** Without a prefix the handler is that of the whole app. */
async function guarded(within: FastifyInstance): Promise<void> {
  await within.register(authenticate(verifier))
  within.setNotFoundHandler(() => 'secret')
}

function whoAmI(request: object): { sub: unknown } {
  return { sub: getAuth(request).claims.sub }
}

/** What `onRefusal` was told. */
function reports(): {
  told: AuthErrorReason[]
  onRefusal: (error: { reason: AuthErrorReason }) => void
} {
  const told: AuthErrorReason[] = []
  return {
    told,
    onRefusal: ({ reason }) => {
      told.push(reason)
    },
  }
}

const PRESENTED = {
  none: {},
  bad: { authorization: 'Bearer bad' },
  token: reader,
  writer,
}

async function expectStatuses(
  app: FastifyInstance,
  url: string,
  expected: Partial<Record<keyof typeof PRESENTED, number>>,
): Promise<void> {
  const statuses: Record<string, number> = {}
  for (const name of Object.keys(expected) as (keyof typeof PRESENTED)[]) {
    statuses[name] = (await app.inject({ url, headers: PRESENTED[name] })).statusCode
  }
  expect(statuses).toEqual(expected)
}
