import { AuthError, createVerifier, localKeys, scope, type VerifyOptions } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize, findAuth, getAuth } from '../src/index.ts'

// What is so with Hono alone. What every framework has in common is in test/frameworks/contract.
// Without a server: requests are those of the platform, as on Bun, Deno and edge runtimes.

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const headers = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })

describe('the variable', () => {
  test('property names where the proof is put, and the usual place stays empty', async () => {
    const app = new Hono()
    app.use(authenticate(verifier, { property: 'user' }))
    app.get('/', (c) => c.json([Object.keys(c.var), Reflect.get(c.var, 'user') === getAuth(c)]))
    const response = await app.request('/', { headers })
    expect(await response.json()).toEqual([['user'], true])
  })

  test('an anonymous request keeps nothing that was in the variable before', async () => {
    const app = new Hono<{ Variables: { auth: unknown } }>()
    app.use(async (c, next) => {
      c.set('auth', { claims: { sub: 'forged' } })
      await next()
    })
    app.use(authenticate(verifier, { optional: true }))
    app.get('/', (c) => c.json([typeof c.get('auth'), typeof findAuth(c)]))
    expect(await (await app.request('/')).json()).toEqual(['undefined', 'undefined'])
  })
})

describe('a refusal', () => {
  test('shows app.onError no claims', async () => {
    const app = new Hono()
    app.onError((_error, c) => c.json(Object.keys(c.var)))
    app.use(authenticate(verifier)).get('/', (c) => c.text('in'))
    for (const each of [{}, await issuer.bearer({ expiresIn: -60 })]) {
      expect(await (await app.request('/', { headers: each })).json()).toEqual([])
    }
  })

  test('is answered by Hono with the status, the challenge, no-store and the message', async () => {
    const app = new Hono()
    app.use(authenticate(verifier))
    const missing = await app.request('/')
    expect([missing.status, Object.fromEntries(missing.headers)]).toEqual([
      401,
      {
        'www-authenticate': 'Bearer realm="api"',
        'cache-control': 'no-store',
        'content-type': 'text/plain; charset=utf-8',
      },
    ])
    expect(await missing.text()).toBe('An access token is required')
  })

  test('puts its headers even on a Response that app.onError has made by itself', async () => {
    const app = new Hono()
    app.onError(() => new Response('no', { status: 401 }))
    app.use(authenticate(verifier)).get('/', (c) => c.text('in'))
    const response = await app.request('/')
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="api"')
  })

  test('can be answered with its own getResponse, as an HTTPException can', async () => {
    const app = new Hono()
    app.onError((error, c) => ('getResponse' in error ? error.getResponse() : c.text('fault', 500)))
    app.use(authenticate(verifier)).get('/', (c) => c.text('in'))
    const response = await app.request('/')
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="api"')
    expect(await response.text()).toBe('An access token is required')
  })

  test('is seen by the onError of the inner application that has the guard', async () => {
    const inner = new Hono()
    inner.onError((_error, c) => c.text('inner', 401))
    inner.use(authenticate(verifier))
    const app = new Hono().route('/inner', inner)
    const response = await app.request('/inner')
    expect([response.status, await response.text()]).toEqual([401, 'inner'])
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="api"')
  })

  test('is in c.error for middleware in front, once its own next() has returned', async () => {
    const seen: unknown[] = []
    const app = new Hono()
    app.use(async (c, next) => {
      await next()
      seen.push(c.error)
    })
    app.use(authenticate(verifier))
    await app.request('/')
    expect(seen).toEqual([expect.any(AuthError)])
  })

  test('shows nothing more when it is enumerated or made JSON', async () => {
    const seen: Error[] = []
    const app = new Hono()
    app.onError((error, c) => {
      seen.push(error)
      return c.text('', 401)
    })
    app.use(authenticate(verifier))
    await app.request('/')
    const [error] = seen
    expect(Object.keys(present(error))).not.toContain('getResponse')
    expect(JSON.stringify(error)).not.toContain('getResponse')
  })

  test('answers HEAD without a body', async () => {
    const app = new Hono()
    app.use(authenticate(verifier))
    const response = await app.request('/', { method: 'HEAD' })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="api"')
    expect(await response.text()).toBe('')
  })
})

describe('the request', () => {
  test('is no subject: one context is what all handlers of a request share', async () => {
    const app = new Hono()
    app.use(authenticate(verifier))
    app.onError((error, c) => c.text(error.message, 500))
    app.get('/', (c) => c.json(getAuth(c.req.raw).claims))
    const response = await app.request('/', { headers })
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringContaining('no guard has seen the request'),
    ])
  })

  test('keeps its body unread for the handler', async () => {
    const app = new Hono()
    app.use(authenticate(verifier), authorize(scope('read')))
    app.post('/', async (c) => {
      const { bodyUsed } = c.req.raw
      return c.json([bodyUsed, await c.req.json()])
    })
    const response = await app.request('/', { method: 'POST', headers, body: '{"a":1}' })
    expect(await response.json()).toEqual([false, { a: 1 }])
  })
})

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('the handler has not run')
  return value
}

describe('work behind a request', () => {
  const asked: VerifyOptions[] = []
  const app = new Hono()
  app.use(
    authenticate({
      async verify(token, options = {}) {
        asked.push(options)
        options.waitUntil?.(Promise.resolve('renewed'))
        return await verifier.verify(token)
      },
      async ready() {},
    }),
  )
  app.get('/', (c) => c.text('in'))

  test('is given to the execution context of this very request', async () => {
    const held: Promise<unknown>[] = []
    const context = {
      props: {},
      passThroughOnException() {},
      // As that of Workers: without its object it is an illegal invocation.
      waitUntil(this: unknown, work: Promise<unknown>) {
        if (this !== context) throw new TypeError('Illegal invocation')
        held.push(work)
      },
    }
    const response = await app.request('/', { headers }, {}, context)
    expect([response.status, await Promise.all(held)]).toEqual([200, ['renewed']])
  })

  test('a key cache takes no notice where there is no such context', async () => {
    const keys = issuer.verifierOptions.keys
    const plain = new Hono()
    plain.use(authenticate(createVerifier({ keys, issuer: null, audience: null })))
    plain.get('/', (c) => c.text('in'))
    expect((await plain.request('/', { headers })).status).toBe(200)
  })
})
