import type { HttpCall } from './context.ts'

// Keeps a guard from judging the same request for each resolver of a GraphQL operation.

interface Outcome {
  readonly request: object
  readonly settled: Promise<void>
}

/**
 * Judges a request once for each HTTP call, and for the resolvers of a GraphQL operation together: they are many, and a client
 * may ask for any number.
 *
 * What is under way is shared, and a refusal holds for the rest of the operation, so that it is reported once. Nothing that was
 * accepted is remembered: the token may have expired when the next resolver runs, and some servers hand one and the same
 * context to several requests.
 */
export function oncePerOperation(
  judge: (request: object) => Promise<void>,
): (call: HttpCall) => Promise<void> {
  const outcomes = new WeakMap<object, Outcome>()
  return async ({ request, operation }) => {
    if (operation === undefined) {
      await judge(request)
      return
    }
    const known = outcomes.get(operation)
    if (known?.request === request) {
      await known.settled
      return
    }
    const outcome = { request, settled: judge(request) }
    outcomes.set(operation, outcome)
    await outcome.settled
    if (outcomes.get(operation) === outcome) outcomes.delete(operation)
  }
}
