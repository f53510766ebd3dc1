import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  UseGuards,
} from '@nestjs/common'
import { authorizeRequest, findAuth, type Requirement, type Verifier } from '@portcullis/core'
import { checkRequirementList } from '@portcullis/core/adapter'
import { checkOptions, ownMembers } from '@portcullis/kit/options'
import { requiredBy } from '@portcullis/kit/routes'

import { callOf } from './context.ts'
import { refuse } from './exception.ts'
import { markGuard } from './guard-marks.ts'
import { isAny } from './guard.ts'
import { checkHandler, isOpened } from './handlers.ts'
import {
  checkClass,
  checkMethod,
  markOptional,
  markPublic,
  markRequiring,
  setRole,
} from './marks.ts'
import type { Class, Method } from './methods.ts'
import { oncePerOperation } from './operations.ts'

// The decorators of the package, and the guard behind `@Requires()`.

/** Decorates classes and methods. */
export type HandlerDecorator = <Value>(
  target: object,
  name?: string | symbol,
  descriptor?: TypedPropertyDescriptor<Value>,
) => void

/**
 * Opens a handler, or all handlers of a class: no guard of this package checks their tokens.
 *
 * It opens them also if the class or the application is guarded. Subclasses do not inherit it from a class.
 *
 * @throws TypeError together with `@Requires()`, or with a guard of this package at the same place.
 */
export function Public(): HandlerDecorator {
  return marking('@Public()', markPublic)
}

/**
 * Lets requests without a token through to a handler, or to all handlers of a class, whatever the guard's option `optional`
 * says. A bad token is refused. Subclasses do not inherit it from a class.
 *
 * It guards nothing by itself: a {@link PortcullisGuard} must be before the handler.
 *
 * @throws TypeError together with `@Public()`.
 */
export function OptionalAuth(): HandlerDecorator {
  return marking('@OptionalAuth()', markOptional)
}

function marking(decorator: string, mark: (target: object) => void): HandlerDecorator {
  return (target, name, descriptor) => {
    const place = placeOf(decorator, target, name, descriptor)
    mark(place.method?.handler ?? place.type)
    checkDecorated(place)
  }
}

/**
 * Requires something of the token of each request, for a handler or for all handlers of a class. All requirements of the
 * class and of the method must be met. Without a {@link PortcullisGuard} before it, the answer is 500.
 *
 * @throws TypeError for a value that is not a requirement, and together with `@Public()`.
 */
export function Requires(...requirements: [Requirement, ...Requirement[]]): HandlerDecorator {
  checkRequirementList('@Requires', requirements)
  const guard = markGuard(requirementGuard(requirements), {
    requirements: requiredBy(requirements),
  })
  setRole(guard, 'requires')
  const addGuard = UseGuards(guard)
  return (target, name, descriptor) => {
    const place = placeOf('@Requires()', target, name, descriptor)
    if (place.method === undefined) {
      for (const type of facesOf(place.type)) addGuard(type)
    } else {
      const { name: methodName, handler } = place.method
      addGuard(target, methodName, { value: handler })
      markRequiring(target, methodName, guard)
    }
    checkDecorated(place)
  }
}

export interface CurrentAuthOptions {
  /**
   * Gives `undefined` for a request without a token. Otherwise such a request gets 500.
   * @default false
   */
  optional?: boolean | undefined
  /** The verifier that must have verified the token. */
  verifier?: Verifier<unknown> | undefined
}

/**
 * A parameter with what the token of the request proves; with `optional`, `undefined` for a request without a token.
 *
 * @throws TypeError for a wrong or misspelt option. At a request the answer is 500 if no guard has checked it, or if it has
 *   no token and `optional` is not set.
 */
