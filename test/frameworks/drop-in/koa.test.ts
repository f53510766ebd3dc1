import koaCors from '@koa/cors'
import { Router } from '@koa/router'
import { scope } from '@portcullis/core'
import * as koa from '@portcullis/koa'
import Koa from 'koa'
import mount from 'koa-mount'
import Koa2 from 'koa2'
import { describe, expect, test } from 'vitest'

import {
  ada,
  bob,
  brokenJson,
  CHALLENGE,
  expectEcho,
  expectPreflightAndRefusal,
  expectReadableOutage,
  exposed,
  origin,
  outage,
  preflight,
  serving,
  verifier,
} from './serving.ts'

// Among middleware that nobody here has written: in front of the guards and behind them, over real connections.

describe.each<[string, () => Koa<koa.AuthState>]>([
  ['Koa 3', () => new Koa<koa.AuthState>()],
  // What these tests use, both majors have alike, with types of their own.
  ['Koa 2', () => new Koa2<koa.AuthState>() as unknown as Koa<koa.AuthState>],
])('%s', (_name, createApp) => {
  test('@koa/router: a guard holds for its own router and those in it, and not for the one beside it', async () => {
    const places = new Router<koa.AuthState>()
    places.get('/places', koa.authorize(scope('read')), (ctx) => {
      ctx.body = [ctx.params, ctx.state.auth.claims.sub]
    })
    places.post('/places', koa.authorize(scope('write')), (ctx) => {
      ctx.body = ctx.state.auth.claims.sub
    })
    const guarded = new Router<koa.AuthState>({ prefix: '/v1' })
    guarded.use(koa.authenticate(verifier))
    guarded.use('/clients/:client', places.routes())
    const open = new Router<koa.AuthState>({ prefix: '/v1' })
    open.get('/health', (ctx) => {
      ctx.body = 'well'
    })
    const app = createApp()
    app.use(open.routes()).use(guarded.routes()).use(guarded.allowedMethods())
    await serving(app.callback(), async (url) => {
      expect((await fetch(`${url}/v1/health`)).status).toBe(200)
      const path = `${url}/v1/clients/7/places`
      const refused = await fetch(path)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
      expect(await (await fetch(path, { headers: ada })).json()).toEqual([{ client: '7' }, 'ada'])
      expect((await fetch(path, { method: 'POST', headers: ada })).status).toBe(403)
      expect((await fetch(path, { method: 'POST', headers: bob })).status).toBe(200)
      expect((await fetch(path, { method: 'DELETE', headers: ada })).status).toBe(405)
      expect((await fetch(`${url}/v1/unknown`, { headers: ada })).status).toBe(404)
    })
  })

  test('@koa/router behind: a guard of the whole application comes before the search for a route', async () => {
    const router = new Router<koa.AuthState>()
    router.get('/', (ctx) => {
      ctx.body = JSON.stringify(ctx.state.auth.claims.sub)
    })
    const app = createApp()
    app.use(koa.authenticate(verifier)).use(router.routes())
    await serving(app.callback(), async (url) => {
      expect((await fetch(`${url}/unknown`)).status).toBe(401)
      expect((await fetch(`${url}/unknown`, { headers: ada })).status).toBe(404)
      expect(await (await fetch(url, { headers: ada })).json()).toBe('ada')
    })
  })

  test.each(['forward', 'problem'] as const)(
    '@koa/cors in front, respond: %s: preflights need no token, and pages can read a refusal and its challenge',
    async (respond) => {
      const app = createApp()
      app.use(koaCors({ origin, exposeHeaders: exposed }))
      app.use(koa.authenticate(verifier, { respond }))
      app.use((ctx) => {
        ctx.body = JSON.stringify(ctx.state.auth.claims.sub)
      })
      await serving(app.callback(), async (url) => {
        await expectPreflightAndRefusal(url)
        const accepted = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
        expect(await accepted.json()).toBe('ada')
        expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
      })
      const down = createApp().on('error', () => undefined)
      down.use(koaCors({ origin, exposeHeaders: exposed }))
      down.use(koa.authenticate(outage, { respond }))
      await serving(down.callback(), expectReadableOutage)
    },
  )

  test('@koa/cors behind: a preflight is refused as any request without a token', async () => {
    const app = createApp()
    app.use(koa.authenticate(verifier)).use(koaCors({ origin }))
    await serving(app.callback(), async (url) => {
      expect((await fetch(url, preflight)).status).toBe(401)
    })
  })

  test('koa-body behind: a body is read only for those let through; in front: for everybody', async () => {
    const koaBody = await loadKoaBody()
    const behind = createApp()
    behind.use(koa.authenticate(verifier)).use(koaBody()).use(koaEcho)
    const inFront = createApp()
    // A body that cannot be parsed is an error of its own status.
    inFront.on('error', () => undefined)
    inFront.use(koaBody()).use(koa.authenticate(verifier)).use(koaEcho)
    await serving(behind.callback(), async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(401)
      await expectEcho(url)
    })
    await serving(inFront.callback(), async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(400)
      await expectEcho(url)
    })
  })

  test.each(['forward', 'problem'] as const)(
    'koa-mount, respond: %s: the guard in front protects what is mounted, which sees the proof',
    async (respond) => {
      const mounted = createApp()
      mounted.use(koa.authorize(scope('read'))).use((ctx) => {
        ctx.body = [ctx.path, ctx.state.auth.claims.sub, koa.getAuth(ctx) === ctx.state.auth]
      })
      const app = createApp()
      app.use(koa.authenticate(verifier, { respond })).use(mount('/x', mounted))
      await serving(app.callback(), async (url) => {
        const refused = await fetch(`${url}/x/who`)
        expect(refused.status).toBe(401)
        expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
        const accepted = await fetch(`${url}/x/who`, { headers: ada })
        expect(await accepted.json()).toEqual(['/who', 'ada', true])
        expect((await fetch(`${url}/y`, { headers: ada })).status).toBe(404)
      })
    },
  )

  test('koa-mount with a guard inside what is mounted: it holds there alone', async () => {
    const mounted = createApp()
    mounted.use(koa.authenticate(verifier)).use((ctx) => {
      ctx.body = 'mounted'
    })
    const app = createApp()
    app.use(mount('/x', mounted)).use((ctx) => {
      ctx.body = 'open'
    })
    await serving(app.callback(), async (url) => {
      expect((await fetch(`${url}/x`)).status).toBe(401)
      expect((await fetch(`${url}/x`, { headers: ada })).status).toBe(200)
      expect((await fetch(`${url}/y`)).status).toBe(200)
    })
  })

  test('an application called through its callback has a context of its own: protected, but without the proof', async () => {
    const inner = createApp()
    inner.silent = true
    inner.use((ctx) => {
      ctx.body = { sub: koa.getAuth(ctx).claims.sub }
    })
    const guardedInner = createApp()
    guardedInner.use(koa.authenticate(verifier)).use((ctx) => {
      ctx.body = { sub: koa.getAuth(ctx).claims.sub }
    })
    const app = createApp()
    app.use(koa.authenticate(verifier)).use(async (ctx) => {
      ctx.respond = false
      const called = ctx.path === '/guarded' ? guardedInner : inner
      await called.callback()(ctx.req, ctx.res)
    })
    await serving(app.callback(), async (url) => {
      expect((await fetch(url)).status).toBe(401)
      expect((await fetch(url, { headers: ada })).status).toBe(500)
      const accepted = await fetch(`${url}/guarded`, { headers: ada })
      expect(await accepted.json()).toEqual({ sub: 'ada' })
    })
  })

  test('middleware in front that sets the header from a cookie, or deletes it, decides what the guard sees', async () => {
    const app = createApp()
    app.use(async (ctx, next) => {
      const cookie = ctx.cookies.get('token')
      if (cookie !== undefined) ctx.req.headers.authorization = `Bearer ${cookie}`
      if (ctx.get('x-from') === 'outside') delete ctx.req.headers.authorization
      await next()
    })
    app.use(koa.authenticate(verifier)).use((ctx) => {
      ctx.body = 'in'
    })
    await serving(app.callback(), async (url) => {
      const cookie = ada.authorization.replace('Bearer ', 'token=')
      expect((await fetch(url, { headers: { cookie } })).status).toBe(200)
      expect((await fetch(url, { headers: { ...ada, 'x-from': 'outside' } })).status).toBe(401)
    })
  })
})

function koaEcho(ctx: Koa.Context): void {
  ctx.body = Reflect.get(ctx.request, 'body')
}

/** Its types change node's `IncomingMessage` for everybody, and those of Express do not agree: so the compiler must not see it. */
async function loadKoaBody(): Promise<() => Koa.Middleware> {
  const name: string = 'koa-body'
  const { koaBody } = (await import(name)) as { koaBody: () => Koa.Middleware }
  return koaBody
}
