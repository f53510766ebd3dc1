import type { BeforeAll } from './platform.ts'

// The middleware of modules. Nest puts functions of its own around it, so that only its own list has the names.

/** What Nest keeps of `consumer.apply(...).forRoutes(...)`. */
interface Configuration {
  readonly middleware: unknown
  readonly forRoutes: readonly { readonly path: string }[]
}

export function moduleMiddleware(app: object): readonly BeforeAll[] {
  return configurationsOf(Reflect.get(app, 'middlewareContainer')).flatMap(
    ({ middleware, forRoutes }) =>
      [middleware].flat().flatMap((each) =>
        forRoutes.map(({ path }): BeforeAll => ({
          name: nameOf(each),
          path: `/${path.replace(/^\//, '')}`,
          key: each as object, // a class, which Nest has made an instance of
          runs: 'maybe',
          chain: app,
          // A prefix or a version may be before its path.
          isFor: () => true,
        })),
      ),
  )
}

interface Container {
  getConfigurations(): ReadonlyMap<string, Iterable<Configuration>>
}

function isShown(container: unknown): container is Container {
  return (
    typeof container === 'object' &&
    container !== null &&
    typeof Reflect.get(container, 'getConfigurations') === 'function'
  )
}

/** Where Nest does not show them, one without a name stands for them: no test passes then. */
function configurationsOf(container: unknown): readonly Configuration[] {
  if (!isShown(container)) return [{ middleware: () => {}, forRoutes: [{ path: '/' }] }]
  const byModule = container.getConfigurations()
  return [...byModule.values()].flatMap((each) => Array.from(each))
}

/** Nest makes a class of a function, and gives it a name at random. */
function nameOf(middleware: unknown): string {
  const name = typeof middleware === 'function' ? middleware.name : ''
  return /^[\da-f]{21}$/.test(name) ? '' : name
}
