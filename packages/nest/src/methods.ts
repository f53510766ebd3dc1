import 'reflect-metadata'
import type { ExecutionContext } from '@nestjs/common'

// Finds the methods of a class, and the method behind a function that Nest calls.

export type Class = ReturnType<ExecutionContext['getClass']>
export type Handler = ReturnType<ExecutionContext['getHandler']>

export interface Method {
  readonly name: string | symbol
  readonly handler: Handler
  /** The prototype that has it. */
  readonly owner: object
}

/** Those of the classes that it extends included, unless they are overridden. */
export function methodsOf(type: Class): readonly Method[] {
  const methods = new Map<string | symbol, Method>()
  let owner: unknown = type.prototype // of functions that are no classes there is none
  while (typeof owner === 'object' && owner !== null && owner !== Object.prototype) {
    for (const name of Reflect.ownKeys(owner)) {
      const handler: unknown = Reflect.getOwnPropertyDescriptor(owner, name)?.value
      if (typeof handler !== 'function' || name === 'constructor' || methods.has(name)) continue
      methods.set(name, { name, handler, owner })
    }
    owner = Object.getPrototypeOf(owner)
  }
  return [...methods.values()]
}

/**
 * Nest calls what it finds on the instance under the name of a method, and does not tell the name: a constructor can put any function
 * there. It stands for a method if it has all its metadata, which tracers copy to what they wrap around a handler.
 */
export function methodsBehind(type: Class, handler: Handler): readonly Method[] {
  // A method without metadata has no decorators, so it is no handler by itself.
  if (!hasMetadata(handler)) return []
  const methods = methodsOf(type)
  const same = methods.filter((method) => method.handler === handler)
  return same.length > 0 ? same : methods.filter((method) => isCopy(handler, method.handler))
}

export function hasMetadata(handler: Handler): boolean {
  return Reflect.getOwnMetadataKeys(handler).length > 0
}

function isCopy(handler: Handler, original: Handler): boolean {
  const keys: unknown[] = Reflect.getOwnMetadataKeys(original)
  const isSame = (key: unknown): boolean =>
    Reflect.getOwnMetadata(key, handler) === Reflect.getOwnMetadata(key, original)
  return keys.length > 0 && keys.every(isSame)
}
