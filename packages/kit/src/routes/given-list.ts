import type { Route, RouteState } from './route-list.ts'

// A list of routes as a user hands it on. It is plain data, so it may come from a file.

const STATES: readonly unknown[] = [
  'required',
  'optional',
  'none',
  'unseen',
] satisfies readonly RouteState[]

/** @throws TypeError for anything else. */
export function givenRoutes(caller: string, list: unknown): readonly Route[] {
  const routes: unknown =
    typeof list === 'object' && list !== null && Object.hasOwn(list, 'routes')
      ? Reflect.get(list, 'routes')
      : undefined
  if (Array.isArray(routes) && routes.every(isRoute)) return routes
  // Mistake `…: the list must be a list of routes`: Give what `describeRoutes(app)` returned, whole. That of Nest is a promise.
  throw new TypeError(
    `${caller}: the list must be a list of routes, as describeRoutes(app) of an adapter returns`,
  )
}

function isRoute(value: unknown): value is Route {
  const { method, path, state, requirements, before } = membersOf(value)
  return (
    isText(method) &&
    isText(path) &&
    STATES.includes(state) &&
    isListOf(requirements, isRequirement) &&
    Array.isArray(before)
  )
}

function isRequirement(value: unknown): boolean {
  const { description, scopes, isWhole } = membersOf(value)
  return (
    isText(description) &&
    isListOf(scopes, (list) => isListOf(list, isText)) &&
    typeof isWhole === 'boolean'
  )
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.assign(Object.create(null) as Record<string, unknown>, value)
}

function isListOf(value: unknown, isMember: (value: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isMember)
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}
