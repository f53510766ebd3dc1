import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { blocksOf } from './markdown.ts'

// The tree in CONTRIBUTING.md, beside the files that there are.

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8')
const tree = blocksOf(text).find(({ language }) => language === '')?.code ?? ''
const files = globSync(['*.*', '{docs,examples,test,packages}/**/*.{ts,js,json,md}'], {
  cwd: root,
  exclude: (path) => /node_modules|\/dist\/|\/site\//.test(path),
})
const named = new Set(tree.match(/[\w.-]+\.(?:ts|js|json|md)\b/g))

test('every file that the tree names is there', () => {
  expect(named.size).toBeGreaterThan(100)
  const known = new Set(files.map((path) => basename(path)))
  expect([...named].filter((name) => !known.has(name))).toEqual([])
})

/** Folders of which the tree says in one line what all their files are. */
const TOGETHER = /\/(?:commands|doctor|pages|tokens|keys|dpop|service|challenges)$/

test('every source file is in the tree, or its folder is', () => {
  const sources = files.filter((path) => /^packages\/[\w-]+\/src\//.test(path))
  const missing = sources.filter((path) => {
    const folder = dirname(path)
    const isTogether = TOGETHER.test(folder) && tree.includes(`${basename(folder)}/`)
    return !isTogether && basename(path) !== 'index.ts' && !named.has(basename(path))
  })
  expect(missing, 'say in one line of the tree in CONTRIBUTING.md what it does').toEqual([])
})

function isThere(path: string): boolean {
  return files.some((file) => `/${file}`.includes(`/${path}`))
}

test.each([...text.matchAll(/^\| (?!-|Change )(.*?) +\| (.*?) +\|$/gm)].map(([, a, b]) => [a, b]))(
  'where a change belongs, %s: the files are there',
  (_, place = '') => {
    const paths = [...place.matchAll(/`([\w/.-]+)`/g)].map(([, path = '']) => path)
    expect(paths.filter((path) => /[/.]/.test(path) && !isThere(path))).toEqual([])
  },
)
