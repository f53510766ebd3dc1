import { Controller, Get, Scope, UseGuards } from '@nestjs/common'
import { scope } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { PortcullisGuard, Public, Requires } from '../src/index.ts'
import { guarded, platforms, run, statuses, verifier } from './app.ts'

// Nest looks for handlers on the prototype, and calls what the instance has under the same name.

const OPEN = [200, 200, 200]
const GUARDED = [401, 200, 200]
const REQUIRED = [401, 403, 200]
const FAILED = [500, 500, 500]

type Method = (this: object, ...args: unknown[]) => unknown

function methodOf(instance: object, name: string): Method {
  return Reflect.get(instance, name) as Method
}

/** Puts a function in place of a method, as constructors do. */
function replace(instance: object, name: string, value: unknown): void {
  Object.defineProperty(instance, name, { value, writable: true, configurable: true })
}

/** As tracers do it: the metadata and the name of the function are those of the original. */
function traced(original: Method): Method {
  const wrapper = wrapping(original)
  for (const key of Reflect.getMetadataKeys(original) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper)
  }
  return wrapper
}

function wrapping(original: Method): Method {
  return Object.defineProperty(
    function wrapper(this: object, ...args: unknown[]) {
      return original.apply(this, args)
    },
    'name',
    { value: original.name },
  )
}

/** A controller whose constructor does something with its instance. */
function controllerThat(prepare: (instance: object) => unknown): new () => object {
  @Controller('things')
  class Things {
    constructor() {
      // oxlint-disable-next-line no-constructor-return -- a controller that is its own proxy
      return prepare(this) as this
    }

    @Requires(scope('write'))
    @Get()
    list(): string {
      return 'things'
    }

    @Get('other')
    other(): string {
      return 'other'
    }

    @Public()
    @Get('open')
    open(): string {
      return 'open'
    }

    undecorated(): string {
      return 'things'
    }
  }
  return Things
}

async function statusesOf(
  controller: new () => object,
  path: string,
  options: object = guarded(),
): Promise<{ statuses: number[]; logged: string }> {
  await using app = await run({ controllers: [controller] }, options)
  return { statuses: await statuses(app.url, path), logged: app.logged.map(String).join() }
}

const every = (instance: object, change: (method: Method) => Method): void => {
  for (const name of ['list', 'other', 'open'])
    replace(instance, name, change(methodOf(instance, name)))
}

