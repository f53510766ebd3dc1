import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { manifestPaths } from '../test/publishing/published.ts'
import { root } from './entries.ts'
import { errorsGuide } from './errors-guide.ts'
import { withParts } from './parts.ts'
import { PROGRAM_MAKERS } from './program-tables.ts'
import { REFUSAL_WORDS, refusalWords } from './refusal-words.ts'
import { ERRORS } from './sections.ts'
import { skillOf } from './skills.ts'

// The files, or parts of files, that say once more what stands elsewhere. `pnpm write` writes them, and a test compares.

export interface WrittenFile {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

export function writtenFiles(): readonly WrittenFile[] {
  const packages = manifestPaths.map((path) => basename(dirname(path)))
  return [
    { path: ERRORS, text: errorsGuide() },
    { path: REFUSAL_WORDS, text: refusalWords() },
    ...DOCUMENTS.map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text: aligned(withParts(text, PROGRAM_MAKERS)) }
    }),
    ...packages.map((folder) => ({ path: `packages/${folder}/SKILL.md`, text: skillOf(folder) })),
  ]
}

/** Those with tables of programs. */
const DOCUMENTS = ['packages/cli/README.md', 'packages/cli/SERVE.md', 'packages/metrics/README.md']

/** With the columns of tables aligned, as the formatter has it. */
function aligned(text: string): string {
  return text.replaceAll(/(?:^\|.*\|\n)+/gm, (table) => {
    const rows = table
      .trim()
      .split('\n')
      .map((line) =>
        line
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.trim()),
      )
    const widths = (rows[0] ?? []).map((_, at) =>
      Math.max(...rows.map((row) => (/^-+$/.test(row[at] ?? '') ? 3 : (row[at]?.length ?? 0)))),
    )
    return rows
      .map((row) => {
        const cells = row.map((cell, at) =>
          /^-+$/.test(cell) ? '-'.repeat(widths[at] ?? 3) : cell.padEnd(widths[at] ?? 0),
        )
        return `| ${cells.join(' | ')} |\n`
      })
      .join('')
  })
}
