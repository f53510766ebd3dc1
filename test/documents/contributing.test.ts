import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { wordsOf } from '../../docs/parts.ts'
import { ROOMS } from '../architecture/rooms.ts'
import { GUARDING } from '../frameworks/packages.ts'
import { blocksOf } from './markdown.ts'

// CONTRIBUTING.md and test/README.md, beside the folders and files that there are.

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const text = read('CONTRIBUTING.md')
const tree = blocksOf(text).find(({ language }) => language === '')?.code ?? ''
const files = globSync(['*.*', '{docs,examples,test,packages}/**/*.{ts,js,json,md}'], {
  cwd: root,
  exclude: (path) => /node_modules|\/build\/|\/dist\/|\/site\//.test(path),
})
const folders = (path: string) =>
  [
    ...new Set(files.flatMap((file) => new RegExp(`^${path}/([\\w-]+)/`).exec(file)?.[1] ?? [])),
  ].toSorted()
const isThere = (path: string) => files.some((file) => `/${file}`.includes(`/${path}`))

const ofPackage = (owner: string) =>
  ROOMS.filter((room) => room.package === owner && !room.name.startsWith('./')).map(
    ({ name }) => name,
  )

describe('CONTRIBUTING.md', () => {
  test('is read in a screen and a half', () => {
    expect(wordsOf(text).byHand).toBeLessThan(700)
  })

  test('has a line for each room of core, from the ground up', () => {
    const rooms = [...tree.matchAll(/^ {2}([\w-]+)\/ /gm)].map(([, name]) => name)
    expect(rooms).toEqual(ofPackage('core'))
  })

  test.each(['client', 'redis', 'cli'])('names the rooms of %s, from the ground up', (owner) => {
    const lines =
      new RegExp(`^packages/${owner}/src/ .*\\n(?: {25}.*\\n)*`, 'm').exec(tree)?.[0] ?? ''
    const known = new Set(ofPackage(owner))
    const named = [...lines.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
    expect(named.filter((name) => known.has(name))).toEqual([...known])
  })

  test('has a line for the sources of each package, and one for those of all adapters', () => {
    const packages = [...tree.matchAll(/^packages\/([\w*-]+)\/src\/ /gm)].map(([, name]) => name)
    const others = folders('packages').filter((name) => !GUARDING.includes(name))
    expect(new Set(packages)).toEqual(new Set([...others, '*']))
  })

  test('names no file and no folder that is gone', () => {
    const named = [...text.matchAll(/`((?:packages|test|docs|examples)\/[\w/.-]+)`/g)]
    expect(named.length).toBeGreaterThan(2)
    expect(named.flatMap(([, path = '']) => (isThere(path) ? [] : [path]))).toEqual([])
  })

  test.each(
    [...text.matchAll(/^\| (?!-|Change )(.*?) +\| (.*?) +\|$/gm)].map(([, a, b]) => [a, b]),
  )('says where a change belongs, %s: the files are there', (_, place = '') => {
    const paths = [...place.matchAll(/`([\w/.-]+)`/g)].map(([, path = '']) => path)
    expect(paths.filter((path) => /[/.]/.test(path) && !isThere(path))).toEqual([])
  })
})

test('test/README.md has a row for each folder of tests', () => {
  const rows = [...read('test/README.md').matchAll(/^\| `([\w-]+)` /gm)].map(([, name]) => name)
  expect(rows).toEqual(folders('test'))
})
