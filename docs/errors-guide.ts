import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ADVICE } from '../packages/core/src/explain/advice-table.ts'
import { refusals } from '../packages/core/src/refusal/refusals.ts'
import { anchorsOf, tablesOf, tableUnder } from '../test/documents/markdown.ts'
import { root } from './entries.ts'
import { ERRORS } from './sections.ts'

// ERRORS.md: its sentences and the column of challenges are its own, and all else in its tables is what refusals.ts and
// advice-table.ts say.

const OPERATING = 'packages/core/OPERATING.md'

/** The whole document, with its tables as they should be. */
export function errorsGuide(): string {
  return withRefusals(read(ERRORS), read(OPERATING))
}

/**
 * @param operating OPERATING.md, whose headings are the texts of links to it.
 * @throws Error for a code that the guide has no section of: what is so of the whole code is for somebody to write.
 */
export function withRefusals(guide: string, operating: string): string {
  const tables = /(?<=^### (\w+)\n(?:(?!#|\|).*\n)*)\| Reason .*\n(?:\|.*\n)+/gm
  const missing = Object.keys(refusals).filter((code) => !hasSection(guide, code))
  if (missing.length > 0) {
    throw new Error(
      `${ERRORS}: write "### ${missing[0]}", what the client has to know of it, and "| Reason |" over "| --- |"`,
    )
  }
  const links = linkTexts(operating)
  return guide
    .replace(/^\| `code` .*\n(?:\|.*\n)+/m, (table) => tableOfCodes(table))
    .replaceAll(tables, (_, code: string) => tableOfReasons(code, links))
}

function hasSection(guide: string, code: string): boolean {
  return tablesOf(guide).some(({ heading, columns }) => heading === code && columns[0] === 'Reason')
}

function tableOfCodes(table: string): string {
  const { rows } = tableUnder(`## Refusals\n\n${table}`, 'Refusals', 'code')
  const challenges = new Map(rows.map(([code, , challenge = '']) => [code, challenge]))
  const columns = [
    '`code`',
    'Status',
    'Challenge',
    'Reasons that the client reads',
    'For your logs alone',
  ]
  const written = Object.entries(refusals).map(([name, { status, reasons }]) => {
    const code = `\`${name}\``
    const [told, others] = [true, false].map((isTold) =>
      Object.entries(reasons)
        .filter(([, text]) => (text !== null) === isTold)
        .map(([reason]) => `\`${reason}\``)
        .join(', '),
    )
    return [code, String(status), challenges.get(code) ?? '', told || 'none', others || 'none']
  })
  return aligned([columns, ...written])
}

function tableOfReasons(code: string, links: ReadonlyMap<string, string>): string {
  const advice = new Map(Object.entries(ADVICE).map(([name, row]) => [name, Object.entries(row)]))
  const rows = (advice.get(code) ?? []).map(([reason, { means, client, operator }]) => [
    `<a id="${code}-${reason}"></a>\`${reason}\``,
    means,
    client,
    linked(operator, links),
  ])
  return aligned([['Reason', 'It means', 'The client', 'Whoever runs the API'], ...rows])
}

/** The headings of a document by what follows `#` in a link to them. */
function linkTexts(document: string): ReadonlyMap<string, string> {
  const headings = document.match(/^#+ .*/gm) ?? []
  return new Map(headings.map((line) => [anchorsOf(line)[0] ?? '', line.replace(/^#+ /, '')]))
}

/** With each place of OPERATING.md as a link that has its heading as text. */
function linked(text: string, links: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /OPERATING\.md#([\w-]+)/g,
    (place, slug: string) => `[${links.get(slug) ?? ''}](${place})`,
  )
}

/** As the formatter has it. */
function aligned(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll('|', String.raw`\|`)))
  const [columns = [], ...others] = cells
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  const dashes = widths.map((width) => '-'.repeat(width))
  return [columns, dashes, ...others]
    .map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |\n`)
    .join('')
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
