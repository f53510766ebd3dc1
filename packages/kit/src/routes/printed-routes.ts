// Reads the tree that `printRoutes()` of Fastify makes: the one list of all its routes.

interface PrintedRoute {
  readonly method: string
  readonly path: string
}

/** @returns Without `HEAD` where there is `GET`. `isWhole` is `false` if a line could not be read. */
export function printedRoutes(tree: string): {
  readonly routes: readonly PrintedRoute[]
  readonly isWhole: boolean
} {
  const labels: string[] = []
  const routes: PrintedRoute[] = []
  let isWhole = true
  for (const line of tree.split('\n').filter((each) => each !== '')) {
    const [, indent, label, listed] =
      /^((?:[│ ] {3})*)[├└]── (.*?)(?: \(([A-Z-]+(?:, [A-Z-]+)*)\)(?: \{.*\})?)?$/.exec(line) ?? []
    if (indent === undefined || label === undefined) {
      isWhole &&= line === '(empty tree)'
      continue
    }
    labels.splice(indent.length / 4, Infinity, label)
    const methods = listed?.split(', ') ?? []
    const path = labels.join('')
    for (const method of methods) {
      if (method !== 'HEAD' || !methods.includes('GET')) routes.push({ method, path })
    }
  }
  return { routes, isWhole }
}

/** The routes that Fastify prints and that are not known, as often as they are missing. */
export function missingRoutes(
  printed: readonly PrintedRoute[],
  known: readonly PrintedRoute[],
): readonly PrintedRoute[] {
  const keys = known.map(keyOf)
  return printed.filter((each) => {
    const at = keys.indexOf(keyOf(each))
    if (at !== -1) keys.splice(at, 1)
    return at === -1
  })
}

/** Fastify may print a path in small letters, and without a slash at its end. */
function keyOf({ method, path }: PrintedRoute): string {
  return `${method} ${path
    .toLowerCase()
    .replaceAll(/\/+/g, '/')
    .replace(/(?<=.)\/$/, '')}`
}
