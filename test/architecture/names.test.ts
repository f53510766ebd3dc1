import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { root } from './sources.ts'

// What several packages export under one name must be one thing: a file may import two of them. By docs/api, which CI compares with the
// code.

/** A name that a package exports, in one of its reports. */
interface Exported {
  readonly name: string
  readonly from: string
  /** Its declaration, without comments; of a package that hands it on, that it does. */
  readonly meaning: string
}

/** Who exports a name with declarations that differ, and why that is one meaning nevertheless. */
const ONE_MEANING: Readonly<Record<string, readonly [packages: string, reason: string]>> = {
  Middleware: ['express koa mcp nest', 'a function between the request and what handles it'],
  authenticate: ['express fastify hono koa', 'the guard, as the framework takes it'],
  authorize: ['express fastify hono koa', 'the check of a route, as the framework takes it'],
  describeRoutes: ['express fastify hono koa nest', 'a list of routes: Nest is asked at its start'],
  serveMetadata: ['express fastify hono koa nest', 'the route of the metadata, of each framework'],
}

const HANDED_ON = 'handed on'

/** What no user can write, so that nobody makes one of their own. */
const BRANDS: ReadonlySet<string> = new Set(['brand', 'mutualTlsBrand', 'proofsBrand'])

/** Fewer names than this are public. Before another one, look for two that are one, or for one that no user needs. */
const NAMES = 362

function packageOf(text: string): string {
  return /API Report File for "@portcullis\/([\w-]+)"/.exec(text)?.[1] ?? ''
}

