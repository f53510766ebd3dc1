import type { Http2Server } from 'node:http2'

import cors from '@koa/cors'
import { Router } from '@koa/router'
import type { Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth, serveMetadata } from '@portcullis/koa'
import { stubVerifier } from '@portcullis/testing'
import express from 'express'
import Koa3 from 'koa'
import mount from 'koa-mount'

import {
  type Adapter,
  answer,
  type Application,
  type AppSpec,
  areSome,
  type Guarded,
  listening,
  listeningOverHttp2,
  type ScopeSpec,
  WEB,
} from './framework.ts'

/** Loads a major not before it is used: most processes use one of them. */
type Load = () => Promise<typeof Koa3>

const secret = (context: { body: unknown }) => {
  context.body = {}
}

const middleware = ({ guards = [], requirements = [] }: Guarded) => [
  ...guards.map(({ verifier, options }) => authenticate(verifier, options)),
  ...(areSome(requirements) ? [authorize(...requirements)] : []),
]

async function createApp(load: Load, spec: AppSpec): Promise<Application> {
  const Koa = await load()
  const app = new Koa()
  app.silent = spec.silent === true
  const { onError } = spec
  if (onError !== undefined) {
    app.use(async (context, next) => {
      try {
        await next()
      } catch (error) {
        const { status, body } = onError(error)
        context.status = status
        context.body = body
      }
    })
  }
  if (spec.cors === true) app.use(cors({ origin: WEB }))
  if (spec.metadata !== undefined) app.use(serveMetadata(spec.metadata))

  function fill(router: Router, scope: ScopeSpec): void {
    for (const { path, handle, ...guarded } of scope.routes ?? []) {
      router.all(path, ...middleware(guarded), (context) =>
        answer(
          () =>
            handle({
              property: (name): unknown => Reflect.get(context.state, name),
              getAuth: (verifier) => getAuth(context, verifier),
              findAuth: (verifier) => findAuth(context, verifier),
            }),
          (body) => {
            context.body = body
          },
        ),
      )
    }
    app.use(router.routes())
  }

  for (const each of middleware(spec)) app.use(each)
  fill(new Router(), spec)
  for (const [prefix, scope] of Object.entries(spec.routers ?? {})) {
    const router = new Router({ prefix })
    for (const each of middleware(scope)) router.use(each)
    fill(router, scope)
  }
  const handle = app.callback()
  return await listening((request, response) => void handle(request, response), spec)
}

async function createHttp2Server(load: Load, verifier: Verifier): Promise<Http2Server> {
  const Koa = await load()
  const app = new Koa()
  app.use(authenticate(verifier)).use((context) => {
    context.body = {}
  })
  const handle = app.callback()
  return await listeningOverHttp2(async (request, response) => {
    await handle(request, response)
  })
}

const majors: Readonly<Record<string, Load>> = {
  'Koa 3': async () => await Promise.resolve(Koa3),
  // What these applications use, both majors have alike, with types of their own.
  'Koa 2': async () => (await import('koa2')).default as unknown as typeof Koa3,
}

export const adapter: Adapter = {
  folder: 'koa',
  functions: {
    authenticate,
    authorize,
    mistakes: {
      'a guard after the route': (verifier) => {
        const app = new Koa3()
        app.use((context) => {
          context.body = getAuth(context)
        })
        return app.use(authenticate(verifier)).callback()
      },
      'authenticate is not called': () => new Koa3().use(authenticate as never).callback(),
      'authorize is not called': () => new Koa3().use(authorize as never).callback(),
      'getAuth of the request': (verifier) => {
        const app = new Koa3().use(authenticate(verifier))
        app.use((context) => {
          context.body = getAuth(context.request)
        })
        return app.callback()
      },
    },
  },
  takesOptions: (options) => authenticate(stubVerifier(), options),
  moved: [
    {
      title:
        'sees the path that was asked for, in an application that is mounted in one of Express',
      createListener(verifier, guarding) {
        const inner = new Koa3()
        inner.use(authenticate(verifier, guarding()))
        inner.use((context) => {
          context.body = {}
        })
        inner.silent = true
        return express().use('/v1', inner.callback())
      },
      answers: [
        ['/v1/a?b=c', '/v1/a', 200],
        ['/v1/a', '/a', 401],
      ],
    },
  ],
  mounts: [
    {
      title: 'app.use(guard) in front of a router',
      createListener(verifier) {
        const router = new Router({ prefix: '/v1' }).get('/secret', secret)
        return new Koa3().use(authenticate(verifier)).use(router.routes()).callback()
      },
      opens: [],
    },
    {
      title: 'a guard for one route of @koa/router',
      createListener(verifier) {
        const router = new Router({ prefix: '/v1' })
        router.get('/secret', authenticate(verifier), secret)
        return new Koa3().use(router.routes()).callback()
      },
      opens: [],
    },
    {
      title: 'router.use(guard) of @koa/router without a prefix',
      createListener(verifier) {
        const router = new Router().use(authenticate(verifier)).get('/v1/secret', secret)
        return new Koa3().use(router.routes()).callback()
      },
      opens: [],
    },
    {
      // The router compares its prefix letter by letter for `use`, and for a route it does not.
      title: "router.use(guard), of @koa/router with the prefix '/v1'",
      createListener(verifier) {
        const router = new Router({ prefix: '/v1' })
        router.use(authenticate(verifier)).get('/secret', secret)
        return new Koa3().use(router.routes()).callback()
      },
      opens: ['/V1/secret', '/V1/SECRET'],
    },
    {
      title: "router.use('/v1', guard)",
      createListener(verifier) {
        const router = new Router().use('/v1', authenticate(verifier))
        return new Koa3().use(router.get('/v1/secret', secret).routes()).callback()
      },
      opens: [],
    },
    {
      title: 'router.use(guard) with a prefix and the option sensitive',
      createListener(verifier) {
        const router = new Router({ prefix: '/v1', sensitive: true })
        router.use(authenticate(verifier)).get('/secret', secret)
        return new Koa3().use(router.routes()).callback()
      },
      opens: [],
    },
    {
      title: "app.use(guard) of an application that is mounted at '/v1'",
      createListener(verifier) {
        const inner = new Koa3().use(authenticate(verifier)).use(secret)
        return new Koa3().use(mount('/v1', inner)).callback()
      },
      opens: [],
    },
    {
      // koa-mount compares paths letter by letter, and the router does not.
      title: "mount('/v1', guard) in front of a router",
      createListener(verifier) {
        const router = new Router({ prefix: '/v1' })
        router.get('/secret', secret)
        const app = new Koa3().use(mount('/v1', authenticate(verifier)))
        return app.use(router.routes()).callback()
      },
      opens: ['/V1/secret', '/V1/SECRET'],
    },
  ],
  exampleEnding: '\nconst listener = app.callback()\nexport { listener as app }',
  frameworks: Object.entries(majors).map(([name, load]) => ({
    name,
    createApp: async (spec) => await createApp(load, spec),
    createHttp2Server: async (verifier) => await createHttp2Server(load, verifier),
    failsUnderNames: {
      host: 'Koa 2 does not know which host was asked',
      respond: 'it does not answer if the context has or inherits `respond: false`',
    },
  })),
}
