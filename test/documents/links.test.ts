import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { anchorsOf, linksOf } from './markdown.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const documents = globSync(
  [
    '*.md',
    '.changeset/**/*.md',
    '.github/**/*.md',
    'docs/{*.md,decisions/*.md}',
    'packages/*/*.md',
    'packages/providers/docs/*.md',
    'examples/**/*.md',
    'test/**/*.md',
  ],
  { cwd: root, exclude: (path) => path.includes('node_modules') },
).toSorted()

test('all documents are looked at', () => {
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'SECURITY.md', 'packages/core/README.md']),
  )
  expect(documents.flatMap((path) => linksOf(read(path))).length).toBeGreaterThan(10)
})

test.each(documents)('every link of %s leads to a file or a heading of the repository', (path) => {
  expect(brokenLinks(path, read(path))).toEqual([])
})

test.each(documents.filter((path) => path.startsWith('packages/')))(
  '%s, which is published alone, links to nothing outside of its package',
  (path) => {
    const leaving = linksOf(read(path)).filter((link) => link.startsWith('..'))
    expect(leaving).toEqual([])
  },
)

test.each([
  ['a file that does not exist', '[a](test/nowhere.md)'],
  ['a heading that does not exist', '[a](SECURITY.md#nowhere)'],
  ['a heading of its own that does not exist', '# Here\n[a](#nowhere)'],
  ['a file outside of the repository', '[a](../wt)'],
  ['a file by its name in brackets', '[a][b]\n\n[b]: nowhere.md'],
  ['a file with code for a text', '[`a`](nowhere.md)'],
  ['a heading of a file that has none', '[a](LICENSE#mit)'],
])('a link to %s is found', (_, text) => {
  expect(brokenLinks('README.md', text)).toHaveLength(1)
})

test.each([
  ['a heading', '[a](SECURITY.md#what-is-trusted)'],
  ['a heading of its own', '# The `code`, twice\n# The `code`, twice\n[a](#the-code-twice-1)'],
  ['a folder', '[a](test/simulation/faults)'],
  ['another site', '[a](https://example.com/nowhere)'],
  ['nothing: it is code', '```ts\nhandlers[name](nowhere)\n```\n`handlers[name](nowhere)`'],
])('a link to %s is left alone', (_, text) => {
  expect(brokenLinks('README.md', text)).toEqual([])
})

/** The links of a document that lead nowhere. Those to other sites are not followed. */
function brokenLinks(path: string, text: string): readonly string[] {
  return linksOf(text)
    .filter((link) => !/^[a-z][a-z\d+.-]*:/i.test(link))
    .filter((link) => {
      const [file = '', anchor] = decodeURI(link).split('#')
      const target = file === '' ? path : relative(root, join(root, dirname(path), file))
      if (target.startsWith('..') || !existsSync(join(root, target))) return true
      if (anchor === undefined) return false
      if (statSync(join(root, target)).isDirectory()) return true
      return !anchorsOf(file === '' ? text : read(target)).includes(anchor)
    })
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
