import { getRequestListener } from '@hono/node-server'
import { createVerifier, localKeys, scope } from '@portcullis/core'
import * as hono from '@portcullis/hono'
import { createTestIssuer } from '@portcullis/testing'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bodyLimit } from 'hono/body-limit'
import { every, except, some } from 'hono/combine'
import { compress } from 'hono/compress'
import { getCookie } from 'hono/cookie'
import { cors } from 'hono/cors'
import { etag } from 'hono/etag'
import { logger } from 'hono/logger'
import { mount } from 'hono/mount'
import { secureHeaders } from 'hono/secure-headers'
import { streamText } from 'hono/streaming'
import { describe, expect, test } from 'vitest'

import {
  ada,
  bob,
  brokenJson,
  CHALLENGE,
  expectEcho,
  expectPreflightAndRefusal,
  origin,
  preflight,
  serving as servingListener,
  verifier,
} from './serving.ts'

// Among middleware that nobody here has written: in front of the guards and behind them, over real connections.

type Guarded = { Variables: hono.AuthVariables }

const otherIssuer = await createTestIssuer()
const otherVerifier = createVerifier({
  keys: localKeys(otherIssuer.publicJwk),
  issuer: null,
  audience: null,
})
const eve = await otherIssuer.bearer({ claims: { sub: 'eve', scope: 'read' } })

test('app.route: a guard holds for its own router and those in it, and not for the one beside it', async () => {
  const places = new Hono<Guarded>()
  places.get('/places', hono.authorize(scope('read')), (c) =>
    c.json([c.req.param(), c.var.auth.claims.sub]),
  )
  places.post('/places', hono.authorize(scope('write')), (c) => c.json(hono.getAuth(c).claims.sub))
  const guarded = new Hono<Guarded>().use(hono.authenticate(verifier))
  guarded.route('/clients/:client', places)
  const app = new Hono().get('/v1/health', (c) => c.text('well')).route('/v1', guarded)
  await serving(app, async (url) => {
    expect((await fetch(`${url}/v1/health`)).status).toBe(200)
    const path = `${url}/v1/clients/7/places`
    const refused = await fetch(path)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
    expect(await (await fetch(path, { headers: ada })).json()).toEqual([{ client: '7' }, 'ada'])
    expect((await fetch(path, { method: 'POST', headers: ada })).status).toBe(403)
    expect((await fetch(path, { method: 'POST', headers: bob })).status).toBe(200)
    expect((await fetch(`${url}/v1/unknown`)).status).toBe(401)
    expect((await fetch(`${url}/v1/unknown`, { headers: ada })).status).toBe(404)
  })
})

test('hono/cookie in front: middleware can make a header of a cookie, for the guard to read', async () => {
  const app = new Hono<Guarded>()
  app.use(async (c, next) => {
    const headers = new Headers(c.req.raw.headers)
    headers.set('authorization', `Bearer ${getCookie(c, 'token')}`)
    c.req.raw = new Request(c.req.raw, { headers })
    await next()
  })
  app.use(hono.authenticate(verifier))
  app.get('/', (c) => c.json(c.var.auth.claims.sub))
  await serving(app, async (url) => {
    const cookie = ada.authorization.replace('Bearer ', 'token=')
    expect(await (await fetch(url, { headers: { cookie } })).json()).toBe('ada')
    expect((await fetch(url, { headers: { cookie: 'token=a.b.c' } })).status).toBe(401)
  })
})

test.each(['forward', 'problem'] as const)(
  'hono/cors in front, respond: %s: preflights need no token, and pages can read a refusal and its challenge',
  async (respond) => {
    const app = new Hono<Guarded>()
    app.use(cors({ origin, exposeHeaders: ['WWW-Authenticate'] }))
    app.use(hono.authenticate(verifier, { respond }))
    app.post('/', (c) => c.json(c.var.auth.claims.sub))
    await serving(app, async (url) => {
      await expectPreflightAndRefusal(url)
      const accepted = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
      expect(await accepted.json()).toBe('ada')
      expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
    })
  },
)

test('hono/cors behind: a preflight is refused as any request without a token', async () => {
  const app = new Hono().use(hono.authenticate(verifier)).use(cors({ origin }))
  await serving(app, async (url) => {
    expect((await fetch(url, preflight)).status).toBe(401)
  })
})

