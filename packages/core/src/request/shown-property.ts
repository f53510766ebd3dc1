import { Marked } from './marked.ts'

// How a guard shows an `Auth` to handlers: as a property of the framework's own object.

/**
 * What puts a property of that name on an object itself, and answers whether the object takes it: one that is assigned could end in a
 * setter, or be hidden by a prototype. A field of a class is never assigned, and costs a tenth of `defineProperty`.
 */
export function propertySetter(name: string): (subject: object, value: unknown) => boolean {
  let shown: unknown
  const key = name as 'auth' // for the compiler, which wants a literal there
  class Shown extends Marked {
    [key]: unknown = shown
  }
  return (subject, value) => {
    shown = value
    try {
      // Adds the field to the subject, and returns it: see `Marked`.
      void new Shown(subject)
      return true
    } catch {
      // It is frozen, has a fixed property of that name, or is a proxy that refuses it.
      return false
    } finally {
      shown = undefined
    }
  }
}
