import 'reflect-metadata'
import type { ExecutionContext } from '@nestjs/common'

// What decorators say of controllers and handlers. Nest keeps it as metadata of classes and of functions.

export type Class = ReturnType<ExecutionContext['getClass']>
export type Handler = ReturnType<ExecutionContext['getHandler']>

type Role = 'authenticates' | 'requires'

// From the registry of symbols, so that two copies of this package understand each other.
const ROLE = Symbol.for('@portcullis/nest role')
const PUBLIC = Symbol.for('@portcullis/nest public')
const REQUIRING = Symbol.for('@portcullis/nest requiring')

/** Where Nest keeps the guards of a class or a handler. */
const GUARDS = '__guards__'

/** Says what a guard of ours does: an object, or the prototype of a class. */
export function setRole(guard: object, role: Role): void {
  Reflect.defineMetadata(ROLE, role, guard)
}

export function markPublic(target: object): void {
  Reflect.defineMetadata(PUBLIC, true, target)
}

/** Marks the name of a method. Unlike a mark of its function, that is still there when the function has been replaced. */
export function markRequiring(prototype: object, name: string | symbol): void {
  Reflect.defineMetadata(REQUIRING, true, prototype, name)
}

/**
 * Whether `@Public()` opens a handler. A class hands it to no subclass: what opens is stated where it opens.
 *
 * @throws TypeError if its decorators contradict each other.
 */
export function isOpened(type: Class, handler: Handler): boolean {
  checkMarks(type, handler)
  return isPublic(handler) || isPublic(type)
}

/** @throws TypeError if the decorators of a class and a handler of it contradict each other, or if one is lost. */
export function checkMarks(type: Class, handler: Handler): void {
  complain(contradictionOf(type, handler) ?? lossOf(type, handler))
}

/** The same of a class and all of its methods. Nothing is lost yet: a method that is overridden need not be a handler. */
export function checkClass(type: Class): void {
  complain(contradictionOf(type))
  for (const [, method] of methodsOf(type)) complain(contradictionOf(type, method))
}

function complain(complaint: string | undefined): void {
  if (complaint !== undefined) throw new TypeError(complaint)
}

/** What closes a target that is open: a requirement, wherever it is; a guard, unless it is wider than the mark. */
function contradictionOf(type: Class, handler?: Handler): string | undefined {
  const handlers = handler === undefined ? [] : [handler]
  const targets = [type, ...handlers]
  if (!targets.some(isPublic)) return undefined
  const name = handler === undefined ? type.name : nameOf(type, handler)
  if (targets.some((each) => hasGuard(each, 'requires'))) {
    return `@Public() and @Requires() contradict each other: ${name}`
  }
  const notWider = isPublic(type) ? targets : handlers
  if (notWider.some((each) => hasGuard(each, 'authenticates'))) {
    return `@Public() and @UseGuards() with a PortcullisGuard contradict each other: ${name}`
  }
  return undefined
}

/** A requirement goes with the function that it decorates. It is lost with a function that is replaced or overridden. */
function lossOf(type: Class, handler: Handler): string | undefined {
  const isLost =
    !isPublic(handler) &&
    !hasGuard(handler, 'requires') &&
    methodsOf(type).some(
      ([name, method]) =>
        method === handler && Reflect.hasMetadata(REQUIRING, type.prototype as object, name),
    )
  return isLost
    ? `@Requires() is lost, since another decorator or a subclass replaces the method: repeat it, at the top: ${nameOf(type, handler)}`
    : undefined
}

function isPublic(target: object): boolean {
  return Reflect.hasOwnMetadata(PUBLIC, target)
}

/** A class has the guards of the classes that it extends, as in Nest. */
function hasGuard(target: object, role: Role): boolean {
  const guards: unknown = Reflect.getMetadata(GUARDS, target)
  return Array.isArray(guards) && guards.some((guard) => roleOf(guard) === role)
}

/** Guards are listed as classes, which Nest instantiates, or as objects. */
function roleOf(guard: unknown): unknown {
  const members: unknown = typeof guard === 'function' ? guard.prototype : guard
  return typeof members === 'object' && members !== null
    ? Reflect.getMetadata(ROLE, members)
    : undefined
}

/** By name, those of the classes that it extends included, unless they are overridden. */
function methodsOf(type: Class): readonly (readonly [name: string, method: Handler])[] {
  const methods = new Map<string, Handler>()
  let prototype: unknown = type.prototype
  while (typeof prototype === 'object' && prototype !== null && prototype !== Object.prototype) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value === 'function' && !methods.has(name)) methods.set(name, value as Handler)
    }
    prototype = Object.getPrototypeOf(prototype)
  }
  return [...methods]
}

function nameOf(type: Class, handler: Handler): string {
  const [name] = methodsOf(type).find(([, method]) => method === handler) ?? [handler.name]
  return `${type.name}.${name}`
}
