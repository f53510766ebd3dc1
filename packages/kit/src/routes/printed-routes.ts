// Reads the tree that `printRoutes()` of Fastify makes: the one list of all its routes.

import type { Candidate } from './judgement.ts'

interface PrintedRoute {
  readonly method: string
  readonly path: string
}

/** Its indent, its branch, its label, and the methods of the routes there, which may have constraints. */
const LINE = /^((?:[│ ] {3})*)([├└]── )?(.*?)(?: \(([A-Z-]+(?:, [A-Z-]+)*)\)(?: \{.*\})?)?$/

/** What Fastify prints in the place of a label that is empty. */
const NO_LABEL = '(empty root node)'

/** @returns `isWhole` is `false` if a line could not be read: `ALL /*` stands for its routes then. */
export function printedRoutes(tree: string): {
  readonly routes: readonly PrintedRoute[]
  readonly isWhole: boolean
} {
  const labels: string[] = []
  const routes: PrintedRoute[] = []
  let isWhole = true
  for (const line of tree.split('\n').filter((each) => !['', '(empty tree)'].includes(each))) {
    const [, indent = '', branch, label = '', listed] = LINE.exec(line) ?? []
    // Routes of the same path with other constraints have the label once more, without a branch.
    const level = indent.length / 4 - (branch === undefined ? 1 : 0)
    if (branch === undefined && (level !== labels.length - 1 || label !== labels.at(-1))) {
      isWhole = false
      routes.push({ method: 'ALL', path: '/*' })
      continue
    }
    labels.splice(level, Infinity, label)
    const methods = listed?.split(', ') ?? []
    const path = labels.filter((each, index) => index > 0 || each !== NO_LABEL).join('')
    routes.push(...methods.map((method) => ({ method, path })))
  }
  return { routes, isWhole }
}

/**
 * The routes that Fastify prints and that are not known, as often as they are missing: nobody knows what is ahead of them. Where `GET` is,
 * it stands for `HEAD`, which Fastify adds to it.
 */
export function missingRoutes(
  printed: readonly PrintedRoute[],
  known: readonly PrintedRoute[],
): readonly Candidate[] {
  const keys = known.map(keyOf)
  const missing = printed.filter((each) => {
    const at = keys.indexOf(keyOf(each))
    if (at !== -1) keys.splice(at, 1)
    return at === -1
  })
  const gets = new Set(missing.flatMap(({ method, path }) => (method === 'GET' ? path : [])))
  return missing
    .filter(({ method, path }) => method !== 'HEAD' || !gets.has(path))
    .map(({ method, path }) => ({ method, path, key: {}, handler: '', steps: [], kind: 'unknown' }))
}

/** Fastify may print a path in small letters, without a slash at its end, and a colon that is no parameter as one. */
function keyOf({ method, path }: PrintedRoute): string {
  return `${method} ${path
    .toLowerCase()
    .replaceAll(/\/+/g, '/')
    .replaceAll('::', ':')
    .replace(/(?<=.)\/$/, '')}`
}
