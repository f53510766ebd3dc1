import type { RequestListener } from 'node:http'
import type { Http2Server } from 'node:http2'

import * as common12 from '@nestjs/common'
import { NestFactory as NestFactory12 } from '@nestjs/core'
import { ExpressAdapter as ExpressAdapter12 } from '@nestjs/platform-express'
import { FastifyAdapter as FastifyAdapter12 } from '@nestjs/platform-fastify'
import type { Verifier } from '@portcullis/core'
import * as adapter12 from '@portcullis/nest'
import { stubVerifier } from '@portcullis/testing'

import {
  type Adapter,
  answer,
  type Application,
  type AppSpec,
  areSome,
  type Framework,
  type Guarded,
  listening,
  listeningOverHttp2,
  type Route,
  type ScopeSpec,
  WEB,
} from './framework.ts'

interface Major {
  readonly common: typeof common12
  readonly NestFactory: typeof NestFactory12
  readonly ExpressAdapter: typeof ExpressAdapter12
  readonly FastifyAdapter: typeof FastifyAdapter12
  readonly adapter: typeof adapter12
}

/** Loads a major not before it is used: most processes use one of them. */
type Load = () => Promise<Major>

type Class = new () => object

/** A platform of Nest: what it is made of, and what it listens with. */
interface Platform {
  readonly make: (major: Major) => common12.HttpServer
  readonly listenerOf: (instance: unknown) => Promise<RequestListener>
  readonly createHttp2Server: (major: Major, verifier: Verifier) => Promise<Http2Server>
}

// Decorators are called by hand: Node runs these sources, and the controllers are made from the specification of a test.

/** What guards a class, or a method of it. */
function guarding({ common, adapter }: Major, { guards = [], requirements = [] }: Guarded) {
  const decorators = [
    common.UseGuards(
      ...guards.map(
        ({ verifier, options }) => new adapter.PortcullisGuard({ verifier, ...options }),
      ),
    ),
    ...(areSome(requirements) ? [adapter.Requires(...requirements)] : []),
  ]
  return common.applyDecorators(...(decorators as MethodDecorator[]))
}

/** A controller with one handler. */
function controllerOf(
  major: Major,
  prefix: string,
  scopes: readonly Guarded[],
  { path, handle, ...guarded }: Route,
): Class {
  const { common, adapter } = major
  class Controller {
    handle(request: object): unknown {
      return answer(
        () =>
          handle({
            property: (name): unknown => Reflect.get(request, name),
            getAuth: (verifier) => adapter.getAuth(request, verifier),
            findAuth: (verifier) => adapter.findAuth(request, verifier),
          }),
        (body) => body,
      )
    }
  }
  const { prototype } = Controller
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'handle') ?? {}
  common.Req()(prototype, 'handle', 0)
  guarding(major, guarded)(prototype, 'handle', descriptor)
  common.All(path)(prototype, 'handle', descriptor)
  for (const scope of scopes) guarding(major, scope)(Controller)
  common.Controller(prefix)(Controller)
  return Controller
}

function controllersOf(major: Major, spec: AppSpec): readonly Class[] {
  // What guards the whole application is global, and its requirements are those of each class.
  const outer: Guarded = { requirements: spec.requirements ?? [] }
  const fill = (prefix: string, scopes: readonly Guarded[], { routes = [] }: ScopeSpec) =>
    routes.map((route) => controllerOf(major, prefix, scopes, route))
  return [
    ...fill('/', [outer], spec),
    ...Object.entries(spec.routers ?? {}).flatMap(([prefix, scope]) =>
      fill(prefix, [outer, scope], scope),
    ),
  ]
}

/** The application's own exception filter. */
function filterOf(
  { common, adapter }: Major,
  server: common12.HttpServer,
  onError: NonNullable<AppSpec['onError']>,
): common12.ExceptionFilter {
  class Filter {
    catch(exception: unknown, host: common12.ArgumentsHost): void {
      const { status, body } = onError(adapter.authErrorOf(exception) ?? exception)
      server.reply(host.switchToHttp().getResponse(), body, status)
    }
  }
  common.Catch()(Filter)
  return new Filter()
}

