import { checkOptions, mustBe, own, ownMembers } from '../options.ts'
import { givenRoutes } from './given-routes.ts'
import type { Route, RouteList } from './route-list.ts'
import { allOfScopes } from './scope-lists.ts'

// What a list of routes says to a description of the API by OpenAPI 3.1: its Security Scheme Objects and Security Requirement Objects.

/** A Security Scheme Object, with the other members that its type has. */
export interface SecurityScheme {
  readonly type: 'apiKey' | 'http' | 'mutualTLS' | 'oauth2' | 'openIdConnect'
  readonly [member: string]: unknown
}

export interface SecurityOfOptions {
  /**
   * How a token is sent, by names of your choice. Of several, a request needs all: state `mutualTLS` beside another one where tokens are
   * bound to certificates.
   * @default { bearer: { type: 'http', scheme: 'bearer' } }
   */
  schemes?: Readonly<Record<string, SecurityScheme>> | undefined
}

/** The members of an Operation Object that a guard decides about. No list in it is read-only: documents have types that are not. */
export interface OperationSecurity {
  /** Of these one must be met. Empty: the route is open. With `{}`: a token is optional. */
  security: Record<string, string[]>[]
}

/** What nothing is said about, by its method and path in the list. */
export interface UndescribedRoute {
  readonly method: string
  readonly path: string
  /**
   * `unseen`: no guard is proven to run. `path`: no template stands for a wildcard or a pattern. `method`: OpenAPI has no such
   * operation. `several`: more than one route has this operation, and they are not guarded alike.
   */
  readonly reason: 'unseen' | 'path' | 'method' | 'several'
}

export interface OpenApiSecurity {
  /** For `components.securitySchemes`. */
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  /** By path, such as `/users/{id}`, and by method, such as `get`: as in `paths` of a description. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationSecurity>>>>
  /** What is not in `paths`: a description that says nothing of it would call it open. */
  readonly undescribed: readonly UndescribedRoute[]
  /** What routes in `paths` require that is no scope, such as a role, in words for developers. OpenAPI has no place for it. */
  readonly beyondScopes: readonly {
    readonly method: string
    readonly path: string
    readonly requirements: readonly string[]
  }[]
}

/** A path in a list stands for one operation, or for all of these. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/**
 * Says for OpenAPI 3.1 what a token must have for each operation: give it what `describeRoutes(app)` returns, and spread the result into
 * what describes the API. It is made anew, and shares nothing with the list.
 *
 * It says of an operation what is proven of the handler of that route. It does NOT say what may answer before the guard: hold the list
 * against `assertGuarded` of `@portcullis/testing`. A guard of another package counts as none, and `GET` stands for `HEAD` as well.
 *
 * @throws TypeError for what is no list of routes, and for a wrong or misspelt option.
 * @see OpenAPI 3.1, Security Scheme Object and Security Requirement Object
 */
export function securityOf(list: RouteList, options: SecurityOfOptions = {}): OpenApiSecurity {
  const routes = givenRoutes('securityOf', list)
  checkOptions('securityOf', options, { schemes: isSchemes })
  const { schemes = { bearer: { type: 'http', scheme: 'bearer' } } } = ownMembers(options)
  const { paths, several } = operationsOf(routes, schemes)
  return {
    securitySchemes: Object.fromEntries(
      Object.entries(schemes).map(([name, scheme]) => [name, { ...scheme }]),
    ),
    paths,
    undescribed: [...routes.flatMap(undescribed), ...several],
    beyondScopes: routes.flatMap(beyondScopes),
  }
}

const TYPES: readonly unknown[] = [
  'apiKey',
  'http',
  'mutualTLS',
  'oauth2',
  'openIdConnect',
] satisfies readonly SecurityScheme['type'][]

/** Without one for the token, a route that is guarded would look open. The names are those that OpenAPI permits. */
const isSchemes = mustBe('security schemes by name, one of them for the token', (value) => {
  if (typeof value !== 'object' || value === null) return false
  const types = Object.values(value).map((each: unknown) =>
    own(Object(each) as { type?: unknown }, 'type'),
  )
  return (
    Object.keys(value).every((name) => /^[A-Za-z0-9._-]+$/.test(name)) &&
    types.every((type) => TYPES.includes(type)) &&
    types.some((type) => type !== 'mutualTLS')
  )
})

