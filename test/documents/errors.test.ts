import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { ALGORITHMS } from '../../packages/core/src/algorithms/algorithms.ts'
import { ADVICE } from '../../packages/core/src/explain/advice-table.ts'
import { refusals } from '../../packages/core/src/refusal/refusals.ts'
import { anchorsOf, codeSpans, tableUnder, tablesOf } from './markdown.ts'
import { begins, messagesIn, messagesOf } from './type-errors.ts'

const guide = (name: string) =>
  fileURLToPath(new URL(`../../packages/core/${name}`, import.meta.url))
const errors = readFileSync(guide('ERRORS.md'), 'utf8')

describe('the refusals of ERRORS.md', () => {
  test.each(Object.entries(refusals))('every reason of %s has a row', (code, { reasons }) => {
    const { rows } = tableUnder(errors, code, 'Reason')
    expect(
      rows.map(([cell = '']) => cell),
      'add a row for each, in this order',
    ).toEqual(Object.keys(reasons).map((reason) => `<a id="${code}-${reason}"></a>\`${reason}\``))
  })

  test('what to do is said as in the table of advice, word for word; with -u this test writes it', async () => {
    await expect(withAdvice(errors)).toMatchFileSnapshot(guide('ERRORS.md'))
  })

  test('every row says what it means, and what each side does', () => {
    const tables = tablesOf(errors).filter(({ columns: [first] }) => first === 'Reason')
    expect(tables.map(({ heading }) => heading)).toEqual(Object.keys(refusals))
    expect(tables.flatMap(({ rows }) => rows).filter((row) => row.includes(''))).toEqual([])
  })
})

/** ERRORS.md with what the table of advice says in its last two columns. */
function withAdvice(markdown: string): string {
  const tables = /(?<=^### (\w+)\n(?:(?!#|\|).*\n)*)\| Reason .*\n(?:\|.*\n)+/gm
  return markdown.replaceAll(tables, (_, code: string) => {
    const { columns, rows } = tableUnder(markdown, code, 'Reason')
    const ofCode = new Map(
      Object.entries(ADVICE).map(([name, advice]) => [name, Object.entries(advice)]),
    ).get(code)
    const advised = rows.map(([reason = '', meaning = '']) => {
      const [, advice] = ofCode?.find(([name]) => reason.endsWith(`\`${name}\``)) ?? []
      return [reason, meaning, advice?.client ?? '', linked(advice?.operator ?? '')]
    })
    return aligned([columns, ...advised])
  })
}

/** The headings of OPERATING.md by what follows `#` in a link to them. */
const headings = new Map(
  (readFileSync(guide('OPERATING.md'), 'utf8').match(/^#+ .*/gm) ?? []).map((line) => [
    anchorsOf(line)[0],
    line.replace(/^#+ /, ''),
  ]),
)

/** With each place of OPERATING.md as a link that has its heading as text. */
function linked(text: string): string {
  return text.replaceAll(
    /OPERATING\.md#([\w-]+)/g,
    (place, slug: string) => `[${headings.get(slug) ?? ''}](${place})`,
  )
}

/** As the formatter has it. */
function aligned([columns = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = columns.map((_, at) =>
    Math.max(...[columns, ...rows].map((cells) => cells[at]?.length ?? 0)),
  )
  const dashes = widths.map((width) => '-'.repeat(width))
  return [columns, dashes, ...rows]
    .map((cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |\n`)
    .join('')
}

/** The decorators that contradict each other are named there. */
const OF_DECORATORS = '…'
/** No key has another kind, and WebCrypto makes pairs of keys for these algorithms. */
const UNREACHABLE = ['unknown kind of key: …', 'not a key pair']

// `testing` and the programs say theirs to the person who has just written the call or the command. Guides of core name no provider.
const MESSAGES = messagesOf('!(cli|providers|testing)')
  .filter(({ path }) => !path.startsWith('packages/redis/src/program'))
  .filter(({ text }) => ![OF_DECORATORS, ...UNREACHABLE].includes(text))

describe('MISTAKES.md', () => {
  const rows = tablesOf(readFileSync(guide('MISTAKES.md'), 'utf8'))
    .filter(({ columns: [first] }) => first === 'Message')
    .flatMap((table) => table.rows)
  const messages = rows.map(([cell = '']) => codeSpans(cell)[0] ?? '')

  test.each(MESSAGES)('$text ($path) has a row', ({ text }) => {
    expect(messages.filter((message) => begins(text, message))).not.toEqual([])
  })

  test.each(messages)('%s is what a source says', (message) => {
    expect(MESSAGES.some(({ text }) => begins(text, message))).toBe(true)
  })

  test('that of a key of another kind names every curve that has an algorithm', () => {
    const row = rows.find(([cell = '']) => cell.includes('a key of type … cannot be used'))
    const curves = [...ALGORITHMS.values()].flatMap((rule) => ('crv' in rule ? [rule.crv] : []))
    expect(curves.filter((crv) => row?.[1]?.includes(crv) !== true)).toEqual([])
  })

  test('each has a place of its own to link to', () => {
    const places = rows.map(([cell = '']) => /^<a id="(error-[a-z\d-]+)"><\/a>/.exec(cell)?.[1])
    expect(places).not.toContain(undefined)
    expect(new Set(places).size).toBe(places.length)
  })
})

describe('the messages of a source', () => {
  test('are found, with their parts left out', () => {
    const code = `
      throw new TypeError('a: it\\'s wrong')
      throw new TypeError(
        \`\${name}: takes \${count === 1 ? 'one' : \`\${count} of them\`}; see \${{ a: 1 }.a}\`,
      )
      throw new TypeError(complaint)`
    expect(messagesIn(code)).toEqual(["a: it's wrong", '…: takes …; see …', '…'])
  })

  test.each([
    ['a: … …', '…: … …', true],
    ['a.…: must be stated', '…: must be', true],
    ['a: b must be', '…: … …', false],
    ['a: b', 'b: b', false],
  ])('%s begins as %s: %s', (text, message, expected) => {
    expect(begins(text, message)).toBe(expected)
  })
})
