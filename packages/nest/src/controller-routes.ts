import { type HttpServer, RequestMethod } from '@nestjs/common'
import { MetadataScanner, type ModulesContainer } from '@nestjs/core'
import { PathsExplorer } from '@nestjs/core/router/paths-explorer.js'
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js'
import type { Candidate } from '@portcullis/kit/routes'

import { type Container, guardSteps } from './guard-steps.ts'
import type { Class, Handler } from './methods.ts'

// The routes of all controllers, with the paths that Nest gives them. Its own functions read the decorators, and make the paths.

type Module = ModulesContainer extends Map<string, infer Value> ? Value : never
type Controller = Module['controllers'] extends Map<unknown, infer Value> ? Value : never
type Method = ReturnType<PathsExplorer['scanForPaths']>[number]

export interface Surroundings extends Container {
  readonly adapter: HttpServer
}

/** The handlers of all controllers, each at all its paths. */
export function controllerRoutes(surroundings: Surroundings): readonly Candidate[] {
  return [...surroundings.modules].flatMap(([key, module]) =>
    [...module.controllers.values()].flatMap((controller) =>
      routesOf(controller, { key, module }, surroundings),
    ),
  )
}

interface Place {
  readonly key: string
  readonly module: Module
}

function routesOf(
  controller: Controller,
  { key, module }: Place,
  surroundings: Surroundings,
): readonly Candidate[] {
  const instance = controller.instance // or a prototype of what Nest makes for each request
  const methods = new PathsExplorer(new MetadataScanner()).scanForPaths(instance)
  return methods.flatMap((method) => {
    const handler = method.targetCallback as Handler
    // To a module that is loaded later nothing leads from the root, and Nest adds no routes of it.
    const isAdded = module.distance !== 0 || surroundings.early.modules.includes(key)
    const route = {
      key: handler,
      method: RequestMethod[method.requestMethod] ?? 'ALL',
      handler: `${(instance.constructor as Class).name}.${method.methodName}`,
      kind: isAdded ? 'route' : 'unknown',
    } as const
    return pathsOf(controller, method, module, surroundings).map((path) => {
      const place = { controller, instance, method, moduleKey: key, path }
      return Object.assign({}, route, { path, steps: guardSteps(place, surroundings) })
    })
  })
}

function pathsOf(
  { metatype }: Controller,
  { path: methodPaths, requestMethod, version: methodVersion }: Method,
  module: Module,
  { modules, config, adapter }: Surroundings,
): readonly string[] {
  const factory = new RoutePathFactory(config)
  const modulePath: unknown =
    Reflect.getMetadata(`__module_path__${modules.applicationId}`, module.metatype) ??
    Reflect.getMetadata('__module_path__', module.metatype)
  const versioningOptions = config.getVersioning()
  const controllerVersion: unknown =
    versioningOptions &&
    (Reflect.getMetadata('__version__', metatype as object) ?? versioningOptions.defaultVersion)
  const controllerPaths: unknown = Reflect.getMetadata('path', metatype as object)
  return [controllerPaths].flat().flatMap((controllerPath) =>
    methodPaths.flatMap((methodPath) =>
      factory
        .create(
          {
            ctrlPath: withSlash(controllerPath),
            methodPath,
            globalPrefix: withSlash(config.getGlobalPrefix()),
            modulePath,
            controllerVersion,
            methodVersion,
            versioningOptions,
          } as Parameters<RoutePathFactory['create']>[0], // as Nest itself puts them together
          requestMethod,
        )
        .map((path) => adapter.normalizePath?.(path) ?? path),
    ),
  )
}

function withSlash(path: unknown): string {
  return typeof path !== 'string' || path === '' ? '' : `/${path.replace(/^\//, '')}`
}
