import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './entries.ts'
import { tableOf, type Words, wordsOf } from './parts.ts'

// How many words are in each document, by hand and written by `pnpm write`; with a commit, those that it does not have apart:
//
//   node docs/words.ts [COMMIT]

/** Made at a release, compared in reviews, written as a whole, or news of the next release. */
const LEFT_OUT = /CHANGELOG\.md$|^docs\/api\/|SKILL\.md$|^\.changeset\//

interface Row {
  readonly path: string
  readonly words: Words
}

const [, , commit] = process.argv
const had =
  commit === undefined
    ? undefined
    : new Set(printed('ls-tree', '-r', '--name-only', '--full-tree', commit))
const rows = printed('ls-files', '*.md')
  .filter((path) => !LEFT_OUT.test(path))
  .map((path): Row => ({ path, words: wordsOf(readFileSync(join(root, path), 'utf8')) }))
  .toSorted((a, b) => b.words.byHand - a.words.byHand)
const later = had === undefined ? [] : rows.filter(({ path }) => !had.has(path))

print(
  'all',
  rows.filter((row) => !later.includes(row)),
)
if (later.length > 0) print(`all that ${commit} does not have`, later)

function print(name: string, some: readonly Row[]): void {
  const sum = (of: keyof Words) => some.reduce((total, { words }) => total + words[of], 0)
  const lines = [
    ...some.map(({ path, words }) => [path, words.byHand, words.written]),
    [name, sum('byHand'), sum('written')],
  ]
  console.log(
    tableOf(
      ['Document', 'By hand', 'Written'],
      lines.map((line) => line.map(String)),
    ),
  )
}

function printed(...command: readonly string[]): readonly string[] {
  return execFileSync('git', command, { cwd: root, encoding: 'utf8' }).trimEnd().split('\n')
}
