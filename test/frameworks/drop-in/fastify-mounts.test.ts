import { fileURLToPath } from 'node:url'

import fastifyMiddie from '@fastify/middie'
import fastifyStatic from '@fastify/static'
import { scope } from '@portcullis/core'
import * as express from '@portcullis/express'
import * as fastify from '@portcullis/fastify'
import createExpress from 'express'
import createFastify, { type FastifyInstance, type FastifyPluginCallback } from 'fastify'
import createFastify4 from 'fastify4'
import middie8 from 'middie8'
import { describe, expect, test } from 'vitest'

import { ada, bob, CHALLENGE, listening, verifier } from './serving.ts'

// What answers inside a guarded scope without being a route of Fastify: mounted applications and files.

type Mount = (app: FastifyInstance, path: string) => void

const legacy = (): createExpress.Express => {
  const application = createExpress().set('env', 'test')
  application.get('/', (_req, res) => {
    res.json('legacy')
  })
  application.get('/proof', (req, res) => {
    res.json(express.getAuth(req).claims.sub)
  })
  return application
}

const create4 = () => createFastify4() as unknown as FastifyInstance

describe.each<[string, () => FastifyInstance, (app: FastifyInstance) => Promise<Mount>]>([
  [
    '@fastify/middie',
    createFastify,
    async (app) => {
      await app.register(fastifyMiddie)
      return (scoped, path) => scoped.use(path, legacy())
    },
  ],
  [
    '@fastify/middie 8 for Fastify 4',
    create4,
    async (app) => {
      await app.register(middie8 as unknown as FastifyPluginCallback)
      return (scoped, path) => scoped.use(path, legacy())
    },
  ],
  [
    '@fastify/express',
    createFastify,
    async (app) => {
      await app.register(await loadFastifyExpress())
      return (scoped, path) => scoped.use(path, legacy())
    },
  ],
])('%s', (_name, create, prepare) => {
  test.each(['forward', 'problem'] as const)(
    'behind a guard, respond: %s: what is mounted wants a token, known path or not',
    async (respond) => {
      const app = create()
      await app.register(fastify.authenticate(verifier, { respond }))
      const use = await prepare(app)
      use(app, '/legacy')
      app.get('/route', (request) => ({ sub: request.auth.claims.sub }))
      await listening(app, async (url) => {
        for (const path of ['/legacy', '/legacy/unknown', '/route', '/unknown']) {
          const refused = await fetch(`${url}${path}`)
          expect([path, refused.status]).toEqual([path, 401])
          expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
        }
        expect(await (await fetch(`${url}/legacy`, { headers: ada })).json()).toBe('legacy')
        expect(await (await fetch(`${url}/route`, { headers: ada })).json()).toEqual({ sub: 'ada' })
      })
    },
  )

  test('behind a guard and a requirement of the scope: both hold for what is mounted', async () => {
    const app = create()
    await app.register(fastify.authenticate(verifier))
    app.addHook('onRequest', fastify.authorize(scope('write')))
    const use = await prepare(app)
    use(app, '/legacy')
    await listening(app, async (url) => {
      expect((await fetch(`${url}/legacy`)).status).toBe(401)
      expect((await fetch(`${url}/legacy`, { headers: ada })).status).toBe(403)
      expect((await fetch(`${url}/legacy`, { headers: bob })).status).toBe(200)
    })
  })

  test('in front of a guard: what is mounted answers first, even if it is mounted later', async () => {
    const app = create()
    const use = await prepare(app)
    await app.register(fastify.authenticate(verifier))
    use(app, '/legacy')
    await listening(app, async (url) => {
      expect((await fetch(`${url}/legacy`)).status).toBe(200)
      expect((await fetch(`${url}/unknown`)).status).toBe(401)
    })
  })

  test('an open route opens what is mounted at its URL as well, unless that has a guard of its own', async () => {
    const app = create()
    await app.register(fastify.authenticate(verifier))
    const use = await prepare(app)
    app.use('/guarded', express.authenticate(verifier))
    use(app, '/guarded')
    use(app, '/legacy')
    app.get('/*', { config: { auth: false } }, async () => 'open')
    await listening(app, async (url) => {
      expect((await fetch(`${url}/legacy`)).status).toBe(200)
      expect((await fetch(`${url}/guarded`)).status).toBe(401)
      expect((await fetch(`${url}/guarded`, { headers: ada })).status).toBe(200)
      expect((await fetch(`${url}/legacy`, { method: 'POST' })).status).toBe(401)
    })
  })

  test('getAuth in a mounted Express application wants a guard of Express', async () => {
    const app = create()
    await app.register(fastify.authenticate(verifier))
    const use = await prepare(app)
    app.use('/guarded', express.authenticate(verifier))
    use(app, '/guarded')
    use(app, '/legacy')
    await listening(app, async (url) => {
      expect((await fetch(`${url}/guarded/proof`)).status).toBe(401)
      expect((await fetch(`${url}/legacy/proof`, { headers: ada })).status).toBe(500)
      const accepted = await fetch(`${url}/guarded/proof`, { headers: ada })
      expect(await accepted.json()).toBe('ada')
    })
  })
})

