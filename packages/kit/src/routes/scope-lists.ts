import type { RouteRequirement } from './route-list.ts'

// Lists of scopes, of which one must be granted whole, of several requirements.

type ScopeLists = Pick<RouteRequirement, 'scopes' | 'isWhole'>

/** More lists than this say no more than that one of many is needed. */
const MOST_LISTS = 64

/** All must be met. Without any, no scope is asked for. */
export function allOfScopes(each: readonly ScopeLists[]): ScopeLists {
  return each.reduce<ScopeLists>(
    (joined, { scopes, isWhole }) => {
      const both = scopes.flatMap((added) =>
        joined.scopes.map((list) => [...new Set([...list, ...added])]),
      )
      return both.length > MOST_LISTS
        ? { scopes: joined.scopes, isWhole: false }
        : { scopes: both, isWhole: joined.isWhole && isWhole }
    },
    { scopes: [[]], isWhole: true },
  )
}

/** One of them must be met. */
export function anyOfScopes(each: readonly ScopeLists[]): ScopeLists {
  return {
    scopes: each.flatMap(({ scopes }) => scopes),
    isWhole: each.every(({ isWhole }) => isWhole),
  }
}