test.each(['forward', 'problem'] as const)(
  'hono/logger, secure-headers, etag and compress in front, respond: %s: a refusal keeps its headers, and they add theirs',
  async (respond) => {
    const lines: string[] = []
    const app = new Hono<Guarded>()
    app.use(
      logger((line) => lines.push(line)),
      secureHeaders(),
      etag(),
      compress(),
    )
    app.use(hono.authenticate(verifier, { respond })).get('/', (c) => c.json(c.var.auth.claims.sub))
    await serving(app, async (url) => {
      const refused = await fetch(url)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
      expect(refused.headers.get('cache-control')).toBe('no-store')
      expect(refused.headers.get('x-content-type-options')).toBe('nosniff')
      expect(await (await fetch(url, { headers: ada })).json()).toBe('ada')
    })
    expect(lines.join('\n')).toMatch(/--> GET \/ .*401/)
    expect(lines.join('\n')).not.toContain('eyJ')
  },
)

test('hono/body-limit behind: a body is read only for those let through; a refused one is never parsed', async () => {
  const app = new Hono<Guarded>()
  app.use(hono.authenticate(verifier), bodyLimit({ maxSize: 100 }))
  app.post('/', async (c) => c.json(await c.req.json()))
  await serving(app, async (url) => {
    expect((await fetch(url, brokenJson)).status).toBe(401)
    await expectEcho(url)
    const large = { method: 'POST', headers: ada, body: 'a'.repeat(101) }
    expect((await fetch(url, large)).status).toBe(413)
  })
})

describe('hono/combine', () => {
  test('some: either guard lets in, the last refusal is the answer, and an accepted one leaves no trace', async () => {
    const app = new Hono<Guarded>()
    app.use(some(hono.authenticate(verifier), hono.authenticate(otherVerifier, { realm: 'other' })))
    app.get('/', (c) => {
      c.header('Cache-Control', 'max-age=60')
      return c.json([c.var.auth.claims.sub, hono.getAuth(c).claims.sub])
    })
    await serving(app, async (url) => {
      for (const [headers, sub] of [
        [ada, 'ada'],
        [eve, 'eve'],
      ] as const) {
        const accepted = await fetch(url, { headers })
        expect(await accepted.json()).toEqual([sub, sub])
        expect(accepted.headers.get('www-authenticate')).toBeNull()
        expect(accepted.headers.get('cache-control')).toBe('max-age=60')
      }
      const refused = await fetch(url)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="other"')
    })
  })

  test('some: a refusal before an acceptance leaves the headers of others as they were', async () => {
    const app = new Hono<Guarded>()
    app.use(async (c, next) => {
      c.header('Cache-Control', 'private')
      await next()
    })
    app.use(some(hono.authenticate(verifier), hono.authenticate(otherVerifier)))
    app.use(async (c, next) => {
      c.header('WWW-Authenticate', 'Negotiate')
      await next()
    })
    app.get('/', hono.authorize(scope('read')), (c) => c.text('in'))
    await serving(app, async (url) => {
      const accepted = await fetch(url, { headers: eve })
      expect(accepted.status).toBe(200)
      expect(accepted.headers.get('cache-control')).toBe('private')
      expect(accepted.headers.get('www-authenticate')).toBe('Negotiate')
    })
  })

  test('some with a guard that answers by itself: its refusal is final', async () => {
    const app = new Hono()
    const first = hono.authenticate(verifier, { respond: 'problem' })
    app.use(some(first, hono.authenticate(otherVerifier))).get('/', (c) => c.text('in'))
    await serving(app, async (url) => {
      expect((await fetch(url, { headers: eve })).status).toBe(401)
      expect((await fetch(url, { headers: ada })).status).toBe(200)
    })
  })

  test('some beside another scheme: a password or a token', async () => {
    const app = new Hono()
    const password = basicAuth({ username: 'root', password: 'secret' })
    app.use(some(hono.authenticate(verifier), password)).get('/', (c) => c.text('in'))
    await serving(app, async (url) => {
      expect((await fetch(url, { headers: ada })).status).toBe(200)
      const authorization = `Basic ${Buffer.from('root:secret').toString('base64')}`
      expect((await fetch(url, { headers: { authorization } })).status).toBe(200)
      expect((await fetch(url)).status).toBe(401)
    })
  })

  test.each(['forward', 'problem'] as const)(
    'every and except, respond: %s: all of them hold, and a path that is excepted is open',
    async (respond) => {
      const guards = every(hono.authenticate(verifier, { respond }), hono.authorize(scope('write')))
      const app = new Hono().use(except('/health', guards))
      app.get('/health', (c) => c.text('well')).get('/', (c) => c.text('in'))
      await serving(app, async (url) => {
        expect((await fetch(`${url}/health`)).status).toBe(200)
        const refused = await fetch(url)
        expect(refused.status).toBe(401)
        expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
        expect((await fetch(url, { headers: ada })).status).toBe(403)
        expect((await fetch(url, { headers: bob })).status).toBe(200)
      })
    },
  )
})

