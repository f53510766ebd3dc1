import { type OptionCheck, seconds } from '@portcullis/kit/options'

// What several requirements together ask of another log-in, so that the user is sent to log in once.

/** How a user has to authenticate for a route, where the token says how they have. RFC 9470. */
export interface StepUp {
  readonly acr?: readonly string[] | undefined
  readonly maxAge?: number | undefined
}

/** Ten years. */
const LONGEST_AGE = 315_360_000

/** Says what is wrong with an age, if anything is. */
export const isMaxAge: OptionCheck = seconds(1, LONGEST_AGE)

/** What all of some requirements ask for together: one challenge has one list of classes and one age. */
export function stepUpOfAll(each: readonly StepUp[]): StepUp {
  const lists = each.flatMap(({ acr: values }) => (values === undefined ? [] : [values]))
  const [first = [], ...others] = lists
  const common = first.filter((value) => others.every((values) => values.includes(value)))
  // No class is in all lists: then nothing meets them, and the client reads what the route wants.
  const wanted = common.length === 0 ? [...new Set(lists.flat())] : common
  return stepUp(wanted, Math.min(...agesOf(each)))
}

/** What one of some requirements asks for. */
export function stepUpOfAny(each: readonly StepUp[]): StepUp {
  const lists = each.flatMap(({ acr: values }) => values ?? [])
  return stepUp([...new Set(lists)], Math.max(...agesOf(each)))
}

function stepUp(values: readonly string[], maxAge: number): StepUp {
  return {
    acr: values.length === 0 ? undefined : values,
    maxAge: Number.isFinite(maxAge) ? maxAge : undefined,
  }
}

function agesOf(each: readonly StepUp[]): readonly number[] {
  return each.flatMap(({ maxAge }) => maxAge ?? [])
}

/** RFC 9470 section 3: `acr_values` separates them by spaces. A quote or a backslash would have to be escaped. */
export function isAcr(value: unknown): value is string {
  return typeof value === 'string' && /^[!\u0023-\u005B\u005D-\u007E]+$/.test(value)
}
