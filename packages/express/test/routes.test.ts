import { createVerifier, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import express, { type NextFunction, type Request, type Response } from 'express'
import express4 from 'express4'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize, serveMetadata } from '../src/index.ts'
import { describeRoutes } from '../src/routes.ts'

// Which routes the list calls required, beside what a stranger gets from each. The list may say less than is so, and never more.

const { verifierOptions } = await createTestIssuer()
const verifier = createVerifier(verifierOptions)
const guard = authenticate(verifier)
const optional = authenticate(verifier, { optional: true })

function handler(_request: unknown, response: Response): void {
  response.send('answered')
}

function logger(_request: unknown, _response: unknown, next: NextFunction): void {
  next()
}

function rewrite(each: Request, _response: Response, next: NextFunction): void {
  each.url = '/api/a'
  next()
}

const frameworks: [string, typeof express][] = [
  ['Express 5', express],
  // What these tests use, both majors have alike, with types of their own.
  ['Express 4', express4 as unknown as typeof express],
]

/** As `GET /path state`. */
function listed(app: object): readonly string[] {
  return describeRoutes(app).routes.map(({ method, path, state }) => `${method} ${path} ${state}`)
}

function routeOf(app: object, path: string) {
  const found = describeRoutes(app).routes.filter((each) => each.path === path)
  expect(found).toHaveLength(1)
  return found[0]
}

