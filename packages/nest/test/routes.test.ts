import type { ServerResponse } from 'node:http'

import {
  All,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Head,
  type INestApplication,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  Param,
  Post,
  Scope,
  UseGuards,
  Version,
  VersioningType,
} from '@nestjs/common'
import { APP_GUARD, LazyModuleLoader, NestFactory, RouterModule } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { scope } from '@portcullis/core'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { OptionalAuth, PortcullisGuard, PortcullisModule, Public, Requires } from '../src/index.ts'
import { describeRoutes, type RouteList } from '../src/routes.ts'
import { good, platforms, verifier } from './app.ts'

// Which routes the list calls required, beside what a stranger gets from each. The list may say less than is so, and never more.

const guard = new PortcullisGuard({ verifier })
const everywhere = PortcullisModule.forRoot({ verifier })

@Controller('a')
class Plain {
  @Get()
  list(): string {
    return 'answered'
  }
}

function named(routes: RouteList['routes'], path = '/a'): ReadonlySet<string | undefined> {
  return new Set(routes.find((each) => each.path === path)?.before.map(({ name }) => name))
}

function early(asked: { readonly url?: string }, response: ServerResponse, next: () => void): void {
  if (asked.url?.includes('early') === true) response.end('early')
  else next()
}

function sent(_request: unknown, response: { send(): unknown }): void {
  response.send()
}

