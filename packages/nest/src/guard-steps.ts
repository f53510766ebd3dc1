import type { CanActivate } from '@nestjs/common'
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core'
import { GuardsContextCreator } from '@nestjs/core/guards/guards-context-creator.js'
import type { GuardMark, Step } from '@portcullis/kit/routes'

import { guardMarkOf } from './guard-marks.ts'
import { PortcullisGuard } from './guard.ts'
import { isOpened, isOptionalFor } from './handlers.ts'
import { isOptional, isPublic } from './marks.ts'
import { type Class, type Handler, methodsOf } from './methods.ts'

// The guards that Nest runs for a handler, in their order, and what is proven of each.

const canActivate: unknown = Reflect.get(PortcullisGuard.prototype, 'canActivate')

/** Where Nest keeps what it runs. */
export interface Container {
  readonly modules: ModulesContainer
  readonly config: ApplicationConfig
  readonly early: Early
}

/** What was there before Nest added its routes. */
interface Early {
  readonly guards: readonly CanActivate[]
  readonly modules: readonly string[]
}

interface Place {
  readonly controller: { isDependencyTreeStatic(): boolean }
  readonly instance: object
  readonly method: { readonly methodName: string; readonly targetCallback: unknown }
  readonly moduleKey: string
  readonly path: string
}

/** What the decorators say of a handler: whether guards of this package leave it alone. `unknown` where they contradict each other. */
type Opening = 'closed' | 'optional' | 'open' | 'unknown'

export function guardSteps(place: Place, { modules, config, early }: Container): readonly Step[] {
  const { instance, method, moduleKey, path } = place
  const handler = method.targetCallback as Handler
  const container = { getModules: () => modules }
  const creator = new GuardsContextCreator(container as never, config) // which asks it for nothing else
  const guards = creator.create(instance, handler as never, moduleKey)
  // A function without decorators has the guards of its class and of the application alone.
  const wider = creator.create(instance, () => {}, moduleKey).length
  const late = new Set(
    config.getGlobalGuards().filter((each) => !isProven(each, early.guards, modules)),
  )
  const isFixed = isHandlerKnown(place)
  const opening = isFixed || !mayBeOpen(instance) ? openingOf(instance, handler) : 'unknown'
  const steps = guards.map((guard, index) => {
    const isSure = !late.has(guard) && (index < wider || isFixed)
    return stepOf(guard, path, opening, isSure ? 'always' : 'maybe')
  })
  return [
    ...config.getGlobalRequestGuards().map((wrapper): Step => ({
      name: wrapper.metatype?.name ?? '',
      path,
      key: wrapper,
      runs: 'maybe',
      mayHide: true,
      chain: instance,
    })),
    ...steps,
  ]
}

/** Of `APP_GUARD`, which Nest has found before any route, or there before `init`. */
function isProven(
  guard: CanActivate,
  proven: readonly CanActivate[],
  modules: ModulesContainer,
): boolean {
  if (proven.includes(guard)) return true
  return [...modules.values()].some(({ providers }) =>
    [...providers].some(
      ([token, { instance }]) =>
        typeof token === 'string' && token.startsWith('APP_GUARD (') && instance === guard,
    ),
  )
}

/** A constructor can put another function in the place of a method, and one that runs for each request has not run yet. */
function isHandlerKnown({ controller, instance, method }: Place): boolean {
  const { methodName, targetCallback } = method
  return (
    controller.isDependencyTreeStatic() &&
    Reflect.get(Reflect.getPrototypeOf(instance) ?? {}, methodName) === targetCallback
  )
}

/** Whether a handler that takes the place of another may be open: guards accept those of the same class alone. */
function mayBeOpen(instance: object): boolean {
  return methodsOf(instance.constructor as Class).some(
    ({ handler }) => isPublic(handler) || isOptional(handler),
  )
}

function openingOf(instance: object, handler: Handler): Opening {
  const type = instance.constructor as Class
  try {
    if (isOpened(type, handler)) return 'open'
    return isOptionalFor(type, handler) ? 'optional' : 'closed'
  } catch {
    // A guard throws the same for each request.
    return 'unknown'
  }
}

function stepOf(guard: CanActivate, path: string, opening: Opening, runs: Step['runs']): Step {
  const mark = markOf(guard)
  const isOurs = mark?.guards !== undefined
  return {
    name: nameOf(guard),
    path,
    key: guard,
    runs,
    mark: isOurs ? seenFrom(mark, opening) : mark,
    // A subclass, or one of which the constructor has not run, may guard or not.
    mayHide:
      (mark === undefined && guard instanceof PortcullisGuard) || (isOurs && opening === 'unknown'),
    chain: guard,
  }
}

function markOf(guard: CanActivate): GuardMark | undefined {
  if (guard instanceof PortcullisGuard && Reflect.get(guard, 'canActivate') !== canActivate)
    return undefined
  return guardMarkOf(guard)
}

function seenFrom(mark: GuardMark, opening: Opening): GuardMark | undefined {
  if (opening === 'optional') return { ...mark, guards: 'optional' }
  return opening === 'closed' ? mark : undefined
}

function nameOf(guard: CanActivate): string {
  const { constructor } = guard
  return typeof constructor === 'function' && constructor !== Object ? constructor.name : ''
}
