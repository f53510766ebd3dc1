import { scope } from '@portcullis/core'
import * as express from '@portcullis/express'
import expressCors from 'cors'
import express5 from 'express'
import { rateLimit } from 'express-rate-limit'
import express4 from 'express4'
import helmet from 'helmet'
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

describe.each<[string, () => express5.Express]>([
  ['Express 5', () => express5()],
  // What these tests use, both majors have alike, with types of their own.
  ['Express 4', () => express4() as unknown as express5.Express],
])('%s', (_name, create) => {
  function createApp(): express5.Express {
    // Otherwise Express writes errors to stderr.
    return create().set('env', 'test')
  }

  test('helmet in front: a refusal has its headers and the challenge, an answer has its headers', async () => {
    const app = createApp()
    app.use(helmet(), express.authenticate(verifier))
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      const refused = await fetch(url)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
      expect(refused.headers.get('strict-transport-security')).toMatch(/max-age/)
      const accepted = await fetch(url, { headers: ada })
      expect(await accepted.json()).toBe('ada')
      expect(accepted.headers.get('strict-transport-security')).toMatch(/max-age/)
    })
  })

  test('helmet behind: an answer has its headers, a refusal does without', async () => {
    const app = createApp()
    app.use(express.authenticate(verifier, { respond: 'problem' }), helmet())
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      const refused = await fetch(url)
      expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
      expect(refused.headers.has('strict-transport-security')).toBe(false)
      const accepted = await fetch(url, { headers: ada })
      expect(await accepted.json()).toBe('ada')
      expect(accepted.headers.get('strict-transport-security')).toMatch(/max-age/)
    })
  })

  test('cors in front: preflights need no token, and pages can read a refusal and its challenge', async () => {
    const app = createApp()
    app.use(expressCors({ origin, exposedHeaders: exposed }))
    app.use(express.authenticate(verifier))
    app.post('/', whoAmI)
    await serving(app, async (url) => {
      await expectPreflightAndRefusal(url)
      const accepted = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
      expect(await accepted.json()).toBe('ada')
      expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
    })
    const down = createApp()
    down.use(expressCors({ origin, exposedHeaders: exposed }), express.authenticate(outage))
    await serving(down, expectReadableOutage)
  })

  test('cors behind: a preflight is refused as any request without a token', async () => {
    const app = createApp()
    app.use(express.authenticate(verifier), expressCors({ origin }))
    app.post('/', whoAmI)
    await serving(app, async (url) => {
      expect((await fetch(url, preflight)).status).toBe(401)
    })
  })

  test('express-rate-limit in front: refused requests count, and too many are not looked at', async () => {
    const told: string[] = []
    const app = createApp()
    app.use(rateLimit({ windowMs: 3_600_000, limit: 2 }))
    app.use(express.authenticate(verifier, { onRefusal: ({ reason }) => told.push(reason) }))
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      expect((await fetch(url)).status).toBe(401)
      expect((await fetch(url, { headers: ada })).status).toBe(200)
      const limited = await fetch(url)
      expect(limited.status).toBe(429)
      expect(limited.headers.has('www-authenticate')).toBe(false)
      expect(told).toEqual(['missing_header'])
    })
  })

  test('express-rate-limit behind: can count by subject, and refused requests do not count', async () => {
    const app = createApp()
    app.use(express.authenticate(verifier))
    app.use(
      rateLimit({
        windowMs: 3_600_000,
        limit: 1,
        keyGenerator: (req) => String(express.getAuth(req).claims.sub),
      }),
    )
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      const statuses: number[] = []
      for (const headers of [{}, ada, {}, ada, bob]) {
        statuses.push((await fetch(url, { headers })).status)
      }
      expect(statuses).toEqual([401, 200, 401, 429, 200])
    })
  })

  test('routers: a guard holds for its own router and those in it, and not for the one beside it', async () => {
    const places = express5.Router({ mergeParams: true })
    places.get('/', express.authorize(scope('read')), (req, res) => {
      res.json([req.params, express.getAuth(req).claims.sub])
    })
    places.post('/', express.authorize(scope('write')), whoAmI)
    const guarded = express5.Router()
    guarded.use(express.authenticate(verifier))
    guarded.use('/clients/:client/places', places)
    const open = express5.Router()
    open.get('/health', (_req, res) => {
      res.json('well')
    })
    const app = createApp()
    app.use('/v1', open)
    app.use('/v1', guarded)
    await serving(app, async (url) => {
      expect((await fetch(`${url}/v1/health`)).status).toBe(200)
      const path = `${url}/v1/clients/7/places`
      expect((await fetch(path)).status).toBe(401)
      expect(await (await fetch(path, { headers: ada })).json()).toEqual([{ client: '7' }, 'ada'])
      expect((await fetch(path, { method: 'POST', headers: ada })).status).toBe(403)
      expect((await fetch(path, { method: 'POST', headers: bob })).status).toBe(200)
      expect((await fetch(`${url}/v1/unknown`, { headers: ada })).status).toBe(404)
    })
  })

  test('express.json behind: a body is read only for those let through; in front: for everybody', async () => {
    const behind = createApp()
    behind.use(express.authenticate(verifier), express5.json())
    behind.post('/', echo)
    const inFront = createApp()
    inFront.use(express5.json(), express.authenticate(verifier))
    inFront.post('/', echo)
    await serving(behind, async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(401)
      await expectEcho(url)
    })
    await serving(inFront, async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(400)
      await expectEcho(url)
    })
  })

  test.each(['forward', 'problem'] as const)(
    'a mounted application, respond: %s: the guard in front of it protects it, and its handlers see the proof',
    async (respond) => {
      const mounted = createApp()
      mounted.get('/who', express.authorize(scope('read')), whoAmI)
      mounted.get('/write', express.authorize(scope('write')), whoAmI)
      mounted.get('/property', (req, res) => {
        res.json(Reflect.get(req, 'auth') === express.getAuth(req))
      })
      const app = createApp()
      app.use('/x', express.authenticate(verifier, { respond }), mounted)
      app.use('/open', mounted)
      await serving(app, async (url) => {
        for (const path of ['/x/who', '/x/write', '/x/unknown', '/x']) {
          const refused = await fetch(`${url}${path}`)
          expect([path, refused.status]).toEqual([path, 401])
          expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
        }
        expect(await (await fetch(`${url}/x/who`, { headers: ada })).json()).toBe('ada')
        expect(await (await fetch(`${url}/x/property`, { headers: ada })).json()).toBe(true)
        expect((await fetch(`${url}/x/write`, { headers: ada })).status).toBe(403)
        expect((await fetch(`${url}/x/unknown`, { headers: ada })).status).toBe(404)
        // A requirement without a guard in front of it is a fault of the application.
        expect((await fetch(`${url}/open/who`, { headers: ada })).status).toBe(500)
      })
    },
  )

  test('a mounted application with a guard of its own: both guards count, and the inner one decides last', async () => {
    const told: string[] = []
    const guard = (name: string) =>
      express.authenticate(verifier, { realm: name, onRefusal: () => told.push(name) })
    const mounted = createApp()
    mounted.use(guard('inner'))
    mounted.get('/', express.authorize(scope('write')), whoAmI)
    const app = createApp()
    app.use('/x', guard('outer'), mounted)
    app.use('/y', mounted)
    await serving(app, async (url) => {
      expect((await fetch(`${url}/x`)).headers.get('www-authenticate')).toContain('outer')
      expect((await fetch(`${url}/y`)).headers.get('www-authenticate')).toContain('inner')
      const needy = await fetch(`${url}/x`, { headers: ada })
      expect(needy.headers.get('www-authenticate')).toContain('inner')
      expect((await fetch(`${url}/x`, { headers: bob })).status).toBe(200)
      expect(told).toEqual(['outer', 'inner', 'inner'])
    })
  })

  test('router.param sees the proof behind a guard of the router, and runs before a guard of the route', async () => {
    const seen: string[] = []
    const guarded = express5.Router()
    guarded.use(express.authenticate(verifier))
    guarded.param('id', (req, _res, next, id: string) => {
      seen.push(`${String(express.getAuth(req).claims.sub)} ${id}`)
      next()
    })
    guarded.get('/places/:id', whoAmI)
    const late = express5.Router()
    late.param('id', (req, _res, next) => {
      seen.push(String(express.findAuth(req)?.claims.sub))
      next()
    })
    late.get('/late/:id', express.authenticate(verifier), whoAmI)
    const app = createApp()
    app.use('/v1', guarded)
    app.use('/v2', late)
    await serving(app, async (url) => {
      expect((await fetch(`${url}/v1/places/7`)).status).toBe(401)
      expect((await fetch(`${url}/v1/places/7`, { headers: ada })).status).toBe(200)
      expect(seen).toEqual(['ada 7'])
      expect((await fetch(`${url}/v2/late/7`, { headers: ada })).status).toBe(500)
      expect(seen).toEqual(['ada 7'])
    })
  })

  test('middleware in front that sets the header from a cookie, or deletes it, decides what the guard sees', async () => {
    const app = createApp()
    app.use((req, _res, next) => {
      const [, cookie] = /token=([\w.~-]+)/.exec(req.headers.cookie ?? '') ?? []
      if (cookie !== undefined) req.headers.authorization = `Bearer ${cookie}`
      if (req.headers['x-from'] === 'outside') delete req.headers.authorization
      next()
    })
    app.use(express.authenticate(verifier))
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      const cookie = ada.authorization.replace('Bearer ', 'token=')
      expect(await (await fetch(url, { headers: { cookie } })).json()).toBe('ada')
      expect((await fetch(url, { headers: { ...ada, 'x-from': 'outside' } })).status).toBe(401)
    })
  })
})

function whoAmI(req: express5.Request, res: express5.Response): void {
  res.json(express.getAuth(req).claims.sub)
}

function echo(req: express5.Request, res: express5.Response): void {
  res.json(req.body)
}
