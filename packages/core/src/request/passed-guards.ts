import type { Auth } from '../claims/auth.ts'
import { bearWitness, checkWitnesses } from '../ground/copy.ts'
import type { Verifier } from '../verifier/verifier.ts'
import type { GuardOptions } from './guard-options.ts'
import { Marked } from './marked.ts'

// Remembers with a request which guards have let it through, where nobody else can write it.

export interface PassedGuard {
  readonly verifier: Verifier<unknown>
  readonly auth: Auth<unknown> | undefined
  readonly options: GuardOptions<never>
  /** Together with the verifier, what tells it from other guards. */
  readonly id: object
  readonly previous: PassedGuard | undefined
}

/** For other copies of core in this process, as soon as a guard of this one has let a request through. */
let witness: object | undefined

/** A private field of the framework's own object: nobody else can read or write it, and it lives as long as the request. */
class Mark extends Marked {
  #guard: PassedGuard

  constructor(subject: object, guard: PassedGuard) {
    super(subject)
    this.#guard = guard
    witness ??= bearWitness((each) => Mark.find(each) !== undefined)
  }

  static find(subject: object): PassedGuard | undefined {
    return #guard in subject ? subject.#guard : undefined
  }

  static replace(subject: object, guard: PassedGuard): void {
    if (#guard in subject) subject.#guard = guard
    // Adds the field to the request, and returns it: see `Marked`.
    else void new Mark(subject, guard)
  }
}

export function findPassedGuard(subject: unknown): PassedGuard | undefined {
  return typeof subject === 'object' && subject !== null ? Mark.find(subject) : undefined
}

export function guardOf(subject: object): PassedGuard {
  const guard = findPassedGuard(subject)
  if (guard === undefined) {
    checkWitnesses('getAuth and authorize', subject)
    // Mistake `no guard has seen the request`: The route has no guard before it, the guard is on another path, or
    // `authenticateRequest()` was not awaited.
    throw new TypeError(
      'no guard has seen the request (in Koa and Hono, the context): authenticate(verifier) or PortcullisGuard must come before, and authenticateRequest() must be awaited',
    )
  }
  return guard
}

/** @param guardId The options, or the verifier where options are made anew for each request and so name no guard. */
export function setPassedGuard(
  subject: object,
  verifier: Verifier<unknown>,
  auth: Auth<unknown> | undefined,
  options: GuardOptions<never>,
  guardId: object = options,
): void {
  const previous = withoutGuard(Mark.find(subject), verifier, guardId)
  Mark.replace(subject, { verifier, auth, options, id: guardId, previous })
}

/** The list without the same guard: one request may pass it any number of times, as with GraphQL operations over one WebSocket. */
function withoutGuard(
  last: PassedGuard | undefined,
  verifier: Verifier<unknown>,
  guardId: object,
): PassedGuard | undefined {
  if (last === undefined) return undefined
  const others: PassedGuard[] = []
  for (let guard: PassedGuard | undefined = last; guard !== undefined; guard = guard.previous) {
    if (guard.verifier !== verifier || guard.id !== guardId) others.push(guard)
  }
  return others.reduceRight<PassedGuard | undefined>(
    (previous, guard) => ({ ...guard, previous }),
    undefined,
  )
}
