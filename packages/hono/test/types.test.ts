import {
  all,
  type Auth,
  createVerifier,
  localKeys,
  protectedResourceMetadata,
  refusal,
  type Requirement,
  scope,
  type Verifier,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { expect, expectTypeOf, test } from 'vitest'

import {
  authenticate,
  authorize,
  type AuthVariables,
  findAuth,
  getAuth,
  serveMetadata,
} from '../src/index.ts'

// The compiler checks these; that they run as well shows that nothing here is only a declaration.

interface Role {
  readonly role: 'user' | 'admin'
}

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const ofRoles = verifier as Verifier<unknown> as Verifier<Role>

test('applications with AuthVariables, with more variables, with bindings and without any take the middleware', () => {
  const metadata = serveMetadata(protectedResourceMetadata({ resource: 'https://api.test' }))
  const guard = authenticate(verifier)
  const demand = authorize(scope('read'))
  new Hono<{ Variables: AuthVariables }>().use(metadata).use(guard).use('/v1/*', guard, demand)
  new Hono<{ Variables: AuthVariables & { tenant: string } }>().use(metadata, guard, demand)
  new Hono<{ Bindings: { SECRET: string }; Variables: AuthVariables }>().use(guard, demand)
  new Hono<{ Variables: { tenant: string } }>().use(guard, demand)
  new Hono().use(metadata, guard, demand).get('/', guard, demand, (c) => c.text('in'))
  expectTypeOf(guard).toExtend<MiddlewareHandler>()
})

test('c.get and c.var have an Auth in the handlers of an application with AuthVariables', () => {
  const app = new Hono<{ Variables: AuthVariables }>()
  app.use(authenticate(verifier))
  app.get('/', (c) => {
    expectTypeOf(c.get('auth')).toEqualTypeOf<Auth>()
    expectTypeOf(c.var.auth.claims.exp).toEqualTypeOf<number | undefined>()
    expectTypeOf(c.var.auth.claims.sub).toEqualTypeOf<unknown>()
    return c.text('in')
  })
})

test('a chain needs no declaration, and knows the claims of a verifier with a schema', () => {
  new Hono().get('/', authenticate(verifier), authorize(scope('read')), (c) => {
    expectTypeOf(c.var.auth).toEqualTypeOf<Auth>()
    return c.text('in')
  })
  new Hono().use(authenticate(ofRoles)).get('/', (c) => {
    expectTypeOf(c.get('auth').claims.role).toEqualTypeOf<'user' | 'admin'>()
    return c.text('in')
  })
})

test('where the variable may be missing, its type says so', () => {
  new Hono().get('/', authenticate(verifier, { optional: true }), (c) => {
    expectTypeOf(c.get('auth')).toEqualTypeOf<Auth | undefined>()
    return c.text('in')
  })
  new Hono().get('/', authenticate(verifier, { property: 'user' }), (c) => {
    expectTypeOf(c.get('auth')).toEqualTypeOf<Auth | undefined>()
    return c.text('in')
  })
  new Hono<{ Variables: { user: Auth } }>().use(authenticate(verifier, { property: 'user' }))
})

test('getAuth gives typed claims in a handler, with no assertion', () => {
  new Hono().get('/', (c) => {
    expectTypeOf(getAuth(c)).toEqualTypeOf<Auth>()
    expectTypeOf(getAuth(c, ofRoles)).toEqualTypeOf<Auth<Role>>()
    expectTypeOf(findAuth(c)).toEqualTypeOf<Auth | undefined>()
    return c.text('in')
  })
})

test('onRefusal is told the context of Hono', () => {
  const guard = authenticate(verifier, {
    onRefusal(_error, c) {
      expectTypeOf(c).toEqualTypeOf<Context>()
    },
  })
  expectTypeOf(guard).toExtend<MiddlewareHandler>()
})

test('app.onError takes the status of a refusal without a cast', () => {
  const app = new Hono().onError((error, c) => {
    const refused = refusal(error)
    return refused ? c.json({ code: refused.code }, refused.status) : c.text('fault', 500)
  })
  expectTypeOf(app).toExtend<Hono>()
})

test('AuthVariables without a type parameter are for claims that nobody has looked at', () => {
  expectTypeOf<AuthVariables['auth']>().toEqualTypeOf<Auth>()
  expectTypeOf<AuthVariables<Role>['auth']['claims']>().toEqualTypeOf<Role>()
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
