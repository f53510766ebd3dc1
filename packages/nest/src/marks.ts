import 'reflect-metadata'
import type { CanActivate } from '@nestjs/common'

import { type Class, type Handler, type Method, methodsOf } from './methods.ts'

// What decorators say of controllers and handlers. Nest keeps it as metadata of classes and of functions.

type Role = 'authenticates' | 'requires'

// From the registry of symbols, so that two copies of this package understand each other.
const ROLE = Symbol.for('@portcullis/nest role')
const PUBLIC = Symbol.for('@portcullis/nest public')
const OPTIONAL = Symbol.for('@portcullis/nest optional')
const REQUIRING = Symbol.for('@portcullis/nest requiring')

/** Where Nest keeps the guards of a class or a handler. */
const GUARDS = '__guards__'

export function setRole(guard: object, role: Role): void {
  Reflect.defineMetadata(ROLE, role, guard)
}

export function markPublic(target: object): void {
  Reflect.defineMetadata(PUBLIC, true, target)
}

export function isPublic(target: object): boolean {
  return Reflect.hasOwnMetadata(PUBLIC, target)
}

export function markOptional(target: object): void {
  Reflect.defineMetadata(OPTIONAL, true, target)
}

export function isOptional(target: object): boolean {
  return Reflect.hasOwnMetadata(OPTIONAL, target)
}

/** Marks the name of a method. Unlike a mark of its function, that is still there when the function has been replaced. */
export function markRequiring(prototype: object, name: string | symbol, guard: CanActivate): void {
  const before = listOf(Reflect.getOwnMetadata(REQUIRING, prototype, name))
  Reflect.defineMetadata(REQUIRING, [...before, guard], prototype, name)
}

/** Whether `@Requires()` is on a method of the class, or on one that is overridden. */
export function isRequiring(type: Class, { name }: Method): boolean {
  return Reflect.hasMetadata(REQUIRING, type.prototype as object, name)
}

/** @throws TypeError if the decorators of a class, or those of one of its methods, contradict each other. */
export function checkClass(type: Class): void {
  complain(contradictionOf(type))
  for (const { handler } of methodsOf(type)) complain(contradictionOf(type, handler))
}

/** @throws TypeError if the decorators that a method has so far contradict each other, or if one is lost already. */
export function checkMethod(type: Class, method: Method): void {
  complain(contradictionOf(type, method.handler) ?? lossOf(type, method, method.handler))
}

export function complain(complaint: string | undefined): void {
  if (complaint !== undefined) throw new TypeError(complaint)
}

/** What closes a target that is open: a requirement, wherever it is; a guard, unless it is wider than the mark. */
export function contradictionOf(type: Class, handler?: Handler): string | undefined {
  const handlers = handler === undefined ? [] : [handler]
  const targets = [type, ...handlers]
  if (!targets.some(isPublic)) return undefined
  const name = handler === undefined ? type.name : nameOf(type, handler)
  if (targets.some((each) => hasGuard(each, 'requires'))) {
    return contradiction(name)
  }
  const notWider = isPublic(type) ? targets : handlers
  if (notWider.some(isOptional)) {
    return `@Public() and @OptionalAuth() contradict each other: ${name}`
  }
  if (notWider.some((each) => hasGuard(each, 'authenticates'))) {
    return `@Public() and @UseGuards() with a PortcullisGuard contradict each other: ${name}`
  }
  return undefined
}

/** A requirement goes with the function that it decorates: it is lost with one that is replaced or overridden. */
export function lossOf(type: Class, { name, owner }: Method, handler: Handler): string | undefined {
  const place = `${type.name}.${String(name)}`
  // A method that overrides one with a requirement may be public.
  if (isPublic(handler)) {
    return Reflect.hasOwnMetadata(REQUIRING, owner, name) ? contradiction(place) : undefined
  }
  const required = listOf(Reflect.getMetadata(REQUIRING, owner, name))
  const guards = guardsOf(handler)
  return required.every((guard) => guards.includes(guard))
    ? undefined
    : `@Requires() is lost, since another decorator or a subclass replaces the method: repeat it, at the top: ${place}`
}

function contradiction(place: string): string {
  return `@Public() and @Requires() contradict each other: ${place}`
}

function hasGuard(target: object, role: Role): boolean {
  return guardsOf(target).some((guard) => roleOf(guard) === role)
}

/** A class has the guards of the classes that it extends, as in Nest. */
function guardsOf(target: object): readonly unknown[] {
  return listOf(Reflect.getMetadata(GUARDS, target))
}

function listOf(metadata: unknown): readonly unknown[] {
  return Array.isArray(metadata) ? metadata : []
}

/** Guards are listed as classes, which Nest instantiates, or as objects. */
function roleOf(guard: unknown): unknown {
  const members: unknown = typeof guard === 'function' ? guard.prototype : guard
  return typeof members === 'object' && members !== null
    ? Reflect.getMetadata(ROLE, members)
    : undefined
}

function nameOf(type: Class, handler: Handler): string {
  const method = methodsOf(type).find((each) => each.handler === handler)
  return `${type.name}.${String(method?.name ?? handler.name)}`
}
