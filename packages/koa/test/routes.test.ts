import { Router, type RouterOptions } from '@koa/router'
import { createVerifier, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import Koa, { type Middleware } from 'koa'
import Koa2 from 'koa2'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize } from '../src/index.ts'
import { describeRoutes } from '../src/routes.ts'

// Which routes the list calls required, beside what a stranger gets from each. The list may say less than is so, and never more.

const { verifierOptions } = await createTestIssuer()
const verifier = createVerifier(verifierOptions)
const guard = authenticate(verifier) as Middleware
const optional = authenticate(verifier, { optional: true }) as Middleware
const reading = authorize(scope('r')) as Middleware

const handler: Middleware = (ctx) => {
  ctx.body = 'answered'
}
const logger: Middleware = async function logger(_ctx, next) {
  await next()
}

const rescue: Middleware = async function rescue(ctx, next) {
  try {
    await next()
  } catch {
    ctx.body = 'answered'
  }
}
const rewrite: Middleware = async (ctx, next) => {
  ctx.path = '/a'
  await next()
}

const frameworks: [string, () => Koa][] = [
  ['Koa 3', () => new Koa()],
  ['Koa 2', () => new Koa2() as unknown as Koa],
]

function listed(app: object): readonly string[] {
  return describeRoutes(app).routes.map(({ method, path, state }) => `${method} ${path} ${state}`)
}

async function stranger(app: Koa, path: string, method: 'get' | 'post' | 'head' = 'get') {
  return (await request(app.callback())[method](path)).status
}

const routerOf = (build: (router: Router) => unknown, options?: RouterOptions): Router => {
  const router = new Router(options)
  build(router)
  return router
}

