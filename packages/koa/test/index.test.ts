import {
  type AuthError,
  createVerifier,
  localKeys,
  remoteKeys,
  scope,
  type Verifier,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import Koa from 'koa'
import Koa2 from 'koa2'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize, type AuthState, findAuth, getAuth } from '../src/index.ts'

// What is so with Koa alone. What every framework has in common is in test/frameworks/contract.

const issuer = await createTestIssuer()
const verifier = verifierOf()
const bearer = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })

type App = Koa<AuthState>

const frameworks: [string, () => App][] = [
  ['Koa 3', () => new Koa<AuthState>()],
  // What these tests use, both majors have alike, with types of their own.
  ['Koa 2', () => new Koa2<AuthState>() as unknown as App],
]

describe.each(frameworks)('%s', (_name, createApp) => {
  test.each([
    ['authenticate', authenticate, 'a verifier: write authenticate(verifier, options)'],
    ['authorize', authorize, "a requirement, as in authorize(scope('read'))"],
  ])(
    '%s itself as middleware: no request passes, and the log says what to write',
    async (name, middleware, told) => {
      const app = createApp()
      const errors: string[] = []
      app.on('error', (error) => errors.push(String(error)))
      app.use(middleware as never)
      app.use((ctx) => {
        ctx.body = 'open'
      })
      const answer = await request(app.callback()).get('/').set(bearer)
      expect(answer.status).toBe(500)
      expect(errors).toEqual([expect.stringContaining(`TypeError: ${name}: `)])
      expect(errors.join()).toContain(`must be ${told}`)
    },
  )

  describe('the state', () => {
    test('property names where the proof is put, and the usual place stays empty', async () => {
      const app = createApp()
      app.use(authenticate(verifier, { property: 'user' }))
      app.use((ctx) => {
        ctx.body = {
          keys: Object.keys(ctx.state),
          same: Reflect.get(ctx.state, 'user') === getAuth(ctx),
        }
      })
      const response = await request(app.callback()).get('/').set(bearer)
      expect(response.body).toEqual({ keys: ['user'], same: true })
    })

    test('of a refused request has no claims', async () => {
      const app = createApp()
      const states: object[] = []
      app.use(async (ctx, next) => {
        await next().catch(() => states.push({ ...ctx.state }))
      })
      app.use(authenticate(verifier))
      const expired = await issuer.bearer({ expiresIn: -60 })
      for (const headers of [{}, expired]) await request(app.callback()).get('/').set(headers)
      expect(states).toEqual([{}, {}])
    })

    test('an anonymous request keeps nothing that was in the state before', async () => {
      const app = createApp()
      app.use(async (ctx, next) => {
        Reflect.set(ctx.state, 'auth', { claims: { sub: 'forged' } })
        await next()
      })
      app.use(authenticate(verifier, { optional: true }))
      app.use((ctx) => {
        ctx.body = [typeof ctx.state.auth, typeof findAuth(ctx)]
      })
      const response = await request(app.callback()).get('/')
      expect(response.body).toEqual(['undefined', 'undefined'])
    })
  })

  describe('a state that', () => {
    const seen: unknown[] = []
    const handle = (ctx: Koa.ParameterizedContext<AuthState>) => {
      seen.push([Object.hasOwn(ctx.state, 'auth'), ctx.state.auth.claims.sub])
      ctx.status = 204
    }

    /** Twice: the second token is remembered. */
    async function statusesWith(prepare: (state: object) => object): Promise<number[]> {
      seen.length = 0
      const app = createApp()
      app.silent = true
      app.use(async (ctx, next) => {
        ctx.state = prepare(ctx.state) as AuthState
        await next()
      })
      app.use(authenticate(verifierOf()))
      app.use(handle)
      const callback = app.callback()
      const statuses: number[] = []
      for (let count = 0; count < 2; count++) {
        const { status } = await request(callback).get('/').set(bearer)
        statuses.push(status)
      }
      return statuses
    }

    const forged = { claims: { sub: 'mallory' } }

    test.each<[string, (state: object) => object]>([
      ['is frozen', Object.freeze],
      [
        'has fixed that property',
        (state) => Object.defineProperty(state, 'auth', { value: forged }),
      ],
      ['is a proxy that refuses it', (state) => new Proxy(state, { defineProperty: () => false })],
    ])('%s: 500, and no handler runs', async (_, prepare) => {
      expect(await statusesWith(prepare)).toEqual([500, 500])
      expect(seen).toEqual([])
    })

    test.each<[string, (state: object) => object]>([
      [
        'inherits a setter',
        () =>
          Object.create({
            get auth() {
              return forged
            },
            set auth(_) {},
          }) as object,
      ],
      ['inherits a fixed value', () => Object.create(Object.freeze({ auth: forged })) as object],
      [
        'is a proxy that swallows what is assigned',
        (state) => new Proxy(state, { set: () => true, has: () => false }),
      ],
    ])('%s: the proof is its own all the same', async (_, prepare) => {
      expect(await statusesWith(prepare)).toEqual([204, 204])
      expect(seen).toEqual([
        [true, 'ada'],
        [true, 'ada'],
      ])
    })
  })

  test('a guard that cannot show its proof rejects, and throws nothing', async () => {
    const guard = authenticate(verifier)
    await verifier.verify(bearer.authorization.slice('Bearer '.length))
    const context = { req: { headers: bearer }, state: Object.freeze({}) } as unknown as Koa.Context
    const answer = guard(context, () => Promise.reject(new Error('not to be called')))
    await expect(answer).rejects.toThrow(new TypeError('authenticate: cannot set state.auth'))
  })

  describe('a refusal', () => {
    test('keeps its challenge through the error handler of Koa, which drops other headers', async () => {
      const app = createApp()
      app.use(async (ctx, next) => {
        ctx.set('X-Before', 'dropped')
        await next()
      })
      app.use(authenticate(verifier))
      const response = await request(app.callback()).get('/')
      expect(response.status).toBe(401)
      expect(response.headers).toMatchObject({
        'www-authenticate': 'Bearer realm="api"',
        'cache-control': 'no-store',
        'content-type': 'text/plain; charset=utf-8',
      })
      expect(response.headers).not.toHaveProperty('x-before')
      expect(response.text).toBe('An access token is required')
    })

    test('is nothing that Koa would print, whatever its status', async () => {
      const app = createApp()
      app.silent = false
      const errors: AuthError[] = []
      app.on('error', (error: AuthError) => {
        errors.push(error)
      })
      app.use(authenticate(verifier))
      app.use(authorize(scope('write')))
      const down = createApp()
      down.on('error', (error: AuthError) => {
        errors.push(error)
      })
      down.use(authenticate(outage()))
      await request(app.callback()).get('/').expect(401)
      await request(app.callback())
        .get('/')
        .set({ authorization: 'Bearer a, Bearer b' })
        .expect(400)
      await request(app.callback()).get('/').set(bearer).expect(403)
      await request(down.callback()).get('/').set(bearer).expect(503)
      expect(errors.map(({ status }) => status)).toEqual([401, 400, 403, 503])
      // Koa prints the errors that are not exposed.
      expect(errors.filter(({ expose }) => !expose)).toEqual([])
    })

    test('respond: problem answers without an error, and middleware in front goes on with the answer', async () => {
      const statuses: number[] = []
      const errors: unknown[] = []
      const app = createApp()
      app.on('error', (error) => {
        errors.push(error)
      })
      app.use(async (ctx, next) => {
        await next()
        ctx.set('X-Kept', 'yes')
        statuses.push(ctx.status)
      })
      app.use(authenticate(verifier, { respond: 'problem' }))
      app.use(authorize(scope('write')))
      app.use((ctx) => {
        statuses.push(200)
        ctx.status = 200
      })
      for (const headers of [{}, bearer]) {
        const response = await request(app.callback()).get('/').set(headers)
        expect(response.headers).toMatchObject({
          'content-type': 'application/problem+json',
          'x-kept': 'yes',
        })
      }
      expect(statuses).toEqual([401, 403])
      expect(errors).toEqual([])
    })
  })

  test('the guard waits for what is behind it', async () => {
    const steps: string[] = []
    const app = createApp()
    app.use(async (_ctx, next) => {
      await next()
      steps.push('in front')
    })
    app.use(authenticate(verifier))
    app.use(authorize(scope('read')))
    app.use(async (ctx) => {
      await issuer.token()
      steps.push('handler')
      ctx.status = 204
    })
    await request(app.callback()).get('/').set(bearer).expect(204)
    expect(steps).toEqual(['handler', 'in front'])
  })
})

function verifierOf(keys = localKeys(issuer.publicJwk)): Verifier {
  return createVerifier({ keys, issuer: null, audience: null })
}

/** A verifier that cannot get its keys. */
function outage(): Verifier {
  return verifierOf(
    remoteKeys('https://auth.test/tokenservice/pubkey.json', {
      fetch: () => Promise.reject(new Error('down')),
    }),
  )
}
