import {
  all,
  type Auth,
  createVerifier,
  localKeys,
  protectedResourceMetadata,
  type Requirement,
  scope,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import fastify, {
  type FastifyContextConfig,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  type onRequestAsyncHookHandler,
} from 'fastify'
import { expect, expectTypeOf, test } from 'vitest'

import {
  authenticate,
  authorize,
  findAuth,
  getAuth,
  type Hook,
  type Plugin,
  type Request,
  serveMetadata,
} from '../src/index.ts'

// The compiler checks these; that they run as well shows that nothing here is only a declaration.

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const metadata = protectedResourceMetadata({ resource: 'https://api.test' })

test('an app with HTTP/1 takes the plugins and the hook without a cast', async () => {
  const app = fastify()
  await app.register(serveMetadata(metadata))
  await app.register(authenticate(verifier))
  app.addHook('onRequest', authorize(scope('read')))
  app.addHook('preHandler', authorize(scope('read')))
  app.get('/', { onRequest: authorize(scope('read')) }, (request) => {
    expectTypeOf(request.auth).toEqualTypeOf<Auth>()
    expectTypeOf(request.auth.claims.exp).toEqualTypeOf<number | undefined>()
    expectTypeOf(request.auth.claims.sub).toEqualTypeOf<unknown>()
    return {}
  })
  app.route({
    method: 'POST',
    url: '/',
    onRequest: [authorize(scope('read')), authorize(scope('write'))],
    handler: (request) => ({ exp: request.auth.claims.exp }),
  })
  await app.close()
})

test('an app with HTTP/2 takes the plugins and the hook without a cast', async () => {
  const app = fastify({ http2: true })
  await app.register(serveMetadata(metadata))
  await app.register(authenticate(verifier))
  app.addHook('onRequest', authorize(scope('read')))
  app.get('/', { onRequest: authorize(scope('read')) }, (request) => {
    expectTypeOf(request.auth).toEqualTypeOf<Auth>()
    expectTypeOf(getAuth(request).claims.exp).toEqualTypeOf<number | undefined>()
    return {}
  })
  await app.close()
})

test('what authorize returns has a name, for a hook that several routes share', async () => {
  const mayRead: Hook = authorize(scope('read'))
  expectTypeOf(authorize(scope('read'))).toEqualTypeOf<Hook>()
  const app = fastify()
  app.get('/', { onRequest: [mayRead], preHandler: mayRead }, () => ({}))
  await app.close()
})

test('a nested scope takes them without a cast, and options of a registration too', async () => {
  const app = fastify()
  await app.register(
    async (scoped) => {
      await scoped.register(authenticate(verifier, { optional: true }))
      scoped.get('/', { config: { auth: false } }, (request) => {
        expectTypeOf(request.auth).toEqualTypeOf<Auth>()
        return {}
      })
    },
    { prefix: '/v1' },
  )
  await app.register(authenticate(verifier), {})
  await app.close()
})

test('a handler behind them keeps the types of its own route', async () => {
  const app = fastify()
  app.get<{ Params: { id: string } }>(
    '/places/:id',
    { onRequest: authorize(scope('read')) },
    (request, reply) => {
      expectTypeOf(request.params.id).toEqualTypeOf<string>()
      expectTypeOf(reply).toExtend<FastifyReply>()
      expectTypeOf(request.auth).toEqualTypeOf<Auth>()
      return {}
    },
  )
  await app.close()
})

test('config auth is false or nothing', async () => {
  expectTypeOf<FastifyContextConfig['auth']>().toEqualTypeOf<false | undefined>()
  const app = fastify()
  app.get('/open', { config: { auth: false } }, () => 'open')
  // @ts-expect-error -- a route is guarded unless it says otherwise
  app.get('/closed', { config: { auth: true } }, () => 'closed')
  await app.close()
})

test('getAuth is an Auth, and findAuth perhaps one', () => {
  const request = Object.create(null) as FastifyRequest
  expectTypeOf(() => getAuth(request)).returns.toEqualTypeOf<Auth>()
  expectTypeOf(() => findAuth(request)).returns.toEqualTypeOf<Auth | undefined>()
  expectTypeOf(getAuth).toBeCallableWith(request, verifier)
  expectTypeOf(findAuth).toBeCallableWith(request, verifier)
})

test('request.auth is read-only', async () => {
  const app = fastify()
  app.get('/', (request) => {
    // @ts-expect-error -- only a guard says what is proven
    request.auth = getAuth(request)
    expectTypeOf(request.auth).toEqualTypeOf<Auth>()
    return {}
  })
  await app.close()
})

test('onRefusal is told the request', () => {
  authenticate(verifier, {
    onRefusal(_error, request) {
      expectTypeOf(request).toEqualTypeOf<Request>()
    },
  })
  expectTypeOf<FastifyRequest>().toExtend<Request>()
  expectTypeOf(authenticate(verifier)).toEqualTypeOf<Plugin>()
})

test('onRefusal takes the request of Fastify, without a cast', async () => {
  const plugin = authenticate(verifier, {
    onRefusal(error, request: FastifyRequest) {
      request.log.info({ ip: request.ip, reason: error.reason })
    },
  })
  expectTypeOf(plugin).toEqualTypeOf<Plugin<FastifyRequest>>()
  const app = fastify()
  await app.register(plugin)
  await app.register(plugin, { prefix: '/v1' })
  await app.close()
  const http2 = fastify({ http2: true })
  await http2.register(plugin)
  await http2.close()
})

test('a plugin is no hook, and a hook is no plugin', () => {
  // Each of these fails when it runs as well.
  expectTypeOf<Plugin>().not.toExtend<onRequestAsyncHookHandler>()
  expectTypeOf(authorize(scope('read'))).not.toExtend<FastifyPluginAsync>()
  expectTypeOf(authenticate).not.toExtend<FastifyPluginAsync>()
})

test('a misspelt option does not compile', () => {
  // @ts-expect-error -- there is no such option
  expectTypeOf(authenticate).toBeCallableWith(verifier, { realms: 'api' })
})

test('authorize without a requirement does not compile, and a list is for all()', () => {
  // @ts-expect-error -- it would let in everybody with a token
  expect(() => authorize()).toThrow('authorize: there must be at least one requirement')
  const list: readonly Requirement[] = [scope('read'), scope('write')]
  // @ts-expect-error -- the list may be empty
  expect(() => authorize(...list.slice(2))).toThrow('there must be at least one requirement')
  expect(() => authorize(all(...list.slice(2)))).toThrow('there must be at least one requirement')
  expectTypeOf(authorize).toBeCallableWith(all(...list))
  expectTypeOf(authorize).toBeCallableWith(scope('read'), scope('write'))
})