export function CurrentAuth(options: CurrentAuthOptions = {}): ParameterDecorator {
  checkOptions('@CurrentAuth', options, { optional: isAny, verifier: isAny })
  const { optional = false, verifier } = ownMembers(options)
  if (typeof optional !== 'boolean') {
    // Mistake `@CurrentAuth: optional must be true or false`: Write `@CurrentAuth({ optional: true })`.
    throw new TypeError('@CurrentAuth: optional must be true or false')
  }
  if (verifier !== undefined && typeof verifier?.verify !== 'function') {
    // Mistake `…: verifier must be a verifier`: Give what `createVerifier` returned, such as `PortcullisModule.forRoot({ verifier
    // })`.
    throw new TypeError('@CurrentAuth: verifier must be a verifier')
  }
  return createParamDecorator((_data: unknown, context: ExecutionContext) => {
    const auth = authOf(context, verifier)
    if (auth !== undefined || optional) return auth
    // Mistake `@CurrentAuth: the request is anonymous`: The guard is `optional`: write `@CurrentAuth({ optional: true })`.
    throw new TypeError(
      '@CurrentAuth: the request is anonymous; use @CurrentAuth({ optional: true }) where the guard is optional',
    )
  })()
}

function authOf(context: ExecutionContext, verifier: Verifier<unknown> | undefined) {
  try {
    return findAuth(callOf(context).request, verifier)
  } catch (cause) {
    if (!isOpened(context.getClass(), context.getHandler())) throw cause
    // Mistake `@CurrentAuth: @Public() opens the handler`: No guard checks tokens of a public handler. For a token that may be
    // missing, write `@OptionalAuth()` instead of `@Public()`.
    throw new TypeError(
      '@CurrentAuth: @Public() opens the handler, so no guard checks its token; write @OptionalAuth() in the place of @Public()',
      { cause },
    )
  }
}

function requirementGuard(requirements: readonly Requirement[]): CanActivate {
  const authorize = oncePerOperation((request) => authorizeRequest(request, requirements))
  return {
    async canActivate(context) {
      checkHandler(context.getClass(), context.getHandler())
      const call = callOf(context)
      checkGuarded(call.request)
      try {
        await authorize(call)
        return true
      } catch (error) {
        return await refuse(error, context)
      }
    },
  }
}

/** Here a guard is most often missing because of the order of two decorators, which core knows nothing of. */
function checkGuarded(request: object): void {
  try {
    findAuth(request)
  } catch (cause) {
    // Mistake `@Requires(): no guard has seen the request`: Put a `PortcullisGuard` before it. Nest applies decorators from the
    // bottom up.
    throw new TypeError(
      '@Requires(): no guard has seen the request. There must be a PortcullisGuard before it; Nest applies decorators from the bottom up, so write @UseGuards() below @Requires()',
      { cause },
    )
  }
}

interface Place {
  readonly type: Class
  readonly method: Method | undefined
}

function placeOf<Value>(
  decorator: string,
  target: object,
  name: string | symbol | undefined,
  descriptor: TypedPropertyDescriptor<Value> | undefined,
): Place {
  if (name === undefined && typeof target === 'function') {
    return { type: target as Class, method: undefined }
  }
  const handler: unknown = descriptor?.value
  if (name === undefined || typeof handler !== 'function' || typeof target === 'function') {
    // Mistake `… is for classes and their methods`: `@Public()` and `@Requires()` decorate controllers, resolvers and their
    // methods.
    throw new TypeError(`${decorator} is for classes and their methods`)
  }
  return { type: target.constructor as Class, method: { name, handler, owner: target } }
}

/** Another decorator may have put a `Proxy` around the class. Nest 11 asks the class inside for guards, Nest 12 the `Proxy`. */
function facesOf(type: Class): readonly Class[] {
  const { constructor } = type.prototype as { constructor?: Class }
  return constructor !== undefined &&
    constructor !== type &&
    constructor.prototype === type.prototype
    ? [type, constructor]
    : [type]
}

function checkDecorated({ type, method }: Place): void {
  if (method === undefined) checkClass(type)
  else checkMethod(type, method)
}
