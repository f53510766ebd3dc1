import type { RequestListener } from 'node:http'
import type { Http2Server } from 'node:http2'

import type { Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth, serveMetadata } from '@portcullis/express'
import { stubVerifier } from '@portcullis/testing'
import cors from 'cors'
import express5 from 'express'

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

// The part that both majors type alike.

interface Reply {
  json(body: unknown): unknown
  status(status: number): Reply
}

interface Router {
  use(...handlers: unknown[]): unknown
  all(path: string, ...handlers: unknown[]): unknown
}

interface Express {
  (): RequestListener & Router & { set(name: string, value: string): unknown }
  Router(): Router
}

type Handler = (request: object, response: Reply, next: (error: unknown) => void) => unknown

interface Major {
  /** Not before it is used: most processes use one major. */
  readonly load: () => Promise<Express>
  readonly wrap: (handler: Handler) => Handler
}

const middleware = ({ guards = [], requirements = [] }: Guarded) => [
  ...guards.map(({ verifier, options }) => authenticate(verifier, options)),
  ...(areSome(requirements) ? [authorize(...requirements)] : []),
]

async function createApp({ load, wrap }: Major, spec: AppSpec): Promise<Application> {
  const express = await load()
  const app = express()
  // Express prints every error it is handed, unless it is told that this is a test.
  app.set('env', spec.development === true ? 'development' : 'test')
  if (spec.cors === true) app.use(cors({ origin: WEB }))
  if (spec.metadata !== undefined) app.use(serveMetadata(spec.metadata))

  function fill(router: Router, scope: ScopeSpec): void {
    for (const each of middleware(scope)) router.use(each)
    for (const { path, handle, ...guarded } of scope.routes ?? []) {
      const handler: Handler = (request, response) =>
        answer(
          () =>
            handle({
              property: (name): unknown => Reflect.get(request, name),
              getAuth: (verifier) => getAuth(request, verifier),
              findAuth: (verifier) => findAuth(request, verifier),
            }),
          (body) => response.json(body),
        )
      router.all(path, ...middleware(guarded), wrap(handler))
    }
  }

  fill(app, spec)
  for (const [prefix, scope] of Object.entries(spec.routers ?? {})) {
    const router = express.Router()
    fill(router, scope)
    app.use(prefix, router)
  }
  const { onError } = spec
  if (onError !== undefined) {
    app.use((error: unknown, _request: object, response: Reply, _next: unknown) => {
      const { status, body } = onError(error)
      response.status(status).json(body)
    })
  }
  return await listening(app, spec)
}

/** The guard alone: over HTTP/2 Express itself breaks with any request. */
async function createHttp2Server(verifier: Verifier): Promise<Http2Server> {
  const guard = authenticate(verifier)
  return await listeningOverHttp2((request, response) => {
    // The compatibility API of HTTP/2 has all that a guard touches.
    guard(request as never, response as never, (error) => {
      if (error !== undefined) response.statusCode = (error as { status: number }).status
      response.end()
    })
  })
}

/** Express 4 leaves it to the application to forward what an asynchronous handler rejects with. */
function forwardingRejections(handler: Handler): Handler {
  return (request, response, next) => {
    const result = handler(request, response, next)
    if (result instanceof Promise) result.catch(next)
  }
}

const majors: Readonly<Record<string, Major>> = {
  'Express 5': { load: async () => await Promise.resolve(express5), wrap: (handler) => handler },
  'Express 4': {
    load: async () => (await import('express4')).default,
    wrap: forwardingRejections,
  },
}

export const adapter: Adapter = {
  folder: 'express',
  functions: {
    authenticate,
    authorize,
    mistakes: {
      'a guard after the route': (verifier) => {
        const app = express5()
        app.get('/', (incoming, response) => void response.json(getAuth(incoming)))
        return app.use(authenticate(verifier))
      },
      'authenticate is not called': () => express5().use(authenticate as never),
      'authorize is not called': () => express5().use(authorize as never),
    },
  },
  takesOptions: (options) => authenticate(stubVerifier(), options),
  moved: [
    {
      title: 'sees the path that was asked for, in an application that is mounted in another one',
      createListener(verifier, guarding) {
        const [outer, inner] = [express5(), express5()]
        inner.use(authenticate(verifier, guarding()))
        inner.get('/a', (_request, response) => response.json({}))
        outer.use('/v1', inner)
        return outer.set('env', 'test')
      },
      answers: [
        ['/v1/a?b=c', '/v1/a', 200],
        ['/v1/a', '/a', 401],
      ],
    },
  ],
  // Express prints errors unless it is told that this is a test.
  mounts: [
    {
      title: "app.use('/v1', guard)",
      createListener(verifier) {
        const app = express5().use('/v1', authenticate(verifier))
        return app.get('/v1/secret', (_request, response) => void response.json({}))
      },
      opens: [],
    },
    {
      title: 'router.use(guard)',
      createListener(verifier) {
        const router = express5.Router().use(authenticate(verifier))
        router.get('/secret', (_request, response) => void response.json({}))
        return express5().use('/v1', router)
      },
      opens: [],
    },
  ],
  exampleEnding: "\napp.set('env', 'test')\nexport { app }",
  frameworks: Object.entries(majors).map(([name, major]) => ({
    name,
    createApp: async (spec) => await createApp(major, spec),
    createHttp2Server,
    breaksWithHttp2: true,
    failsUnderNames: {
      originalUrl:
        'it says with 404 which URL it has no route for, and reads it from what inherits it',
    },
  })),
}