type Schemes = Readonly<Record<string, SecurityScheme>>

interface Operation {
  readonly method: string
  readonly path: string
  readonly route: Route
  /** `undefined` for a route that is unseen: what another one with this operation says is not proven either. */
  readonly security: OperationSecurity['security'] | undefined
}

function operationsOf(
  routes: readonly Route[],
  schemes: Schemes,
): Pick<OpenApiSecurity, 'paths'> & { readonly several: readonly UndescribedRoute[] } {
  const paths: Record<string, Record<string, OperationSecurity>> = {}
  const several: UndescribedRoute[] = []
  for (const operations of alike(routes.flatMap((route) => operationsOfRoute(route, schemes)))) {
    const isOne = new Set(operations.map(({ security }) => JSON.stringify(security))).size === 1
    for (const { method, path, route, security } of operations) {
      if (security === undefined) continue
      if (isOne) (paths[path] ??= {})[method] = { security }
      else several.push({ method: method.toUpperCase(), path: route.path, reason: 'several' })
    }
  }
  return { paths, several }
}

/**
 * Those that may be one operation. OpenAPI takes two templates for one path if only the names of their parameters differ, and a framework
 * two paths if only their case differs, or a slash at the end: then one route answers for the other.
 */
function alike(operations: readonly Operation[]): Iterable<readonly Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const path = operation.path.replaceAll(/\{\w+\}/g, '{}').replace(/(?<=.)\/$/, '')
    const key = `${operation.method} ${path.toLowerCase()}`
    const group = groups.get(key) ?? []
    groups.set(key, group)
    group.push(operation)
  }
  return groups.values()
}

function operationsOfRoute(route: Route, schemes: Schemes): readonly Operation[] {
  const path = templateOf(route.path)
  if (path === undefined) return []
  return methodsOf(route).map((method) => ({
    method,
    path,
    route,
    security: securityFor(route, schemes),
  }))
}

function methodsOf({ method }: Route): readonly string[] {
  return method === 'ALL' ? METHODS : METHODS.filter((each) => each === method.toLowerCase())
}

/** @returns `undefined` for a pattern, and for a wildcard: a parameter of OpenAPI holds no slash. */
function templateOf(path: string): string | undefined {
  if (!/^(?:\/(?:[\w.~-]+|:\w+))*\/?$/.test(path)) return undefined
  return path === '' ? '/' : path.replaceAll(/:(\w+)/g, '{$1}')
}

function securityFor(
  { state, requirements }: Route,
  schemes: Schemes,
): OperationSecurity['security'] | undefined {
  if (state === 'unseen') return undefined
  if (state === 'none') return []
  const lists = allOfScopes(requirements).scopes.map((list) => list.join(' '))
  const needed = Array.from(new Set(lists), (list) => {
    const scopes = list === '' ? [] : list.split(' ')
    return Object.fromEntries(
      // A certificate has no scopes.
      Object.entries(schemes).map(([name, { type }]) => [
        name,
        type === 'mutualTLS' ? [] : [...scopes],
      ]),
    )
  })
  return state === 'optional' ? [{}, ...needed] : needed
}

function undescribed(route: Route): readonly UndescribedRoute[] {
  const { method, path } = route
  const reason = reasonOf(route)
  return reason === undefined ? [] : [{ method, path, reason }]
}

function reasonOf(route: Route): UndescribedRoute['reason'] | undefined {
  if (route.state === 'unseen') return 'unseen'
  if (templateOf(route.path) === undefined) return 'path'
  return methodsOf(route).length === 0 ? 'method' : undefined
}

function beyondScopes(route: Route): OpenApiSecurity['beyondScopes'] {
  const { method, path, requirements } = route
  if (reasonOf(route) !== undefined || allOfScopes(requirements).isWhole) return []
  const unsaid = requirements.filter(({ isWhole }) => !isWhole)
  // Or all of them together are more than a list says.
  const named = unsaid.length > 0 ? unsaid : requirements
  return [{ method, path, requirements: named.map(({ description }) => description) }]
}
