import { METHODS } from 'node:http'

import {
  anyReach,
  isElsewhere,
  literalSegments,
  type Reach,
  reachOf,
  type Segment,
  segmentsOf,
  type Target,
} from '@portcullis/kit/routes'

// Reads what the routers of Express 5 and 4 keep of each `use` and each route: where it is, and whom it matches.

export type Handler = ((...given: never[]) => unknown) & { readonly stack?: unknown }

/** What was given to `get`, `all` and so on of one route. */
export interface RouteStack {
  readonly path: unknown
  readonly methods: Readonly<Record<string, boolean>>
  readonly stack: readonly { readonly handle: Handler; readonly method?: string | undefined }[]
}

export interface Layer {
  readonly handle: Handler
  readonly route?: RouteStack | undefined
  readonly match: (path: string) => unknown
  /** Whether it matches every path. Express 5. */
  readonly slash?: boolean
  /** What was given to `use`. Express 5. */
  readonly rawPath?: string | RegExp | readonly (string | RegExp)[]
  /** Express 4 keeps nothing else of the path of `use`. */
  readonly regexp?: RegExp & { readonly fast_slash?: boolean; readonly fast_star?: boolean }
}

export interface Router {
  readonly stack: readonly Layer[]
  readonly params?: Readonly<Record<string, readonly Handler[]>>
}

/** Another package's function may have a `stack` as well. */
export function isRouter(value: unknown): value is Router & Handler {
  const stack: unknown = typeof value === 'function' ? Reflect.get(value, 'stack') : undefined
  return Array.isArray(stack) && stack.every(isLayer)
}

function isLayer(value: unknown): value is Layer {
  if (typeof value !== 'object' || value === null) return false
  const { handle, match, route } = value as Partial<Record<keyof Layer, unknown>>
  const isRoute =
    typeof route === 'object' && route !== null && Array.isArray(Reflect.get(route, 'stack'))
  return (
    typeof handle === 'function' && typeof match === 'function' && (route === undefined || isRoute)
  )
}

/**
 * An application within another one: Express puts a function of its own around it, which cannot be looked into. A router takes it as it
 * is.
 */
export function isApplication(handler: Handler): boolean {
  return handler.name === 'mounted_app' || ('handle' in handler && 'set' in handler)
}

/** Express calls a function of four parameters for errors alone. */
export function isErrorHandler({ length }: Handler): boolean {
  return length === 4
}

/** Where a layer of `use` is. Several where a list was given, `undefined` where it cannot be read. */
function prefixesOf({ slash, rawPath, regexp }: Layer): readonly (string | undefined)[] {
  if (slash === true || regexp?.fast_slash === true) return ['/']
  if (regexp !== undefined) return [prefixIn(regexp)]
  return [rawPath].flat().map((each) => (typeof each === 'string' ? each : undefined))
}

/** Of a path without parameters Express 4 makes this regular expression. One of the user's with other flags is another one. */
function prefixIn({ source, flags }: RegExp): string | undefined {
  const escaped = /^\^((?:\\\/(?:[\w~-]|\\\.)+)+)\\\/\?\(\?=\\\/\|\$\)$/.exec(source)?.[1]
  return flags === '' || flags === 'i' ? escaped?.replaceAll(/\\([./])/g, '$1') : undefined
}

/** What to call the place of a layer of `use`. */
export function shownPrefix(layer: Layer): string {
  const { rawPath, regexp } = layer
  const prefixes = prefixesOf(layer)
  const shown = prefixes.includes(undefined) ? String(rawPath ?? regexp) : prefixes.join('|')
  return shown.replace(/(?<=.)\/+$/, '')
}

/**
 * How a layer compares, by asking it with a path that differs in its case alone: Express 5 shows it nowhere else. `undefined` for one of
 * several paths, of which another one may answer, and where it cannot be told.
 */
function sensitivityOf(layer: Layer, path: string, isAlone: boolean): boolean | undefined {
  if (!isAlone) return undefined
  const asked = path.replaceAll(/[:*]\w*/g, 'x').replace(/(?<=.)\/+$/, '')
  const isMatched = asked !== otherCase(asked) && matches(layer, asked)
  return isMatched ? !matches(layer, otherCase(asked)) : undefined
}

