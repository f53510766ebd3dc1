import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './entries.ts'
import { tableOf, type Words, wordsOf } from './parts.ts'

// How many words are in each document, by hand and written by `pnpm write`:
//
//   node docs/words.ts

/** Made at a release, compared in reviews, written as a whole, or news of the next release. */
const LEFT_OUT = /CHANGELOG\.md$|^docs\/api\/|SKILL\.md$|^\.changeset\//

const listed = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
const rows = listed
  .trimEnd()
  .split('\n')
  .filter((path) => !LEFT_OUT.test(path))
  .map((path) => ({ path, words: wordsOf(readFileSync(join(root, path), 'utf8')) }))
  .toSorted((a, b) => b.words.byHand - a.words.byHand)

function sum(of: keyof Words): number {
  return rows.reduce((total, row) => total + row.words[of], 0)
}

console.log(
  tableOf(
    ['Document', 'By hand', 'Written'],
    [
      ...rows.map(({ path, words }) => [path, String(words.byHand), String(words.written)]),
      ['all', String(sum('byHand')), String(sum('written'))],
    ],
  ),
)
