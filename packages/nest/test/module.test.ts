import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Req,
  Scope,
  UseGuards,
  VersioningType,
} from '@nestjs/common'
import { REQUEST } from '@nestjs/core'
import { createVerifier, type Verifier } from '@portcullis/core'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { getAuth, PortcullisGuard, PortcullisModule, Public } from '../src/index.ts'
import { good, issuer, platforms, run, statuses, verifier } from './app.ts'

@Controller('things')
class Things {
  @Get()
  list(@Req() incoming: object): unknown {
    return getAuth(incoming).claims.sub
  }

  @Public()
  @Get('open')
  open(): string {
    return 'open'
  }
}

@Controller('plain')
class Plain {
  @Get()
  list(): string {
    return 'plain'
  }
}

@Controller('local')
@UseGuards(PortcullisGuard)
class Local {
  @Get()
  list(): string {
    return 'local'
  }
}

@Module({
  providers: [{ provide: 'VERIFIER', useValue: verifier }],
  exports: ['VERIFIER'],
})
class Config {}

const asynchronously = (options: object = {}) =>
  PortcullisModule.forRootAsync({
    imports: [Config],
    inject: ['VERIFIER'],
    useFactory: async (given: Verifier) => await Promise.resolve({ verifier: given, ...options }),
  })

describe.each(platforms)('on %s', (platform) => {
  test.each([
    ['forRoot', () => PortcullisModule.forRoot({ verifier })],
    ['forRootAsync', () => asynchronously()],
  ])('%s guards every handler of the application', async (_title, module) => {
    @Module({ controllers: [Plain, Local] })
    class Feature {}
    await using app = await run(
      { imports: [Feature, module()], controllers: [Things] },
      { platform },
    )
    expect(await statuses(app.url, '/things')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/plain')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/local')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/things/open')).toEqual([200, 200, 200])
    expect(app.logged).toEqual([])
  })

  test('with global: false the guard is where @UseGuards() says', async () => {
    await using app = await run(
      {
        imports: [PortcullisModule.forRoot({ verifier, global: false })],
        controllers: [Plain, Local],
      },
      { platform },
    )
    expect(await statuses(app.url, '/plain')).toEqual([200, 200, 200])
    expect(await statuses(app.url, '/local')).toEqual([401, 200, 200])
  })

  test('a prefix, a version and an interceptor change nothing', async () => {
    const seen: unknown[] = []
    await using app = await run(
      { imports: [PortcullisModule.forRoot({ verifier })], controllers: [Things] },
      {
        platform,
        prepare(nest) {
          nest.setGlobalPrefix('api')
          nest.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' })
          nest.useGlobalInterceptors({
            intercept(context, next) {
              seen.push(getAuth(context.switchToHttp().getRequest<object>()).claims.sub)
              return next.handle()
            },
          })
        },
      },
    )
    expect(await statuses(app.url, '/api/v1/things')).toEqual([401, 200, 200])
    expect(seen).toEqual(['ada', 'ada'])
  })

  test('what has no handler is not guarded: 404, as it is without the guard', async () => {
    await using app = await run(
      { imports: [PortcullisModule.forRoot({ verifier })], controllers: [Things] },
      {
        platform,
        prepare: (nest) =>
          nest.use('/middleware', (_: object, response: { end(text: string): void }) => {
            response.end('open')
          }),
      },
    )
    expect(await statuses(app.url, '/nowhere')).toEqual([404, 404, 404])
    expect(await statuses(app.url, '/middleware')).toEqual([200, 200, 200])
  })

  test('providers of a request see what the guard has proven', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Caller {
      readonly incoming: object
      constructor(incoming: object) {
        this.incoming = incoming
      }
      get name(): unknown {
        return getAuth(this.incoming).claims.sub
      }
    }
    Inject(REQUEST)(Caller, undefined, 0)

    @Controller('scoped')
    class Scoped {
      readonly caller: Caller
      constructor(caller: Caller) {
        this.caller = caller
      }
      @Get()
      list(): unknown {
        return this.caller.name
      }
    }
    Inject(Caller)(Scoped, undefined, 0)
    await using app = await run(
      {
        imports: [PortcullisModule.forRoot({ verifier })],
        controllers: [Scoped],
        providers: [Caller],
      },
      { platform },
    )
    expect(await statuses(app.url, '/scoped')).toEqual([401, 200, 200])
  })
})