/** @param text Of a file in docs/api. */
function exportsOf(text: string): readonly Exported[] {
  const from = packageOf(text)
  // A name of its own that something in scope has as well gets a number.
  const code = text.replaceAll(/^[ \t]*\/\/.*\n/gm, '').replaceAll(/\b([A-Z]\w*?)_\d+\b/g, '$1')
  const declared =
    /^export (?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)[\s\S]*?(?=\n\n\S|\n+```)/gm
  const handedOn = /^export \{ (?:\w+ as )?(\w+) \}/gm
  return [
    ...Array.from(code.matchAll(declared), ([meaning, name = '']) => ({ name, from, meaning })),
    ...Array.from(code.matchAll(handedOn), ([, name = '']) => ({ name, from, meaning: HANDED_ON })),
  ]
}

/** What the exports of a report show and nobody can name, because it is not exported. */
function unnamedIn(text: string): readonly string[] {
  const code = text.replaceAll(/^[ \t]*\/\/.*\n/gm, '')
  const shown = /^(?:declare )?(?:abstract )?(?:class|const|enum|function|interface|type) (\w+)/gm
  const handedOn = new Set(Array.from(code.matchAll(/^export \{ (\w+)/gm), ([, name = '']) => name))
  return Array.from(code.matchAll(shown), ([, name = '']) => name).filter(
    (name) => !handedOn.has(name),
  )
}

/** The names that packages export with more than one meaning, and these packages. */
function secondMeanings(exported: readonly Exported[]): Readonly<Record<string, string>> {
  const names = [...new Set(exported.map(({ name }) => name))]
  const found = names.flatMap((name) => {
    const own = exported.filter((each) => each.name === name && each.meaning !== HANDED_ON)
    const packages = [...new Set(own.map(({ from }) => from))].toSorted()
    // Overloads are several declarations of one package.
    const meanings = packages.map((each) => {
      const texts = own.filter(({ from }) => from === each).map(({ meaning }) => meaning)
      return [...new Set(texts)].toSorted().join('\n')
    })
    return new Set(meanings).size > 1 ? [[name, packages.join(' ')] as const] : []
  })
  return Object.fromEntries(found)
}

describe('a name that several packages export has one meaning', () => {
  const reports = globSync('docs/api/*.api.md', { cwd: root }).toSorted()
  const exported = reports.flatMap((path) => exportsOf(readFileSync(join(root, path), 'utf8')))

  test('and the table says so of those whose declarations differ', () => {
    expect(
      secondMeanings(exported),
      'give one of the two another name, or say in ONE_MEANING why they mean the same',
    ).toEqual(
      Object.fromEntries(
        Object.entries(ONE_MEANING).map(([name, [packages]]) => [name, packages] as const),
      ),
    )
  })

  test('and each report names its exports, so that none is passed over', () => {
    const without = reports.filter(
      (path) => exportsOf(readFileSync(join(root, path), 'utf8')).length === 0,
    )
    // It declares a module, and exports nothing.
    expect(without.map((path) => basename(path))).toEqual(['express-request.api.md'])
    expect(exported.length).toBeGreaterThan(300)
  })
})

const report = (name: string, ...declarations: readonly string[]) =>
  `## API Report File for "@portcullis/${name}"\n\n\`\`\`ts\n\n${declarations.join('\n\n')}\n\n\`\`\`\n`

const found = (...reports: readonly string[]) => secondMeanings(reports.flatMap(exportsOf))

describe('a second meaning', () => {
  test('is another declaration in another package', () => {
    const one = report('core', '// @public\nexport interface Key {\n    a: 1;\n\n    b: 2;\n}')
    const other = report('metrics', '// @public\nexport interface Key {\n    a: 2;\n}')
    expect(found(one, other)).toEqual({ Key: 'core metrics' })
  })

  test('is that of a function with other parameters', () => {
    const one = report('testing', 'export function service(issuer: Issuer): Service;')
    const other = report('providers', 'export function service(url: string): Preset;')
    expect(found(one, other)).toEqual({ service: 'providers testing' })
  })

  test('is none where a package hands on what another declares', () => {
    const one = report('core', 'export function getAuth(request: object): Auth;')
    const other = report('koa', 'export { getAuth }')
    expect(found(one, other)).toEqual({})
  })

  test('is none where the declarations are the same, whatever their comments say', () => {
    const one = report('core', '// @public\nexport interface Clock {\n    now(): number;\n}')
    const other = report(
      'client',
      'export interface Clock {\n    // (undocumented)\n    now(): number;\n}',
    )
    expect(found(one, other)).toEqual({})
  })

  test('is none of an entry of the same package, or of another overload', () => {
    const one = report('client', 'export type Fetch = 1;')
    const overloads = report('core', 'export function f(a: 1): 1;', 'export function f(a: 2): 2;')
    expect(found(one, one, overloads)).toEqual({})
  })
})

describe('what is public can be named', () => {
  const reports = globSync('docs/api/*.api.md', { cwd: root }).map((path) =>
    readFileSync(join(root, path), 'utf8'),
  )
  const exported = reports.flatMap((text) => exportsOf(text))

  test('each type that an export shows is exported as well, by some entry of its package', () => {
    const unnamed = reports.flatMap((text) => {
      const from = packageOf(text)
      const named = new Set(exported.flatMap((each) => (each.from === from ? [each.name] : [])))
      return unnamedIn(text)
        .filter((name) => !named.has(name) && !BRANDS.has(name))
        .map((name) => `${from}: ${name}`)
    })
    expect(unnamed, 'export it, or write it where it is shown').toEqual([])
  })

  test(`there are fewer than ${NAMES} names`, () => {
    const names = new Set(exported.map(({ name }) => name))
    expect(names.size).toBeLessThan(NAMES)
  })

  test('and a type that an export only shows is found', () => {
    const text = [
      'import { Auth } from "@portcullis/core";',
      'interface Hidden {}',
      'const WORDS: readonly ["a"];',
      'export function made(): Hidden;',
      'interface Request_2 {}',
      'export { Request_2 as Request }',
    ].join('\n')
    expect(unnamedIn(text)).toEqual(['Hidden', 'WORDS'])
  })
})
