import type { RouteRequirement } from './route-list.ts'
import { allOfScopes, anyOfScopes } from './scope-lists.ts'

// What a guard says of itself when it is made, for whoever lists routes. It is all that a guard needs of the list.

/** What a function of ours does with requests. */
export interface GuardMark {
  /** Of one that refuses bad tokens: whether it refuses requests without one as well. */
  readonly guards?: 'required' | 'optional' | undefined
  readonly requirements: readonly RouteRequirement[]
}

/** A requirement as core has it, as far as a list needs it. */
interface Requirement {
  readonly description: string
  readonly scope?: string | undefined
  readonly parts?: readonly Requirement[] | undefined
  readonly alternatives?: readonly Requirement[] | undefined
}

/** Of a guard, by its option `optional`. */
export function guardMark(isOptional = false): GuardMark {
  return { guards: isOptional ? 'optional' : 'required', requirements: [] }
}

export function requiredBy(requirements: readonly Requirement[]): readonly RouteRequirement[] {
  return requirements.map((each) => ({ description: each.description, ...scopesOf(each) }))
}

function scopesOf({ scope, parts, alternatives }: Requirement): ReturnType<typeof allOfScopes> {
  if (alternatives !== undefined) return anyOfScopes(alternatives.map(scopesOf))
  if (parts !== undefined) return allOfScopes(parts.map(scopesOf))
  return { scopes: [scope?.split(' ') ?? []], isWhole: scope !== undefined }
}
