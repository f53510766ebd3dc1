import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

// What the sources of all packages import, read from their text.

export const root: string = fileURLToPath(new URL('../..', import.meta.url))

export const sources: readonly string[] = globSync('packages/*/src/**/*.ts', {
  cwd: root,
}).toSorted()

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** `packages/core/src/keys/jwk.ts` is `core/keys/jwk`. */
export function nameOf(source: string): string {
  return source
    .replace(/^packages\//, '')
    .replace('/src/', '/')
    .replace(/\.ts$/, '')
}

/** The modules that a source imports values from: its own package's by their name under `src`. */
export function valueImports(source: string): readonly string[] {
  const statements = read(source).matchAll(
    /^(?:import|export)\s+(?!type\b)(?:(?<names>[^'";]*?)\s+from\s+)?'(?<from>[^']+)'/gms,
  )
  const found = [...statements]
    .filter(({ groups }) => !onlyTypes(groups?.['names'] ?? ''))
    .map(({ groups }) => groups?.['from'] ?? '')
    .map((from) => (from.startsWith('.') ? within(source, from) : from))
  return [...new Set(found)].toSorted()
}

/** What a source imports from its own package, values and types: by their name under `src`. */
export function localImports(source: string): readonly string[] {
  const specifiers = read(source).matchAll(/\b(?:from|import)\s*\(?\s*'(?<from>\.[^']+)'/g)
  const found = [...specifiers].map(({ groups }) => within(source, groups?.['from'] ?? ''))
  return [...new Set(found)].toSorted()
}

/** What it loads later, by `import()`. */
export function lateImports(source: string): readonly string[] {
  const calls = read(source).matchAll(/\bimport\(\s*'(?<from>[^']+)'/g)
  return [...calls]
    .map(({ groups }) => groups?.['from'] ?? '')
    .map((from) => (from.startsWith('.') ? within(source, from) : from))
}

/** `import { type A, type B }` */
function onlyTypes(names: string): boolean {
  const each = names
    .replaceAll(/[{}\s]+/g, ' ')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return each.length > 0 && each.every((name) => name.startsWith('type '))
}

function within(source: string, from: string): string {
  const target = join(dirname(source), from)
  return relative(source.replace(/\/src\/.*/, '/src'), target).replace(/\.ts$/, '')
}

/** The sources that import each other, directly or through others: a list for each circle. */
export function circles(): readonly (readonly string[])[] {
  const reached = new Map([...WITHIN.keys()].map((name) => [name, reachable(name, WITHIN)]))
  const found = [...reached].map(([name, targets]) =>
    [...targets].filter((target) => reached.get(target)?.has(name)).toSorted(),
  )
  const distinct = new Map(found.map((names) => [names.join(' '), names]))
  return [...distinct.values()].filter((names) => names.length > 0)
}

/** Whether one more import, as if it were there, would be part of a circle. */
export function closesCircle(source: string, target: string): boolean {
  const imports = new Map([...WITHIN, [source, [...(WITHIN.get(source) ?? []), target]]])
  return reachable(source, imports).has(source)
}

/** What each imports of its own package. */
const WITHIN: ReadonlyMap<string, readonly string[]> = new Map(
  sources.map((source) => [nameOf(source), namesWithin(source)]),
)

function namesWithin(source: string): readonly string[] {
  const [owner = ''] = nameOf(source).split('/')
  return localImports(source).map((name) => `${owner}/${name}`)
}

function reachable(
  name: string,
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [...(imports.get(name) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...(imports.get(next) ?? []))
  }
  return found
}
