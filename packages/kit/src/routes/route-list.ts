// What an application's routes are listed as: plain data, which tests and documents of an API are made of.

/**
 * `required`: no request reaches the handler without a token that a guard accepts. `optional`: a request without a token reaches it.
 * `none`: no guard stands before it. `unseen`: a guard may stand before it, and nothing that can be read proves it.
 */
export type RouteState = 'required' | 'optional' | 'none' | 'unseen'

/** What a route requires of a token. */
export interface RouteRequirement {
  /** In words for developers. */
  readonly description: string
  /** Lists of scopes, of which one must be granted whole. One empty list: no scope is asked for. */
  readonly scopes: readonly (readonly string[])[]
  /** Whether `scopes` says all of it: `false` where something is required that is no scope, such as a role. */
  readonly isWhole: boolean
}

/** A function that runs ahead of the guard of a route, and may answer. */
export interface FunctionBefore {
  /** The name of the function, or an empty text. */
  readonly name: string
  /** The path that it is mounted at, as far as it can be read. */
  readonly path: string
}

export interface Route {
  /** Such as `GET`, which stands for `HEAD` as well; `ALL` for any method. */
  readonly method: string
  /** As the framework writes it, such as `/users/:id`. For a function that sees whatever is below its path, with `/*` at the end. */
  readonly path: string
  /** The name of the function, or an empty text. */
  readonly handler: string
  readonly state: RouteState
  /** What guards require of a token that are proven to run. */
  readonly requirements: readonly RouteRequirement[]
  /** Whatever may answer before the guard does, or changes the URL behind it. Empty unless a guard is proven to run. */
  readonly before: readonly FunctionBefore[]
}

export interface RouteList {
  readonly routes: readonly Route[]
  /** Whether each route has its own entry: `false` where one entry stands for an application whose routes cannot be read. */
  readonly isComplete: boolean
}
