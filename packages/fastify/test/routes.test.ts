import { createVerifier, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import fastify, { type FastifyInstance } from 'fastify'
import fastify4 from 'fastify4'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize, serveMetadata } from '../src/index.ts'
import { describeRoutes, noteRoutes } from '../src/routes.ts'

// Which routes the list calls required, beside what a stranger gets from each. The list may say less than is so, and never more.

const { verifierOptions } = await createTestIssuer()
const verifier = createVerifier(verifierOptions)
const guard = authenticate(verifier)
const optional = authenticate(verifier, { optional: true })
const reading = authorize(scope('r'))

const handler = async () => 'answered'
async function logger() {}

const frameworks: [string, typeof fastify][] = [
  ['Fastify 5', fastify],
  // What these tests use, both majors have alike, with types of their own.
  ['Fastify 4', fastify4 as unknown as typeof fastify],
]

function listed(app: object): readonly string[] {
  return describeRoutes(app).routes.map(({ method, path, state }) => `${method} ${path} ${state}`)
}

async function stranger(
  app: FastifyInstance,
  url: string,
  method: 'GET' | 'POST' | 'HEAD' = 'GET',
) {
  return (await app.inject({ method, url })).statusCode
}

describe.each(frameworks)('%s', (_name, framework) => {
  type Build = (app: FastifyInstance) => unknown

  async function appOf(build: Build): Promise<FastifyInstance> {
    const app = framework()
    noteRoutes(app)
    await build(app)
    await app.ready()
    return app
  }

  describe('required is', () => {
    test.each<[string, Build, string, string]>([
      [
        'a route in the scope of a guard',
        (app) => app.register(guard).get('/a/:id', handler),
        '/a/1',
        '/a/:id',
      ],
      [
        'one that was added before the guard',
        (app) => app.get('/a', handler).register(guard),
        '/a',
        '/a',
      ],
      [
        'one in a scope within',
        (app) =>
          app
            .register(guard)
            .register(async (inner) => inner.get('/a', handler), { prefix: '/v1' }),
        '/v1/a',
        '/v1/a',
      ],
      [
        'one of its own scope',
        (app) =>
          app.register(async (inner) => {
            await inner.register(guard)
            inner.get('/a', handler)
          }),
        '/a',
        '/a',
      ],
      [
        'a requirement behind an optional guard',
        (app) => app.register(optional).get('/a', { onRequest: reading }, handler),
        '/a',
        '/a',
      ],
      [
        'one in a scope that was there before the guard',
        async (app) => {
          await app.register(async (inner) => {
            inner.get('/a', handler)
          })
          await app.register(guard)
        },
        '/a',
        '/a',
      ],
      ['one with a capital letter', (app) => app.register(guard).get('/A', handler), '/a', '/A'],
    ])('%s', async (_case, build, path, shown) => {
      const app = await appOf(build)
      expect(describeRoutes(app)).toMatchObject({
        routes: [{ method: 'GET', path: shown, state: 'required', before: [] }],
        isComplete: true,
      })
      expect(await stranger(app, path)).toBe(401)
      expect(await stranger(app, path, 'HEAD')).toBe(401)
    })
  })

  describe('a stranger is answered although a guard is there, and it is not called required:', () => {
    test.each<[string, Build, string, string, ('GET' | 'POST' | 'HEAD')?]>([
      [
        'a guard of a scope beside it',
        (app) =>
          app
            .register(async (inner) => {
              await inner.register(guard)
            })
            .get('/a', handler),
        '/a',
        'GET /a none',
      ],
      [
        'a route that is opened',
        (app) => app.register(guard).get('/a', { config: { auth: false } }, handler),
        '/a',
        'GET /a none',
      ],
      [
        'a requirement of a route that is opened',
        (app) =>
          app.register(guard).get('/a', { config: { auth: false }, onRequest: reading }, handler),
        '/a',
        'GET /a none',
      ],
      [
        'a hook that opens the routes of others',
        (app) => {
          app.addHook('onRoute', (route) => {
            route.config = { auth: false }
          })
          app.register(guard).get('/a', handler)
        },
        '/a',
        'GET /a none',
      ],
      [
        'a guard within another hook',
        (app) =>
          app
            .addHook('onRequest', async (q, r) => {
              if (q.headers['x'] !== undefined) await reading(q, r)
            })
            .get('/a', handler),
        '/a',
        'GET /a none',
      ],
      [
        'a configuration that is changed when the route is there',
        async (app) => {
          await app.register(guard)
          const config: { auth?: false } = { auth: false }
          app.get('/a', { config }, handler)
          delete config.auth
          app.get('/b', { config }, handler)
        },
        '/a',
        'GET /a none',
      ],
      [
        'a HEAD route beside a guarded one',
        (app) => {
          app.register(async (inner) => {
            await inner.register(guard)
            inner.get('/a', { exposeHeadRoute: false }, handler)
          })
          app.head('/a', handler)
        },
        '/a',
        'HEAD /a none',
        'HEAD',
      ],
    ])('%s', async (_case, build, path, expected, method) => {
      const app = await appOf(build)
      expect(await stranger(app, path, method)).toBe(200)
      expect(listed(app)).toContain(expected)
      expect(
        listed(app).filter((each) => each.endsWith('required') && !/^GET \/[ab]/.test(each)),
      ).toEqual([])
    })
  })

  test('a route that was there before noteRoutes is unseen, and not left out', async () => {
    const app = framework()
    app.get('/early/*', handler)
    app.get('/a/early', handler)
    noteRoutes(app)
    app.register(guard).get('/a/:id', handler)
    await app.ready()
    expect(listed(app).toSorted()).toEqual([
      'GET /a/:id required',
      'GET /a/early unseen',
      'GET /early/* unseen',
    ])
  })

  test.each<[string, Build, readonly string[]]>([
    [
      'constraints, at one path',
      (app) =>
        app
          .get('/a', handler)
          .get('/a', { constraints: { host: 'a.example' } }, handler)
          .get('/a', { constraints: { version: '1.0.0' } }, handler),
      ['GET /a unseen', 'GET /a unseen', 'GET /a unseen'],
    ],
    [
      'paths without a first slash',
      (app) => app.get('*', handler).get('/a/b', handler).get('/', handler),
      ['GET * unseen', 'GET / unseen', 'GET /a/b unseen'],
    ],
    [
      'a path that cannot be printed in one line',
      (app) => app.get('/a\nb', handler),
      ['ALL /* unseen'],
    ],
  ])('early routes are not left out: %s', async (_case, build, expected) => {
    const app = framework()
    build(app)
    noteRoutes(app)
    await app.ready()
    expect(listed(app).toSorted()).toEqual(expected)
  })

  test('an early HEAD route beside a guarded GET is not left out', async () => {
    const app = framework()
    app.head('/a', handler)
    noteRoutes(app)
    app.register(async (each) => {
      await each.register(guard)
      each.get('/a', handler).get('/b', handler)
    })
    await app.ready()
    expect(await stranger(app, '/a', 'HEAD')).toBe(200)
    expect(listed(app)).toEqual(['GET /a required', 'GET /b required', 'HEAD /a unseen'])
  })

  test('what Fastify prints in a way of its own is known', async () => {
    const app = await appOf(async (each) => {
      await each.register(guard)
      each.get('*', handler).get('/a::read', handler)
      each.get('/a', { constraints: { host: 'a.example' } }, handler).get('/a', handler)
    })
    const { routes, isComplete } = describeRoutes(app)
    expect(routes.map(({ state }) => state)).toEqual(Array(4).fill('required'))
    expect(isComplete).toBe(true)
  })

  test('hooks before a guard are named, those of the route as well, and none behind it', async () => {
    const app = await appOf((each) => {
      each.addHook('onRequest', logger)
      each.register(guard)
      each.register(async (inner) => {
        inner.addHook('onRequest', logger)
        inner.get('/a', { onRequest: logger, preHandler: logger }, handler)
      })
      each.get('/b', { preHandler: reading, onRequest: logger }, handler)
    })
    expect(describeRoutes(app).routes.map(({ before }) => before)).toEqual([
      [{ name: 'logger', path: 'onRequest' }],
      [{ name: 'logger', path: 'onRequest' }],
    ])
  })

  test('a route below a prefix has both of its paths, and one for all methods one entry', async () => {
    const app = await appOf((each) =>
      each.register(guard).register(
        async (inner) => {
          inner.get('/', handler)
          inner.all('/x', handler)
        },
        { prefix: '/p' },
      ),
    )
    expect(listed(app).slice(0, 2)).toEqual(['GET /p required', 'GET /p/ required'])
    // Fastify 4 does not say which methods there are.
    const names = 'supportedMethods' in app ? ['ALL /p/x required'] : ['GET /p/x required']
    expect(listed(app)).toEqual(expect.arrayContaining(names))
    expect(listed(app).some((each) => each.startsWith('HEAD'))).toBe(false)
  })

  test('optional, none, requirements, and one that no guard is before', async () => {
    expect(listed(await appOf((app) => app.register(optional).get('/a', handler)))).toEqual([
      'GET /a optional',
    ])
    expect(listed(await appOf((app) => app.post('/a', handler)))).toEqual(['POST /a none'])
    expect(listed(await appOf((app) => app.get('/a', { onRequest: reading }, handler)))).toEqual([
      'GET /a unseen',
    ])
    const app = await appOf((each) =>
      each.register(guard).get('/a', { preHandler: reading }, handler),
    )
    expect(describeRoutes(app).routes[0]?.requirements).toEqual([
      { description: 'scope r', scopes: [['r']], isWhole: true },
    ])
    const metadata = { path: '/m', url: 'https://a.test/m', body: '{}' }
    expect(
      listed(
        await appOf((each) => each.register(guard).register(serveMetadata(metadata as never))),
      ),
    ).toEqual(['GET /m none'])
  })

  describe('nobody sees', () => {
    test('an error handler that answers what a guard has refused', async () => {
      const app = await appOf((each) => {
        each.setErrorHandler(async (_error, _request, reply) => await reply.code(200).send('a'))
        return each.register(guard).get('/a', handler)
      })
      expect(await stranger(app, '/a')).toBe(200)
      expect(listed(app)).toEqual(['GET /a required'])
    })
  })

  test('a URL that is changed before the route is looked for leads nobody past a guard', async () => {
    const app = framework({ rewriteUrl: () => '/a' })
    noteRoutes(app)
    app.register(guard).get('/a', handler)
    await app.ready()
    expect(await stranger(app, '/public')).toBe(401)
    expect(listed(app)).toEqual(['GET /a required'])
  })

  test('nothing, an application that was not noted, and what is none', async () => {
    expect(describeRoutes(await appOf(() => {}))).toEqual({ routes: [], isComplete: true })
    expect(() => describeRoutes(framework())).toThrow(
      'call noteRoutes(app) before any route is added',
    )
    for (const wrong of [undefined, null, {}, () => {}, 'app']) {
      expect(() => describeRoutes(wrong as never)).toThrow('must be an application of Fastify')
      expect(() => {
        noteRoutes(wrong as never)
      }).toThrow('noteRoutes: the argument must be an application of Fastify')
    }
  })
})