function otherCase(path: string): string {
  return path.replaceAll(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}

function matches(layer: Layer, path: string): boolean {
  return layer.regexp === undefined ? Boolean(layer.match(path)) : layer.regexp.test(path)
}

/** Whether a layer of `use` runs for the requests of something else in the same router. */
export function reachOfUse(layer: Layer, target: Target): Reach {
  const prefixes = prefixesOf(layer)
  return anyReach(
    prefixes.map((path) => {
      const prefix = path === undefined ? undefined : literalSegments(path)
      if (path === undefined || prefix === undefined) return 'maybe'
      const isSensitive = sensitivityOf(layer, path, prefixes.length === 1) ?? true
      return reachOf(prefix, isSensitive, target)
    }),
  )
}

/** What a layer of `use` gets: the paths below each of its places. */
export function targetsOfUse(layer: Layer): readonly Target[] {
  const prefixes = prefixesOf(layer)
  return prefixes.map((path) => ({
    segments: segmentsIn(path, sensitivityOf(layer, path ?? '', prefixes.length === 1)),
    isExact: false,
  }))
}

/** What runs in a route for one method. */
export interface Chain {
  /** `undefined` for all methods that have no chain of their own. */
  readonly method: string | undefined
  readonly handlers: readonly Handler[]
}

export function chainsOf({ methods, stack }: RouteStack): readonly Chain[] {
  const chains = Object.keys(methods).map((name) => {
    const method = name === '_all' ? undefined : name
    const own = stack.filter((each) => each.method === undefined || each.method === method)
    return { method, handlers: own.map(({ handle }) => handle) }
  })
  // `app.all` gives the same to each method by its name.
  const [first] = chains
  const isForAll = METHODS.every((name) => Object.hasOwn(methods, name.toLowerCase()))
  const isSame = chains.every(
    ({ handlers }) =>
      handlers.length === first?.handlers.length &&
      handlers.every((each, index) => each === first.handlers[index]),
  )
  return first !== undefined && isForAll && isSame ? [{ ...first, method: undefined }] : chains
}

/**
 * The chains that requests for a route of that method go through: those for `HEAD` meet another one than those for `GET` where there is
 * one. None if some may go through no chain.
 */
export function chainsFor(route: RouteStack, method: string | undefined): readonly Chain[] {
  const chains = chainsOf(route)
  const isForAll = chains.some((each) => each.method === undefined)
  if (method === undefined) return isForAll ? chains : []
  const wanted = method === 'get' ? ['get', 'head'] : [method]
  const found = wanted.map((name) => {
    const substitute = name === 'head' ? chains.find((each) => each.method === 'get') : undefined
    const own = chains.find((each) => each.method === name) ?? substitute
    return own ?? chains.find((each) => each.method === undefined)
  })
  return found.includes(undefined) ? [] : found.filter((each) => each !== undefined)
}

export interface RoutePath {
  readonly shown: string
  readonly target: Target
}

export function pathsOfRoute(layer: Layer, { path }: RouteStack): readonly RoutePath[] {
  const paths: readonly unknown[] = [path].flat(Infinity)
  return paths.map((each) => {
    const text = typeof each === 'string' ? each : undefined
    const segments = segmentsIn(text, sensitivityOf(layer, text ?? '', paths.length === 1))
    return { shown: String(each), target: { segments, isExact: true } }
  })
}

function segmentsIn(path: string | undefined, isSensitive = false): readonly Segment[] {
  return path === undefined ? [{ text: undefined, isSensitive }] : segmentsOf(path, isSensitive)
}

/** Whether a layer of a route is reached by all requests for a path of another one, as with `all(path, guard)` and `get(path, handler)`. */
export function reachOfRoute(
  layer: Layer,
  route: RouteStack,
  other: Layer,
  path: RoutePath,
): Reach {
  // `all('*', guard)` of Express 4.
  if (layer.regexp?.fast_star === true) return 'always'
  const paths = pathsOfRoute(layer, route)
  const [first] = paths
  const isSame = paths.length === 1 && first?.shown === path.shown
  if (isSame && literalSegments(path.shown) !== undefined && covers(layer, other, path.shown)) {
    return 'always'
  }
  return paths.every(({ target }) => isElsewhere(target, path.target)) ? 'never' : 'maybe'
}

/** Whatever way a literal path may be written, since routers differ in how strict they are. */
function covers(layer: Layer, other: Layer, path: string): boolean {
  const bare = path.replace(/(?<=.)\/+$/, '')
  return [bare, `${bare}/`]
    .flatMap((each) => [each, otherCase(each)])
    .every((each) => matches(layer, each) || !matches(other, each))
}
