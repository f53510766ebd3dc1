import { globSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { linksOf, tableUnder } from './markdown.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const index = readFileSync(join(root, 'examples/README.md'), 'utf8')
const linked = new Set(linksOf(index).map((link) => normalize(join('examples', link))))

test('every example is in the index by need', () => {
  const programs = globSync(
    [
      'examples/*/src/*.ts',
      'examples/testing/*/*.{ts,js}',
      'examples/{containers,kubernetes}/*',
      'test/frameworks/apps/*.ts',
    ],
    { cwd: root },
  ).filter((path) => !/apps\/(?:apps\.test|configuration)\.ts$/.test(path))
  const missing = programs.filter((path) => !linked.has(path))
  expect(missing, 'add a row for each to examples/README.md').toEqual([])
})

test('every row of the index leads to a program', () => {
  const { rows } = tableUnder(index, 'Examples by need', 'You want to')
  expect(rows.filter(([, link = '']) => linksOf(link).length === 0)).toEqual([])
})
