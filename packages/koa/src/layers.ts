import { METHODS } from 'node:http'

import {
  isElsewhere,
  literalSegments,
  type Reach,
  reachOf,
  segmentsOf,
  type Target,
} from '@portcullis/kit/routes'

// Reads what @koa/router keeps of each `use` and each route: where it is, and whom it matches.

export type Handler = ((...given: never[]) => unknown) & {
  /** Of what `routes()` returns. */
  readonly router?: unknown
  /** Of what stands for a callback of `param`. */
  readonly param?: string
  readonly _originalFn?: Handler
}

export interface Layer {
  readonly path: unknown
  /** None for `use`. */
  readonly methods: readonly string[]
  readonly stack: readonly Handler[]
  readonly opts: { readonly end?: boolean; readonly pathAsRegExp?: boolean }
  readonly match: (path: string) => boolean
}

export interface Router {
  readonly stack: readonly Layer[]
  /** Whether only one of the layers that match runs. */
  readonly exclusive?: boolean
}

export function isRouter(value: unknown): value is Router {
  if (typeof value !== 'object' || value === null) return false
  const { stack, routes } = value as { stack?: unknown; routes?: unknown }
  return Array.isArray(stack) && stack.every(isLayer) && typeof routes === 'function'
}

function isLayer(value: unknown): value is Layer {
  if (typeof value !== 'object' || value === null) return false
  const { methods, stack, opts, match } = value as Partial<Record<keyof Layer, unknown>>
  return (
    Array.isArray(methods) &&
    Array.isArray(stack) &&
    stack.every((each) => typeof each === 'function') &&
    typeof opts === 'object' &&
    opts !== null &&
    typeof match === 'function'
  )
}

/** The methods of a route, one for each entry of the list. `GET` stands for `HEAD` as well. */
export function entriesOf({ methods }: Layer): readonly string[] {
  if (METHODS.every((each) => methods.includes(each))) return ['ALL']
  return methods.filter((each) => each !== 'HEAD' || !methods.includes('GET'))
}

/** What @koa/router 15 writes for `use` without a path, behind the prefix of the router. */
const ANY_PATH = String.raw`(?:\/|$)`

/** Where a layer of `use` is, if it is a literal path: it gets whatever is below. */
function prefixOf({ path, opts }: Layer): string | undefined {
  if (typeof path !== 'string') return undefined
  if (opts.pathAsRegExp === true) {
    return path.endsWith(ANY_PATH) ? path.slice(0, -ANY_PATH.length) : undefined
  }
  return opts.end === false ? path.replace(/(?<=.)\/+$/, '') : undefined
}

export function shownPath(layer: Layer): string {
  const prefix = layer.methods.length === 0 ? prefixOf(layer) : undefined
  return prefix === undefined ? String(layer.path) : `${prefix === '/' ? '' : prefix}/*`
}

function targetOf(layer: Layer): Target {
  const { path, opts } = layer
  const prefix = layer.methods.length === 0 ? prefixOf(layer) : undefined
  const text = prefix ?? (opts.pathAsRegExp === true ? undefined : path)
  const isSensitive = typeof text === 'string' && isSensitiveTo(layer, text)
  const segments =
    typeof text === 'string' ? segmentsOf(text, isSensitive) : [{ text: undefined, isSensitive }]
  return { segments, isExact: opts.end !== false }
}

/** By asking: the pattern of a prefix differs from that of a route in it. */
function isSensitiveTo(layer: Layer, path: string): boolean {
  const asked = path.replaceAll(/[:*]\w*/g, 'x')
  return layer.match(asked) && !layer.match(otherCase(asked))
}

function otherCase(path: string): string {
  return path.replaceAll(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}

/** Whether a layer runs for the requests of another one of the same router. */
export function reachOfLayer(layer: Layer, target: Layer): Reach {
  const reach = reachOfPath(layer, target)
  const { methods } = layer
  if (methods.length === 0 || reach === 'never') return reach
  // A layer of `use` gets the requests of other routes as well.
  if (target.methods.length === 0) return 'maybe'
  if (target.methods.every((each) => methods.includes(each))) return reach
  const isShared = target.methods.some((each) => methods.includes(each))
  return isShared ? 'maybe' : 'never'
}

function reachOfPath(layer: Layer, target: Layer): Reach {
  const theirs = targetOf(target)
  const prefix = layer.methods.length === 0 ? prefixOf(layer) : undefined
  // Its pattern has no beginning, so it is found in each path.
  if (prefix === '') return 'always'
  const segments = prefix === undefined ? undefined : literalSegments(prefix)
  if (prefix !== undefined && segments !== undefined) {
    // A path without letters of two cases is the same in both.
    const isSensitive = otherCase(prefix) !== prefix && !layer.match(otherCase(prefix))
    return layer.match(prefix) ? reachOf(segments, isSensitive, theirs) : 'maybe'
  }
  if (isSame(layer, target)) return 'always'
  return isElsewhere(targetOf(layer), theirs) ? 'never' : 'maybe'
}

/** Whether both are of one literal path, and the first matches however the second one lets it be written. */
function isSame(layer: Layer, target: Layer): boolean {
  const { path } = target
  if (typeof path !== 'string' || path !== layer.path || literalSegments(path) === undefined) {
    return false
  }
  if (![layer, target].every(isOnePath)) return false
  const bare = path.replace(/(?<=.)\/+$/, '')
  return [bare, `${bare}/`]
    .flatMap((each) => [each, otherCase(each)])
    .every((each) => layer.match(each) || !target.match(each))
}

/** `register` takes options by which a path stands for what is below it, or for a pattern. */
function isOnePath({ opts }: Layer): boolean {
  return opts.end !== false && opts.pathAsRegExp !== true
}
