import { describe, expect, test } from 'vitest'

import { identitiesIn } from './identities.ts'
import { nameOf, read, sources, valueImports } from './sources.ts'

// What packages/kit must be, since it is published within each package that uses it: a process has several copies of it.

const inKit = sources.filter((source) => source.startsWith('packages/kit/'))

/** What it imports beside its own files, and where. A third party in it is one of every package that uses that file. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  'node:buffer': ['kit/http/fetch-json', 'kit/json'],
  'node:crypto': ['kit/client-authentication', 'kit/digest'],
  'node:process': ['kit/report'],
  'node:util': ['kit/client-authentication', 'kit/report'],
  oauth4webapi: ['kit/client-authentication'],
}

test('it imports nothing of ours, and the platform where it is said', () => {
  const names = new Set(inKit.map((source) => nameOf(source).replace('kit/', '')))
  const outside = inKit.flatMap((source) =>
    valueImports(source)
      .filter((module) => !names.has(module))
      .map((module) => [module, nameOf(source)] as const),
  )
  const importersOf = (wanted: string) =>
    outside.flatMap(([module, name]) => (module === wanted ? [name] : []))
  const modules = outside.map(([module]) => [module, importersOf(module)] as const)
  expect(Object.fromEntries(modules)).toEqual(OUTSIDE)
})

test('what has a third party is used by no other file of it', () => {
  const users = inKit.filter((source) => valueImports(source).includes('client-authentication'))
  expect(users).toEqual([])
})

/** A variable of a module, or a container that fills up. */
const STATE = /^(?:export )?let |^(?:export )?const \w+[^=\n]*= new (?:Map|Set|Array)\(\)/m

test.each(inKit)('%s has nothing that two copies would not share', (source) => {
  expect(identitiesIn(read(source))).toEqual([])
  expect(read(source)).not.toMatch(STATE)
})

describe('found would be', () => {
  test.each([
    'let count = 0',
    'export let count = 0',
    'const known = new Map()',
    'const known: Map<string, string> = new Map()',
  ])('the state %s', (code) => {
    expect(`// Counts.\n\n${code}\n`).toMatch(STATE)
  })

  test.each(['  let count = 0', "const LOOPBACK = new Set(['localhost'])"])('not %s', (code) => {
    expect(`// Counts.\n\n${code}\n`).not.toMatch(STATE)
  })
})
