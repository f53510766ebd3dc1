import { Router } from '@koa/router'
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
import Koa from 'koa'
import Koa2 from 'koa2'
import { expect, expectTypeOf, test } from 'vitest'

import {
  authenticate,
  authorize,
  type AuthState,
  type Context,
  findAuth,
  getAuth,
  type Middleware,
  serveMetadata,
} from '../src/index.ts'

// The compiler checks these; that they run as well shows that nothing here is only a declaration.

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const metadata = protectedResourceMetadata({ resource: 'https://api.test' })

test('Koa 3 takes the middleware without a cast, with AuthState, with a state of its own and without', () => {
  for (const app of [
    new Koa<AuthState>(),
    new Koa<AuthState & { tenant: string }>(),
    new Koa<AuthState, { locals: object }>(),
  ]) {
    app
      .use(serveMetadata(metadata))
      .use(authenticate(verifier))
      .use(authorize(scope('read')))
  }
  new Koa()
    .use(serveMetadata(metadata))
    .use(authenticate(verifier))
    .use(authorize(scope('read')))
  expectTypeOf(authenticate(verifier)).toExtend<Koa.Middleware>()
  expectTypeOf(authenticate(verifier)).toExtend<Koa.Middleware<AuthState>>()
})

test('Koa 2 takes the middleware without a cast, with AuthState and without', () => {
  new Koa2<AuthState>()
    .use(serveMetadata(metadata))
    .use(authenticate(verifier))
    .use(authorize(scope('read')))
  new Koa2()
    .use(serveMetadata(metadata))
    .use(authenticate(verifier))
    .use(authorize(scope('read')))
  expectTypeOf(authenticate(verifier)).toExtend<Koa2.Middleware<AuthState>>()
})

test('ctx.state.auth is an Auth in the handlers of an application with AuthState', () => {
  new Koa<AuthState>().use((ctx) => {
    expectTypeOf(ctx.state.auth).toEqualTypeOf<Auth>()
    expectTypeOf(ctx.state.auth.claims.exp).toEqualTypeOf<number | undefined>()
    expectTypeOf(ctx.state.auth.claims.sub).toEqualTypeOf<unknown>()
  })
  new Koa2<AuthState>().use((ctx) => {
    expectTypeOf(ctx.state.auth).toEqualTypeOf<Auth>()
  })
})

test('a router with AuthState takes the middleware without a cast and has ctx.state.auth', () => {
  const router = new Router<AuthState>()
  router.use(authenticate(verifier))
  router.get('/places/:id', authorize(scope('read')), (ctx) => {
    expectTypeOf(ctx.state.auth).toEqualTypeOf<Auth>()
    expectTypeOf(getAuth(ctx).claims.exp).toEqualTypeOf<number | undefined>()
    ctx.body = ctx.state.auth.claims.sub
  })
  router.all('/', authenticate(verifier), authorize(scope('read')), (ctx) => {
    ctx.status = 204
  })
  new Koa<AuthState>().use(router.routes()).use(router.allowedMethods())
})

test('a router without a state takes the middleware too, and getAuth is typed there', () => {
  const router = new Router()
  router.use(authenticate(verifier), authorize(scope('read')))
  router.get('/', authenticate(verifier), (ctx) => {
    expectTypeOf(getAuth(ctx)).toEqualTypeOf<Auth>()
  })
  new Koa().use(router.routes())
})

test('getAuth gives typed claims in a handler, with no assertion', () => {
  new Koa().use((ctx) => {
    const { claims } = getAuth(ctx)
    expectTypeOf(claims.exp).toEqualTypeOf<number | undefined>()
    expectTypeOf(claims.sub).toEqualTypeOf<unknown>()
    expectTypeOf(findAuth(ctx)).toEqualTypeOf<Auth | undefined>()
  })
  new Koa2().use((ctx) => {
    expectTypeOf(getAuth(ctx, verifier).claims.exp).toEqualTypeOf<number | undefined>()
  })
})

test('onRefusal is told the context', () => {
  authenticate(verifier, {
    onRefusal(_error, ctx) {
      expectTypeOf(ctx).toEqualTypeOf<Context>()
      expectTypeOf(ctx.path).toEqualTypeOf<string>()
    },
  })
  expectTypeOf(authenticate(verifier)).toEqualTypeOf<Middleware>()
})

test('onRefusal takes the context of Koa 3 and of Koa 2, without a cast', () => {
  const ips: string[] = []
  const guard = authenticate(verifier, {
    onRefusal: (error, ctx: Koa.Context) => ips.push(ctx.ip, error.reason),
  })
  expectTypeOf(guard).toEqualTypeOf<Middleware<Koa.Context>>()
  new Koa().use(guard)
  new Koa<AuthState>().use(guard)
  new Router<AuthState>().use(guard).get('/', guard, (ctx) => {
    expectTypeOf(ctx.state.auth).toEqualTypeOf<Auth>()
  })
  const guard2 = authenticate(verifier, {
    onRefusal: (error, ctx: Koa2.Context) => ips.push(ctx.ip, error.reason),
  })
  new Koa2().use(guard2)
  new Koa2<AuthState>().use(guard2)
})

test('a guard whose onRefusal wants more than a context has is no middleware', () => {
  const guard = authenticate(verifier, {
    onRefusal: (_error, ctx: Koa.Context & { tenant: { name: string } }) => ctx.tenant.name,
  })
  expectTypeOf(guard).not.toExtend<Middleware>()
  // @ts-expect-error -- a context is no text
  expectTypeOf(authenticate).toBeCallableWith(verifier, { onRefusal: (_e, ctx: string) => ctx })
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
