import type { Http2Server } from 'node:http2'

import { getRequestListener } from '@hono/node-server'
import type { Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth, serveMetadata } from '@portcullis/hono'
import { stubVerifier } from '@portcullis/testing'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

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

const middleware = ({ guards = [], requirements = [] }: Guarded) => [
  ...guards.map(({ verifier, options }) => authenticate(verifier, options)),
  ...(areSome(requirements) ? [authorize(...requirements)] : []),
]

/** The listener replaces the global `Request` and `Response` unless it is told not to. */
const listenerOf = (app: Hono) => getRequestListener(app.fetch, { overrideGlobalObjects: false })

async function createApp(spec: AppSpec): Promise<Application> {
  const app = new Hono()
  const { onError } = spec
  if (onError !== undefined) {
    app.onError((error, context) => {
      const { status, body } = onError(error)
      return context.json(body, status as ContentfulStatusCode)
    })
  } else if (spec.silent === true) {
    // Hono always prints what it answers with 500.
    app.onError((error, context) =>
      'getResponse' in error ? error.getResponse() : context.text('Internal Server Error', 500),
    )
  }
  if (spec.cors === true) app.use(cors({ origin: WEB }))
  if (spec.metadata !== undefined) app.use(serveMetadata(spec.metadata))

  fill(app, spec)
  for (const [prefix, scope] of Object.entries(spec.routers ?? {})) {
    const router = new Hono()
    fill(router, scope)
    app.route(prefix, router)
  }
  const handle = listenerOf(app)
  return await listening((request, response) => void handle(request, response), spec)
}

function fill(router: Hono, scope: ScopeSpec): void {
  for (const each of middleware(scope)) router.use(each)
  for (const { path, handle, ...guarded } of scope.routes ?? []) {
    for (const each of middleware(guarded)) router.all(path, each)
    router.all(path, async (context) => {
      const body = answer(
        () =>
          handle({
            property: (name): unknown => Reflect.get(context.var, name),
            getAuth: (verifier) => getAuth(context, verifier),
            findAuth: (verifier) => findAuth(context, verifier),
          }),
        (result) => {
          // Not with `json()`: it fails under any name on a polluted `Object.prototype`.
          context.header('Content-Type', 'application/json')
          return context.body(JSON.stringify(result))
        },
      )
      return (await body) as Response // what `body` returns
    })
  }
}

async function createHttp2Server(verifier: Verifier): Promise<Http2Server> {
  const app = new Hono()
  app.use(authenticate(verifier)).get('/', (context) => context.json({}))
  return await listeningOverHttp2(listenerOf(app))
}

export const adapter: Adapter = {
  folder: 'hono',
  functions: {
    authenticate,
    authorize,
    mistakes: {
      'a guard after the route': (verifier) => {
        const app = new Hono()
        app.get('/', (context) => context.json(getAuth(context)))
        app.use(authenticate(verifier))
        return listenerOf(app)
      },
      'authenticate is not called': () => listenerOf(new Hono().use(authenticate as never)),
      'authorize is not called': () => listenerOf(new Hono().use(authorize as never)),
      'getAuth of the request': (verifier) => {
        const app = new Hono()
        app.use(authenticate(verifier))
        app.get('/', (context) => context.json(getAuth(context.req)))
        return listenerOf(app)
      },
    },
  },
  takesOptions: (options) => authenticate(stubVerifier(), options),
  moved: [
    {
      title: 'sees the path with basePath',
      createListener(verifier, guarding) {
        const app = new Hono().basePath('/v1')
        app.use(authenticate(verifier, guarding()))
        app.get('/a', (context) => context.json({}))
        return listenerOf(app)
      },
      answers: [['/v1/a', '/v1/a', 200]],
    },
    {
      title: 'sees the path without the prefix of mount',
      createListener(verifier, guarding) {
        const [outer, inner] = [new Hono(), new Hono()]
        inner.use(authenticate(verifier, guarding('/v1')))
        inner.get('/a', (context) => context.json({}))
        outer.mount('/v1', inner.fetch)
        return listenerOf(outer)
      },
      answers: [
        ['/v1/a', '/v1/a', 200],
        ['/v1/a', '/a', 401],
      ],
    },
  ],
  mounts: [
    {
      title: "app.use('/v1/*', guard)",
      createListener(verifier) {
        const app = new Hono()
        app.use('/v1/*', authenticate(verifier))
        app.get('/v1/secret', (context) => context.json({}))
        return listenerOf(app)
      },
      opens: [],
    },
    {
      title: "app.route('/v1', guarded)",
      createListener(verifier) {
        const inner = new Hono()
        inner.use(authenticate(verifier)).get('/secret', (context) => context.json({}))
        return listenerOf(new Hono().route('/v1', inner))
      },
      opens: [],
    },
  ],
  exampleEnding: [
    "\nimport { getRequestListener } from '@hono/node-server'",
    'const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })',
    'export { listener as app }',
  ].join('\n'),
  frameworks: [
    {
      name: 'Hono 4',
      failsUnderNames: {
        host: 'it does not know which host was asked',
        status:
          'it makes the response that middleware adds headers to from options that inherit it',
      },
      createApp,
      createHttp2Server,
    },
  ],
}
