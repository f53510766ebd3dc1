import type { Request } from './instance.ts'

// Which requests a guard of a scope leaves alone: those for routes that say so.

type RouteRequest = Pick<Request, 'routeOptions'>

export function isOpen(request: RouteRequest): boolean {
  const config = configOf(request)
  return (
    isOfRoute(request) && Object.hasOwn(config, 'auth') && Reflect.get(config, 'auth') === false
  )
}

/** Fastify writes the URL of each route into its configuration. A not-found handler has none. */
export function isOfRoute(request: RouteRequest): boolean {
  return Object.hasOwn(configOf(request), 'url')
}

function configOf({ routeOptions: { config } }: RouteRequest): object {
  return typeof config === 'object' && config !== null ? config : {}
}

/** Takes away what another hook has defined under the name of our property: handlers would read it in place of what the token proves. */
export function uncover(request: object, property: string): void {
  if (Object.hasOwn(request, property) && !Reflect.deleteProperty(request, property)) {
    throw new TypeError(`authenticate: cannot set request.${property}`)
  }
}
