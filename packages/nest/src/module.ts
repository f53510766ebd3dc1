import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type OnModuleInit,
  type Provider,
  Scope,
} from '@nestjs/common'
import { APP_GUARD, ModuleRef } from '@nestjs/core'
import { checkOptions, ownMembers } from '@portcullis/kit/options'

import {
  GUARD_OPTIONS,
  isAny,
  ownOptions,
  PortcullisGuard,
  type PortcullisGuardOptions,
} from './guard.ts'

// The module with which an application states its options and gets the guard.

export interface PortcullisModuleOptions<
  Request extends object = object,
> extends PortcullisGuardOptions<Request> {
  /**
   * Whether every handler of the application is guarded. If not, only handlers with `@UseGuards(PortcullisGuard)` are
   * guarded, in modules that import this one.
   * @default true
   */
  global?: boolean | undefined
}

export interface PortcullisModuleAsyncOptions<
  Request extends object = object,
  Injected extends unknown[] = [],
> extends Pick<PortcullisModuleOptions, 'global'> {
  /** The modules with the providers that the factory gets. */
  imports?: DynamicModule['imports']
  /** The injection tokens of the factory's arguments, in their order. */
  inject?: FactoryProvider['inject']
  useFactory: (
    ...injected: Injected
  ) => PortcullisGuardOptions<Request> | Promise<PortcullisGuardOptions<Request>>
}

/** Guards an application, or the modules that import it, with a {@link PortcullisGuard}. */
export class PortcullisModule implements OnModuleInit {
  readonly #module: ModuleRef

  constructor(module: ModuleRef) {
    this.#module = module
  }

  /** @throws TypeError for a wrong or misspelt option. */
  static forRoot<Request extends object = object>(
    options: PortcullisModuleOptions<Request>,
  ): DynamicModule {
    const { global, ...guard } = ownOptions('PortcullisModule.forRoot', options)
    // Nest makes guards later. A mistake shows here, where it was made.
    void new PortcullisGuard(guard)
    return moduleWith({ provide: GUARD_OPTIONS, useValue: guard }, 'forRoot', global)
  }

  /** The same with options from a factory. If they are wrong, `NestFactory.create` rejects. */
  static forRootAsync<Request extends object = object, Injected extends unknown[] = []>(
    options: PortcullisModuleAsyncOptions<Request, Injected>,
  ): DynamicModule {
    const checks = { global: isAny, imports: isAny, inject: isAny, useFactory: isAny }
    checkOptions('PortcullisModule.forRootAsync', options, checks)
    const { global, imports = [], inject = [], useFactory } = ownMembers(options)
    if (typeof useFactory !== 'function') {
      // Mistake `PortcullisModule.forRootAsync: useFactory must be a function`: It returns the options, or a promise of them.
      throw new TypeError('PortcullisModule.forRootAsync: useFactory must be a function')
    }
    const provider: Provider = {
      provide: GUARD_OPTIONS,
      inject,
      async useFactory(...injected: Injected) {
        const guard = await useFactory(...injected)
        void new PortcullisGuard(guard)
        return guard
      },
    }
    return { ...moduleWith(provider, 'forRootAsync', global), imports }
  }

  /** Nest 11 leaves out a global guard, without a word, if what it needs is made anew for each request. */
  onModuleInit(): void {
    if (this.#module.introspect(GUARD_OPTIONS).scope === Scope.DEFAULT) return
    // Mistake `PortcullisModule.forRootAsync: what is injected must not be request-scoped`: The guard is made once, at start-up.
    // Inject providers that live as long as the application.
    throw new TypeError(
      'PortcullisModule.forRootAsync: what is injected must not be request-scoped',
    )
  }
}

// By hand, since Node runs these sources and knows no decorators.
Module({})(PortcullisModule)
Inject(ModuleRef)(PortcullisModule, undefined, 0)

function moduleWith(options: Provider, method: string, isGlobal: unknown = true): DynamicModule {
  if (typeof isGlobal !== 'boolean') {
    // Mistake `PortcullisModule.…: global must be true or false`: `global: true` guards all routes.
    throw new TypeError(`PortcullisModule.${method}: global must be true or false`)
  }
  const global: Provider[] = isGlobal ? [{ provide: APP_GUARD, useExisting: PortcullisGuard }] : []
  return {
    module: PortcullisModule,
    global: isGlobal,
    providers: [options, PortcullisGuard, ...global],
    exports: [GUARD_OPTIONS, PortcullisGuard],
  }
}
