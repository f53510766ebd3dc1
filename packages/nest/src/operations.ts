import type { HttpCall } from './context.ts'

// Keeps a guard from judging the same request for each resolver of a GraphQL operation.

/**
 * Once for each HTTP call, and for the resolvers of a GraphQL operation together: a client may ask for any number. A refusal holds for the
 * rest of the operation. An acceptance is not remembered: the token may have expired when the next resolver runs, and some servers hand
 * one and the same context to several requests.
 */
export function oncePerOperation(
  judge: (request: object) => Promise<void>,
): (call: HttpCall) => Promise<void> {
  const outcomes = new WeakMap<
    object,
    { readonly request: object; readonly settled: Promise<void> }
  >()
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