describe.each(platforms)('on %s', (platform) => {
  interface Given extends ModuleMetadata {
    readonly prepare?: (app: INestApplication) => unknown
  }

  async function appOf({ prepare, ...metadata }: Given): Promise<INestApplication> {
    class Root {}
    Module(metadata)(Root)
    const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter()
    const app = await NestFactory.create(Root, adapter as never, {
      logger: false,
      abortOnError: false,
    })
    await prepare?.(app)
    return app
  }

  async function described(given: Given) {
    const app = await appOf(given)
    const { routes, isComplete } = await describeRoutes(app)
    await app.listen(0, '127.0.0.1')
    const url = await app.getUrl()
    return {
      app,
      routes,
      isComplete,
      listed: routes.map(({ method, path, state }) => `${method} ${path} ${state}`),
      stranger: async (path: string, method: 'get' | 'post' | 'head' = 'get') =>
        (await request(url)[method](path)).status,
      known: async (path: string) => (await request(url).get(path).set(good)).status,
      async [Symbol.asyncDispose]() {
        await app.close()
      },
    }
  }

  describe('required is', () => {
    @Controller('a')
    @UseGuards(guard)
    class ByClass {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    @Controller('a')
    class ByMethod {
      @Get()
      @UseGuards(guard)
      list(): string {
        return 'answered'
      }
    }

    @Controller('a')
    @UseGuards(PortcullisGuard)
    class ByName {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    class Parent {
      @Get()
      list(): string {
        return 'answered'
      }
    }
    @Controller('a')
    class Child extends Parent {}
    UseGuards(guard)(Parent)

    @Controller('a')
    @OptionalAuth()
    class Required {
      @Get()
      @Requires(scope('read'))
      list(): string {
        return 'answered'
      }
    }

    @Controller({ path: 'a', scope: Scope.REQUEST })
    @UseGuards(guard)
    class ForEachRequest {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    test.each<[string, Given]>([
      [
        'a handler of an application with the module',
        { imports: [everywhere], controllers: [Plain] },
      ],
      [
        'one of an application with a guard of its own',
        { controllers: [Plain], prepare: (app) => app.useGlobalGuards(guard) },
      ],
      [
        'one with a guard by APP_GUARD',
        { controllers: [Plain], providers: [{ provide: APP_GUARD, useValue: guard }] },
      ],
      ['one of a class with a guard', { controllers: [ByClass] }],
      ['one of a class that extends one with a guard', { controllers: [Child] }],
      ['one with a guard', { controllers: [ByMethod] }],
      [
        'one of a class whose guard Nest makes',
        { imports: [PortcullisModule.forRoot({ verifier, global: false })], controllers: [ByName] },
      ],
      [
        'one that requires something behind an optional guard',
        { imports: [everywhere], controllers: [Required] },
      ],
      ['one of a class that is made for each request', { controllers: [ForEachRequest] }],
    ])('%s', async (_case, given) => {
      await using app = await described(given)
      expect(app.routes).toMatchObject([{ method: 'GET', path: '/a', state: 'required' }])
      expect(app.isComplete).toBe(true)
      expect(await app.stranger('/a')).toBe(401)
      expect(await app.stranger('/a', 'head')).toBe(401)
      expect(await app.known('/a')).toBe(200)
    })

    test('of each controller and method, by the name that Nest gives it', async () => {
      @Controller(['a', 'b'])
      class Named {
        @Get([':id', 'me'])
        one(@Param('id') _id: string): string {
          return 'answered'
        }
        @All('any')
        any(): string {
          return 'answered'
        }
        @Head('head')
        head(): void {}
        @Public()
        @Post()
        create(): string {
          return 'answered'
        }
      }
      await using app = await described({ imports: [everywhere], controllers: [Named] })
      expect(app.isComplete).toBe(true)
      expect(app.listed.toSorted()).toEqual(
        ['a', 'b']
          .flatMap((each) => [
            `GET /${each}/:id required`,
            `GET /${each}/me required`,
            `ALL /${each}/any required`,
            `HEAD /${each}/head required`,
            `POST /${each} none`,
          ])
          .toSorted(),
      )
      expect(app.routes[0]?.handler).toBe('Named.one')
      expect(await app.stranger('/b/any', 'post')).toBe(401)
      expect(await app.stranger('/b', 'post')).toBe(201)
    })

    test('with prefix, version and the path of a module', async () => {
      @Controller({ path: 'a', version: '1' })
      class Versioned {
        @Get()
        one(): string {
          return 'answered'
        }
        @Version('2')
        @Get('b')
        other(): string {
          return 'answered'
        }
      }
      class Within {}
      Module({ controllers: [Versioned] })(Within)
      await using app = await described({
        imports: [everywhere, Within, RouterModule.register([{ path: 'm', module: Within }])],
        controllers: [Plain],
        prepare(each) {
          each.setGlobalPrefix('api', { exclude: ['a'] })
          each.enableVersioning({ type: VersioningType.URI })
        },
      })
      const paths = ['/a', '/api/v1/m/a', '/api/v2/m/a/b']
      expect(app.listed.toSorted()).toEqual(paths.map((each) => `GET ${each} required`))
      expect(app.isComplete).toBe(true)
      for (const each of paths) {
        expect([await app.stranger(each), await app.known(each)]).toEqual([401, 200])
      }
    })

    test('of each version that a header chooses', async () => {
      @Controller('a')
      class Versioned {
        @Version('1')
        @Get()
        one(): string {
          return 'answered'
        }
        @Version('2')
        @Public()
        @Get()
        other(): string {
          return 'answered'
        }
      }
      await using app = await described({
        imports: [everywhere],
        controllers: [Versioned],
        prepare: (each) => {
          each.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' })
        },
      })
      expect(app.listed).toEqual(['GET /a required', 'GET /a none'])
    })
  })

  describe('a stranger is answered although a guard is there, and it is not called required:', () => {
    @Controller('a')
    @UseGuards(guard)
    class Opened {
      @Public()
      @Get()
      list(): string {
        return 'answered'
      }
    }

    @Controller('a')
    @UseGuards(guard)
    class Optional {
      @OptionalAuth()
      @Get()
      list(): string {
        return 'answered'
      }
    }

    class Lenient extends PortcullisGuard {
      override async canActivate(context: ExecutionContext): Promise<boolean> {
        return context.getType() === 'http' || (await super.canActivate(context))
      }
    }
    @Controller('a')
    @UseGuards(new Lenient({ verifier }))
    class BySubclass {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    const changed = Object.assign(new PortcullisGuard({ verifier }), { canActivate: () => true })
    @Controller('a')
    @UseGuards(changed)
    class Changed {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    @Controller('a')
    class Replaced {
      constructor() {
        this.list = () => 'answered'
      }
      @Get()
      @UseGuards(guard)
      list(): string {
        return 'guarded'
      }
    }

    @Controller({ path: 'a', scope: Scope.REQUEST })
    class ReplacedForEach {
      constructor() {
        this.list = () => 'answered'
      }
      @Get()
      @UseGuards(guard)
      list(): string {
        return 'guarded'
      }
    }

    @Controller({ path: 'a', scope: Scope.REQUEST })
    @UseGuards(guard)
    class SwappedForEach {
      constructor() {
        Object.assign(this, { list: Reflect.get(this, 'open') })
      }
      @Get()
      list(): string {
        return 'guarded'
      }
      @Public()
      @Get('open')
      open(): string {
        return 'answered'
      }
    }

    @Injectable({ scope: Scope.REQUEST })
    class LenientForEach extends Lenient {}
    const byName = PortcullisModule.forRoot({ verifier, global: false })
    @Controller('a')
    @UseGuards(LenientForEach)
    class ByRequestScoped {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    @Injectable()
    class Wrapping implements CanActivate {
      async canActivate(context: ExecutionContext): Promise<boolean> {
        return context.getClass().name !== 'Guarded' || (await guard.canActivate(context))
      }
    }
    @Controller('a')
    @UseGuards(Wrapping)
    class Wrapped {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    @Controller('b')
    @UseGuards(guard)
    class Other {
      @Get()
      list(): string {
        return 'answered'
      }
    }

    test.each<[string, Given, string]>([
      ['@Public()', { controllers: [Opened] }, 'GET /a none'],
      ['@OptionalAuth()', { controllers: [Optional] }, 'GET /a optional'],
      [
        'an optional guard',
        { imports: [PortcullisModule.forRoot({ verifier, optional: true })], controllers: [Plain] },
        'GET /a optional',
      ],
      ['a guard of another class', { controllers: [Plain, Other] }, 'GET /a none'],
      ['a class that extends the guard', { controllers: [BySubclass] }, 'GET /a unseen'],
      ['a guard whose method is replaced', { controllers: [Changed] }, 'GET /a unseen'],
      ['a guard within another guard', { controllers: [Wrapped] }, 'GET /a none'],
      [
        'a guard that is made for each request',
        { imports: [byName], controllers: [ByRequestScoped] },
        'GET /a unseen',
      ],
      [
        'the same for all handlers',
        {
          imports: [byName],
          controllers: [Plain],
          providers: [{ provide: APP_GUARD, useClass: LenientForEach, scope: Scope.REQUEST }],
        },
        'GET /a unseen',
      ],
      ['a method that the constructor replaces', { controllers: [Replaced] }, 'GET /a none'],
      ['the same for each request', { controllers: [ReplacedForEach] }, 'GET /a unseen'],
      [
        'an open method in the place of another for each request',
        { controllers: [SwappedForEach] },
        'GET /a unseen',
      ],
    ])('%s', async (_case, given, expected) => {
      await using app = await described(given)
      expect(await app.stranger('/a')).toBe(200)
      expect(app.listed).toContain(expected)
    })

    test('useGlobalGuards behind init', async () => {
      const app = await appOf({ controllers: [Plain] })
      await app.init()
      app.useGlobalGuards(guard)
      const { routes } = await describeRoutes(app)
      await app.listen(0, '127.0.0.1')
      expect((await request(await app.getUrl()).get('/a')).status).toBe(200)
      expect(routes[0]).toMatchObject({ path: '/a', state: 'unseen' })
      await app.close()
    })

    test('a route that only the platform has', async () => {
      await using app = await described({
        imports: [everywhere],
        controllers: [Plain],
        prepare: (each) => {
          each.getHttpAdapter().get('/raw', (_request: unknown, response: unknown) => {
            each.getHttpAdapter().reply(response, 'answered', 200)
          })
        },
      })
      expect(await app.stranger('/raw')).toBe(200)
      expect(app.listed.toSorted()).toEqual(['GET /a required', 'GET /raw unseen'])
    })

    test('a route of the platform where a controller that is loaded later would have one', async () => {
      class Late {}
      Module({ controllers: [Plain] })(Late)
      const app = await appOf({
        imports: [everywhere],
        prepare: (each) => {
          each.getHttpAdapter().get('/a', (_request: unknown, response: unknown) => {
            each.getHttpAdapter().reply(response, 'answered', 200)
          })
        },
      })
      await app.init()
      await app.get(LazyModuleLoader).load(() => Late)
      const { routes } = await describeRoutes(app)
      await app.listen(0, '127.0.0.1')
      expect((await request(await app.getUrl()).get('/a')).status).toBe(200)
      const found = routes.filter(({ path }) => path === '/a')
      expect(found.map(({ state }) => state)).toEqual(['unseen', 'unseen'])
      await app.close()
    })

    test('one of a controller that is loaded before init is a route', async () => {
      class Late {}
      Module({ controllers: [Plain] })(Late)
      await using app = await described({
        imports: [everywhere],
        prepare: async (each) => await each.get(LazyModuleLoader).load(() => Late),
      })
      expect(await app.stranger('/a')).toBe(401)
      expect(app.listed).toEqual(['GET /a required'])
    })

    test('a method that contradicts the decorators of its class: nobody gets through', async () => {
      class Guarded {
        @Get()
        @Requires(scope('read'))
        list(): string {
          return 'answered'
        }
      }
      @Controller('a')
      @UseGuards(guard)
      class Contradicting extends Guarded {
        @Get()
        override list(): string {
          return 'answered'
        }
      }
      await using app = await described({ controllers: [Contradicting] })
      expect(await app.stranger('/a')).toBe(500)
      expect(app.listed).toContain('GET /a unseen')
    })
  })

  describe('before a guard', () => {
    @Injectable()
    class Logging {
      use(given: { readonly url?: string }, response: ServerResponse, next: () => void): void {
        early(given, response, next)
      }
    }

    const parsers = platform === 'Express' ? ['jsonParser', 'urlencodedParser'] : []

    test('middleware of the application is named, and the parsers of the platform', async () => {
      await using app = await described({
        imports: [everywhere],
        controllers: [Plain],
        prepare: (each) =>
          each.use(early).use('/b', (_q: unknown, _s: unknown, next: () => void) => {
            next()
          }),
      })
      expect(await app.stranger('/a?early')).toBe(200)
      const [route] = app.routes
      const shown = new Set(route?.before.map(({ name, path }) => `${name} ${path}`))
      // Nest 12 puts a function without a name around what Fastify gets.
      const expected =
        platform === 'Express' ? ['early /', 'jsonParser /', 'urlencodedParser /'] : [' /', ' /b']
      expect(shown).toEqual(new Set(expected))
      expect(app.listed.filter((each) => !each.startsWith('ALL'))).toEqual(['GET /a required'])
    })

    test.each(['a', '*path', Plain])('middleware of a module for %s is named', async (target) => {
      class Within {
        configure(consumer: MiddlewareConsumer): void {
          consumer.apply(Logging).forRoutes(target)
        }
      }
      Module({ controllers: [Plain] })(Within)
      await using app = await described({ imports: [everywhere, Within] })
      expect(await app.stranger('/a?early')).toBe(200)
      expect(app.listed).toEqual(['GET /a required'])
      expect(named(app.routes)).toEqual(new Set([...parsers, 'Logging']))
      expect(app.isComplete).toBe(true)
    })

    test('middleware of a module that is a function has no name', async () => {
      class Within {
        configure(consumer: MiddlewareConsumer): void {
          consumer.apply(early).exclude('b').forRoutes(Plain)
        }
      }
      Module({ controllers: [Plain] })(Within)
      await using app = await described({ imports: [everywhere, Within] })
      expect(await app.stranger('/a?early')).toBe(200)
      expect(named(app.routes)).toEqual(new Set([...parsers, '']))
    })

    test('another guard is named, unless it comes later', async () => {
      @Injectable()
      class Answering implements CanActivate {
        async canActivate(): Promise<boolean> {
          return true
        }
      }
      @Controller('a')
      @UseGuards(Answering, guard, new Answering())
      class Both {
        @Get()
        list(): string {
          return 'answered'
        }
      }
      await using app = await described({ controllers: [Both] })
      expect(app.routes[0]?.before.filter(({ name }) => name === 'Answering')).toEqual([
        { name: 'Answering', path: '/a' },
      ])
    })

    test('answers to preflights are named', async () => {
      await using app = await described({
        imports: [everywhere],
        controllers: [Plain],
        prepare: (each) => {
          each.enableCors()
        },
      })
      expect(named(app.routes)).toContain(platform === 'Express' ? 'corsMiddleware' : 'corsHook')
    })
  })

  test('nobody sees an exception filter that answers what a guard has refused', async () => {
    @Catch()
    class Answering implements ExceptionFilter {
      catch(_error: unknown, host: Parameters<ExceptionFilter['catch']>[1]): void {
        host
          .switchToHttp()
          .getResponse<{ status(status: number): { send(body: string): void } }>()
          .status(200)
          .send('answered')
      }
    }
    await using app = await described({
      imports: [everywhere],
      controllers: [Plain],
      prepare: (each) => each.useGlobalFilters(new Answering()),
    })
    expect(await app.stranger('/a')).toBe(200)
    expect(app.listed).toEqual(['GET /a required'])
  })

  test('requirements of class and method are described', async () => {
    @Controller('a')
    @Requires(scope('read'))
    class Requiring {
      @Get()
      @Requires(scope('write'))
      list(): string {
        return 'answered'
      }
    }
    await using app = await described({ imports: [everywhere], controllers: [Requiring] })
    expect(app.routes[0]?.requirements).toEqual([
      { description: 'scope read', scopes: [['read']], isWhole: true },
      { description: 'scope write', scopes: [['write']], isWhole: true },
    ])
  })

  test('a HEAD route of the platform beside the GET of a controller is not left out', async () => {
    await using app = await described({
      imports: [everywhere],
      controllers: [Plain],
      prepare: (each) => void each.getHttpAdapter().head('/a', sent),
    })
    expect([await app.stranger('/a'), await app.stranger('/a', 'head')]).toEqual([401, 200])
    expect(app.listed.toSorted()).toEqual(['GET /a required', 'HEAD /a unseen'])
  })

  test('an application that is mounted is an entry, and the list is not complete', async () => {
    if (platform === 'Fastify') return
    await using app = await described({
      imports: [everywhere],
      controllers: [Plain],
      prepare: (each) => each.use('/mounted', new ExpressAdapter().getInstance()),
    })
    expect(app.listed.toSorted()).toEqual(['ALL /mounted/* unseen', 'GET /a required'])
    expect(app.isComplete).toBe(false)
  })
})

test.each([undefined, null, 'app', {}, { init() {} }])('%j is no application', async (wrong) => {
  await expect(describeRoutes(wrong as never)).rejects.toThrow(
    'the argument must be an application of Nest',
  )
})
