import { type Candidate, type RouteList, routeListOf } from '@portcullis/kit/routes'

import { guardMarkOf } from './guard-marks.ts'
import {
  chainsOf,
  isErrorHandler,
  isRouter,
  type Layer,
  pathsOfRoute,
  type Router,
  type RouteStack,
  shownPrefix,
  targetsOfUse,
} from './layers.ts'
import {
  ahead,
  isClosed,
  joined,
  outermost,
  paramSteps,
  type Place,
  placeIn,
  routerWithin,
  stepOf,
} from './steps.ts'

// Lists the routes of an application of Express 5 or 4, each with what is proven of its guard, also for OpenAPI. No request is
// made, and no guard loads it.

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

/**
 * Lists the routes of an application, or of a router, and says of each whether a guard of this package stands before it. What cannot be
 * proven is `unseen`, and never left out.
 *
 * Call it when all routes are there. It reads what Express keeps of them, and asks nothing of the network. It does NOT see an error
 * handler that answers what a guard has refused, and no handler or `param` callback of another route that changes `request.url` and
 * hands on.
 *
 * @throws TypeError for anything else than an application or a router of Express.
 */
export function describeRoutes(app: object): RouteList {
  return routeListOf([...candidatesIn(outermost(routerOf(app)))], true)
}

function routerOf(app: unknown): Router {
  const router = typeof app === 'function' ? routerIn(app) : undefined
  if (router !== undefined) return router
  // Mistake `describeRoutes: the argument must be an application or a router`: Give what `express()` or `express.Router()` returned,
  // when all its routes are there.
  throw new TypeError('describeRoutes: the argument must be an application or a router of Express')
}

function routerIn(app: object): Router | undefined {
  if (isRouter(app)) return app
  if (!('lazyrouter' in app)) {
    const own: unknown = 'router' in app ? app.router : undefined
    return isRouter(own) ? own : undefined
  }
  // Express 4 makes it with the first route, and throws where `router` is read.
  const made: unknown = Reflect.get(app, '_router')
  if (made === undefined) return { stack: [] }
  return isRouter(made) ? withoutFirst(made) : undefined
}

/** The two that Express 4 begins with are its own, and answer nothing. */
function withoutFirst({ stack, params = {} }: Router): Router {
  const names = stack.slice(0, 2).map(({ handle }) => handle.name)
  return { stack: names.join(' ') === 'query expressInit' ? stack.slice(2) : stack, params }
}

function* candidatesIn(place: Place): Generator<Candidate> {
  for (const layer of place.router.stack) {
    if (layer.route !== undefined) yield* routesOf(place, layer, layer.route)
    else yield* usesOf(place, layer)
  }
}

function* usesOf(place: Place, layer: Layer): Generator<Candidate> {
  const { handle } = layer
  if (guardMarkOf(handle) !== undefined || isErrorHandler(handle)) return
  const router = routerWithin(place, layer)
  if (router !== undefined) {
    yield* candidatesIn(placeIn(place, router, layer))
    return
  }
  const isApp = isClosed(place, layer)
  for (const target of targetsOfUse(layer)) {
    yield {
      key: layer,
      method: 'ALL',
      path: joined(joined(place.path, shownPrefix(layer)), '/*'),
      handler: isApp ? '' : handle.name,
      steps: ahead(place, layer, target),
      kind: isApp ? 'application' : 'function',
    }
  }
}

function* routesOf(place: Place, layer: Layer, route: RouteStack): Generator<Candidate> {
  for (const { method, handlers } of chainsOf(route)) {
    const last = handlers.findLastIndex(
      (each) => guardMarkOf(each) === undefined && !isErrorHandler(each),
    )
    const handler = handlers[last]
    if (handler === undefined) continue
    for (const path of pathsOfRoute(layer, route)) {
      const shown = joined(place.path, path.shown)
      yield {
        key: handler,
        method: method?.toUpperCase() ?? 'ALL',
        path: shown,
        handler: handler.name,
        steps: [
          ...ahead(place, layer, path.target, { path, method }),
          ...paramSteps(place, path.shown),
          ...handlers.slice(0, last).map((each) => stepOf(each, each, shown, route)),
        ],
        kind: 'route',
      }
    }
  }
}