test('modules with verifiers of their own: each guards its controllers alone', async () => {
  const other = createVerifier({ ...issuer.verifierOptions, requiredClaims: ['tenant'] })

  @Controller('tenants')
  @UseGuards(PortcullisGuard)
  class Tenants {
    @Get()
    list(@Req() incoming: object): unknown {
      return getAuth(incoming, other).claims['tenant']
    }
  }

  @Module({
    imports: [PortcullisModule.forRoot({ verifier: other, global: false, realm: 'tenants' })],
    controllers: [Tenants],
  })
  class TenantsModule {}

  @Module({
    imports: [PortcullisModule.forRoot({ verifier, global: false })],
    controllers: [Local],
  })
  class LocalModule {}

  await using app = await run({ imports: [TenantsModule, LocalModule] })
  expect(await statuses(app.url, '/local')).toEqual([401, 200, 200])
  const refused = await request(app.url).get('/tenants').set(good)
  expect(refused.headers['www-authenticate']).toMatch(/^Bearer realm="tenants", /)
  const tenant = await issuer.bearer({ claims: { tenant: 'acme' } })
  expect((await request(app.url).get('/tenants').set(tenant)).text).toBe('acme')
})

test.each([true, false])(
  'options for each request, global: %s: an error at start-up',
  async (global) => {
    const perRequest = PortcullisModule.forRootAsync({
      global,
      inject: [REQUEST],
      useFactory: (_request: object) => ({ verifier }),
    })
    await expect(run({ imports: [perRequest], controllers: [Plain] })).rejects.toThrow(
      /request-scoped/,
    )
  },
)

test('a guard that a module lacks is an error at start-up', async () => {
  await expect(run({ controllers: [Local] })).rejects.toThrow(
    /PortcullisGuard.*the options of PortcullisModule/s,
  )
})

describe('options that are wrong: TypeError at start-up', () => {
  test.each<[title: string, options: unknown, message: RegExp]>([
    ['none', undefined, /options must be an object/],
    ['no verifier', {}, /verifier must be a verifier/],
    ['a verifier that is none', { verifier: {} }, /verifier must be a verifier/],
    ['a misspelt one', { verifier, relm: 'a' }, /unknown option "relm", known are /],
    ['a wrong one', { verifier, respond: 'json' }, /respond must be one of forward, problem/],
    ['a wrong reach', { verifier, global: 'yes' }, /global must be true or false/],
  ])('%s', async (_title, options, message) => {
    const given = options as never
    expect(() => PortcullisModule.forRoot(given)).toThrow(TypeError)
    expect(() => PortcullisModule.forRoot(given)).toThrow(message)
    if (options !== undefined && 'global' in (options as object)) return
    const module = PortcullisModule.forRootAsync({ useFactory: () => given })
    const failure: unknown = await run({ imports: [module] }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TypeError)
    expect(String(failure)).toMatch(message)
  })

  test.each<[title: string, options: unknown, message: RegExp]>([
    ['no factory', {}, /useFactory must be a function/],
    ['none', null, /options must be an object/],
    [
      'a misspelt one',
      { useFactory: () => ({ verifier }), injects: [] },
      /unknown option "injects", known are global, imports, inject, useFactory$/,
    ],
    ['a wrong reach', { useFactory: () => ({ verifier }), global: 1 }, /global must be true or/],
  ])('of forRootAsync: %s', (_title, options, message) => {
    expect(() => PortcullisModule.forRootAsync(options as never)).toThrow(TypeError)
    expect(() => PortcullisModule.forRootAsync(options as never)).toThrow(message)
  })
})
