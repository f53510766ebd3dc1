import {
  isElsewhere,
  type Reach,
  type Segment,
  type Step,
  type Target,
} from '@portcullis/kit/routes'

import { guardMarkOf } from './guard-marks.ts'
import {
  chainsFor,
  chainsOf,
  type Handler,
  isApplication,
  isErrorHandler,
  isRouter,
  type Layer,
  pathsOfRoute,
  reachOfRoute,
  reachOfUse,
  type RoutePath,
  type Router,
  type RouteStack,
  shownPrefix,
  targetsOfUse,
} from './layers.ts'

// What runs ahead of a route, router by router, from the outermost to its own.

/** A router at its place. */
export interface Place {
  readonly router: Router
  readonly path: string
  /** What runs ahead of all of it, for the requests of a target within it. */
  readonly outer: (target: Target) => readonly Step[]
  /** Whether all requests of targets within it have passed a guard of a router that it is in. */
  readonly isBehind: (guard: Step, targets: readonly Target[]) => boolean
  /** The routers that it is in: one that is within itself has no end. */
  readonly parents: readonly object[]
}

export function outermost(router: Router): Place {
  return { router, path: '', outer: () => [], isBehind: () => true, parents: [] }
}

export function placeIn(place: Place, router: Router, layer: Layer): Place {
  const [mount, ...others] = targetsOfUse(layer)
  const isAlone = mount !== undefined && others.length === 0
  const seenOutside = ({ segments, isExact }: Target): Target =>
    isAlone
      ? { segments: [...mount.segments, ...borderOf(layer, segments), ...segments], isExact }
      : ANYTHING
  return {
    router,
    path: joined(place.path, shownPrefix(layer)),
    parents: [...place.parents, place.router],
    outer: (target) => ahead(place, layer, seenOutside(target)),
    isBehind: (guard, targets) => isBehind(place, guard, targets.map(seenOutside)),
  }
}

/** Express 4 takes two slashes off behind a mount, so that `/a//b` gets to `/b` in the router at `/a`, past a guard at `/a/b`. */
function borderOf({ regexp }: Layer, within: readonly Segment[]): readonly Segment[] {
  const isLoose = regexp !== undefined && regexp.fast_slash !== true && within.length > 0
  return isLoose ? ANYTHING.segments : []
}

const ANYTHING: Target = { segments: [{ text: undefined, isSensitive: false }], isExact: false }

export function routerWithin({ parents, router }: Place, { handle }: Layer): Router | undefined {
  return isRouter(handle) && handle !== router && !parents.includes(handle) ? handle : undefined
}

/** Whether nobody can look into it. */
export function isClosed(place: Place, layer: Layer): boolean {
  const { handle } = layer
  return isApplication(handle) || (isRouter(handle) && routerWithin(place, layer) === undefined)
}

export function stepOf(
  handle: Handler,
  key: object,
  path: string,
  chain: object,
  runs: Step['runs'] = 'always',
): Step {
  const mayOverrule = isErrorHandler(handle)
  return { name: handle.name, path, key, mark: guardMarkOf(handle), runs, chain, mayOverrule }
}

/** Callbacks of `param` run before a layer whose path has that parameter. */
export function paramSteps({ path: at, router }: Place, path: string): readonly Step[] {
  const names = paramNamesIn(path)
  return Object.entries(router.params ?? {})
    .filter(([name]) => names?.includes(name) ?? true)
    .flatMap(([name, callbacks]) =>
      callbacks.map((each): Step => ({
        ...stepOf(each, each, joined(at, `/:${name}`), each),
        mark: undefined,
        mayOverrule: false,
        runs: 'maybe',
      })),
    )
}

/** `undefined` where it may have any: a pattern of another kind. */
function paramNamesIn(path: string): readonly string[] | undefined {
  if (!/^(?:\/(?:[\w.~-]+|[:*]\w+))*\/?$/.test(path)) return undefined
  return Array.from(path.matchAll(/[:*](\w+)/g), ([, name = '']) => name)
}

/** The route whose guards are asked for. */
interface AskedRoute {
  readonly path: RoutePath
  readonly method: string | undefined
}

