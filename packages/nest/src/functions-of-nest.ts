import { type HttpServer, RequestMethod } from '@nestjs/common'
import { MiddlewareModule } from '@nestjs/core/middleware/middleware-module.js'
import { RouterProxy } from '@nestjs/core/router/router-proxy.js'

// The functions that Nest itself gives to its platform: what hands on to hooks, what is around the middleware of modules, what answers 404.

/**
 * Knows them by their texts, as an adapter of the same class has them to which nobody else has given a function. Nest gives them no name,
 * and keeps them nowhere else. If such an adapter cannot be made, none is known, and each is listed.
 *
 * @param functionsIn All functions that a platform has.
 */
export async function functionsOfNest(
  adapter: HttpServer,
  functionsIn: (adapter: HttpServer) => readonly unknown[],
): Promise<(candidate: unknown) => boolean> {
  const empty = emptyLike(adapter)
  if (empty === undefined) return () => false
  await empty.init?.()
  await addMiddleware(empty)
  const texts = new Set(functionsIn(empty).map(String))
  await empty.close()
  return (candidate) => texts.has(String(candidate))
}

/** A class of the user's may want arguments. */
function emptyLike({ constructor }: HttpServer): HttpServer | undefined {
  try {
    return new (constructor as new () => HttpServer)()
  } catch {
    return undefined
  }
}

/** As Nest adds the middleware of a module. */
async function addMiddleware(adapter: HttpServer): Promise<void> {
  const register: unknown = Reflect.get(MiddlewareModule.prototype, 'registerHandler')
  const module = { routeInfoPathExtractor: { extractPathsFrom: () => ['/'] } }
  const route = { path: '/', method: RequestMethod.ALL }
  if (typeof register !== 'function') return
  await Reflect.apply(register, module, [adapter, route, () => {}, new WeakSet()])
}

/** As Nest adds its answer to an unknown path, without and with a prefix. */
export function addNotFound(adapter: HttpServer): void {
  const answer = new RouterProxy().createProxy(() => {}, undefined as never) // which nothing calls
  adapter.setNotFoundHandler?.(answer, '')
  adapter.setNotFoundHandler?.(answer, '/prefix')
}
