import type { IncomingMessage } from 'node:http'

import {
  all,
  type Auth,
  type AuthError,
  createVerifier,
  type GuardOptions,
  localKeys,
  protectedResourceMetadata,
  type Requirement,
  scope,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import express5 from 'express'
import express4 from 'express4'
import { expect, expectTypeOf, test } from 'vitest'

import {
  authenticate,
  authorize,
  findAuth,
  getAuth,
  type Middleware,
  serveMetadata,
} from '../src/index.ts'

// The compiler checks these; that they run as well shows that nothing here is only a declaration.

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const metadata = protectedResourceMetadata({ resource: 'https://api.test' })

test('Express 5 takes the middleware without a cast, wherever it takes middleware', () => {
  const app = express5()
  app.use(serveMetadata(metadata), authenticate(verifier), authorize(scope('read')))
  app.use('/v1', authenticate(verifier))
  app.use([authenticate(verifier), authorize(scope('read'))])
  app.get('/', authenticate(verifier), authorize(scope('read')), (req, res) => {
    res.json(getAuth(req).claims.sub)
  })
  const router = express5.Router()
  router.use(authenticate(verifier))
  router
    .route('/')
    .all(authenticate(verifier))
    .get(authorize(scope('read')))
  expectTypeOf(authenticate(verifier)).toExtend<express5.RequestHandler>()
  expectTypeOf(authorize(scope('read'))).toExtend<express5.RequestHandler>()
  expectTypeOf(serveMetadata(metadata)).toExtend<express5.RequestHandler>()
})

test('Express 4 takes the middleware without a cast, wherever it takes middleware', () => {
  const app = express4()
  app.use(serveMetadata(metadata), authenticate(verifier), authorize(scope('read')))
  app.use('/v1', authenticate(verifier))
  app.use([authenticate(verifier), authorize(scope('read'))])
  app.get('/', authenticate(verifier), authorize(scope('read')), (req, res) => {
    res.json(getAuth(req).claims.sub)
  })
  const router = express4.Router()
  router.use(authenticate(verifier))
  router
    .route('/')
    .all(authenticate(verifier))
    .get(authorize(scope('read')))
  expectTypeOf(authenticate(verifier)).toExtend<express4.RequestHandler>()
  expectTypeOf(authorize(scope('read'))).toExtend<express4.RequestHandler>()
})

test('a handler behind them keeps the parameters that its path gives it', () => {
  express5().get('/places/:id', authenticate(verifier), (req, res) => {
    expectTypeOf(req.params.id).toEqualTypeOf<string>()
    res.end()
  })
})

test('getAuth gives typed claims in a handler, with no assertion', () => {
  express5().get('/', (req, res) => {
    const { claims, header, token } = getAuth(req)
    expectTypeOf(claims.exp).toEqualTypeOf<number | undefined>()
    expectTypeOf(claims.sub).toEqualTypeOf<unknown>()
    expectTypeOf(claims['tenant']).toEqualTypeOf<unknown>()
    expectTypeOf(header.alg).toEqualTypeOf<string>()
    expectTypeOf(token).toEqualTypeOf<string>()
    res.json(claims.exp)
  })
  express4().get('/', (req, res) => {
    expectTypeOf(getAuth(req).claims.exp).toEqualTypeOf<number | undefined>()
    res.end()
  })
})

test('getAuth is an Auth, and findAuth perhaps one', () => {
  expectTypeOf(() => getAuth({})).returns.toEqualTypeOf<Auth>()
  expectTypeOf(() => findAuth({})).returns.toEqualTypeOf<Auth | undefined>()
  expectTypeOf(getAuth).toBeCallableWith({}, verifier)
  expectTypeOf(findAuth).toBeCallableWith({}, verifier)
})

test('claims are read-only', () => {
  express5().get('/', (req) => {
    const { claims } = getAuth(req)
    // @ts-expect-error -- nobody changes what has been proven
    claims.exp = 0
    expectTypeOf(claims).toEqualTypeOf<Auth['claims']>()
  })
})

test('onRefusal is told the request, and an error whose code can be switched on', () => {
  authenticate(verifier, {
    onRefusal(error, request) {
      expectTypeOf(error).toEqualTypeOf<AuthError>()
      expectTypeOf(request).toEqualTypeOf<IncomingMessage>()
    },
  })
  expectTypeOf(authenticate(verifier)).toEqualTypeOf<Middleware>()
  expectTypeOf<GuardOptions<IncomingMessage>>().toExtend<Parameters<typeof authenticate>[1]>()
})

test('onRefusal takes the request of Express 5 and of Express 4, without a cast', () => {
  const ips: (string | undefined)[] = []
  const guard = authenticate(verifier, {
    onRefusal: (error, req: express5.Request) => ips.push(req.ip, error.reason),
  })
  expectTypeOf(guard).toEqualTypeOf<Middleware<express5.Request>>()
  express5().use(guard)
  express5().use('/v1', guard, authorize(scope('read')))
  express5().get('/', guard, (req, res) => {
    res.json(getAuth(req).claims.sub)
  })
  express5.Router().route('/').all(guard)
  express4().use(
    authenticate(verifier, {
      onRefusal: (error, req: express4.Request) => ips.push(req.ip, error.reason),
    }),
  )
})

test('a guard whose onRefusal wants more than a request has is no middleware', () => {
  const guard = authenticate(verifier, {
    onRefusal: (_error, req: express5.Request & { tenant: string }) => req.tenant.length,
  })
  // @ts-expect-error -- no request of this application has a tenant
  express5().use(guard)
  // @ts-expect-error -- a request is no text
  expectTypeOf(authenticate).toBeCallableWith(verifier, { onRefusal: (_e, req: string) => req })
})

test('a misspelt option and a verifier that is none do not compile', () => {
  // @ts-expect-error -- there is no such option
  expectTypeOf(authenticate).toBeCallableWith(verifier, { realms: 'api' })
  // @ts-expect-error -- the keys of a verifier are none
  expectTypeOf(authenticate).toBeCallableWith(localKeys(issuer.publicJwk))
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
