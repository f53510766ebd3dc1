import { createVerifier, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { Hono, type MiddlewareHandler } from 'hono'
import { every, except, some } from 'hono/combine'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize } from '../src/index.ts'
import { describeRoutes } from '../src/routes.ts'

// Which routes the list calls required, beside what a stranger gets from each. The list may say less than is so, and never more.

const { verifierOptions } = await createTestIssuer()
const verifier = createVerifier(verifierOptions)
const guard: MiddlewareHandler = authenticate(verifier)
const optional: MiddlewareHandler = authenticate(verifier, { optional: true })

const handler: MiddlewareHandler = async (c) => c.text('answered')
const logger: MiddlewareHandler = async function logger(_c, next) {
  await next()
}

function listed(app: Hono): readonly string[] {
  return describeRoutes(app).routes.map(({ method, path, state }) => `${method} ${path} ${state}`)
}

async function stranger(app: Hono, path: string, method = 'GET'): Promise<number> {
  return (await app.request(path, { method })).status
}

describe('required is', () => {
  test.each<[string, Hono, string, string]>([
    [
      'a route behind a guard of all paths',
      new Hono().use(guard).get('/a', handler),
      '/a',
      'GET /a',
    ],
    ['one behind /*', new Hono().use('/*', guard).get('/a/:id', handler), '/a/1', 'GET /a/:id'],
    [
      'a route below the path of a guard',
      new Hono().use('/api/*', guard).get('/api/:id', handler),
      '/api/1',
      'GET /api/:id',
    ],
    ['the path itself', new Hono().use('/api/*', guard).get('/api', handler), '/api', 'GET /api'],
    [
      'a route with a guard of its own',
      new Hono().get('/a/:id', guard, handler),
      '/a/1',
      'GET /a/:id',
    ],
    [
      'a route whose guard has the same path',
      new Hono().use('/a/:id', guard).post('/a/:id', handler),
      '/a/1',
      'POST /a/:id',
    ],
    [
      'a route of an application within',
      new Hono().use('/v1/*', guard).route('/v1', new Hono().get('/a', handler)),
      '/v1/a',
      'GET /v1/a',
    ],
    [
      'one whose guard is within as well',
      new Hono().route('/v1', new Hono().use(guard).get('/a', handler)),
      '/v1/a',
      'GET /v1/a',
    ],
    [
      'one of an application with an error handler',
      new Hono().route(
        '/v1',
        new Hono()
          .onError((_e, c) => c.text('no', 418))
          .use(guard)
          .get('/a', handler),
      ),
      '/v1/a',
      'GET /v1/a',
    ],
    [
      'a requirement behind an optional guard',
      new Hono().use(optional).get('/a', authorize(scope('r')), handler),
      '/a',
      'GET /a',
    ],
    [
      'a route without strictness',
      new Hono({ strict: false }).use('/a/*', guard).get('/a/b', handler),
      '/a/b/',
      'GET /a/b',
    ],
  ])('%s', async (_case, app, path, route) => {
    expect(listed(app)).toEqual([`${route} required`])
    expect(describeRoutes(app).routes[0]?.before).toEqual([])
    const method = route.split(' ')[0]
    expect([401, 418]).toContain(await stranger(app, path, method))
    expect([401, 404, 418]).toContain(await stranger(app, path, 'HEAD'))
  })
})

