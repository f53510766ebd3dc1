import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { documentsOf } from '../../docs/pages.ts'
import { nameForPrometheus } from '../../packages/metrics/src/metric.ts'
import { COUNTED, MEASURED } from '../../packages/metrics/src/metrics.ts'
import { ROOMS } from '../architecture/rooms.ts'
import { BENCHES } from '../bench/benches.ts'
import { GUARDING } from '../frameworks/packages.ts'
import { publishedWith } from '../publishing/documents.ts'
import { manifestPaths } from '../publishing/published.ts'
import { codeSpans, linksOf, tableUnder, tablesOf } from './markdown.ts'

// What documents name is there: files, commands, benches, metrics, functions. Links are followed when the site is made.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = documentsOf().filter((path) => !path.startsWith('docs/api/'))
const { scripts } = JSON.parse(read('package.json')) as {
  scripts: Readonly<Record<string, string>>
}
/** Of pnpm itself, and a program that is installed. */
const OTHERS = new Set(['changeset', 'exec', 'install', '-r', '--filter'])
const metrics = new Set([...COUNTED, ...MEASURED].map(nameForPrometheus))

const KINDS: readonly (readonly [
  pattern: RegExp,
  isThere: (name: string, path: string) => boolean,
])[] = [
  [
    /`((?:packages|test|docs|examples)\/[\w./-]*\w)`/g,
    (name, path) =>
      name.includes('/NAME') ||
      [root, join(root, dirname(path))].some((folder) => existsSync(join(folder, name))),
  ],
  [/pnpm@12 (?:run )?([\w:-]+)/g, (name) => name in scripts || OTHERS.has(name)],
  [/(?:pnpm(?:@12)? |`)bench ([a-z][\w-]*)/g, (name) => name in BENCHES],
  [/\b(portcullis_[a-z_]+[a-z])\b/g, (name) => metrics.has(name)],
]

function unknownIn(path: string, text: string): readonly string[] {
  return KINDS.flatMap(([pattern, isThere]) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name).filter((name) => !isThere(name, path)),
  )
}

test.each(documents.filter((path) => !path.endsWith('CHANGELOG.md')))(
  'every file, script, bench and metric that %s names is there',
  (path) => {
    expect(unknownIn(path, read(path))).toEqual([])
  },
)

// A guide is read in the repository and on the site, where all others are.
const alone = manifestPaths
  .map((path) => basename(dirname(path)))
  .flatMap((folder) => publishedWith(folder).map((name) => `packages/${folder}/${name}`))
  .filter((path) => documents.includes(path))

test.each(alone)(
  '%s, which is published with its package alone, links to nothing that is not',
  (path) => {
    const [, folder = ''] = path.split('/')
    const { files } = JSON.parse(read(`packages/${folder}/package.json`)) as {
      files: readonly string[]
    }
    const leading = linksOf(read(path)).filter((link) => !/^(?:#|[a-z][a-z\d+.-]*:)/i.test(link))
    const targets = leading.map((link) => link.replace(/#.*/, ''))
    expect(targets.filter((file) => !['README.md', ...files].includes(file))).toEqual([])
  },
)

test('what is not there is found', () => {
  const text = '`test/a.ts` `pnpm@12 b` `bench c` portcullis_gone `test/simulation/faults`'
  expect(unknownIn('README.md', text)).toEqual(['test/a.ts', 'b', 'c', 'portcullis_gone'])
})

const decisions = documents.filter((path) => /^docs\/decisions\/\d/.test(path))
const [walks = ''] = read('docs/tour.md').split('## Changes in many places')
/** What links to a file and names parts of its code. */
const places = [
  ...walks
    .split(/^(?=\d+\. |##? |$)/m)
    .filter((text) => /^\d+\. /.test(text))
    .map((text) => ['docs/tour.md', text] as const),
  ...decisions.flatMap((path) =>
    (read(path).split(/^Code: /m)[1] ?? '').split(', ').map((text) => [path, text] as const),
  ),
]

test('the tour has its stops, and each decision its code', () => {
  expect(places.filter(([path]) => path === 'docs/tour.md').length).toBeGreaterThan(20)
  expect(decisions.filter((path) => !places.some(([named]) => named === path))).toEqual([])
})

test.each(places)('%s, place %#: the file has the names', (path, text) => {
  const spans = codeSpans(text)
  const linked = linksOf(text).map((link) => join(dirname(path), link))
  const files = [...linked, ...spans.filter((span) => span.includes('/'))]
  expect(files).not.toEqual([])
  // An identifier, or the last part of one such as `request.auth`.
  const words = new Set(
    statSync(join(root, files[0] ?? '')).isFile() ? read(files[0] ?? '').split(/[^\w$]/) : [],
  )
  const names = spans.filter((span) => !span.includes('/'))
  expect(names.filter((name) => !words.has(name.split('.').at(-1) ?? ''))).toEqual([])
})

const rooms = (owner: string) =>
  ROOMS.filter((room) => room.package === owner && !room.name.startsWith('./')).map(
    ({ name }) => name,
  )
const folders = (path: string) =>
  globSync(`${path}/*/*`, { cwd: root, exclude: (file) => /node_modules|\/\./.test(file) })
    .filter(
      (file) => /\.(?:ts|js|json|md)$|src$/.test(file) || statSync(join(root, file)).isDirectory(),
    )
    .map((file) => file.split('/').at(-2) ?? '')

test('CONTRIBUTING.md has a line for each package and each room of core, and names the rooms of others', () => {
  const text = read('CONTRIBUTING.md')
  const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name)
  expect(named(/^ {2}([\w-]+)\/ /gm)).toEqual(rooms('core'))
  const others = folders('packages').filter((name) => !GUARDING.includes(name))
  expect(new Set(named(/^packages\/([\w*-]+)\/src\/ /gm))).toEqual(new Set([...others, '*']))
  for (const owner of ['client', 'redis', 'cli']) {
    const [lines = ''] =
      new RegExp(`^packages/${owner}/src/ .*\\n(?: {25}.*\\n)*`, 'm').exec(text) ?? []
    const known = new Set(rooms(owner))
    expect(codeSpans(lines).filter((name) => known.has(name))).toEqual([...known])
  }
})

test('test/README.md has a row for each folder of tests', () => {
  const rows = [...read('test/README.md').matchAll(/^\| `([\w-]+)` /gm)].map(([, name]) => name)
  expect(rows).toEqual([...new Set(folders('test'))].toSorted())
})

test('OPERATING.md names benches that there are', () => {
  const { rows } = tableUnder(read('packages/core/OPERATING.md'), 'Capacity', 'You have')
  const named = rows.flatMap(([, , cell = '']) => codeSpans(cell))
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !Object.hasOwn(BENCHES, name))).toEqual([])
})

test.each([
  ['packages/core/THREATS.md', 'Tries'],
  ['SECURITY.md', ''],
])('each row of %s names a test', (path, column) => {
  const rows = tablesOf(read(path))
    .filter(({ columns }) => columns[0] === column && columns.at(-1) === 'Shown by')
    .flatMap((table) => table.rows)
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter((row) => !/`(?:test|packages)\//.test(row.at(-1) ?? ''))).toEqual([])
})

test('examples/README.md has a row for every example, and every row leads to one', () => {
  const index = read('examples/README.md')
  const linked = new Set(linksOf(index).map((link) => join('examples', link)))
  const programs = globSync(
    [
      'examples/*/src/*.ts',
      'examples/testing/*/*.{ts,js}',
      'examples/{containers,kubernetes}/{*.{yaml,json},Dockerfile,*/*}',
      'test/frameworks/apps/*.ts',
    ],
    { cwd: root },
  ).filter((path) => !/apps\/(?:apps\.test|configuration)\.ts$/.test(path))
  expect(
    programs.filter((path) => !linked.has(path)),
    'add a row for each',
  ).toEqual([])
  const { rows } = tableUnder(index, 'Examples by need', 'You want to')
  expect(rows.filter(([, link = '']) => linksOf(link).length === 0)).toEqual([])
})
