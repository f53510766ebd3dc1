import type { Auth } from './auth.ts'
import type { GuardOptions } from './guard-options.ts'
import type { Verifier } from './verifier.ts'

/** A guard that has let a request through. */
export interface PassedGuard {
  readonly verifier: Verifier<unknown>
  readonly auth: Auth<unknown> | undefined
  readonly options: GuardOptions<never>
  /** The guard that let the same request through before. */
  readonly previous: PassedGuard | undefined
}

/** Returns an object that it is given, so that the private fields of a subclass come into being there. */
// oxlint-disable-next-line typescript/no-extraneous-class -- only a class can be extended
class Marked {
  constructor(subject: object) {
    // oxlint-disable-next-line no-constructor-return -- what this class is for
    return subject
  }
}

/**
 * The last guard of a request: a private field of the framework's own request or context. Nobody else can read or write it,
 * and it lives as long as the request. A `WeakMap` does the same, but its entries cost each minor garbage collection more
 * than the rest of a guard costs.
 */
class Mark extends Marked {
  #guard: PassedGuard

  constructor(subject: object, guard: PassedGuard) {
    super(subject)
    this.#guard = guard
  }

  static find(subject: object): PassedGuard | undefined {
    return #guard in subject ? subject.#guard : undefined
  }

  static replace(subject: object, guard: PassedGuard): void {
    if (#guard in subject) subject.#guard = guard
    else void new Mark(subject, guard)
  }
}

export function findPassedGuard(subject: unknown): PassedGuard | undefined {
  return typeof subject === 'object' && subject !== null ? Mark.find(subject) : undefined
}

export function setPassedGuard(
  subject: object,
  verifier: Verifier<unknown>,
  auth: Auth<unknown> | undefined,
  options: GuardOptions<never>,
): void {
  Mark.replace(subject, { verifier, auth, options, previous: Mark.find(subject) })
}