describe.each(['app.mount', 'hono/mount'])('%s', (way) => {
  test('what is mounted has a context of its own: protected, but without the proof unless it has a guard', async () => {
    const inner = new Hono()
    inner.onError((error, c) => c.text(error.message, 500))
    inner.get('/open', (c) => c.text('in'))
    inner.get('/who', (c) => c.json(hono.getAuth(c).claims.sub))
    inner.get('/guarded', hono.authenticate(verifier), (c) => c.json(hono.getAuth(c).claims.sub))
    const app = new Hono().use(hono.authenticate(verifier))
    if (way === 'app.mount') app.mount('/inner', inner.fetch)
    else app.all('/inner/*', mount(inner.fetch))
    await serving(app, async (url) => {
      for (const path of ['open', 'who', 'guarded']) {
        expect((await fetch(`${url}/inner/${path}`)).status).toBe(401)
      }
      expect((await fetch(`${url}/inner/open`, { headers: ada })).status).toBe(200)
      const unknown = await fetch(`${url}/inner/who`, { headers: ada })
      expect([unknown.status, await unknown.text()]).toEqual([
        500,
        expect.stringContaining('no guard has seen the request'),
      ])
      expect(await (await fetch(`${url}/inner/guarded`, { headers: ada })).json()).toBe('ada')
    })
  })
})

test('hono/streaming: what streams is guarded, and the proof is there while it does', async () => {
  const app = new Hono<Guarded>().use(hono.authenticate(verifier))
  app.get('/', (c) =>
    streamText(c, async (stream) => {
      for (const part of ['hello ', String(hono.getAuth(c).claims.sub)]) await stream.write(part)
    }),
  )
  await serving(app, async (url) => {
    expect((await fetch(url)).status).toBe(401)
    expect(await (await fetch(url, { headers: ada })).text()).toBe('hello ada')
  })
})

test('middleware in front that replaces c.req.raw, or sets a header of it, decides what the guard sees', async () => {
  const app = new Hono()
  app.use(async (c, next) => {
    const token = /token=(.*)/.exec(c.req.header('cookie') ?? '')?.[1]
    if (token !== undefined) c.req.raw.headers.set('authorization', `Bearer ${token}`)
    if (c.req.header('x-from') === 'outside') c.req.raw = new Request(c.req.raw, { headers: {} })
    await next()
  })
  app.use(hono.authenticate(verifier)).get('/', (c) => c.text('in'))
  await serving(app, async (url) => {
    const cookie = ada.authorization.replace('Bearer ', 'token=')
    expect((await fetch(url, { headers: { cookie } })).status).toBe(200)
    expect((await fetch(url, { headers: { ...ada, 'x-from': 'outside' } })).status).toBe(401)
  })
})

/**
 * As `serve` of @hono/node-server does, which replaces the global `Request` and `Response` by its own. They are put back for the
 * other files that share this process.
 */
async function serving(
  app: { readonly fetch: Parameters<typeof getRequestListener>[0] },
  use: (url: string) => Promise<void>,
): Promise<void> {
  const { Request, Response } = globalThis
  try {
    await servingListener(getRequestListener(app.fetch), use)
  } finally {
    Object.assign(globalThis, { Request, Response })
  }
}
