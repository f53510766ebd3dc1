import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, matchesGlob } from 'node:path'

import * as providers from '@portcullis/providers'
import { expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { documentsOf } from '../../docs/pages.ts'
import { wordsOf } from '../../docs/parts.ts'
import { LEFT_OUT } from '../../docs/sections.ts'
import { GUARDING } from '../frameworks/packages.ts'
import { blocksOf, tableUnder } from './markdown.ts'

// What documents have in common: who knows one finds everything in the others.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = documentsOf().filter(
  (path) => !LEFT_OUT.some(([paths]) => matchesGlob(path, paths)),
)
const codeOf = (path: string, ...languages: readonly string[]) =>
  blocksOf(read(path)).filter(({ language }) => languages.includes(language))
const PROVIDERS = globSync('packages/providers/docs/*.md', { cwd: root })
const READMES = ['README.md', ...globSync('packages/*/README.md', { cwd: root })]

/** What the box of code on the site shows at 1280 pixels without scrolling. */
const WIDTH = 80

test.each(documents)(
  '%s: its first example fits its box, its commands and tables are plain',
  (path) => {
    const [example] = codeOf(path, 'ts', 'js')
    const wide = example?.code.split('\n').filter((line) => line.length > WIDTH) ?? []
    expect(wide, 'put the comment above the line, or break it').toEqual([])
    // Interactive zsh, the shell of macOS, takes `#` and what follows for words of the command.
    const lines = codeOf(path, 'sh').flatMap(({ code }) => code.split('\n'))
    const isForContributors = /^(?:CONTRIBUTING|RELEASING|test\/.*)\.md$/.test(path)
    const comment = isForContributors ? /(?:^|\s)#.*[;`]/ : /(?:^|\s)#/
    expect(
      lines.filter((line) => comment.test(line)),
      'say it in the text above',
    ).toEqual([])
    const text = read(path).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    const aligned = text.split('\n').filter((line) => /^\|.*[^| ] {2,}\|/.test(line))
    expect(aligned, 'a new row is to change one line').toEqual([])
  },
)

test.each<[path: string, least: number, most: number]>([
  ['CONTRIBUTING.md', 0, 699],
  ['README.md', 0, 849],
  ['packages/cli/README.md', 0, 760],
  ['packages/cli/SERVE.md', 0, 600],
  ['packages/metrics/README.md', 0, 760],
  ...GUARDING.map((name): [string, number, number] => [`packages/${name}/README.md`, 400, 600]),
  ...PROVIDERS.map((path): [string, number, number] => [path, 150, 500]),
  ...READMES.map((path): [string, number, number] => [path, 0, 1650]),
])('%s has from %i to %i words by hand', (path, least, most) => {
  const { byHand } = wordsOf(read(path))
  expect(byHand, 'shorten it, or move a part of it to a guide').toBeLessThanOrEqual(most)
  expect(byHand).toBeGreaterThanOrEqual(least)
})

/** What comes from npm, of an example. */
const importedBy = (code: string) =>
  [...code.matchAll(/^import .*?from '((?:@[^/']+\/)?[^/']+)[^']*'$/gms)]
    .map(([, name = '']) => name)
    .filter((name) => !isBuiltin(name))

// A program has no example that imports it. That of a guide may continue others.
test.each([
  ...READMES.filter((path) => path !== 'packages/cli/README.md'),
  'packages/testing/TESTING.md',
])('%s: above the first example is how to install what it imports', (path) => {
  const [, commands = '', code = ''] =
    /```sh\n((?:npm install [^\n]*\n)+)```\n\n(?:(?!```)[^\n]*\n)*```ts\n(.*?)```/s.exec(
      read(path),
    ) ?? []
  const all = path.startsWith('packages/testing/') ? codeOf(path, 'ts') : [{ code }]
  const imported = importedBy(all.map((each) => each.code).join(''))
  expect(imported).not.toEqual([])
  expect(commands.split(/\s/)).toEqual(expect.arrayContaining(imported))
})

test('README.md begins with commands for a clone and for npm alone, and says in ten rows what to do instead', () => {
  const [clone, alone] = codeOf('README.md', 'sh')
  expect(clone?.code).toBe('npx --yes pnpm@12 start\nnpx --yes pnpm@12 test\n')
  expect(alone?.code.match(/^npx @portcullis\/cli \w+/gm)).toHaveLength(3)
  const instead = tableUnder(read('README.md'), 'Does it fit?', 'You want').rows
  expect(instead.filter(([, words = '']) => words !== '')).toHaveLength(10)
})

test('each provider has a page, which the README leads to', () => {
  const pages = Object.keys(providers).map(
    (name) => `docs/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.md`,
  )
  const paths = PROVIDERS.map((path) => path.slice('packages/providers/'.length))
  expect(paths.toSorted()).toEqual(pages.toSorted())
  const readme = read('packages/providers/README.md')
  const named = [...readme.matchAll(/`(docs\/[a-z\d-]+\.md)`/g)].map(([, name = '']) => name)
  expect(named.toSorted()).toEqual(pages.toSorted())
})
