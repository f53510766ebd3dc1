import { complain, contradictionOf, isOptional, isPublic, isRequiring, lossOf } from './marks.ts'
import { type Class, type Handler, hasMetadata, methodsBehind, methodsOf } from './methods.ts'

// What the decorators say of the handler that Nest is about to call.

interface Verdict {
  readonly complaint: string | undefined
  readonly isOpened: boolean
  readonly isOptional: boolean
}

/** All decorators have run before the first request. */
const verdicts = new WeakMap<Class, WeakMap<Handler, Verdict>>()

/** A class hands it to no subclass. @throws TypeError if the decorators contradict each other, or if one is lost. */
export function isOpened(type: Class, handler: Handler): boolean {
  const verdict = verdictOf(type, handler)
  complain(verdict.complaint)
  return verdict.isOpened
}

export function isOptionalFor(type: Class, handler: Handler): boolean {
  return verdictOf(type, handler).isOptional
}

/** @throws TypeError if the decorators contradict each other, or if one is lost. */
export function checkHandler(type: Class, handler: Handler): void {
  complain(verdictOf(type, handler).complaint)
}

function verdictOf(type: Class, handler: Handler): Verdict {
  return verdicts.get(type)?.get(handler) ?? judge(type, handler)
}

function judge(type: Class, handler: Handler): Verdict {
  const verdict = {
    complaint: contradictionOf(type, handler) ?? losses(type, handler),
    isOpened: isPublic(handler) || isPublic(type),
    isOptional: isOptional(handler) || isOptional(type),
  }
  const known = verdicts.get(type) ?? new WeakMap<Handler, Verdict>()
  verdicts.set(type, known.set(handler, verdict))
  return verdict
}

function losses(type: Class, handler: Handler): string | undefined {
  const methods = methodsBehind(type, handler)
  if (methods.length === 0) return isStrayed(type, handler) ? strayed(type, handler) : undefined
  return methods.map((method) => lossOf(type, method, handler)).find((loss) => loss !== undefined)
}

/**
 * Whether decorators may not hold for a handler that stands for no method: those of the methods, if a constructor has put it on
 * the instance; those of the class, if it is of another class than the constructor of the instance says.
 */
function isStrayed(type: Class, handler: Handler): boolean {
  const methods = methodsOf(type)
  if (methods.some((method) => isRequiring(type, method))) return true
  if (methods.some((method) => method.handler === handler)) return false
  return methods.length === 0 || hasMetadata(handler) || isPublic(type)
}

function strayed(type: Class, handler: Handler): string {
  return `@Requires() and @Public() may be lost, since the handler ${JSON.stringify(handler.name)} is no decorated method of ${type.name}: bind, wrap or assign no handler in a constructor, and leave the constructor of a prototype as it is`
}
