import type { Route, RouteState } from './route-list.ts'

// A list of routes as a user hands it on. It is plain data, so it may come from a file.

const STATES: readonly unknown[] = [
  'required',
  'optional',
  'none',
  'unseen',
] satisfies readonly RouteState[]

/** Of a route. One that is missing or misspelt must never be read as if a guard were there. */
const MEMBERS: Readonly<Record<keyof Route, (value: unknown) => boolean>> = {
  method: isText,
  path: isText,
  handler: isText,
  state: (value) => STATES.includes(value),
  requirements: (value) => isListOf(value, isRequirement),
  before: (value) => isListOf(value, isFunctionBefore),
}

/** @throws TypeError for anything else. */
export function givenRoutes(caller: string, list: unknown): readonly Route[] {
  const wrong = wrongMember(list)
  if (wrong === undefined) return Reflect.get(list as object, 'routes') as readonly Route[] // which was checked
  // Mistake `…: the list must be a list of routes`: Give what `describeRoutes(app)` returned, whole. That of Nest is a promise.
  throw new TypeError(
    `${caller}: the list must be a list of routes, as describeRoutes(app) of an adapter returns: it has no right ${wrong}`,
  )
}

/** The first that is missing, or is something else than it must be. */
function wrongMember(list: unknown): string | undefined {
  const { routes, isComplete } = membersOf(list)
  if (!Array.isArray(routes)) return 'routes'
  for (const [index, route] of routes.entries()) {
    const members = membersOf(route)
    const wrong = Object.entries(MEMBERS).find(([name, isRight]) => !isRight(members[name]))
    if (wrong !== undefined) return `routes[${index}].${wrong[0]}`
  }
  return typeof isComplete === 'boolean' ? undefined : 'isComplete'
}

function isRequirement(value: unknown): boolean {
  const { description, scopes, isWhole } = membersOf(value)
  return (
    isText(description) &&
    isListOf(scopes, (list) => isListOf(list, isText)) &&
    typeof isWhole === 'boolean'
  )
}

function isFunctionBefore(value: unknown): boolean {
  const { name, path } = membersOf(value)
  return isText(name) && isText(path)
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.assign(Object.create(null) as Record<string, unknown>, value)
}

function isListOf(value: unknown, isMember: (value: unknown) => boolean): boolean {
  return Array.isArray(value) && Array.from<unknown>(value).every((each) => isMember(each))
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}