describe('@fastify/static', () => {
  const files = { root: fileURLToPath(new URL('.', import.meta.url)) }

  test.each([{ wildcard: true }, { wildcard: false }])(
    'inside a guarded scope (%j): files want a token, there or not, for GET and for HEAD',
    async (options) => {
      const app = createFastify()
      await app.register(fastify.authenticate(verifier))
      await app.register(fastifyStatic, { ...files, ...options })
      await listening(app, async (url) => {
        for (const method of ['GET', 'HEAD']) {
          for (const [path, status] of [
            ['/serving.ts', 200],
            ['/nowhere.ts', 404],
          ] as const) {
            expect((await fetch(`${url}${path}`, { method })).status).toBe(401)
            const accepted = await fetch(`${url}${path}`, { method, headers: ada })
            expect([path, accepted.status]).toEqual([path, status])
          }
        }
      })
    },
  )

  test('beside a guarded scope: files are open, and what is not there is not found by everybody', async () => {
    const app = createFastify()
    await app.register(fastifyStatic, files)
    await app.register(
      async (guarded) => {
        await guarded.register(fastify.authenticate(verifier))
        guarded.get('/route', () => 'guarded')
      },
      { prefix: '/v1' },
    )
    await listening(app, async (url) => {
      expect((await fetch(`${url}/serving.ts`)).status).toBe(200)
      expect((await fetch(`${url}/nowhere.ts`)).status).toBe(404)
      expect((await fetch(`${url}/v1/route`)).status).toBe(401)
    })
  })

  test('reply.sendFile in an open route: a file that is there is open, and the not-found handler is guarded', async () => {
    const app = createFastify()
    await app.register(fastify.authenticate(verifier))
    await app.register(fastifyStatic, { ...files, serve: false })
    app.get<{ Params: { name: string } }>(
      '/files/:name',
      { config: { auth: false } },
      (request, reply) => reply.sendFile(request.params.name),
    )
    app.setNotFoundHandler(() => 'for those with a token')
    await listening(app, async (url) => {
      expect((await fetch(`${url}/files/serving.ts`)).status).toBe(200)
      expect((await fetch(`${url}/files/nowhere.ts`)).status).toBe(401)
      const accepted = await fetch(`${url}/files/nowhere.ts`, { headers: ada })
      expect(await accepted.text()).toBe('for those with a token')
    })
  })
})

/** Its types and those of middie declare the same method: so the compiler must not see it. */
async function loadFastifyExpress(): Promise<FastifyPluginCallback> {
  const name: string = '@fastify/express'
  const { fastifyExpress } = (await import(name)) as { fastifyExpress: FastifyPluginCallback }
  return fastifyExpress
}
