import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { goalsTable } from '../test/bench/report.ts'
import { classes } from '../test/hostile/attacks/differential/classes.ts'
import { AFTER, peers } from '../test/migration/peers.ts'
import { manifestPaths } from '../test/publishing/published.ts'
import { tableOfRuns } from '../test/simulation/soak/report.ts'
import { root } from './entries.ts'
import { excerptOf } from './excerpts.ts'
import { migrated } from './migrated.ts'
import { tableOfMistakes } from './mistakes.ts'
import { tableOfDefaults, tableOfOptions, tableOfOwnOptions } from './options.ts'
import { documentsOf } from './pages.ts'
import { type Maker, partOf, partsOf, tableOf, withParts } from './parts.ts'
import { PROGRAM_MAKERS } from './program-tables.ts'
import { providerTest } from './provider-tests.ts'
import { tableOfCodes, tableOfReasons } from './refusal-tables.ts'
import { REFUSAL_WORDS, refusalWords } from './refusal-words.ts'
import { skillOf } from './skills.ts'

const BENCH = 'test/bench/README.md'
const GUARDS = 'packages/core/GUARDS.md'

// The files, or parts of files, that say once more what stands elsewhere. `pnpm write` writes them, and a test compares.

export interface WrittenFile {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

/** What makes the parts of documents, by the first word of their names. */
export const MAKERS: Readonly<Record<string, Maker>> = {
  changes: tableOfChanges,
  code: codeOf,
  codes: tableOfCodes,
  reasons: tableOfReasons,
  options: tableOfOptions,
  'own-options': tableOfOwnOptions,
  defaults: tableOfDefaults,
  decisions: listOfDecisions,
  differences: tableOfDifferences,
  excerpt: excerptOf,
  goals: () => goalsTable(),
  migrated,
  meanings: tableOfMeanings,
  measured: tableOfBench,
  mistakes: tableOfMistakes,
  packages: tableOfPackages,
  'provider-test': providerTest,
  soak: () => tableOfRuns(),
  ...PROGRAM_MAKERS,
}

/** What each package is for, as its manifest says. */
function tableOfPackages(...folders: readonly string[]): string {
  const rows = folders.map((folder) => {
    const path = `packages/${folder}/README.md`
    const manifest = readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')
    const { name, description } = JSON.parse(manifest) as Record<'name' | 'description', string> // as test/publishing/package.test.ts wants it
    return [`[\`${name}\`](${path})`, description]
  })
  return tableOf(['Package', 'What it does'], rows)
}

/** Each decision by its title, in their order. */
function listOfDecisions(): string {
  return documentsOf()
    .filter((path) => /^docs\/decisions\/\d/.test(path))
    .map((path, at) => {
      const [, title = ''] = /^# (.*)$/m.exec(readFileSync(join(root, path), 'utf8')) ?? []
      return `${at + 1}. [${title}](${basename(path)})`
    })
    .join('\n')
}

/** What each code of a union means, by the list in the comment of its type. */
function tableOfMeanings(path = '', name = ''): string {
  const source = readFileSync(join(root, path), 'utf8')
  const [, comment = '', union = ''] =
    new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\nexport type ${name} =(.*?)\\n\\n`, 's').exec(
      source,
    ) ?? []
  const list = comment.replaceAll(/^ \* ?/gm, '').matchAll(/^- (`\w+`): (.*(?:\n {2}.*)*)/gm)
  const rows = [...list].map(([, code = '', meaning = '']) => [
    code,
    meaning.replaceAll(/\n +/g, ' '),
  ])
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => `\`${code}\``)
  if (codes.length === 0 || rows.map(([code]) => code).join() !== codes.join())
    throw new Error(`let the comment of ${name} in ${path} list its codes, in their order`)
  return tableOf(['`code`', 'Means'], rows)
}

/** As the bench has printed it, which nothing else has: all of it, or the rows that begin with these numbers. */
function tableOfBench(name = '', ...numbers: readonly string[]): string {
  const printed = partOf(readFileSync(join(root, BENCH), 'utf8'), `measured ${name}`).trim()
  const [columns = '', line = '', ...rows] = printed.split('\n')
  if (numbers.length === 0) return printed
  const chosen = numbers.map((number) => rows.find((row) => row.startsWith(`| ${number} |`)))
  if (chosen.includes(undefined)) throw new Error(`the table ${name} has no such row`)
  return [columns, line, ...chosen].join('\n')
}

/** A source that a test runs. */
function codeOf(path = ''): string {
  return `\`\`\`ts\n${readFileSync(join(root, path), 'utf8')}\`\`\``
}

/** What a guard answers, before and after moving to the package from each of its peers. */
function tableOfChanges(guide = ''): string {
  const described = peers.filter((peer) => peer.guide === guide)
  if (described.length === 0) throw new Error(`nobody moves to ${guide}`)
  const columns = [...described.map(({ before }) => before), AFTER].map((each) =>
    Object.values<string>({ ...each }),
  )
  return tableOf(
    ['Case', ...described.map(({ name }) => name), 'Portcullis'],
    Object.keys(AFTER).map((name, at) => [name].concat(columns.map((column) => column[at] ?? ''))),
  )
}

function tableOfDifferences(): string {
  return tableOf(
    ['Class', 'Refused by', 'Reason'],
    classes.map(({ name, refusedBy, reason }) => [
      name.replace('__proto__', '`__proto__`'),
      refusedBy,
      reason,
    ]),
  )
}

export function writtenFiles(): readonly WrittenFile[] {
  const packages = manifestPaths.map((path) => basename(dirname(path)))
  const documents = documentsOf()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => partsOf(text).length > 0)
    .map(({ path, text }) => ({ path, text: withParts(text, MAKERS) }))
  const guards = documents.find(({ path }) => path === GUARDS)?.text ?? ''
  return [
    ...documents,
    { path: REFUSAL_WORDS, text: refusalWords() },
    ...packages.map((folder) => ({
      path: `packages/${folder}/SKILL.md`,
      text: skillOf(folder, packages, guards),
    })),
  ]
}
