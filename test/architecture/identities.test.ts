import { describe, expect, test } from 'vitest'

import { tablesOf } from '../documents/markdown.ts'
import { allIdentities, identitiesIn } from './identities.ts'
import { read } from './sources.ts'

/** By source, as the document lists them. */
function listed(): ReadonlyMap<string, readonly string[]> {
  const [table] = tablesOf(read('docs/identities.md'))
  const found = new Map<string, readonly string[]>()
  for (const [source = '', identities = ''] of table?.rows ?? []) {
    const [name = ''] = spansIn(source)
    found.set(name, [...(found.get(name) ?? []), ...spansIn(identities)].toSorted())
  }
  return found
}

/** What stands between backticks, one or two of them. */
function spansIn(cell: string): readonly string[] {
  return [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , span = '']) => span)
}

test('every identity in the sources has a row in docs/identities.md that says what two copies do, and no row is left over', () => {
  expect(listed()).toEqual(allIdentities())
})

test('each row says what two copies do', () => {
  const [table] = tablesOf(read('docs/identities.md'))
  expect(table?.columns).toEqual(['Source', 'Identity', 'Two copies in one process'])
  for (const [source, , saying = ''] of table?.rows ?? []) {
    expect.soft([source, saying.endsWith('.')]).toEqual([source, true])
  }
})

describe('found is', () => {
  test.each<[string, readonly string[]]>([
    ['export class Held extends Error {}', ['class Held']],
    [
      'class Held {\n  readonly #key: string\n  static #all = 1\n}',
      ['class Held', 'private field #all', 'private field #key'],
    ],
    ['const known: Known = new WeakMap<object, string>()', ['WeakMap known']],
    ['  return new WeakSet()', ['WeakMap']],
    ["const MARK = Symbol.for('a b')", ["symbol Symbol.for('a b')"]],
    ['const MARK = Symbol()', ['symbol Symbol()']],
    ['if (error instanceof Strange) return', ['instanceof Strange']],
    ['if (error instanceof TypeError) return', []],
    ['// as an instanceof Strange does\n/** new WeakMap() */', []],
    ['  [Symbol.asyncDispose]: close', []],
  ])('in %j: %j', (text, expected) => {
    expect(identitiesIn(text)).toEqual(expected)
  })
})