describe('a handler of the instance, in place of a method with @Requires()', () => {
  const changes: [title: string, prepare: (instance: object) => unknown][] = [
    ['bound', (it) => replace(it, 'list', methodOf(it, 'list').bind(it))],
    ['an arrow function', (it) => replace(it, 'list', () => 'things')],
    [
      'anonymous',
      (it) =>
        replace(
          it,
          'list',
          (
            () => () =>
              'things'
          )(),
        ),
    ],
    ['a wrapper of the same name', (it) => replace(it, 'list', wrapping(methodOf(it, 'list')))],
    [
      'named as a method without @Requires()',
      (it) =>
        replace(
          it,
          'list',
          Object.defineProperty(() => 'things', 'name', { value: 'other' }),
        ),
    ],
    ['named as a public method', (it) => replace(it, 'list', wrapping(methodOf(it, 'open')))],
    ['a method without decorators', (it) => replace(it, 'list', methodOf(it, 'undecorated'))],
    [
      'that of a proxy that binds',
      (it) =>
        new Proxy(it, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' && name !== 'constructor'
              ? (value as Method).bind(target)
              : value
          },
        }),
    ],
    [
      'that of a proxy that wraps its constructor as well',
      (it) =>
        new Proxy(it, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' ? (value as Method).bind(target) : value
          },
        }),
    ],
  ]

  test.each(changes)('%s: 500, and the log says why', async (_title, prepare) => {
    for (const platform of platforms) {
      const seen = await statusesOf(controllerThat(prepare), '/things', { platform, ...guarded() })
      expect(seen.statuses).toEqual(FAILED)
      expect(seen.logged).toMatch(
        /^TypeError: @Requires\(\) and @Public\(\) may be lost, since the handler ".*" is no decorated method of /,
      )
    }
  })

  test('a field of a subclass: 500', async () => {
    class Base {
      @Requires(scope('write'))
      @Get()
      list(): string {
        return 'base'
      }
    }
    @Controller('things')
    class Sub extends Base {
      override list = (): string => 'sub'
    }
    expect((await statusesOf(Sub, '/things')).statuses).toEqual(FAILED)
  })

  test('of a controller that is made for each request: 500', async () => {
    const Bound = controllerThat((it) => replace(it, 'list', methodOf(it, 'list').bind(it)))
    Controller({ path: 'things', scope: Scope.REQUEST })(Bound)
    expect((await statusesOf(Bound, '/things')).statuses).toEqual(FAILED)
  })

  test('the method that a subclass overrides, with its weaker requirement: 500', async () => {
    class Base {
      @Requires(scope('read'))
      @Get()
      list(): string {
        return 'base'
      }
    }
    @Controller('things')
    class Sub extends Base {
      constructor() {
        super()
        replace(this, 'list', methodOf(Base.prototype, 'list'))
      }

      @Requires(scope('write'))
      @Get()
      override list(): string {
        return 'sub'
      }
    }
    expect((await statusesOf(Sub, '/things')).statuses).toEqual(FAILED)
  })

  test('for another method than that: 500 as well, since its name proves nothing', async () => {
    const Bound = controllerThat((it) => replace(it, 'other', methodOf(it, 'other').bind(it)))
    expect((await statusesOf(Bound, '/things/other')).statuses).toEqual(FAILED)
    expect((await statusesOf(Bound, '/things')).statuses).toEqual(REQUIRED)
  })

  test('with the metadata of its method, as tracers leave it: all decorators hold', async () => {
    const Traced = controllerThat((it) => every(it, traced))
    expect((await statusesOf(Traced, '/things')).statuses).toEqual(REQUIRED)
    expect((await statusesOf(Traced, '/things/other')).statuses).toEqual(GUARDED)
    expect((await statusesOf(Traced, '/things/open')).statuses).toEqual(OPEN)
  })

  test('with the metadata of its method but for the guards: 500', async () => {
    const Partly = controllerThat((it) => {
      const wrapper = traced(methodOf(it, 'list'))
      Reflect.deleteMetadata('__guards__', wrapper)
      replace(it, 'list', wrapper)
    })
    expect((await statusesOf(Partly, '/things')).statuses).toEqual(FAILED)
  })

  test('with @Requires() on the class nothing is lost', async () => {
    @Requires(scope('write'))
    @Controller('things')
    class Things {
      constructor() {
        replace(this, 'list', methodOf(this, 'list').bind(this))
      }

      @Get()
      list(): string {
        return 'things'
      }
    }
    const seen = await statusesOf(Things, '/things')
    expect(seen).toEqual({ statuses: REQUIRED, logged: '' })
  })

  test('in a class without decorators of ours nothing is lost', async () => {
    @Controller('things')
    class Things {
      constructor() {
        replace(this, 'list', methodOf(this, 'list').bind(this))
      }

      @Get()
      list(): string {
        return 'things'
      }
    }
    expect((await statusesOf(Things, '/things')).statuses).toEqual(GUARDED)
    // Without a global guard Nest runs no guard at all. A guard of the class is not lost.
    UseGuards(new PortcullisGuard({ verifier }))(Things)
    expect((await statusesOf(Things, '/things', {})).statuses).toEqual(GUARDED)
  })
})

