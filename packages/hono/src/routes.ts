import {
  type Candidate,
  isElsewhere,
  literalSegments,
  type Reach,
  reachOf,
  type RouteList,
  routeListOf,
  segmentsOf,
  type Step,
  type Target,
} from '@portcullis/kit/routes'

import { guardMarkOf } from './guard-marks.ts'

// Lists the routes of an application of Hono, each with what is proven of its guard, also for OpenAPI. No request is made, and
// no guard loads it.

export {
  type FunctionBefore,
  type OpenApiSecurity,
  type OperationSecurity,
  type Route,
  type RouteList,
  type RouteRequirement,
  type RouteState,
  securityOf,
  type SecurityOfOptions,
  type SecurityScheme,
  type UndescribedRoute,
} from '@portcullis/kit/routes'

type Handler = (...given: never[]) => unknown

/** What Hono keeps of each function, in the order in which they run. */
interface Entry {
  readonly method: string
  readonly path: string
  readonly handler: Handler
}

interface App {
  readonly routes: readonly Entry[]
  readonly getPath: unknown
}

/**
 * Lists the routes of an application, and says of each whether a guard of this package stands before it. What cannot be proven is
 * `unseen`, and never left out: a guard within `some`, `every` or `except`, or one whose path is a pattern.
 *
 * Call it when all routes are there. It makes no request. It does NOT see an error handler that answers what a guard has refused, and
 * not what `notFound` answers.
 *
 * @throws TypeError for anything else than an application of Hono.
 */
export function describeRoutes(app: object): RouteList {
  if (!isApp(app)) {
    // Mistake `describeRoutes: the argument must be an application of Hono`: Give what `new Hono()` made, when all its routes are there.
    throw new TypeError('describeRoutes: the argument must be an application of Hono')
  }
  // With a way of its own to make a path of a URL, a path says nothing of the URLs that lead there.
  const hasOwnPaths = !pathsOfHono(app).includes(app.getPath)
  const entries = app.routes.map((entry) => ({ ...entry, handler: innerOf(entry.handler) }))
  const own = entries.filter(({ handler }) => guardMarkOf(handler) === undefined)
  return routeListOf(
    own.map((entry): Candidate => {
      const ahead = entries.slice(0, entries.indexOf(entry))
      const steps = ahead.flatMap((each) => stepsOf(each, entry, ahead, hasOwnPaths))
      const { method, path, handler } = entry
      const kind = isRoute(entry, own[own.indexOf(entry) + 1]) ? 'route' : 'function'
      return { key: entry, method, path, handler: handler.name, steps, kind }
    }),
    true,
  )
}

function isApp(app: unknown): app is App {
  if (typeof app !== 'object' || app === null) return false
  const { routes, getPath, fetch } = app as Partial<Record<string, unknown>>
  return (
    Array.isArray(routes) &&
    routes.every(isEntry) &&
    typeof getPath === 'function' &&
    typeof fetch === 'function'
  )
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false
  const { method, path, handler } = value as Partial<Record<keyof Entry, unknown>>
  return typeof method === 'string' && typeof path === 'string' && typeof handler === 'function'
}

/** Hono's own two ways, as the copy of Hono has them that has made the application. */
function pathsOfHono(app: object): readonly unknown[] {
  const { constructor } = lastPrototype(app)
  return [{}, { strict: false }].map((options) =>
    ownGetPath(Reflect.construct(constructor, [options]) as object),
  )
}

function ownGetPath(app: object): unknown {
  return Reflect.get(app, 'getPath')
}

/** Of the class that all others extend: one of the user's may want other arguments. */
function lastPrototype(of: object): object {
  const prototype = Reflect.getPrototypeOf(of)
  return prototype === null || prototype === Object.prototype ? of : lastPrototype(prototype)
}

/** Where an application within has an error handler, Hono puts a function around each of its own, and says which. */
function innerOf(handler: Handler): Handler {
  const inner: unknown = Reflect.get(handler, '__COMPOSED_HANDLER')
  return typeof inner === 'function' ? innerOf(inner as Handler) : handler
}

/** Whether it answers, as far as can be told: a function for all methods that takes `next` may only hand on. */
function isRoute({ method, path, handler }: Entry, next: Entry | undefined): boolean {
  if (handler.length < 2) return true
  return method !== 'ALL' && !(next?.method === method && next.path === path)
}

/** Those of hono/combine, which may have a guard within. */
const COMBINED: ReadonlySet<string> = new Set(['some', 'every', 'except'])

function stepsOf(
  entry: Entry,
  target: Entry,
  chain: object,
  hasOwnPaths: boolean,
): readonly Step[] {
  const runs = hasOwnPaths ? 'maybe' : reach(entry, target)
  if (runs === 'never') return []
  const { handler, path } = entry
  const mark = guardMarkOf(handler)
  const mayHide = COMBINED.has(handler.name)
  const known = { name: handler.name, path, key: entry, mark, chain, mayHide }
  return [{ ...known, runs }]
}

function reach(entry: Entry, target: Entry): Reach {
  if (entry.method === 'ALL' || entry.method === target.method) return reachOfPath(entry, target)
  return target.method === 'ALL' && reachOfPath(entry, target) !== 'never' ? 'maybe' : 'never'
}

function reachOfPath({ path }: Entry, target: Entry): Reach {
  if (path === target.path || path === '*' || path === '/*') return 'always'
  const prefix = path.endsWith('/*') ? literalSegments(path.slice(0, -2)) : undefined
  const theirs = targetOf(target.path)
  if (prefix !== undefined) return reachOf(prefix, true, theirs)
  return isElsewhere(targetOf(path), theirs) ? 'never' : 'maybe'
}

function targetOf(path: string): Target {
  return { segments: segmentsOf(path, true), isExact: true }
}
