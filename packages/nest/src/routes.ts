import type { INestApplication } from '@nestjs/common'
import { ApplicationConfig, ModulesContainer } from '@nestjs/core'
import { type Candidate, type RouteList, routeListOf } from '@portcullis/kit/routes'

import { controllerRoutes } from './controller-routes.ts'
import { expressPlatform } from './express-platform.ts'
import { fastifyPlatform, notedHeads } from './fastify-platform.ts'
import { moduleMiddleware } from './module-middleware.ts'
import { UNKNOWN_PLATFORM } from './platform.ts'

// Lists the routes of an application of Nest, each with what is proven of its guard, also for OpenAPI. No request is made, and
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

/**
 * Lists the routes of an application, and says of each whether a guard of this package stands before its handler. What cannot be proven is
 * `unseen`, and never left out: a route that no controller has, or a guard that is made anew for each request.
 *
 * Call it in the place of `app.init()`, which it calls: Nest shows of a guard of `useGlobalGuards` nowhere whether it came before that, and
 * one that came later guards nothing. It makes no request. It does NOT see an exception filter that answers what a guard has refused, and
 * no guard within another one.
 *
 * @throws TypeError for anything else than an application of Nest.
 */
export async function describeRoutes(app: INestApplication): Promise<RouteList> {
  checkApp(app)
  const config = app.get(ApplicationConfig)
  const modules = app.get(ModulesContainer)
  const isEarly = Reflect.get(app, 'isInitialized') === false
  const early = isEarly
    ? { guards: [...config.getGlobalGuards()], modules: [...modules.keys()] }
    : { guards: [], modules: [] }
  const adapter = app.getHttpAdapter()
  const heads = isEarly ? notedHeads(adapter) : []
  await app.init()
  await readyOf(adapter.getInstance())
  const routes = controllerRoutes({ modules, config, adapter, early })
  const platform =
    (await expressPlatform(adapter)) ??
    (await fastifyPlatform(adapter, routes, heads)) ??
    UNKNOWN_PLATFORM
  const before = [...platform.before, ...moduleMiddleware(app)]
  const candidates = routes.map((route): Candidate => {
    const ahead = before.filter(({ isFor }) => isFor(route.path))
    return Object.assign({}, route, { steps: [...ahead, ...route.steps] })
  })
  return routeListOf([...candidates, ...platform.others], platform.isWhole)
}

/** Fastify adds the routes of plugins only then. */
async function readyOf(instance: unknown): Promise<void> {
  if (typeof instance !== 'object' || instance === null) return
  const ready: unknown = Reflect.get(instance, 'ready')
  if (typeof ready === 'function') await Reflect.apply(ready, instance, [])
}

function checkApp(app: unknown): void {
  const isApp =
    typeof app === 'object' &&
    app !== null &&
    ['init', 'get', 'getHttpAdapter'].every((name) => typeof Reflect.get(app, name) === 'function')
  if (isApp) return
  // Mistake `describeRoutes: the argument must be an application of Nest`: Give what `NestFactory.create()` or
  // `createNestApplication()` returned, in the place of `app.init()`.
  throw new TypeError('describeRoutes: the argument must be an application of Nest')
}
