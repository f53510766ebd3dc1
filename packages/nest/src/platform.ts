import type { Candidate, Step } from '@portcullis/kit/routes'

// What the platform below Nest has beside the routes of controllers.

/** What may answer before the handlers of controllers. */
export interface BeforeAll extends Step {
  readonly isFor: (path: string) => boolean
}

export interface Platform {
  readonly before: readonly BeforeAll[]
  /** The routes that no controller has, and other functions that answer. */
  readonly others: readonly Candidate[]
  readonly isWhole: boolean
}

/** Nobody can tell what such a platform runs before a guard: that has no name, so that no test passes. */
export const UNKNOWN_PLATFORM: Platform = {
  before: [{ name: '', path: '/', key: {}, runs: 'maybe', chain: {}, isFor: () => true }],
  others: [],
  isWhole: false,
}
