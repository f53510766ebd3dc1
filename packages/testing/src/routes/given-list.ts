import type { Route } from '@portcullis/kit/routes'

// A list of routes as an assertion is given it.

/** @throws TypeError for anything else. */
export function routesOf(caller: string, list: unknown): readonly Route[] {
  const routes: unknown =
    typeof list === 'object' && list !== null && Object.hasOwn(list, 'routes')
      ? Reflect.get(list, 'routes')
      : undefined
  if (Array.isArray(routes) && routes.every(isRoute)) return routes
  throw new TypeError(
    `${caller}: the list must be a list of routes, as describeRoutes(app) of an adapter returns`,
  )
}

function isRoute(value: unknown): value is Route {
  if (typeof value !== 'object' || value === null) return false
  const { method, path, state, before } = value as Partial<Record<keyof Route, unknown>>
  return [method, path, state].every((each) => typeof each === 'string') && Array.isArray(before)
}

/** As users write it in their tests. */
export function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}