describe('a stranger is answered although a guard is there, and it is not called required:', () => {
  test.each<[string, Hono, string, string, string?]>([
    ['a route before use', new Hono().get('/a', handler).use(guard), '/a', 'GET /a none'],
    ['a guard behind the handler', new Hono().get('/a', handler, guard), '/a', 'GET /a none'],
    ['except', new Hono().use(except('/a', guard)).get('/a', handler), '/a', 'GET /a unseen'],
    ['some', new Hono().use(some(() => true, guard)).get('/a', handler), '/a', 'GET /a unseen'],
    [
      'every, behind a condition',
      new Hono().use(some(() => true, every(guard))).get('/a', handler),
      '/a',
      'GET /a unseen',
    ],
    [
      'a guard on /api/:id beside a route /api/*',
      new Hono().use('/api/:id', guard).get('/api/*', handler),
      '/api/a/b',
      'GET /api/* unseen',
    ],
    [
      'a slash at the end, with strictness',
      new Hono().use('/a', guard).get('/a/', handler),
      '/a/',
      'GET /a/ unseen',
    ],
    [
      'a guard of the path alone',
      new Hono().use('/api', guard).get('/api/a', handler),
      '/api/a',
      'GET /api/a none',
    ],
    [
      'a guard by get, a route by all, then POST',
      new Hono().get('/a', guard).all('/a', handler),
      '/a',
      'ALL /a unseen',
      'POST',
    ],
    [
      'a guard by get, a route by post',
      new Hono().get('/a', guard).post('/a', handler),
      '/a',
      'POST /a none',
      'POST',
    ],
    [
      'an optional parameter',
      new Hono().use('/a/:id', guard).get('/a/:id?', handler),
      '/a',
      'GET /a/:id? unseen',
    ],
    [
      'a guard of an application that is mounted elsewhere',
      new Hono().route('/v1', new Hono().use(guard)).get('/a', handler),
      '/a',
      'GET /a none',
    ],
    [
      'a way of its own to make a path of a URL',
      new Hono({ getPath: (each) => (each.url.includes('?') ? '/a' : '/b') })
        .use('/b', guard)
        .get('/a', handler),
      '/b?',
      'GET /a unseen',
    ],
    [
      'a guard within another function',
      new Hono()
        .use(async (c, next) => (c.req.query('x') === undefined ? next() : guard(c, next)))
        .get('/a', handler),
      '/a',
      'GET /a none',
    ],
  ])('%s', async (_case, app, path, expected, method) => {
    expect(await stranger(app, path, method)).toBe(200)
    expect(listed(app)).toContain(expected)
    expect(listed(app).filter((each) => each.endsWith('required'))).toEqual([])
  })

  test('a way of its own that has the name of Hono’s', () => {
    const app = new Hono({
      getPath(request) {
        return request.url
      },
    })
    expect(listed(app.use(guard).get('/a', handler))).toEqual(['GET /a unseen'])
  })
})

test('before a guard functions are named with their paths, and none behind it', () => {
  const app = new Hono().use(logger).use('/a/*', logger).use('/b', logger)
  app.get('/a/:id', logger, guard, logger, handler)
  expect(describeRoutes(app).routes).toMatchObject([
    { method: 'ALL', path: '/b', handler: 'logger', state: 'none' },
    {
      path: '/a/:id',
      state: 'required',
      before: [
        { name: 'logger', path: '/*' },
        { name: 'logger', path: '/a/*' },
        { name: 'logger', path: '/a/:id' },
      ],
    },
  ])
})

test('nobody sees an error handler that answers what a guard has refused', async () => {
  const forwarding: MiddlewareHandler = authenticate(verifier, { respond: 'forward' })
  const app = new Hono().use(forwarding).get('/a', handler)
  app.onError((_error, c) => c.text('answered', 200))
  expect(await stranger(app, '/a')).toBe(200)
  expect(listed(app)).toEqual(['GET /a required'])
})

test('optional, none, requirements, and one that no guard is before', () => {
  expect(listed(new Hono().use(optional).get('/a', handler))).toEqual(['GET /a optional'])
  expect(listed(new Hono().get('/a', handler).all('/b', handler))).toEqual([
    'GET /a none',
    'ALL /b none',
  ])
  expect(listed(new Hono().get('/a', authorize(scope('r')), handler))).toEqual(['GET /a unseen'])
  const app = new Hono().use(guard).get('/a', authorize(scope('r')), handler)
  expect(describeRoutes(app).routes[0]?.requirements).toEqual([
    { description: 'scope r', scopes: [['r']], isWhole: true },
  ])
})

test('another application that is mounted has an entry', () => {
  const app = new Hono().mount('/old', () => new Response('answered'))
  expect(listed(app)).toEqual(['ALL /old/* none'])
})

test('nothing, an application of a class of its own, and what is none', () => {
  class Own extends Hono {
    constructor(name: string) {
      super()
      if (typeof name !== 'string') throw new TypeError('a name')
    }
  }
  expect(describeRoutes(new Hono())).toEqual({ routes: [], isComplete: true })
  expect(listed(new Own('a').use(guard).get('/a', handler))).toEqual(['GET /a required'])
  for (const wrong of [
    undefined,
    null,
    {},
    () => {},
    'app',
    { routes: [{}], getPath() {}, fetch() {} },
  ]) {
    expect(() => describeRoutes(wrong as never)).toThrow('must be an application of Hono')
  }
})