describe('@Public() is never gained', () => {
  test('a handler of the instance, in place of a public method, is closed', async () => {
    @Controller('things')
    class Things {
      constructor() {
        replace(this, 'open', methodOf(this, 'open').bind(this))
      }

      @Public()
      @Get()
      open(): string {
        return 'open'
      }
    }
    expect((await statusesOf(Things, '/things')).statuses).toEqual(GUARDED)
  })

  test('a handler of the instance in a public class: 500', async () => {
    @Public()
    @Controller('things')
    class Things {
      constructor() {
        replace(this, 'list', () => 'things')
      }

      @Get()
      list(): string {
        return 'things'
      }
    }
    expect((await statusesOf(Things, '/things')).statuses).toEqual(FAILED)
  })

  test('a mixin that leaves its own public class as the constructor: 500 for other handlers', async () => {
    @Public()
    class Health {
      @Get('health')
      health(): string {
        return 'well'
      }
    }
    @Controller('things')
    class Things {
      @Get()
      list(): string {
        return 'things'
      }
    }
    for (const name of Object.getOwnPropertyNames(Health.prototype)) {
      replace(Things.prototype, name, Reflect.get(Health.prototype, name))
    }
    expect((await statusesOf(Things, '/things')).statuses).toEqual(FAILED)
  })

  test('a subclass may not open what it replaces by a field', async () => {
    class Base {
      @Public()
      @Get()
      list(): string {
        return 'base'
      }
    }
    @Controller('things')
    class Sub extends Base {
      override list = (): string => 'sub'
    }
    expect((await statusesOf(Sub, '/things')).statuses).toEqual(GUARDED)
  })
})

const replacing: MethodDecorator = (_target, _name, descriptor) => {
  descriptor.value = wrapping(descriptor.value as Method) as never
}

describe('a decorator that replaces the method', () => {
  test('between two @Requires(): TypeError, since the lower one is lost', () => {
    expect(() => {
      class Things {
        @Requires(scope('read'))
        @replacing
        @Requires(scope('write'))
        @Get()
        list(): void {}
      }
      return Things
    }).toThrow(/^@Requires\(\) is lost, .* Things\.list$/)
  })

  test('between @Public() and @Requires(): TypeError, since they contradict each other', () => {
    expect(() => {
      class Things {
        @Public()
        @replacing
        @Requires(scope('write'))
        @Get()
        list(): void {}
      }
      return Things
    }).toThrow('@Public() and @Requires() contradict each other: Things.list')
  })

  test('below @Requires(), beside another method with @Requires(): both hold', async () => {
    @Controller('things')
    class Things {
      @Requires(scope('write'))
      other(): void {}

      @Requires(scope('write'))
      @Get()
      @replacing
      list(): string {
        return 'things'
      }
    }
    expect((await statusesOf(Things, '/things')).statuses).toEqual(REQUIRED)
  })
})

test('@Requires() above a decorator that puts a Proxy around the class holds', async () => {
  class Inside {
    @Get()
    list(): string {
      return 'things'
    }
  }
  const Outside = new Proxy(Inside, {})
  Controller('things')(Outside)
  Requires(scope('write'))(Outside)
  expect((await statusesOf(Outside, '/things')).statuses).toEqual(REQUIRED)
  // Nest 11 asks the constructor of the instance, which is the class inside.
  expect(Reflect.getOwnMetadata('__guards__', Inside)).toHaveLength(1)
})

test('the decorators of a handler are read once, not for each request', async () => {
  let reads = 0
  class Things {
    @Get()
    list(): string {
      return 'things'
    }
  }
  const ownKeys = (): string[] => {
    reads += 1
    return []
  }
  Object.setPrototypeOf(Things.prototype, new Proxy({}, { ownKeys }))
  Controller('things')(Things)
  await using app = await run({ controllers: [Things] }, guarded())
  await statuses(app.url, '/things')
  const before = reads
  expect(await statuses(app.url, '/things')).toEqual(GUARDED)
  expect(reads).toBe(before)
})

test('a method whose name is a symbol has its own requirement', () => {
  const name = Symbol('list')
  class Things {
    @Requires(scope('write'))
    @Requires(scope('read'))
    [name](): void {}
  }
  expect(Reflect.getMetadata('__guards__', Things.prototype[name])).toHaveLength(2)
})