async function createApp(load: Load, platform: Platform, spec: AppSpec): Promise<Application> {
  const major = await load()
  const { common, adapter, NestFactory } = major
  class Root {}
  common.Module({ controllers: [...controllersOf(major, spec)] })(Root)
  const server = platform.make(major)
  const app = await NestFactory.create(Root, server as never, {
    logger: spec.silent === true ? false : ['fatal', 'error', 'warn'],
    abortOnError: false,
  })
  if (spec.cors === true) app.enableCors({ origin: WEB })
  if (spec.metadata !== undefined) app.use(adapter.serveMetadata(spec.metadata))
  const guards = (spec.guards ?? []).map(
    ({ verifier, options }) => new adapter.PortcullisGuard({ verifier, ...options }),
  )
  app.useGlobalGuards(...guards)
  if (spec.onError !== undefined) app.useGlobalFilters(filterOf(major, server, spec.onError))
  await app.init()
  return await listening(await platform.listenerOf(server.getInstance()), spec)
}

const platforms: Readonly<Record<string, Platform>> = {
  Express: {
    make: ({ ExpressAdapter }) => new ExpressAdapter(),
    listenerOf: async (instance) => await Promise.resolve(instance as RequestListener),
    createHttp2Server,
  },
  Fastify: {
    make: ({ FastifyAdapter }) => new FastifyAdapter() as common12.HttpServer,
    async listenerOf(instance) {
      const fastify = instance as { ready(): Promise<unknown>; routing: RequestListener }
      await fastify.ready()
      return fastify.routing
    },
    createHttp2Server: createFastifyHttp2Server,
  },
}

const nest12: Major = {
  common: common12,
  NestFactory: NestFactory12,
  ExpressAdapter: ExpressAdapter12,
  FastifyAdapter: FastifyAdapter12,
  adapter: adapter12,
}

const majors: Readonly<Record<string, Load>> = {
  'Nest 12': async () => await Promise.resolve(nest12),
  // What these applications use, both majors have alike, with types of their own.
  'Nest 11': async () => (await import('portcullis-test-nest11')) as unknown as Major,
}

/** The guard alone, in a context of our own: over HTTP/2 Express itself breaks with any request. */
async function createHttp2Server({ adapter }: Major, verifier: Verifier): Promise<Http2Server> {
  const guard = new adapter.PortcullisGuard({ verifier })
  class Controller {
    handle(): void {}
  }
  const handler: unknown = Reflect.get(Controller.prototype, 'handle')
  return await listeningOverHttp2(async (request, response) => {
    const context = {
      getType: () => 'http',
      getClass: () => Controller,
      getHandler: () => handler,
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
    }
    try {
      await guard.canActivate(context as never)
    } catch (error) {
      response.statusCode = adapter.authErrorOf(error)?.status ?? 500
    }
    response.end()
  })
}

/** Fastify can be had over HTTP/2. */
async function createFastifyHttp2Server(major: Major, verifier: Verifier): Promise<Http2Server> {
  const { common, adapter, NestFactory, FastifyAdapter } = major
  class Root {}
  const route = { path: '/', handle: () => ({}) }
  common.Module({ controllers: [controllerOf(major, '/', [], route)] })(Root)
  const app = await NestFactory.create(Root, new FastifyAdapter({ http2: true }) as never, {
    logger: ['fatal', 'error', 'warn'],
  })
  app.useGlobalGuards(new adapter.PortcullisGuard({ verifier }))
  await app.listen(0, '127.0.0.1')
  return app.getHttpServer() as Http2Server
}

export const adapter: Adapter = {
  folder: 'nest',
  peers: ['@nestjs/common', '@nestjs/core', 'reflect-metadata'],
  functions: null,
  takesOptions: (options) =>
    adapter12.PortcullisModule.forRoot({ verifier: stubVerifier(), ...(options as object) }),
  // Express and Fastify change paths, below it.
  moved: [],
  mounts: [],
  exampleEnding:
    '\nawait app.init()\nconst listener = app.getHttpAdapter().getInstance()\nexport { listener as app }',
  frameworks: Object.entries(majors).flatMap(([name, load]) =>
    Object.entries(platforms).map(([on, platform]): Framework => ({
      name: `${name} on ${on}`,
      createApp: async (spec) => await createApp(load, platform, spec),
      createHttp2Server: async (verifier) =>
        await platform.createHttp2Server(await load(), verifier),
      guardsRoutesAlone: true,
      breaksWithHttp2: on === 'Express',
    })),
  ),
}
