import type { HttpServer } from '@nestjs/common'
import {
  type Candidate,
  FASTIFY_HOOKS,
  hooksOf,
  missingRoutes,
  printedRoutes,
} from '@portcullis/kit/routes'

import { functionsOfNest } from './functions-of-nest.ts'
import type { BeforeAll, Platform } from './platform.ts'

// What the application of Fastify below Nest has.

interface Instance {
  printRoutes(): string
  addHook(name: 'onRoute', hook: (options: RouteOptions) => void): unknown
  readonly supportedMethods: readonly string[]
}

interface RouteOptions {
  readonly method: string | readonly string[]
  readonly url: string
  readonly handler: unknown
}

type AddedRoute = Pick<Candidate, 'method' | 'path'>

/**
 * Collects the `HEAD` routes that Fastify adds to `GET` routes from now on: they have the same handler, and so the same guards. Any other
 * `HEAD` route may have none.
 */
export function notedHeads(adapter: HttpServer): readonly AddedRoute[] {
  const heads: AddedRoute[] = []
  const gets: Pick<RouteOptions, 'url' | 'handler'>[] = []
  instanceOf(adapter)?.addHook('onRoute', ({ method, url, handler }) => {
    const methods = [method].flat()
    const isAdded = gets.some((get) => get.url === url && get.handler === handler)
    if (methods.includes('GET')) gets.push({ url, handler })
    else if (methods.join('') === 'HEAD' && isAdded) heads.push({ method: 'HEAD', path: url })
  })
  return heads
}

/**
 * `undefined` for another platform.
 *
 * @param heads What {@link notedHeads} has found.
 */
export async function fastifyPlatform(
  adapter: HttpServer,
  routes: readonly Candidate[],
  heads: readonly AddedRoute[],
): Promise<Platform | undefined> {
  const instance = instanceOf(adapter)
  if (instance === undefined) return undefined
  const isOfNest = await functionsOfNest(adapter, (each) => functionsOf(each).map(({ key }) => key))
  const { routes: printed, isWhole } = printedRoutes(instance.printRoutes())
  const added = routes.filter(({ kind }) => kind === 'route')
  const known = added.flatMap(({ method, path }) =>
    (method === 'ALL' ? instance.supportedMethods : [method]).map((each) => ({
      method: each,
      path,
    })),
  )
  const others = missingRoutes(printed, [...known, ...heads])
  const before = functionsOf(adapter).filter(({ key }) => !isOfNest(key))
  return { before: [...ownHooks(adapter), ...before], others, isWhole }
}

function instanceOf(adapter: HttpServer): (Instance & object) | undefined {
  const instance: unknown = adapter.getInstance()
  if (typeof instance !== 'object' || instance === null) return undefined
  const { printRoutes, supportedMethods } = instance as Partial<Instance>
  const isFastify = typeof printRoutes === 'function' && Array.isArray(supportedMethods)
  return isFastify ? (instance as Instance) : undefined
}

/** The hooks of the scope that Nest adds its routes to, and the middleware that one of them runs. */
function functionsOf(adapter: HttpServer): readonly BeforeAll[] {
  const instance = instanceOf(adapter) ?? {}
  const hooks = hooksOf(instance)
  const middleware = middlewareOf(instance)
  if (hooks === undefined) return [stepOf({}, '', '/')]
  return FASTIFY_HOOKS.flatMap((hook) =>
    hooks[hook].flatMap((each) =>
      middleware !== undefined && nameOf(each) === 'runMiddie'
        ? middleware
        : [stepOf(each, nameOf(each), hook)],
    ),
  )
}

/** What was given to `use`. `undefined` if it cannot be read. */
function middlewareOf(instance: object): readonly BeforeAll[] | undefined {
  const symbol = Object.getOwnPropertySymbols(instance).find(
    ({ description }) => description === 'fastify-middie-middlewares',
  )
  const list: unknown = symbol === undefined ? undefined : Reflect.get(instance, symbol)
  if (!Array.isArray(list)) return undefined
  return list.flatMap((given: readonly unknown[]) => {
    const path = typeof given[0] === 'string' ? given[0] : '/'
    return given
      .flat()
      .flatMap((each) => (typeof each === 'function' ? [stepOf(each, each.name, path)] : []))
  })
}

/** What the adapter itself calls for each request. */
function ownHooks(adapter: HttpServer): readonly BeforeAll[] {
  return ['onRequestHook', 'corsHook', 'securityHook'].flatMap((name) => {
    const hook: unknown = Reflect.get(adapter, name)
    return typeof hook === 'function' ? [stepOf(hook, name, '/')] : []
  })
}

function stepOf(key: object, name: string, path: string): BeforeAll {
  return { name, path, key, runs: 'maybe', chain: key, isFor: () => true }
}

function nameOf(hook: object): string {
  return typeof hook === 'function' ? hook.name : ''
}