describe.each(frameworks)('%s', (_name, framework) => {
  type App = ReturnType<typeof express>

  function appWith(build: (app: App) => unknown): App {
    const app = framework()
    build(app)
    return app
  }

  async function stranger(app: App, path: string, method: 'get' | 'post' | 'head' = 'get') {
    return (await request(app)[method](path)).status
  }

  describe('required is', () => {
    test.each<[string, (app: App) => unknown, string]>([
      [
        'a route behind a guard of the whole application',
        (app) => app.use(guard).get('/a', handler),
        '/a',
      ],
      [
        'a route below the path of a guard',
        (app) => app.use('/api', guard).get('/api/:id', handler),
        '/api/:id',
      ],
      ['a route with a guard of its own', (app) => app.get('/a/:id', guard, handler), '/a/:id'],
      [
        'a route whose guard has the same path and all methods',
        (app) => app.all('/a', guard).get('/a', handler),
        '/a',
      ],
      [
        'a route whose guard has the same path and method',
        (app) => app.get('/a', guard).get('/a', handler),
        '/a',
      ],
      [
        'a route whose guard is for all methods of it',
        (app) => app.route('/a').all(guard).get(handler),
        '/a',
      ],
      [
        'a route in a router with a guard',
        (app) => app.use('/v1', framework.Router().use(guard).get('/a', handler)),
        '/v1/a',
      ],
      [
        'a route in a router that is mounted behind a guard',
        (app) => app.use('/v1', guard, framework.Router().get('/a', handler)),
        '/v1/a',
      ],
      [
        'a route of a router below the path of a guard',
        (app) => app.use('/v1', guard).use('/v1/a', framework.Router().get('/b', handler)),
        '/v1/a/b',
      ],
      [
        'a route with a pattern behind a guard of the whole application',
        (app) => app.use(guard).get(/x+/, handler),
        '/x+/',
      ],
      [
        'a requirement behind an optional guard',
        (app) => app.use(optional).get('/a', authorize(scope('r')), handler),
        '/a',
      ],
      [
        'one of several paths',
        (app) => app.use('/a', guard).get(['/a/1', '/a/2'], handler),
        '/a/2',
      ],
    ])('%s', async (_case, build, path) => {
      const app = appWith(build)
      expect(routeOf(app, path)).toMatchObject({ state: 'required', before: [] })
      const asked = path.replace(':id', '1').replaceAll('+/', '')
      expect(await stranger(app, asked)).toBe(401)
      expect(await stranger(app, asked, 'head')).toBe(401)
    })

    test('what handles each request behind a guard, and it has no entry', () => {
      expect(
        listed(appWith((app) => app.use(logger).use(guard).use(handler).get('/a', handler))),
      ).toEqual(['GET /a required'])
    })
  })

  describe('a stranger is answered although a guard is there, and it is not called required:', () => {
    test.each<[string, (app: App) => unknown, string, string, ('get' | 'post' | 'head')?]>([
      ['a route before use', (app) => app.get('/a', handler).use(guard), '/a', 'GET /a none'],
      [
        'a guard behind the handler',
        (app) => app.get('/a', handler, guard as never),
        '/a',
        'GET /a none',
      ],
      [
        'a guard of another path',
        (app) => app.use('/b', guard).get('/a', handler),
        '/a',
        'GET /a none',
      ],
      [
        'a guard of part of the path',
        (app) => app.use('/a/b', guard).get('/a/:id', handler),
        '/a/c',
        'GET /a/:id unseen',
      ],
      [
        'a guard with a parameter',
        (app) => app.use('/api/:id', guard).get('/api', handler),
        '/api',
        'GET /api unseen',
      ],
      [
        'a guard with a pattern',
        (app) => app.use(/^\/b/, guard).get('/a', handler),
        '/a',
        'GET /a unseen',
      ],
      [
        'a guard by get, a route by all, then POST',
        (app) => app.get('/a', guard).all('/a', handler),
        '/a',
        'ALL /a unseen',
        'post',
      ],
      [
        'a guard by post beside a route by get, of the same route',
        (app) => app.route('/a').post(guard).get(handler),
        '/a',
        'GET /a none',
      ],
      [
        'a guard by get with a head of its own',
        (app) => {
          app.route('/a').get(guard).head(logger)
          app.get('/a', handler)
        },
        '/a',
        'GET /a unseen',
        'head',
      ],
      [
        'a guard in a router that is left again',
        (app) => {
          const router = framework.Router()
          router.use((_q, _s, next) => {
            next('router')
          }, guard)
          app.use(router).get('/a', handler)
        },
        '/a',
        'GET /a unseen',
      ],
      [
        'a guard that next("route") leads past',
        (app) => {
          app.all(
            '/a',
            (_q, _s, next) => {
              next('route')
            },
            guard,
          )
          app.get('/a', handler)
        },
        '/a',
        'GET /a unseen',
      ],
      [
        'an error handler that lets a refused request go on',
        (app) => {
          app.use(guard)
          app.use((_e: unknown, _q: Request, _s: Response, next: NextFunction) => {
            next()
          })
          app.get('/a', handler)
        },
        '/a',
        'GET /a unseen',
      ],
      [
        'the same in the route',
        (app) =>
          app.get(
            '/a',
            guard,
            ((_e: unknown, _q: unknown, _s: unknown, next: NextFunction) => {
              next()
            }) as never,
            handler,
          ),
        '/a',
        'GET /a unseen',
      ],
      [
        'a sub-application',
        (app) => app.use('/sub', framework().use('/x', guard).get('/a', handler)),
        '/sub/a',
        'ALL /sub/* unseen',
      ],
      [
        'a guard within another function',
        (app) =>
          app
            .use((q, s, next) => {
              if (q.query['guarded'] === undefined) next()
              else guard(q, s, next)
            })
            .get('/a', handler),
        '/a',
        'GET /a none',
      ],
      [
        'a router of strangers behind a router with a guard',
        (app) =>
          app.use('/v1', framework.Router().use(guard)).use(framework.Router().get('/a', handler)),
        '/a',
        'GET /a none',
      ],
    ])('%s', async (_case, build, path, expected, method) => {
      const app = appWith(build)
      expect(await stranger(app, path, method)).toBe(200)
      expect(listed(app)).toContain(expected)
      expect(listed(app).filter((each) => each.endsWith('required'))).toEqual([])
    })

    test('a sensitive guard beside a mount that is not', async () => {
      const app = framework()
      app.set('case sensitive routing', true)
      app.use('/admin', guard)
      app.use('/', framework.Router().get('/admin', handler))
      expect(await stranger(app, '/ADMIN')).toBe(200)
      expect(listed(app)).toEqual(['GET /admin unseen'])
    })

    test('a sensitive guard of one path beside a route that is not', async () => {
      const router = framework.Router({ caseSensitive: true })
      router.all('/a', guard)
      Object.assign(router, { caseSensitive: false })
      router.get('/a', handler)
      const app = appWith((each) => each.use(router))
      expect(await stranger(app, '/A')).toBe(200)
      expect(listed(app)).toEqual(['GET /a unseen'])
    })

    test('a strict guard of one path beside a route that is not', async () => {
      const router = framework.Router({ strict: true })
      router.all('/a', guard)
      Object.assign(router, { strict: false })
      router.get('/a', handler)
      const app = appWith((each) => each.use(router))
      expect(await stranger(app, '/a/')).toBe(200)
      expect(listed(app)).toEqual(['GET /a unseen'])
    })

    test.each([['/a'], ['/a/']])('two slashes behind the mount %s', async (mount) => {
      const router = framework.Router().get('/b', handler)
      const app = appWith((each) => each.use('/a/b', guard).use(mount, router))
      expect(await stranger(app, '/a/b')).toBe(401)
      // Express 4 takes off both.
      const isPassed = (await stranger(app, '/a//b')) === 200
      expect(listed(app)).toEqual([`GET /a/b ${isPassed ? 'unseen' : 'required'}`])
      expect(isPassed).toBe(_name === 'Express 4')
    })

    test('a guard by a pattern that matches every other request', async () => {
      const app = appWith((each) => each.use(/^\/a\/?(?=\/|$)/g, guard).get('/a', handler))
      await stranger(app, '/a')
      expect(listed(app)).toEqual(['GET /a unseen'])
    })

    test('a list of paths that differ in their case', async () => {
      const router = framework.Router({ caseSensitive: true })
      router.use(['/admin', '/ADMIN'], guard)
      Object.assign(router, { caseSensitive: false })
      router.get('/admin', handler)
      const app = appWith((each) => each.use(router))
      expect(await stranger(app, '/Admin')).toBe(200)
      expect(listed(app)).toEqual(['GET /admin unseen'])
    })
  })

  describe('before a guard', () => {
    test('a callback of param that answers is named', async () => {
      const app = framework()
      app.param('id', function findUser(_request, response) {
        response.send('answered')
      })
      app.get('/users/:id', guard, handler)
      expect(await stranger(app, '/users/1')).toBe(200)
      expect(routeOf(app, '/users/:id')).toMatchObject({
        state: 'required',
        before: [{ name: 'findUser', path: '/:id' }],
      })
    })

    test('a callback of param of another route that changes the URL is named', async () => {
      const app = appWith((each) => each.use('/api', guard).param('id', rewrite))
      app.get('/:id', logger).get('/api/a', handler)
      expect(await stranger(app, '/x')).toBe(200)
      expect(routeOf(app, '/api/a')?.before).toEqual([{ name: 'rewrite', path: '/:id' }])
    })

    test('a callback of param of another route that is behind the same guard is not named', () => {
      const app = appWith((each) => each.use(guard).param('id', logger))
      app.get('/:id', logger).get('/a/b', handler)
      expect(routeOf(app, '/a/b')?.before).toEqual([])
    })

    test('a callback of param of a mounted router is named, and none of a guard that comes first', () => {
      const router = framework.Router().get('/:id', handler)
      router.param('id', logger)
      const app = framework()
      app.param('tenant', logger)
      app.use('/:tenant', guard, router)
      expect(describeRoutes(app)).toMatchObject({ routes: [{ state: 'unseen' }] })
      const guarded = appWith((each) => each.use(guard).use('/x', router))
      expect(routeOf(guarded, '/x/:id')).toMatchObject({ state: 'required', before: [] })
    })

    test('functions are named with their paths, those of routers and of applications as well', () => {
      const app = framework()
      app.use(logger)
      app.use('/a', function parser(_request, _response, next) {
        next()
      })
      app.use('/b', logger)
      app.use(framework.Router().use('/a', logger))
      app.use('/a', framework())
      app.get('/a', logger, guard, handler)
      expect(routeOf(app, '/a')?.before).toEqual([
        { name: 'logger', path: '/' },
        { name: 'parser', path: '/a' },
        { name: 'logger', path: '/a' },
        { name: 'mounted_app', path: '/a' },
        { name: 'logger', path: '/a' },
      ])
    })

    test('a URL that is changed behind a guard of a path: the function is named', async () => {
      const app = framework()
      app.use('/api', guard)
      app.use(rewrite)
      app.get('/api/a', handler)
      expect(await stranger(app, '/public')).toBe(200)
      expect(routeOf(app, '/api/a')).toMatchObject({
        state: 'required',
        before: [{ name: 'rewrite', path: '/' }],
      })
    })

    test('a rewritten URL leads past it from a router that has more than its prefix, and not from one that has no more', async () => {
      const app = framework()
      app.use('/api', guard)
      const rewriting = () =>
        framework.Router().use(rewrite).get('/api/a', handler).get('/a', handler)
      app.use('/api', rewriting())
      app.use(framework.Router().use(rewriting()))
      expect(await stranger(app, '/public')).toBe(200)
      expect(routeOf(app, '/api/api/a')).toMatchObject({ state: 'required', before: [] })
      const both = describeRoutes(app).routes.filter(({ path }) => path === '/api/a')
      expect(both.map(({ state, before }) => ({ state, before }))).toEqual([
        { state: 'required', before: [] },
        { state: 'required', before: [{ name: 'rewrite', path: '/' }] },
      ])
    })

    test('what stands behind a guard of the whole application is not named', () => {
      const app = appWith((each) =>
        each.use(guard, logger).use('/api', logger).get('/api/a', handler),
      )
      expect(routeOf(app, '/api/a')?.before).toEqual([])
    })

    test('what stands before a requirement behind an optional guard is named', () => {
      const app = appWith((each) =>
        each.use(optional, logger).get('/a', authorize(scope('r')), handler),
      )
      expect(routeOf(app, '/a')?.before).toEqual([{ name: 'logger', path: '/' }])
    })

    test('the route of the metadata is named by what it is', () => {
      const metadata = { path: '/.well-known/x', url: 'https://a.test/.well-known/x', body: '{}' }
      const app = framework()
      app.use(serveMetadata(metadata as never), guard)
      app.get('/a', handler)
      expect(routeOf(app, '/a')?.before).toEqual([{ name: 'serveProtectedResource', path: '/' }])
    })
  })

  describe('nobody sees', () => {
    test('an error handler that answers what a guard has refused', async () => {
      const app = appWith((each) => each.use(guard).get('/a', handler))
      app.use((_e: unknown, _q: Request, response: Response, _next: NextFunction) => {
        response.send('answered')
      })
      expect(await stranger(app, '/a')).toBe(200)
      expect(listed(app)).toEqual(['GET /a required'])
    })

    test('a handler of an open route that changes the URL and hands on', async () => {
      const app = framework()
      app.use('/api', guard)
      app.get('/public', (each, _response, next) => {
        each.url = '/api/a'
        next()
      })
      app.get('/api/a', handler)
      expect(await stranger(app, '/api/a')).toBe(401)
      expect(await stranger(app, '/public')).toBe(200)
      expect(routeOf(app, '/api/a')).toMatchObject({ state: 'required', before: [] })
    })
  })

  test('requirements are described, with the scopes that meet them', () => {
    const app = appWith((each) => each.use(guard).get('/a', authorize(scope('r w')), handler))
    expect(routeOf(app, '/a')?.requirements).toEqual([
      { description: 'scope r w', scopes: [['r', 'w']], isWhole: true },
    ])
  })

  test('optional, none, and a requirement that no guard is before', () => {
    expect(listed(appWith((app) => app.use(optional).get('/a', handler)))).toEqual([
      'GET /a optional',
    ])
    expect(listed(appWith((app) => app.get('/a', handler).post('/a', handler)))).toEqual([
      'GET /a none',
      'POST /a none',
    ])
    expect(listed(appWith((app) => app.get('/a', authorize(scope('r')), handler)))).toEqual([
      'GET /a unseen',
    ])
    expect(
      listed(appWith((app) => app.use(optional).use('/:x', guard).get('/a', handler))),
    ).toEqual(['GET /a unseen'])
  })

  test('a function that strangers reach has an entry, unless it is named before a guard', () => {
    const app = appWith((each) => each.use('/files', handler).use(logger).get('/a', guard, handler))
    expect(listed(app)).toEqual(['ALL /files/* none', 'GET /a required'])
  })

  test('automatic OPTIONS is no route', async () => {
    const app = appWith((each) => each.get('/a', guard, handler))
    expect(listed(app)).toEqual(['GET /a required'])
    expect((await request(app).options('/a')).status).toBe(200)
  })

  test('an application within is one entry, and the list is not complete', () => {
    const app = appWith((each) => each.use(guard).use('/sub', framework()))
    expect(describeRoutes(app)).toMatchObject({
      routes: [{ method: 'ALL', path: '/sub/*', state: 'required' }],
      isComplete: false,
    })
    expect(describeRoutes(appWith((each) => each.get('/a', handler))).isComplete).toBe(true)
  })

  test('routers that are within each other end', () => {
    const [one, other] = [framework.Router(), framework.Router()]
    one.use('/x', other)
    other.use('/y', one).get('/a', handler)
    expect(listed(appWith((app) => app.use(one)))).toEqual(['ALL /x/y/* unseen', 'GET /x/a none'])
  })

  test('nothing, an application without routes, and a router alone', () => {
    expect(describeRoutes(framework())).toEqual({ routes: [], isComplete: true })
    expect(listed(framework.Router().get('/a', guard, handler))).toEqual(['GET /a required'])
    for (const wrong of [
      undefined,
      null,
      {},
      () => {},
      'app',
      Object.assign(() => {}, { stack: [{}] }),
    ]) {
      expect(() => describeRoutes(wrong as never)).toThrow(
        'must be an application or a router of Express',
      )
    }
  })
})
