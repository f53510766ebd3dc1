import {
  Controller,
  type ExceptionFilter,
  Get,
  Param,
  Post,
  Req,
  SetMetadata,
  UseGuards,
} from '@nestjs/common'
import { type Auth, type AuthError, check, createVerifier, scope } from '@portcullis/core'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import {
  CurrentAuth,
  findAuth,
  getAuth,
  OptionalAuth,
  PortcullisGuard,
  Public,
  Requires,
} from '../src/index.ts'
import { good, guarded, issuer, platforms, run, statuses, verifier } from './app.ts'

describe.each(platforms)('on %s', (platform) => {
  @Controller('things')
  class Things {
    @Get()
    list(): string {
      return 'things'
    }

    @Public()
    @Get('open')
    open(): string {
      return 'open'
    }

    @Requires(scope('write'))
    @Get('written')
    written(): string {
      return 'written'
    }
  }

  test('@Public() on a method opens it and no other, @Requires() on a method holds for it alone', async () => {
    await using app = await run({ controllers: [Things] }, { platform, ...guarded() })
    expect(await statuses(app.url, '/things')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/things/open')).toEqual([200, 200, 200])
    expect(await statuses(app.url, '/things/written')).toEqual([401, 403, 200])
    expect(app.logged).toEqual([])
  })

  test('@Public() lets a bad token in as well: nobody looks at it', async () => {
    await using app = await run({ controllers: [Things] }, { platform, ...guarded() })
    const answer = await request(app.url).get('/things/open').set({ authorization: 'Bearer a b' })
    expect(answer.status).toBe(200)
  })

  test('@Public() on a class opens all of its handlers', async () => {
    @Public()
    @Controller('open')
    class Open {
      @Get()
      list(): string {
        return 'open'
      }
    }
    await using app = await run({ controllers: [Open] }, { platform, ...guarded() })
    expect(await statuses(app.url, '/open')).toEqual([200, 200, 200])
  })

  test('@Requires() of class and method both hold, the class first', async () => {
    const asked: string[] = []
    const asking = (name: string) => check(() => asked.push(name) > 0)

    @Requires(scope('read'), asking('class'))
    @Controller('both')
    class Both {
      @Requires(scope('write'), asking('method'))
      @Get()
      list(): string {
        return 'both'
      }
    }
    await using app = await run({ controllers: [Both] }, { platform, ...guarded() })
    expect(await statuses(app.url, '/both')).toEqual([401, 403, 200])
    expect(asked).toEqual(['class', 'class', 'method'])
  })

  test('@Requires() twice on one target: both hold', async () => {
    @Controller('twice')
    class Twice {
      @Requires(scope('write'))
      @Requires(scope('read'))
      @Get()
      list(): string {
        return 'twice'
      }
    }
    await using app = await run({ controllers: [Twice] }, { platform, ...guarded() })
    expect(await statuses(app.url, '/twice')).toEqual([401, 403, 200])
  })

  test('a guard of a class, and one of a method, guard these alone', async () => {
    @UseGuards(new PortcullisGuard({ verifier }))
    @Controller('class')
    class Guarded {
      @Get()
      list(): string {
        return 'guarded'
      }

      @Public()
      @Get('open')
      open(): string {
        return 'open'
      }
    }

    @Controller('methods')
    class Methods {
      @Requires(scope('write'))
      @UseGuards(new PortcullisGuard({ verifier }))
      @Get()
      list(): string {
        return 'guarded'
      }

      @Get('open')
      open(): string {
        return 'open'
      }
    }
    await using app = await run({ controllers: [Guarded, Methods] }, { platform })
    expect(await statuses(app.url, '/class')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/class/open')).toEqual([200, 200, 200])
    expect(await statuses(app.url, '/methods')).toEqual([401, 403, 200])
    expect(await statuses(app.url, '/methods/open')).toEqual([200, 200, 200])
  })

  test('@Requires() below @UseGuards() runs before it: 500, and the log says how to write it', async () => {
    @Controller('order')
    class Order {
      @UseGuards(new PortcullisGuard({ verifier }))
      @Requires(scope('read'))
      @Get()
      list(): string {
        return 'never'
      }
    }
    await using app = await run({ controllers: [Order] }, { platform })
    expect(await statuses(app.url, '/order')).toEqual([500, 500, 500])
    expect(String(app.logged[0])).toContain('write @UseGuards() below @Requires()')
  })

  test('@CurrentAuth() is what getAuth gives, also of one verifier', async () => {
    const other = createVerifier(issuer.verifierOptions)

    @Controller('me')
    class Me {
      @Get()
      me(
        @CurrentAuth() auth: Auth,
        @CurrentAuth({ verifier }) same: Auth,
        @Req() incoming: object,
      ): unknown {
        return [auth.claims.sub, auth === same, auth === getAuth(incoming)]
      }

      @Get('other')
      other(@CurrentAuth({ verifier: other }) auth: Auth): unknown {
        return auth.claims
      }

      @Public()
      @Get('public')
      public(@CurrentAuth({ optional: true }) auth: Auth | undefined): unknown {
        return auth?.claims
      }

      @Post(':id')
      save(@Param('id') id: string, @CurrentAuth() { claims }: Auth): unknown {
        return { id, by: claims.sub }
      }
    }
    await using app = await run({ controllers: [Me] }, { platform, ...guarded() })
    expect((await request(app.url).get('/me').set(good)).body).toEqual(['ada', true, true])
    expect((await request(app.url).post('/me/7').set(good)).body).toEqual({ id: '7', by: 'ada' })
    // No guard with this verifier, and no guard at all.
    expect((await request(app.url).get('/me/other').set(good)).status).toBe(500)
    expect((await request(app.url).get('/me/public').set(good)).status).toBe(500)
  })

  test('@CurrentAuth() of an anonymous request: 500, with optional undefined', async () => {
    @Controller('maybe')
    class Maybe {
      @Get()
      strict(@CurrentAuth() auth: Auth): unknown {
        return auth.claims
      }

      @Get('optional')
      optional(
        @CurrentAuth({ optional: true }) auth: Auth | undefined,
        @Req() incoming: object,
      ): unknown {
        return [auth?.claims.sub ?? null, auth === findAuth(incoming)]
      }
    }
    await using app = await run(
      { controllers: [Maybe] },
      { platform, ...guarded({ optional: true }) },
    )
    expect(await statuses(app.url, '/maybe')).toEqual([500, 200, 200])
    expect(String(app.logged[0])).toContain('use @CurrentAuth({ optional: true })')
    expect((await request(app.url).get('/maybe/optional')).body).toEqual([null, true])
    expect((await request(app.url).get('/maybe/optional').set(good)).body).toEqual(['ada', true])
  })
})

const replacing: MethodDecorator = (_target, _name, descriptor) => {
  const original = descriptor.value as () => unknown
  descriptor.value = function replaced(this: unknown) {
    return original.call(this)
  } as never
}

describe('inheritance', () => {
  test('a subclass has the requirements of an abstract base', async () => {
    @Requires(scope('write'))
    abstract class Base {
      @Get('inherited')
      inherited(): string {
        return 'inherited'
      }
    }

    @Controller('sub')
    class Sub extends Base {
      @Get()
      own(): string {
        return 'own'
      }
    }
    await using app = await run({ controllers: [Sub] }, guarded())
    expect(await statuses(app.url, '/sub')).toEqual([401, 403, 200])
    expect(await statuses(app.url, '/sub/inherited')).toEqual([401, 403, 200])
  })

  test('a subclass of a public class is not public: what opens is stated where it opens', async () => {
    @Public()
    class OpenBase {
      @Get('inherited')
      inherited(): string {
        return 'inherited'
      }

      @Public()
      @Get('marked')
      marked(): string {
        return 'marked'
      }
    }

    @Controller('closed')
    class Closed extends OpenBase {
      @Get()
      own(): string {
        return 'own'
      }
    }
    await using app = await run({ controllers: [Closed] }, guarded())
    expect(await statuses(app.url, '/closed')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/closed/inherited')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/closed/marked')).toEqual([200, 200, 200])
  })

  class Required {
    @Requires(scope('write'))
    @Get()
    list(): string {
      return 'base'
    }
  }

  test('a handler that overrides one with @Requires() and has none: 500, so that nothing is lost unseen', async () => {
    @Controller('lost')
    class Lost extends Required {
      @Get()
      override list(): string {
        return 'never'
      }
    }
    await using app = await run({ controllers: [Lost] }, guarded())
    expect(await statuses(app.url, '/lost')).toEqual([500, 500, 500])
    expect(String(app.logged[0])).toMatch(/^TypeError: @Requires\(\) is lost, .* Lost\.list$/)
  })

  test('one that states its own holds to that, and one that says @Public() is open', async () => {
    @Controller('own')
    class Own extends Required {
      @Requires(scope('read'))
      @Get()
      override list(): string {
        return 'own'
      }
    }

    @Controller('opened')
    class Opened extends Required {
      @Public()
      @Get()
      override list(): string {
        return 'opened'
      }
    }
    await using app = await run({ controllers: [Own, Opened] }, guarded())
    expect(await statuses(app.url, '/own')).toEqual([401, 200, 200])
    expect(await statuses(app.url, '/opened')).toEqual([200, 200, 200])
  })

  test('a decorator above @Requires() that replaces the method without its metadata: 500', async () => {
    @Controller('replaced')
    class Replaced {
      @Get()
      @replacing
      @Requires(scope('write'))
      list(): string {
        return 'never'
      }
    }
    await using app = await run({ controllers: [Replaced] }, guarded())
    expect(await statuses(app.url, '/replaced')).toEqual([500, 500, 500])
  })
})

describe('a TypeError where it is written', () => {
  const write = scope('write')

  test.each<[title: string, declare: () => unknown]>([
    [
      'both on a method',
      () => {
        class A {
          @Public()
          @Requires(write)
          list(): void {}
        }
        return A
      },
    ],
    [
      'both on a method, the other way round',
      () => {
        class A {
          @Requires(write)
          @Public()
          list(): void {}
        }
        return A
      },
    ],
    [
      'both on a class',
      () => {
        @Public()
        @Requires(write)
        class A {}
        return A
      },
    ],
    [
      'both on a class, the other way round',
      () => {
        @Requires(write)
        @Public()
        class A {}
        return A
      },
    ],
    [
      'a public method in a class that requires',
      () => {
        @Requires(write)
        class A {
          @Public()
          list(): void {}
        }
        return A
      },
    ],
    [
      'a method that requires in a public class',
      () => {
        @Public()
        class A {
          @Requires(write)
          list(): void {}
        }
        return A
      },
    ],
    [
      'a public method in a subclass of a class that requires',
      () => {
        @Requires(write)
        class A {}
        class B extends A {
          @Public()
          list(): void {}
        }
        return B
      },
    ],
    [
      'a public subclass of a class that requires',
      () => {
        @Requires(write)
        class A {}
        @Public()
        class B extends A {}
        return B
      },
    ],
    [
      'a public subclass of a class with a method that requires',
      () => {
        class A {
          @Requires(write)
          list(): void {}
        }
        @Public()
        class B extends A {}
        return B
      },
    ],
  ])('%s', (_title, declare) => {
    expect(declare).toThrow(TypeError)
    expect(declare).toThrow(/^@Public\(\) and @Requires\(\) contradict each other: [AB]/)
  })

  test('nothing required, and what is no requirement', () => {
    // @ts-expect-error -- it would let in everybody with a token
    expect(() => Requires()).toThrow(
      new TypeError('@Requires: there must be at least one requirement'),
    )
    expect(() => Requires('write' as never)).toThrow(/^@Requires: each argument must be/)
  })

  test.each([
    ['Public', Public()],
    ['Requires', Requires(write)],
  ])('@%s() on what is no class or method', (name, decorate) => {
    class A {
      field = 1
      get value(): number {
        return 1
      }
      static list(): void {}
    }
    const expected = new TypeError(`@${name}() is for classes and their methods`)
    const getter = Object.getOwnPropertyDescriptor(A.prototype, 'value')
    const method = Object.getOwnPropertyDescriptor(A, 'list')
    for (const [target, key, descriptor] of [
      [A.prototype, 'field', undefined],
      [A.prototype, 'value', getter],
      [A, 'list', method],
    ] as const) {
      expect(() => {
        decorate(target, key, descriptor)
      }).toThrow(expected)
    }
  })

  test('an option of @CurrentAuth() that is misspelt or wrong', () => {
    expect(() => CurrentAuth({ optionl: true } as never)).toThrow(
      new TypeError('@CurrentAuth: unknown option "optionl", known are optional, verifier'),
    )
    expect(() => CurrentAuth({ optional: 'yes' as never })).toThrow(
      new TypeError('@CurrentAuth: optional must be true or false'),
    )
    expect(() => CurrentAuth({ verifier: {} as never })).toThrow(
      new TypeError('@CurrentAuth: verifier must be a verifier'),
    )
  })
})

describe('@Public() and a guard of ours at the same place', () => {
  const guard = new PortcullisGuard({ verifier })

  test.each<[title: string, declare: () => new () => object]>([
    [
      'on a class',
      () => {
        @UseGuards(guard)
        @Public()
        @Controller('x')
        class A {
          @Get()
          list(): void {}
        }
        return A
      },
    ],
    [
      'on a method',
      () => {
        @Controller('x')
        class A {
          @UseGuards(guard)
          @Public()
          @Get()
          list(): void {}
        }
        return A
      },
    ],
    [
      'on a class, as a class that extends it',
      () => {
        class Extended extends PortcullisGuard {}
        @Public()
        @UseGuards(Extended)
        @Controller('x')
        class A {
          @Get()
          list(): void {}
        }
        return A
      },
    ],
    [
      'on a method of a public class',
      () => {
        @Public()
        @Controller('x')
        class A {
          @Get()
          @UseGuards(guard)
          list(): void {}
        }
        return A
      },
    ],
  ])('%s: TypeError, when it is declared or with the first request', async (_title, declare) => {
    let seen: unknown
    try {
      await using app = await run({ controllers: [declare()] })
      expect((await request(app.url).get('/x').set(good)).status).toBe(500)
      ;[seen] = app.logged
    } catch (error) {
      seen = error
    }
    expect(String(seen)).toMatch(/^TypeError: @Public\(\) and @UseGuards\(\) with a Portcullis/)
  })

  test('metadata of others under such names open nothing', async () => {
    @SetMetadata('isPublic', true)
    @SetMetadata('public', true)
    @Controller('x')
    class A {
      @Get()
      list(): string {
        return 'x'
      }
    }
    await using app = await run({ controllers: [A] }, guarded())
    expect(await statuses(app.url, '/x')).toEqual([401, 200, 200])
  })
})

/** What the responses of both platforms have. */
interface Answering {
  status(code: number): { send(): unknown }
}

describe('the property of a request', () => {
  @Controller('shown')
  class Shown {
    @Get()
    mine(@Req() req: { auth: Auth }): unknown {
      return [Object.hasOwn(req, 'auth'), req.auth.claims.sub]
    }
  }

  test('is its own, whatever the prototype of requests has under its name', async () => {
    let assigned = 0
    const { prepare } = guarded()
    await using app = await run(
      { controllers: [Shown] },
      {
        prepare(nest) {
          prepare(nest)
          const express: unknown = nest.getHttpAdapter().getInstance()
          Object.defineProperty(Reflect.get(express as object, 'request'), 'auth', {
            get: () => ({ claims: { sub: 'mallory' } }),
            set() {
              assigned += 1
            },
          })
        },
      },
    )
    expect((await request(app.url).get('/shown').set(good)).body).toEqual([true, 'ada'])
    expect(assigned).toBe(0)
  })

  test.each(platforms)(
    'is not there for an exception filter of a refusal, on %s',
    async (platform) => {
      const seen: boolean[] = []
      const filter: ExceptionFilter = {
        catch(_exception, host) {
          const http = host.switchToHttp()
          seen.push('auth' in http.getRequest<object>())
          http.getResponse<Answering>().status(401).send()
        },
      }
      const { prepare } = guarded()
      await using app = await run(
        { controllers: [Shown] },
        {
          platform,
          prepare(nest) {
            prepare(nest)
            nest.useGlobalFilters(filter)
          },
        },
      )
      for (const headers of [{}, await issuer.bearer({ expiresIn: -60 })]) {
        await request(app.url).get('/shown').set(headers)
      }
      expect(seen).toEqual([false, false])
    },
  )
})

describe('@OptionalAuth()', () => {
  @Controller('optional')
  class Optional {
    @OptionalAuth()
    @Get()
    mine(@CurrentAuth({ optional: true }) auth: Auth | undefined): unknown {
      return { sub: auth?.claims.sub ?? null }
    }

    @Get('closed')
    closed(): string {
      return 'closed'
    }

    @OptionalAuth()
    @Requires(scope('write'))
    @Get('required')
    required(): string {
      return 'required'
    }

    @Public()
    @Get('open')
    open(@CurrentAuth({ optional: true }) auth: Auth | undefined): unknown {
      return auth
    }
  }

  test('lets a request without a token through to its handler alone, and refuses a bad token', async () => {
    await using app = await run({ controllers: [Optional] }, guarded())
    const api = request(app.url)
    expect((await api.get('/optional')).body).toEqual({ sub: null })
    expect((await api.get('/optional').set(good)).body).toEqual({ sub: 'ada' })
    expect((await api.get('/optional').set({ authorization: 'Bearer a.b.c' })).status).toBe(401)
    expect((await api.get('/optional/closed')).status).toBe(401)
    expect((await api.get('/optional/required')).status).toBe(401)
    expect(app.logged).toEqual([])
  })

  test('changes nothing else of the guard: its other options hold for the handler as well', async () => {
    const told: unknown[] = []
    const options = {
      realm: 'orders',
      property: 'proof',
      onRefusal: ({ reason }: AuthError) => told.push(reason),
    }
    @Controller('optional')
    class Shown {
      @OptionalAuth()
      @Get()
      mine(@Req() req: { proof?: Auth }): unknown {
        return { sub: req.proof?.claims.sub }
      }
    }
    await using app = await run({ controllers: [Shown] }, guarded(options))
    const api = request(app.url)
    expect((await api.get('/optional').set(good)).body).toEqual({ sub: 'ada' })
    const refused = await api.get('/optional').set({ authorization: 'Bearer a.b.c' })
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer realm="orders", /)
    expect(told).toEqual(['malformed'])
  })

  test.each<[title: string, declare: () => unknown]>([
    [
      'above @Public()',
      () => {
        class A {
          @OptionalAuth()
          @Public()
          list(): void {}
        }
        return A
      },
    ],
    [
      'below it',
      () => {
        class A {
          @Public()
          @OptionalAuth()
          list(): void {}
        }
        return A
      },
    ],
    [
      'above it on a class',
      () => {
        @OptionalAuth()
        @Public()
        class A {}
        return A
      },
    ],
  ])('%s is a TypeError where it is written', (_title, declare) => {
    expect(declare).toThrow(TypeError)
    expect(declare).toThrow(/^@Public\(\) and @OptionalAuth\(\) contradict each other: A/)
  })

  test('on a class: for all of its handlers, and for no subclass', async () => {
    class Base {
      @Get()
      list(): string {
        return 'list'
      }
    }
    @OptionalAuth()
    @Controller('all')
    class All extends Base {}
    @Controller('sub')
    class Sub extends All {}
    await using app = await run({ controllers: [All, Sub] }, guarded())
    expect((await request(app.url).get('/all')).status).toBe(200)
    expect((await request(app.url).get('/sub')).status).toBe(401)
  })

  test('@CurrentAuth() of a public handler: 500, and the log names both decorators', async () => {
    await using app = await run({ controllers: [Optional] }, guarded())
    expect((await request(app.url).get('/optional/open').set(good)).status).toBe(500)
    expect(String(app.logged[0])).toBe(
      'TypeError: @CurrentAuth: @Public() opens the handler, so no guard checks its token; write @OptionalAuth() in the place of @Public()',
    )
  })

  test.each<[title: string, declare: () => new () => object]>([
    [
      'at the same place',
      () => {
        class A {
          @Public()
          @OptionalAuth()
          list(): void {}
        }
        return A
      },
    ],
    [
      'in a public class',
      () => {
        @Public()
        class A {
          @OptionalAuth()
          list(): void {}
        }
        return A
      },
    ],
  ])('contradicts @Public() %s', (_title, declare) => {
    expect(declare).toThrow(/^@Public\(\) and @OptionalAuth\(\) contradict each other: A/)
  })
})
