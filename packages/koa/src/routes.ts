import { type Candidate, type RouteList, routeListOf, type Step } from '@portcullis/kit/routes'

import { guardMarkOf } from './guard-marks.ts'
import {
  entriesOf,
  type Handler,
  isRouter,
  type Layer,
  reachOfLayer,
  type Router,
  shownPath,
} from './layers.ts'

// Lists the routes of an application of Koa with @koa/router, each with what is proven of its guard, also for OpenAPI. No
// request is made, and no guard loads it.

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
 * Lists the routes of an application with routers of @koa/router 15, and says of each whether a guard of this package stands before it.
 * What cannot be proven is `unseen`, and never left out. A function that hides others, as koa-mount and koa-compose make, is a function of
 * strangers.
 *
 * Call it when all routes are there. It makes no request. A function that answers what a guard has refused stands before
 * the guard, and is named there.
 *
 * @throws TypeError for anything else than an application of Koa, or a router of @koa/router.
 */
export function describeRoutes(app: object): RouteList {
  const functions = functionsOf(app)
  const candidates = functions.flatMap((each, index) => {
    const ahead = functions.slice(0, index).flatMap((other) => stepsOfFunction(other, functions))
    const router = routerOf(each)
    if (router !== undefined) return routerCandidates(router, ahead)
    return candidateOf(each, { key: each, method: 'ALL', path: '/*', kind: 'function' }, ahead)
  })
  return routeListOf(candidates, true)
}

function functionsOf(app: unknown): readonly Handler[] {
  if (isRouter(app)) return [Object.assign(() => {}, { router: app })]
  const middleware: unknown =
    typeof app === 'object' && app !== null ? Reflect.get(app, 'middleware') : undefined
  if (!Array.isArray(middleware) || !middleware.every((each) => typeof each === 'function')) {
    // Mistake `describeRoutes: the argument must be an application of Koa`: Give what `new Koa()` made, or a router of @koa/router,
    // when all its routes are there.
    throw new TypeError(
      'describeRoutes: the argument must be an application of Koa, or a router of @koa/router',
    )
  }
  return middleware as readonly Handler[] // which was checked
}

/** What `routes()` returns says which router it is of. */
function routerOf({ router }: Handler): Router | undefined {
  return isRouter(router) ? router : undefined
}

/** A function that another router is behind, where it cannot be told when that runs. */
function isClosed(handler: Handler): boolean {
  return handler.router !== undefined
}

function candidateOf(
  handler: Handler,
  place: Pick<Candidate, 'key' | 'method' | 'path' | 'kind'>,
  steps: readonly Step[],
): readonly Candidate[] {
  if (guardMarkOf(handler) !== undefined) return []
  const kind = isClosed(handler) ? 'application' : place.kind
  return [{ ...place, kind, handler: handler.name, steps }]
}

function routerCandidates(router: Router, outer: readonly Step[]): readonly Candidate[] {
  return router.stack.flatMap((layer, index) => {
    const { stack, methods } = layer
    const last = stack.findLastIndex((each) => guardMarkOf(each) === undefined)
    const handler = stack[last]
    if (handler === undefined) return []
    const path = shownPath(layer)
    const ahead = router.stack.slice(0, index).flatMap((each) => stepsOfLayer(each, layer, router))
    const own = stack.slice(0, last).map((each) => stepOf(each, each, path, 'always', router))
    const steps = [...outer, ...ahead, ...own]
    const kind = methods.length === 0 ? 'function' : 'route'
    const names = methods.length === 0 ? ['ALL'] : entriesOf(layer)
    return names.flatMap((method) =>
      candidateOf(handler, { key: layer, method, path, kind }, steps),
    )
  })
}

function stepOf(
  handler: Handler,
  key: object,
  path: string,
  runs: Step['runs'],
  chain: object,
): Step {
  const { param, _originalFn: callback } = handler
  return {
    name: (callback ?? handler).name,
    path: param === undefined ? path : `${path} :${param}`,
    key,
    mark: guardMarkOf(handler),
    runs,
    chain,
    mayHide: isClosed(handler),
  }
}

function stepsOfLayer(layer: Layer, target: Layer, router: Router): readonly Step[] {
  // Then no other layer runs than the one that is chosen.
  const runs = router.exclusive === true ? 'never' : reachOfLayer(layer, target)
  if (runs === 'never') return []
  const isRoute = layer.methods.length > 0
  // The functions of another route are its own entry. One that hands on may lead past a guard that stands behind it.
  return layer.stack.flatMap((each, index) => {
    const isGuard = guardMarkOf(each) !== undefined
    if (isRoute && !isGuard) return []
    const isFirst = layer.stack.slice(0, index).every((one) => guardMarkOf(one) !== undefined)
    const isSure = runs === 'always' && (isFirst || !isRoute)
    return [stepOf(each, layer, shownPath(layer), isSure ? 'always' : 'maybe', router)]
  })
}

/** What runs of a function of the application for whatever stands behind it. Of a router that is left again nothing is proven. */
function stepsOfFunction(handler: Handler, chain: object): readonly Step[] {
  const router = routerOf(handler)
  if (router === undefined) return [stepOf(handler, handler, '/*', 'always', chain)]
  return router.stack.flatMap((layer) =>
    layer.stack
      .filter((each) => layer.methods.length === 0 || guardMarkOf(each) !== undefined)
      .map((each) => stepOf(each, layer, shownPath(layer), 'maybe', router)),
  )
}
