import {
  type AuthError,
  createVerifier,
  localKeys,
  protectedResourceMetadata,
  remoteKeys,
  scope,
  type Verifier,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import Koa from 'koa'
import Koa2 from 'koa2'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import {
  authenticate,
  authorize,
  type AuthState,
  type Context,
  findAuth,
  getAuth,
  serveMetadata,
} from '../src/index.ts'

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
    test('ctx.state.auth is what the token proves, and the same as getAuth and findAuth say', async () => {
      const app = createApp()
      app.use(authenticate(verifier))
      app.use((ctx) => {
        const { auth } = ctx.state
        ctx.body = { sub: auth.claims.sub, same: [getAuth(ctx), findAuth(ctx)].map(is(auth)) }
      })
      const response = await request(app.callback()).get('/').set(bearer)
      expect(response.body).toEqual({ sub: 'ada', same: [true, true] })
    })

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

    test('getAuth is a TypeError for an anonymous request, where findAuth is undefined', async () => {
      let anonymous: Context | undefined
      const app = createApp()
      app.use(authenticate(verifier, { optional: true }))
      app.use((ctx) => {
        anonymous = ctx
        ctx.status = 204
      })
      await request(app.callback()).get('/').expect(204)
      const seen = present(anonymous)
      expect(findAuth(seen)).toBeUndefined()
      expect(() => getAuth(seen)).toThrow(/anonymous/)
      expect(() => getAuth(seen)).toThrow(TypeError)
    })

    test('getAuth and findAuth are a TypeError without a guard, and for a verifier of no guard', async () => {
      const contexts: Context[] = []
      const app = createApp()
      app.use(async (ctx, next) => {
        if (ctx.path === '/guarded') await authenticate(verifier)(ctx, next)
        else await next()
      })
      app.use((ctx) => {
        contexts.push(ctx)
        ctx.status = 204
      })
      await request(app.callback()).get('/').expect(204)
      await request(app.callback()).get('/guarded').set(bearer).expect(204)
      const [open, guarded] = contexts
      expect(() => getAuth(present(open))).toThrow(/no guard has seen the request/)
      expect(() => findAuth(present(open))).toThrow(TypeError)
      expect(() => getAuth(present(guarded), verifierOf())).toThrow(/no guard with this verifier/)
      expect(getAuth(present(guarded), verifier).claims.sub).toBe('ada')
    })
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

    test('keeps its challenge through the error handler of Koa when it is of authorize', async () => {
      const app = createApp()
      app.use(authenticate(verifier, { realm: 'places' }))
      app.use(authorize(scope('write')))
      const response = await request(app.callback()).get('/').set(bearer)
      expect(response.status).toBe(403)
      expect(response.headers['www-authenticate']).toMatch(
        /^Bearer realm="places", error="insufficient_scope", .*scope="write"$/,
      )
    })

    test("keeps its challenge through a user's own try and catch, which forgets headers", async () => {
      const app = createApp()
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          const { status, message } = error as AuthError
          ctx.status = status
          ctx.body = { message }
        }
      })
      app.use(authenticate(verifier))
      app.use(authorize(scope('write')))
      const missing = await request(app.callback()).get('/')
      expect(missing.status).toBe(401)
      expect(missing.headers).toMatchObject({
        'www-authenticate': 'Bearer realm="api"',
        'cache-control': 'no-store',
      })
      expect(missing.body).toEqual({ message: 'An access token is required' })
      const lacking = await request(app.callback()).get('/').set(bearer)
      expect(lacking.status).toBe(403)
      expect(lacking.headers['www-authenticate']).toContain('error="insufficient_scope"')
    })

    test('keeps Retry-After through the error handler of Koa and through a try and catch', async () => {
      const app = createApp()
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          if (ctx.path === '/') throw error
          ctx.status = (error as AuthError).status
        }
      })
      app.use(authenticate(outage()))
      for (const path of ['/', '/caught']) {
        const response = await request(app.callback()).get(path).set(bearer)
        expect(response.status).toBe(503)
        expect(response.headers['retry-after']).toMatch(/^\d+$/)
        expect(response.headers).not.toHaveProperty('www-authenticate')
      }
    })

    test('tells onRefusal the context, once for each guard or requirement that refuses', async () => {
      const seen: unknown[] = []
      const told: [string, Context][] = []
      const app = createApp()
      app.use(async (ctx, next) => {
        seen.push(ctx)
        await next()
      })
      app.use(
        authenticate(verifier, {
          onRefusal: ({ reason }, ctx) => {
            told.push([reason, ctx])
          },
        }),
      )
      app.use(authorize(scope('write')))
      await request(app.callback()).get('/').expect(401)
      await request(app.callback()).get('/').set(bearer).expect(403)
      expect(told.map(([reason]) => reason)).toEqual(['missing_header', 'scope'])
      expect(told.every(([, ctx], at) => ctx === seen[at])).toBe(true)
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
      await request(app.callback()).get('/').set({ authorization: 'Bearer' }).expect(400)
      await request(app.callback()).get('/').set(bearer).expect(403)
      await request(down.callback()).get('/').set(bearer).expect(503)
      expect(errors.map(({ status }) => status)).toEqual([401, 400, 403, 503])
      // Koa prints the errors that are not exposed.
      expect(errors.filter(({ expose }) => !expose)).toEqual([])
    })

    test('stops the middleware behind it, and that in front goes on', async () => {
      const steps: string[] = []
      const app = createApp()
      app.use(async (_ctx, next) => {
        await next().catch((error: unknown) => {
          steps.push((error as AuthError).code)
          throw error
        })
      })
      app.use(authenticate(verifier))
      app.use(() => {
        steps.push('handler')
      })
      await request(app.callback()).get('/').expect(401)
      expect(steps).toEqual(['missing_token'])
    })

    test('respond: problem answers without an error, with the exact type of a problem', async () => {
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
      for (const [headers, status, code] of [
        [{}, 401, 'missing_token'],
        [bearer, 403, 'insufficient_scope'],
      ] as const) {
        const response = await request(app.callback()).get('/').set(headers)
        expect(response.status).toBe(status)
        expect(response.headers).toMatchObject({
          'content-type': 'application/problem+json',
          'x-kept': 'yes',
        })
        expect(response.headers['www-authenticate']).toMatch(/^Bearer realm="api"/)
        expect(JSON.parse(response.text)).toMatchObject({ status, code })
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

  test('an error of the handler goes past the guard as it is, and onRefusal is not told', async () => {
    const fault = new Error('fault')
    const caught: unknown[] = []
    const told: unknown[] = []
    const app = createApp()
    app.use(async (ctx, next) => {
      await next().catch((error: unknown) => {
        caught.push(error)
        ctx.status = 500
      })
    })
    app.use(authenticate(verifier, { respond: 'problem', onRefusal: (error) => told.push(error) }))
    app.use(authorize(scope('read')))
    app.use(() => {
      throw fault
    })
    const response = await request(app.callback()).get('/').set(bearer)
    expect(response.status).toBe(500)
    expect(response.headers).not.toHaveProperty('www-authenticate')
    expect(caught).toEqual([fault])
    expect(told).toEqual([])
  })

  describe('serveMetadata', () => {
    const metadata = protectedResourceMetadata({ resource: 'https://api.test/v1' })
    const path = '/.well-known/oauth-protected-resource/v1'

    function app(): ReturnType<App['callback']> {
      const created = createApp()
      created.use(serveMetadata(metadata))
      created.use(authenticate(verifier, { resourceMetadata: metadata.url }))
      created.use((ctx) => {
        ctx.body = 'behind'
      })
      return created.callback()
    }

    test.each([path, `${path}?fresh`])('GET %s: the document, without a token', async (url) => {
      const response = await request(app()).get(url)
      expect(response.status).toBe(200)
      expect(response.headers['content-type']).toBe('application/json')
      expect(response.text).toBe(metadata.body)
    })

    test('HEAD: the headers of GET, and no body', async () => {
      const response = await request(app()).head(path)
      expect(response.status).toBe(200)
      expect(response.headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(metadata.body)),
      })
      expect(response.text ?? '').toBe('')
    })

    test.each([
      ['another method', 'post', path],
      ['another path', 'get', `${path}/more`],
      ['a path that is only part of it', 'get', '/.well-known/oauth-protected-resource'],
    ] as const)('%s is for the guard behind it', async (_title, method, url) => {
      const refused = await request(app())[method](url)
      expect(refused.status).toBe(401)
      expect(refused.headers['www-authenticate']).toContain(
        `resource_metadata="https://api.test${path}"`,
      )
      const accepted = await request(app())[method](url).set(bearer)
      expect(accepted.text).toBe('behind')
    })
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

function is(expected: unknown): (value: unknown) => boolean {
  return (value) => value === expected
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('the handler has not run')
  return value
}
