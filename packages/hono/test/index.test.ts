import {
  AuthError,
  createVerifier,
  localKeys,
  protectedResourceMetadata,
  refusal,
  remoteKeys,
  scope,
  type Verifier,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { type Context, Hono } from 'hono'
import { describe, expect, test } from 'vitest'

import {
  authenticate,
  authorize,
  type AuthVariables,
  findAuth,
  getAuth,
  serveMetadata,
} from '../src/index.ts'

// Without a server: requests are those of the platform, as on Bun, Deno and edge runtimes.

const issuer = await createTestIssuer()
const verifier = verifierOf()
const headers = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })

const createApp = () => new Hono<{ Variables: AuthVariables }>()

describe('the variable', () => {
  test('c.get and c.var have what the token proves, the same as getAuth and findAuth say', async () => {
    const app = createApp()
    app.use(authenticate(verifier))
    app.get('/', (c) => {
      const auth = c.get('auth')
      const same = [c.var.auth, getAuth(c), findAuth(c), getAuth(c, verifier)]
      return c.json({ sub: auth.claims.sub, same: same.map((each) => each === auth) })
    })
    const response = await app.request('/', { headers })
    expect(await response.json()).toEqual({ sub: 'ada', same: [true, true, true, true] })
  })

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

  test('getAuth and findAuth are a TypeError without a guard, and for a verifier of no guard', async () => {
    const contexts: Context[] = []
    const app = new Hono()
    app.use('/guarded', authenticate(verifier))
    app.get('*', (c) => {
      contexts.push(c)
      return c.body(null, 204)
    })
    await app.request('/')
    await app.request('/guarded', { headers })
    const [open, guarded] = contexts
    expect(() => getAuth(present(open))).toThrow(/no guard has seen the request/)
    expect(() => findAuth(present(open))).toThrow(TypeError)
    expect(() => getAuth(present(guarded), verifierOf())).toThrow(/no guard with this verifier/)
    // The request is no subject: one context is what all handlers of a request share.
    expect(() => getAuth(present(guarded).req.raw)).toThrow(/no guard has seen the request/)
    expect(getAuth(present(guarded), verifier).claims.sub).toBe('ada')
  })
})

describe('a refusal', () => {
  test('is answered by Hono with the status, the challenge, no-store and the message', async () => {
    const app = new Hono()
    app.use(authenticate(verifier, { realm: 'places' }), authorize(scope('write')))
    const missing = await app.request('/')
    expect([missing.status, Object.fromEntries(missing.headers)]).toEqual([
      401,
      {
        'www-authenticate': 'Bearer realm="places"',
        'cache-control': 'no-store',
        'content-type': 'text/plain; charset=utf-8',
      },
    ])
    expect(await missing.text()).toBe('An access token is required')
    const lacking = await app.request('/', { headers })
    expect(lacking.status).toBe(403)
    expect(lacking.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="places", error="insufficient_scope", .*scope="write"$/,
    )
  })

  test('is an AuthError for app.onError, and the answers of c.json and c.text have the challenge', async () => {
    const seen: unknown[] = []
    const app = new Hono()
    app.onError((error, c) => {
      seen.push(error)
      const refused = refusal(error)
      return refused ? c.json({ code: refused.code }, refused.status) : c.text('fault', 500)
    })
    app.use(authenticate(verifier))
    const response = await app.request('/')
    expect(seen).toEqual([expect.any(AuthError)])
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="api"')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({ code: 'missing_token' })
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

  test('keeps Retry-After in an outage', async () => {
    const app = new Hono()
    app.use(authenticate(outage()))
    const response = await app.request('/', { headers })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^[12]$/)
    expect(response.headers.has('www-authenticate')).toBe(false)
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
  test('is c.req.raw as it is when the guard runs: middleware may replace it', async () => {
    const app = createApp()
    app.use(async (c, next) => {
      const authorization = `Bearer ${c.req.header('cookie')?.replace('token=', '') ?? ''}`
      c.req.raw = new Request(c.req.raw, { headers: { authorization } })
      await next()
    })
    app.use(authenticate(verifier)).get('/', (c) => c.json(c.var.auth.claims.sub))
    const cookie = headers.authorization.replace('Bearer ', 'token=')
    const response = await app.request('/', { headers: { cookie } })
    expect(await response.json()).toBe('ada')
    expect((await app.request('/', { headers })).status).toBe(400)
  })

  test('with repeated headers, which arrive joined by a comma, is 400', async () => {
    const app = new Hono()
    app.use(authenticate(verifier, { optional: true })).get('/', (c) => c.text('in'))
    for (const first of [headers.authorization, 'Basic YTpi', '']) {
      const repeated = new Headers([
        ['Authorization', first],
        ['Authorization', headers.authorization],
      ])
      expect((await app.request('/', { headers: repeated })).status).toBe(400)
    }
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

describe('what comes behind', () => {
  test('runs once, and what it throws passes through to app.onError as it was', async () => {
    const fault = new Error('canary')
    const seen: unknown[] = []
    let runs = 0
    const app = new Hono()
    app.onError((error, c) => {
      seen.push(error)
      return c.text('fault', 500)
    })
    app.use(authenticate(verifier), authorize(scope('read')))
    app.get('/', () => {
      runs += 1
      throw fault
    })
    const response = await app.request('/', { headers })
    expect([response.status, seen, runs]).toEqual([500, [fault], 1])
    expect(response.headers.has('www-authenticate')).toBe(false)
  })

  test('an authorize without a guard is a TypeError for app.onError', async () => {
    const seen: unknown[] = []
    const app = new Hono()
    app.onError((error, c) => {
      seen.push(error)
      return c.text('fault', 500)
    })
    app.get('/', authorize(scope('read')), (c) => c.text('in'))
    const response = await app.request('/', { headers })
    expect([response.status, await response.text()]).toEqual([500, 'fault'])
    expect(seen).toEqual([expect.any(TypeError)])
  })
})

test('onRefusal is told the context', async () => {
  const told: string[] = []
  const app = new Hono()
  app.use(
    authenticate(verifier, {
      onRefusal: (error, c) => told.push(`${c.req.method} ${c.req.path} ${error.reason}`),
    }),
  )
  await app.request('/places?a=b')
  expect(told).toEqual(['GET /places missing_header'])
})

test('serveMetadata answers GET and HEAD, and passes on everything else', async () => {
  const metadata = protectedResourceMetadata({ resource: 'https://api.test' })
  const app = new Hono()
  app.use(serveMetadata(metadata))
  app.all('*', (c) => c.text('behind', 418))
  const response = await app.request(`${metadata.path}?a=b`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.text()).toBe(metadata.body)
  expect((await app.request(metadata.path, { method: 'HEAD' })).status).toBe(200)
  expect((await app.request(metadata.path, { method: 'POST' })).status).toBe(418)
  expect((await app.request('/')).status).toBe(418)
})

test('a wrong argument is a TypeError at start-up', () => {
  expect(() => authenticate({} as Verifier)).toThrow(TypeError)
  expect(() => authenticate(verifier, { realms: 'api' } as object)).toThrow(/known are/)
  expect(() => authorize('read' as never)).toThrow(TypeError)
})

function verifierOf(
  keys: Parameters<typeof createVerifier>[0]['keys'] = localKeys(issuer.publicJwk),
): Verifier {
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

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('the handler has not run')
  return value
}