describe.each(frameworks)('%s', (_name, createApp) => {
  function appOf(...middleware: readonly (Middleware | Router)[]): Koa {
    const app = createApp()
    app.silent = true
    for (const each of middleware)
      app.use(typeof each === 'function' ? each : (each.routes() as Middleware))
    return app
  }

  describe('required is', () => {
    test.each<[string, readonly (Middleware | Router)[], string, string]>([
      [
        'a route behind a guard of the application',
        [guard, routerOf((r) => r.get('/a/:id', handler))],
        '/a/1',
        '/a/:id',
      ],
      [
        'a route behind use of its router',
        [routerOf((r) => r.use(guard).get('/a/:id', handler))],
        '/a/1',
        '/a/:id',
      ],
      [
        'a route below the path of a guard',
        [routerOf((r) => r.use('/api', guard).get('/api/:id', handler))],
        '/api/1',
        '/api/:id',
      ],
      [
        'a route with a guard of its own',
        [routerOf((r) => r.get('/a/:id', guard, handler))],
        '/a/1',
        '/a/:id',
      ],
      [
        'a route whose guard is by all, of the same path',
        [routerOf((r) => r.all('/a', guard).get('/a', handler))],
        '/a',
        '/a',
      ],
      [
        'a sensitive router with a prefix',
        [routerOf((r) => r.use(guard).get('/a', handler), { prefix: '/v1', sensitive: true })],
        '/v1/a',
        '/v1/a',
      ],
      [
        'a router within another one',
        [routerOf((r) => r.use(guard).use('/v1', routerOf((i) => i.get('/a', handler)).routes()))],
        '/v1/a',
        '/v1/a',
      ],
      [
        'a requirement behind an optional guard',
        [optional, routerOf((r) => r.get('/a', reading, handler))],
        '/a',
        '/a',
      ],
    ])('%s', async (_case, middleware, path, shown) => {
      const app = appOf(...middleware)
      expect(listed(app)).toEqual([`GET ${shown} required`])
      expect(describeRoutes(app).routes[0]?.before).toEqual([])
      expect(await stranger(app, path)).toBe(401)
      expect(await stranger(app, path, 'head')).toBe(401)
    })
  })

  describe('a stranger is answered although a guard is there, and it is not called required:', () => {
    test.each<
      [string, readonly (Middleware | Router)[], string, string, ('get' | 'post' | 'head')?]
    >([
      [
        'a route before use',
        [routerOf((r) => r.get('/a', handler).use(guard))],
        '/a',
        'GET /a none',
      ],
      [
        'a router before the guard',
        [routerOf((r) => r.get('/a', handler)), guard],
        '/a',
        'GET /a none',
      ],
      [
        'a guard behind the handler',
        [routerOf((r) => r.get('/a', handler, guard))],
        '/a',
        'GET /a none',
      ],
      [
        'another case than that of the prefix of a router',
        [routerOf((r) => r.use(guard).get('/a', handler), { prefix: '/v1' })],
        '/V1/a',
        'GET /v1/a unseen',
      ],
      [
        'another case than that of the path of a mount',
        [routerOf((r) => r.use('/v1', routerOf((i) => i.use(guard).get('/a', handler)).routes()))],
        '/V1/a',
        'GET /v1/a unseen',
      ],
      [
        'use of the path / alone',
        [routerOf((r) => r.use('/', guard).get('/a', handler))],
        '/a',
        'GET /a none',
      ],
      [
        'a guard with a parameter',
        [routerOf((r) => r.use('/api/:id', guard).get('/api', handler))],
        '/api',
        'GET /api unseen',
      ],
      [
        'a guard with a pattern',
        [routerOf((r) => r.use(/^\/b/ as never, guard).get('/a', handler))],
        '/a',
        'GET /a unseen',
      ],
      [
        'a guard by get, a route by all, then POST',
        [routerOf((r) => r.get('/a', guard).all('/a', handler))],
        '/a',
        'ALL /a unseen',
        'post',
      ],
      [
        'a guard by get, a route by post',
        [routerOf((r) => r.get('/a', guard).post('/a', handler))],
        '/a',
        'POST /a none',
        'post',
      ],
      [
        'a router that runs one layer alone',
        [routerOf((r) => r.use(guard).get('/a', handler), { exclusive: true })],
        '/a',
        'GET /a none',
      ],
      [
        'a guard in a router that is left again',
        [routerOf((r) => r.use(guard)), routerOf((r) => r.get('/a', handler))],
        '/a',
        'GET /a unseen',
      ],
      [
        'a guard of one path, a route that is registered for whatever is below',
        [
          routerOf((r) => {
            r.get('/a', guard)
            r.register('/a', ['GET'], [handler as never], { end: false })
          }),
        ],
        '/a/b',
        'GET /a unseen',
      ],
      [
        'a guard of one path, a route that is registered with a pattern',
        [
          routerOf((r) => {
            r.get('/a', guard)
            r.register('/a', ['GET'], [handler as never], { pathAsRegExp: true })
          }),
        ],
        '/a/b',
        'GET /a unseen',
      ],
      [
        'a guard of a route, and a function of use that other routes lead to',
        [routerOf((r) => r.get('/a', guard).use('/a', handler).get('/a/b', logger))],
        '/a/b',
        'ALL /a/* unseen',
      ],
      [
        'a guard that the function before it leads past',
        [
          routerOf((r) =>
            r
              .all('/a', async (ctx, next) => {
                await (ctx.query['x'] === '' ? guard(ctx, next) : next())
              })
              .get('/a', handler),
          ),
        ],
        '/a',
        'GET /a none',
      ],
    ])('%s', async (_case, middleware, path, expected, method) => {
      const app = appOf(...middleware)
      expect(await stranger(app, path, method)).toBe(200)
      expect(listed(app)).toContain(expected)
      expect(listed(app).filter((each) => each.endsWith('required'))).toEqual([])
    })
  })

  test('a callback of param that answers is named', async () => {
    const router = new Router()
    router.param('id', function findUser(_id, ctx) {
      ctx.body = 'answered'
    })
    router.get('/users/:id', guard as never, handler as never)
    const app = appOf(router)
    expect(await stranger(app, '/users/1')).toBe(200)
    expect(describeRoutes(app).routes).toMatchObject([
      { state: 'required', before: [{ name: 'findUser', path: '/users/:id :id' }] },
    ])
  })

  test('functions before a guard are named with their paths, also those of another router', () => {
    const app = appOf(
      logger,
      routerOf((r) => r.use('/x', logger)),
      routerOf((r) => r.use('/a', logger, guard, logger).get('/a', handler)),
    )
    expect(describeRoutes(app).routes).toMatchObject([
      {
        path: '/a',
        before: [
          { name: 'logger', path: '/*' },
          { name: 'logger', path: '/x/*' },
          { name: 'logger', path: '/a/*' },
        ],
      },
    ])
  })

  test('what answers a refusal is named, since it stands before the guard', async () => {
    const app = appOf(
      rescue,
      guard,
      routerOf((r) => r.get('/a', handler)),
    )
    expect(await stranger(app, '/a')).toBe(200)
    expect(describeRoutes(app).routes).toMatchObject([
      { path: '/a', state: 'required', before: [{ name: 'rescue' }] },
    ])
  })

  test('a path that is changed leads nobody past a guard of the application', async () => {
    const app = appOf(
      guard,
      rewrite,
      routerOf((r) => r.get('/a', handler)),
    )
    expect(await stranger(app, '/public')).toBe(401)
    expect(listed(app)).toContain('GET /a required')
  })

  test('optional, none, requirements, and one that no guard is before', () => {
    expect(
      listed(
        appOf(
          optional,
          routerOf((r) => r.get('/a', handler)),
        ),
      ),
    ).toEqual(['GET /a optional'])
    expect(listed(appOf(routerOf((r) => r.post('/a', handler))))).toEqual(['POST /a none'])
    expect(listed(appOf(routerOf((r) => r.get('/a', reading, handler))))).toEqual(['GET /a unseen'])
    expect(listed(appOf(handler))).toEqual(['ALL /* none'])
    const app = appOf(
      guard,
      routerOf((r) => r.get('/a', reading, handler)),
    )
    expect(describeRoutes(app).routes[0]?.requirements).toEqual([
      { description: 'scope r', scopes: [['r']], isWhole: true },
    ])
  })

  test('a router within a route has one entry, and the list is not complete', () => {
    const inner = routerOf((r) => r.get('/a', handler)).routes()
    const app = appOf(routerOf((r) => r.get('/a', inner as never)))
    expect(describeRoutes(app)).toMatchObject({
      routes: [{ path: '/a', state: 'unseen' }],
      isComplete: false,
    })
  })

  test('nothing, a router alone, and what is none', () => {
    expect(describeRoutes(createApp())).toEqual({ routes: [], isComplete: true })
    expect(listed(routerOf((r) => r.get('/a', guard, handler)))).toEqual(['GET /a required'])
    for (const wrong of [undefined, null, {}, () => {}, 'app', { middleware: [1] }]) {
      expect(() => describeRoutes(wrong as never)).toThrow('must be an application of Koa')
    }
  })
})
