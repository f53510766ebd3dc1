import type { Http2Server } from 'node:http2'

import cors from '@fastify/cors'
import type { Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth, serveMetadata } from '@portcullis/fastify'
import { stubVerifier } from '@portcullis/testing'
import { fastify as fastify5, type FastifyInstance } from 'fastify'

import {
  type Adapter,
  answer,
  type Application,
  application,
  type AppSpec,
  areSome,
  type Guard,
  type Route,
  type ScopeSpec,
  WEB,
} from './framework.ts'

interface Major {
  readonly breaksWithHttp2: boolean
  /** Not before it is used: most processes use one major. */
  readonly load: () => Promise<typeof fastify5>
  readonly useCors: (app: FastifyInstance) => Promise<void>
}

async function guardScope(scope: FastifyInstance, guards: readonly Guard[] = []): Promise<void> {
  for (const { verifier, options } of guards) {
    await scope.register(authenticate(verifier, options))
  }
}

function addRoute(scope: FastifyInstance, { path, requirements = [], handle }: Route): void {
  const hooks = areSome(requirements) ? { onRequest: authorize(...requirements) } : {}
  scope.all(path, hooks, (request, reply) =>
    answer(
      () =>
        handle({
          property: (name): unknown => Reflect.get(request, name),
          getAuth: (verifier) => getAuth(request, verifier),
          findAuth: (verifier) => findAuth(request, verifier),
        }),
      (body) => reply.send(body),
    ),
  )
}

async function fillScope(scope: FastifyInstance, within: ScopeSpec): Promise<void> {
  await guardScope(scope, within.guards)
  const { requirements = [] } = within
  if (areSome(requirements)) scope.addHook('onRequest', authorize(...requirements))
  for (const route of within.routes ?? []) {
    // A guard belongs to a scope, so a route with its own is a scope with one route.
    await scope.register(async (inner) => {
      await guardScope(inner, route.guards)
      addRoute(inner, route)
    })
  }
}

async function createApp({ load, useCors }: Major, spec: AppSpec): Promise<Application> {
  const create = await load()
  const app = create({
    ...(spec.maxHeaderSize === undefined ? {} : { http: { maxHeaderSize: spec.maxHeaderSize } }),
    logger: spec.development === true ? { level: 'error' } : false,
  })
  const { onError } = spec
  if (onError !== undefined) {
    app.setErrorHandler((error, _request, reply) => {
      const { status, body } = onError(error)
      reply.code(status).send(body)
    })
  }
  if (spec.cors === true) await useCors(app)
  if (spec.metadata !== undefined) await app.register(serveMetadata(spec.metadata))

  await fillScope(app, spec)
  for (const [prefix, scope] of Object.entries(spec.routers ?? {})) {
    await app.register(
      async (inner) => {
        await fillScope(inner, scope)
      },
      { prefix },
    )
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  return application(app.server)
}

async function createHttp2Server({ load }: Major, verifier: Verifier): Promise<Http2Server> {
  const create = await load()
  const app = create({ http2: true })
  await app.register(authenticate(verifier))
  app.get('/', () => ({}))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

/** What `@fastify/cors`, which is for Fastify 5 alone, does. */
async function useCorsHook(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'access-control-allow-origin': WEB, vary: 'Origin' })
    const isPreflight = 'access-control-request-method' in request.headers
    if (request.method !== 'OPTIONS' || !isPreflight) return undefined
    reply.header('access-control-allow-methods', 'GET,HEAD,POST')
    return await reply.code(204).send()
  })
}

const majors: Readonly<Record<string, Major>> = {
  'Fastify 5': {
    load: async () => await Promise.resolve(fastify5),
    breaksWithHttp2: false,
    useCors: async (app) => {
      await app.register(cors, { origin: WEB })
    },
  },
  // What these applications use, both majors have alike, with types of their own.
  'Fastify 4': {
    load: async () => (await import('fastify4')).fastify as unknown as typeof fastify5,
    useCors: useCorsHook,
    // With requests that come to an application for HTTP/1.
    breaksWithHttp2: true,
  },
}

export const adapter: Adapter = {
  folder: 'fastify',
  functions: {
    authenticate,
    authorize,
    // A guard is added to the routes above it as well.
    mistakes: {
      'authenticate is registered and not called': async () => {
        await fastify5().register(authenticate as never)
        return () => {}
      },
      'authorize is not called': async () => {
        await fastify5().register(authorize as never)
        return () => {}
      },
    },
  },
  takesOptions: (options) => authenticate(stubVerifier(), options),
  moved: [
    {
      title: 'sees the path before rewriteUrl',
      async createListener(verifier, guarding) {
        const app = fastify5({ rewriteUrl: ({ url = '' }) => url.replace('/v1', '') })
        await app.register(authenticate(verifier, guarding()))
        app.get('/a', () => ({}))
        await app.ready()
        return (request, response) => {
          app.routing(request, response)
        }
      },
      answers: [
        ['/v1/a', '/v1/a', 200],
        ['/v1/a', '/a', 401],
      ],
    },
  ],
  mounts: [
    {
      title: "register of a scope with the prefix '/v1'",
      async createListener(verifier) {
        const app = fastify5({ routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } })
        await app.register(
          async (scope) => {
            await scope.register(authenticate(verifier))
            scope.get('/secret', () => ({}))
          },
          { prefix: '/v1' },
        )
        await app.ready()
        return (request, response) => {
          app.routing(request, response)
        }
      },
      opens: [],
    },
  ],
  exampleEnding: '\nawait app.ready()\nconst listener = app.routing\nexport { listener as app }',
  frameworks: Object.entries(majors).map(([name, major]) => ({
    name,
    createApp: async (spec) => await createApp(major, spec),
    createHttp2Server: async (verifier) => await createHttp2Server(major, verifier),
    breaksWithHttp2: major.breaksWithHttp2,
    failsUnderNames: {
      'content-type': 'it looks whether an answer has that header in what inherits it',
      ...(name === 'Fastify 4' && {
        set: 'it makes `request.routeOptions` with property descriptors that inherit it',
        value: 'the same',
        writable: 'the same',
      }),
    },
  })),
}
