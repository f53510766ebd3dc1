import type { RouteRequirement } from './route-list.ts'

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
  return requirements.map((each) => ({ description: each.description, scopes: scopesOf(each) }))
}

/** More lists than this say no more than that one of many is needed. */
const MOST_LISTS = 64

function scopesOf({ scope, parts, alternatives }: Requirement): readonly (readonly string[])[] {
  if (alternatives !== undefined) return alternatives.flatMap(scopesOf)
  if (parts === undefined) return [scope?.split(' ') ?? []]
  return parts.reduce<readonly (readonly string[])[]>(
    (lists, part) => {
      const both = scopesOf(part).flatMap((added) =>
        lists.map((list) => [...new Set([...list, ...added])]),
      )
      return both.length > MOST_LISTS ? lists : both
    },
    [[]],
  )
}
