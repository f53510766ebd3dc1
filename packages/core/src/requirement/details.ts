import { type Detail, kindOf, listed, printable } from '../refusal/text.ts'

// What refusals of a route's requirements tell developers: what the route asks for, and never what the token has.

const LONGEST_DESCRIPTION = 200

/**
 * @param hasScopes Whether the token has a claim that grants scopes at all.
 * @param hint Why it may have none.
 */
export function lacksScopes(
  missing: readonly string[],
  wanted: string,
  hasScopes: boolean,
  hint: string,
): Detail {
  return () => {
    const why = hasScopes ? '' : `; it has neither scope nor scp${hint}`
    return `the token lacks ${listed(missing)}; the route requires ${describe(wanted)}${why}`
  }
}

export function lacksValue(description: string, isMissing: boolean): Detail {
  const how = isMissing ? 'is missing' : 'has none of the accepted values'
  return () => `${describe(description)} ${how}`
}

/** @param answer What the requirement answered instead of `true`. */
export function notMet(description: string, answer: unknown): Detail {
  const kind = answer === false ? 'false' : `${kindOf(answer)}, and only true meets it`
  return () => `the route requires ${describe(description)}, which answered ${kind}`
}

export const anonymous: Detail = () =>
  'the guard let the request through without a token, as `optional` says; this route requires one'

function describe(description: string): string {
  return printable(description, LONGEST_DESCRIPTION)
}
