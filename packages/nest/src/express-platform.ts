import 'reflect-metadata'
import type { HttpServer } from '@nestjs/common'
import { type Candidate, literalSegments, reachOf, segmentsOf } from '@portcullis/kit/routes'

import { addNotFound, functionsOfNest } from './functions-of-nest.ts'
import type { BeforeAll, Platform } from './platform.ts'

// What the application of Express below Nest has, in its order.

type Handler = ((...given: never[]) => unknown) & { readonly stack?: unknown }

interface Layer {
  readonly handle: Handler
  readonly route?: {
    readonly path: unknown
    readonly methods: Readonly<Record<string, boolean>>
    readonly stack: readonly { readonly handle: Handler }[]
  }
  readonly slash?: boolean
  /** What was given to `use`. */
  readonly rawPath?: unknown
}

interface Router {
  readonly stack: readonly Layer[]
  readonly params?: Readonly<Record<string, readonly Handler[]>>
}

/** `undefined` for another platform, and for an older Express. */
export async function expressPlatform(adapter: HttpServer): Promise<Platform | undefined> {
  const router = routerOf(adapter)
  if (router === undefined) return undefined
  const isOfNest = await functionsOfNest(adapter, (empty) => {
    addNotFound(empty)
    return functionsIn(routerOf(empty))
  })
  const { stack, params = {} } = router
  const last = stack.findLastIndex(isOfController)
  const others = stack.filter(
    (layer) =>
      !isOfController(layer) &&
      !handlersOf(layer).every((each) => isErrorHandler(each) || isOfNest(each)),
  )
  const ahead = others.filter((layer) => layer.route === undefined && stack.indexOf(layer) < last)
  return {
    before: [...hooksOf(adapter), ...paramSteps(params), ...ahead.map(stepOf)],
    others: others.flatMap(candidatesOf),
    isWhole: true,
  }
}

function routerOf(adapter: HttpServer): Router | undefined {
  const instance: unknown = adapter.getInstance()
  const router: unknown =
    typeof instance === 'function' ? Reflect.get(instance, 'router') : undefined
  return isRouter(router) ? router : undefined
}

function isRouter(value: unknown): value is Router {
  const stack: unknown = typeof value === 'function' ? Reflect.get(value, 'stack') : undefined
  return Array.isArray(stack) && stack.every(isLayer)
}

function isLayer(value: unknown): value is Layer {
  const isObject = typeof value === 'object' && value !== null
  return isObject && typeof Reflect.get(value, 'handle') === 'function'
}

function functionsIn(router: Router | undefined): readonly Handler[] {
  return router?.stack.flatMap(handlersOf) ?? []
}

/** Those of a route, or of a router within. */
function handlersOf({ route, handle }: Layer): readonly Handler[] {
  if (route !== undefined) return route.stack.map((each) => each.handle)
  return isRouter(handle) ? functionsIn(handle) : [handle]
}

/** Express calls a function of four parameters for errors alone. */
function isErrorHandler({ length }: Handler): boolean {
  return length === 4
}

/** Nest copies the decorators of a handler to the function that it gives to the platform. */
function isOfController({ route }: Layer): boolean {
  return route?.stack.every(({ handle }) => Reflect.hasMetadata('path', handle)) ?? false
}

/** What the adapter itself calls for each request. */
function hooksOf(adapter: HttpServer): readonly BeforeAll[] {
  const hook: unknown = Reflect.get(adapter, 'onRequestHook')
  if (typeof hook !== 'function') return []
  const name = 'onRequestHook'
  return [{ name, path: '/', key: hook, runs: 'maybe', chain: adapter, isFor: () => true }]
}

function paramSteps(params: NonNullable<Router['params']>): readonly BeforeAll[] {
  return Object.entries(params).flatMap(([name, callbacks]) =>
    callbacks.map((each): BeforeAll => ({
      name: each.name,
      path: `/:${name}`,
      key: each,
      runs: 'maybe',
      chain: params,
      isFor: (path) => path.includes(`:${name}`) || literalSegments(path) === undefined,
    })),
  )
}

function stepOf(layer: Layer): BeforeAll {
  const path = shownPathOf(layer)
  const prefix = layer.slash === true ? [] : literalSegments(path)
  return {
    name: layer.handle.name,
    path,
    key: layer,
    runs: 'maybe',
    chain: layer,
    isFor: (route) =>
      prefix === undefined ||
      reachOf(prefix, false, { segments: segmentsOf(route, false), isExact: true }) !== 'never',
  }
}

function shownPathOf({ slash, rawPath }: Layer): string {
  return slash === true ? '/' : [rawPath].flat().map(String).join('|')
}

function candidatesOf(layer: Layer): readonly Candidate[] {
  const { handle, route } = layer
  if (route !== undefined) {
    const path = String(route.path)
    const handler = route.stack.at(-1)?.handle.name ?? ''
    const methods = route.methods['_all'] === true ? ['ALL'] : Object.keys(route.methods)
    return methods.map((each) => ({
      key: layer,
      method: each.toUpperCase(),
      path,
      handler,
      steps: [],
      kind: 'unknown',
    }))
  }
  const path = `${shownPathOf(layer).replace(/\/$/, '')}/*`
  const isClosed = isRouter(handle) || handle.name === 'mounted_app' || 'handle' in handle
  const kind = isClosed ? 'application' : 'function'
  const handler = isClosed ? '' : handle.name
  return [{ key: layer, method: 'ALL', path, handler, steps: [], kind }]
}
