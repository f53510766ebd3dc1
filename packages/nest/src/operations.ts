import type { HttpCall } from './context.ts'

// Keeps a guard from judging the same request for each resolver of a GraphQL operation.

/**
 * Once for each HTTP call, and for the resolvers of a GraphQL operation together: a client may ask for any number. A refusal holds for the
 * rest of the operation. An acceptance is not remembered: the token may have expired when the next resolver runs, and some servers hand
 * one and the same context to several requests.
 */
export function oncePerOperation(
  judge: (request: object) => Promise<void> | undefined,
): (call: HttpCall) => Promise<void> | undefined {
  const outcomes = new WeakMap<
    object,
    { readonly request: object; readonly settled: Promise<void> }
  >()

  async function remembered(
    request: object,
    operation: object,
    settled: Promise<void>,
  ): Promise<void> {
    const outcome = { request, settled }
    outcomes.set(operation, outcome)
    await settled
    if (outcomes.get(operation) === outcome) outcomes.delete(operation)
  }

  return ({ request, operation }) => {
    const known = operation && outcomes.get(operation)
    if (known?.request === request) return known.settled
    const settled = judge(request)
    if (operation === undefined || settled === undefined) return settled
    return remembered(request, operation, settled)
  }
}
