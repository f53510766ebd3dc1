import {
  type Candidate,
  FASTIFY_HOOKS,
  type FastifyHook,
  hooksOf,
  missingRoutes,
  printedRoutes,
  type RouteList,
  routeListOf,
  type Step,
} from '@portcullis/kit/routes'

import { guardMarkOf } from './guard-marks.ts'
import { isScope } from './registration.ts'
import { isOpen } from './route.ts'

// Lists the routes of an application of Fastify, each with what is proven of its guard, also for OpenAPI. No request is made,
// and no guard loads it.

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

/** What Fastify hands to `onRoute`. */
interface RouteOptions extends Partial<Record<FastifyHook, unknown>> {
  readonly method: string | readonly string[]
  readonly url: string
  readonly prefix?: string
  readonly routePath?: string
  readonly prefixTrailingSlash?: string
  readonly config?: unknown
  readonly handler: unknown
}

interface Noted {
  readonly methods: readonly string[]
  readonly paths: readonly string[]
  readonly scope: object
  readonly options: RouteOptions
  /** Fastify copies the configuration, so that what is changed of it later opens and closes nothing. */
  readonly isOpened: boolean
}

interface App {
  addHook(name: 'onRoute', hook: (this: object, options: RouteOptions) => void): unknown
  printRoutes(): string
  readonly supportedMethods?: readonly string[]
}

const noted = new WeakMap<object, Noted[]>()

/**
 * Notes each route that is added from now on, for {@link describeRoutes}: write it directly behind `fastify()`. No request is made
 * slower by it.
 *
 * @throws TypeError for anything else than an application of Fastify.
 */
export function noteRoutes(app: object): void {
  const noting = checkApp('noteRoutes', app)
  const routes: Noted[] = []
  noted.set(app, routes)
  noting.addHook('onRoute', function note(options) {
    const { method, url } = options
    routes.push({
      methods: [method].flat(),
      paths: pathsOf(url, options),
      scope: this,
      options,
      isOpened: isOpenedBy(options),
    })
  })
}

/** `config: { auth: false }` makes our guards hand on. */
function isOpenedBy({ url, config }: RouteOptions): boolean {
  return isOpen({ routeOptions: { config: Object.assign({ url }, config) } })
}

/** For `/` below a prefix Fastify adds a second route, of which no hook is told. */
function pathsOf(url: string, options: RouteOptions): readonly string[] {
  const { prefix = '', routePath, prefixTrailingSlash = 'both' } = options
  const isBoth = prefix !== '' && routePath === '' && prefixTrailingSlash === 'both'
  return isBoth ? [url, `${url}/`] : [url]
}

/**
 * Lists the routes of an application that {@link noteRoutes} was called with, and says of each whether a guard of this package stands
 * before it. What cannot be proven is `unseen`, and never left out: a route that was there before `noteRoutes`, for example.
 *
 * Call it after `await app.ready()`. It makes no request. It does NOT see an error handler that answers what a guard has refused, and no
 * not-found handler.
 *
 * @throws TypeError for anything else than an application of Fastify, and without `noteRoutes`.
 */
export function describeRoutes(app: object): RouteList {
  const checked = checkApp('describeRoutes', app)
  const { supportedMethods = [] } = checked
  const routes = noted.get(app)
  if (routes === undefined) {
    // Mistake `describeRoutes: call noteRoutes(app) before any route is added`: Fastify tells of a route when it is added, and not
    // later: write `noteRoutes(app)` directly behind `fastify()`.
    throw new TypeError('describeRoutes: call noteRoutes(app) before any route is added')
  }
  const seen = routes.filter((each) => !isHeadOfGet(each, routes))
  const candidates = seen.flatMap((route) =>
    route.paths.flatMap((path) => candidatesOf(route, path, supportedMethods)),
  )
  const { routes: printed, isWhole } = printedRoutes(checked.printRoutes())
  const known = routes.flatMap(({ methods, paths }) =>
    paths.flatMap((path) => methods.map((method) => ({ method, path }))),
  )
  return routeListOf([...candidates, ...missingRoutes(printed, known)], isWhole)
}

function checkApp(name: string, app: unknown): App {
  if (isScope(app) && typeof Reflect.get(app as object, 'printRoutes') === 'function') {
    return app as App // which has its methods
  }
  // Mistake `…: the argument must be an application of Fastify`: Give what `fastify()` returned.
  throw new TypeError(`${name}: the argument must be an application of Fastify`)
}

/** Fastify adds one to each `GET`, with the same functions. */
function isHeadOfGet({ methods, paths, scope, options }: Noted, all: readonly Noted[]): boolean {
  if (methods.join('') !== 'HEAD') return false
  return all.some(
    (each) =>
      each.methods.includes('GET') &&
      each.paths.some((path) => paths.includes(path)) &&
      each.scope === scope &&
      each.options.handler === options.handler &&
      each.options.config === options.config &&
      FASTIFY_HOOKS.every((hook) => each.options[hook] === options[hook]),
  )
}

function candidatesOf(
  { methods, scope, options, isOpened }: Noted,
  path: string,
  supported: readonly string[],
): readonly Candidate[] {
  const { handler } = options
  const isForAll = supported.length > 0 && supported.every((each) => methods.includes(each))
  const listed = methods.filter((each) => each !== 'HEAD' || !methods.includes('GET'))
  const name = typeof handler === 'function' ? handler.name : ''
  const hooks = hooksOf(scope)
  const steps = FASTIFY_HOOKS.flatMap((hook) =>
    stepsOf(hooks?.[hook], hook, scope).concat(stepsOf(options[hook], hook, options)),
  )
  // Another hook may have opened it, after it was noted.
  const running =
    isOpened || isOpenedBy(options) ? steps.filter(({ mark }) => mark === undefined) : steps
  return (isForAll ? ['ALL'] : listed).map((method) => ({
    key: options,
    method,
    path,
    handler: name,
    steps: running,
    kind: hooks === undefined ? 'unknown' : 'route',
  }))
}

/** Of one hook, a list of them, or none. */
function stepsOf(hooks: unknown, path: FastifyHook, chain: object): readonly Step[] {
  const list: readonly unknown[] = [hooks ?? []].flat()
  return list
    .filter((each) => typeof each === 'function')
    .map((key) => ({ name: key.name, path, key, mark: guardMarkOf(key), runs: 'always', chain }))
}