/** What stands ahead of a layer, for requests of the target within it. */
export function ahead(
  place: Place,
  layer: Layer,
  target: Target,
  asked?: AskedRoute,
): readonly Step[] {
  const { router, outer } = place
  const before = router.stack.slice(0, router.stack.indexOf(layer))
  return [
    ...outer(target),
    ...before.flatMap((each) =>
      each.route === undefined
        ? useSteps(place, each, target)
        : routeSteps(place, each, each.route, layer, target, asked),
    ),
  ]
}

function useSteps(place: Place, layer: Layer, target: Target): readonly Step[] {
  const runs = reachOfUse(layer, target)
  if (runs === 'never') return []
  // What is changed of the URL behind a guard on a prefix may lead from elsewhere to what that prefix has.
  const behind = { isBehind: (guard: Step) => isBehind(place, guard, targetsOfUse(layer)) }
  const steps = [...paramSteps(place, shownPrefix(layer)), ...stepsOfUse(place, layer, runs)]
  return steps.map((step) => Object.assign(step, behind))
}

function stepsOfUse(place: Place, layer: Layer, runs: Step['runs']): readonly Step[] {
  const router = routerWithin(place, layer)
  if (router !== undefined) return stepsWithin(placeIn(place, router, layer))
  const path = joined(place.path, shownPrefix(layer))
  const step = stepOf(layer.handle, layer, path, place.router, runs)
  return [{ ...step, mayHide: isClosed(place, layer) }]
}

/** Whether all requests of targets in a router have passed a guard of it, or of a router that it is in. */
function isBehind(place: Place, guard: Step, targets: readonly Target[]): boolean {
  if (guard.chain !== place.router) return place.isBehind(guard, targets)
  const above = guard.key as Layer // which the keys of the guards in a router are
  return (
    above.route === undefined && targets.every((target) => reachOfUse(above, target) === 'always')
  )
}

/** What runs of a router that is left again. Nothing in it is proven for what stands after it. */
function stepsWithin(place: Place): readonly Step[] {
  return place.router.stack.flatMap((layer) =>
    layer.route === undefined
      ? stepsOfUse(place, layer, 'maybe')
      : layer.route.stack
          .filter(({ handle }) => guardMarkOf(handle) !== undefined)
          .map(({ handle }) => stepOf(handle, layer, place.path, place.router, 'maybe')),
  )
}

/** Guards that have a route of their own, which hands on, and the callbacks of its parameters. Its other functions are a route of the list. */
function routeSteps(
  place: Place,
  layer: Layer,
  route: RouteStack,
  other: Layer,
  target: Target,
  asked: AskedRoute | undefined,
): readonly Step[] {
  const reach =
    asked === undefined
      ? elsewhereOrMaybe(layer, route, target)
      : reachOfRoute(layer, route, other, asked.path)
  if (reach === 'never') return []
  const path = joined(place.path, String(route.path))
  const asking = asked === undefined ? [] : chainsFor(route, asked.method)
  const chains = asking.length > 0 ? asking : chainsOf(route)
  const guards = new Set(chains.flatMap(({ handlers }) => handlers.filter(isGuard)))
  const targets = pathsOfRoute(layer, route).map((each) => each.target)
  const behind = { isBehind: (guard: Step) => isBehind(place, guard, targets) }
  const params = paramSteps(place, String(route.path)).map((step) => Object.assign(step, behind))
  const steps = [...guards].map((guard) => {
    const isMet = asking.length > 0 && asking.every(({ handlers }) => isFirst(guard, handlers))
    const runs = reach === 'always' && isMet ? 'always' : 'maybe'
    return stepOf(guard, layer, path, place.router, runs)
  })
  return [...params, ...steps]
}

function isGuard(handler: Handler): boolean {
  return guardMarkOf(handler) !== undefined
}

/** Whether all requests of a chain meet a guard. What stands before it, or is for errors, may lead past it. */
function isFirst(guard: Handler, handlers: readonly Handler[]): boolean {
  const earlier = handlers.slice(0, handlers.indexOf(guard))
  return handlers.includes(guard) && earlier.every(isGuard) && !handlers.some(isErrorHandler)
}

function elsewhereOrMaybe(layer: Layer, route: RouteStack, target: Target): Reach {
  const paths = pathsOfRoute(layer, route)
  return paths.every((path) => isElsewhere(path.target, target)) ? 'never' : 'maybe'
}

export function joined(path: string, more: string): string {
  const whole = `${path === '/' ? '' : path}${more === '/' ? '' : more}`
  return whole === '' ? '/' : whole
}
