import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { refusals } from '../../packages/core/src/refusals.ts'
import { codeSpans, type Table, tableUnder } from './markdown.ts'

const operating = read('packages/core/OPERATING.md')
const bench = read('test/bench/README.md')

/** Rows without a code belong to the one above. */
function reasonsIn({ rows }: Table): Map<string, string[]> {
  const found = new Map<string, string[]>()
  let current: string[] = []
  for (const [code = '', reason = ''] of rows) {
    const [name] = codeSpans(code)
    if (name !== undefined) {
      current = []
      found.set(name, current)
    }
    current.push(...codeSpans(reason))
  }
  return found
}

describe('At 3 in the morning', () => {
  const table = tableUnder(operating, 'At 3 in the morning', 'code')
  const listed = reasonsIn(table)

  test.each(Object.entries(refusals))(
    'every reason of %s has a row, in their order',
    (code, { reasons }) => {
      const known = Object.keys(reasons)
      expect(listed.get(code)).toEqual(known)
    },
  )

  test('there is no row for anything else', () => {
    const known = new Set(
      Object.entries(refusals).flatMap(([code, { reasons }]) =>
        Object.keys(reasons).map((reason) => `${code} ${reason}`),
      ),
    )
    const rows = [...listed].flatMap(([code, reasons]) =>
      reasons.map((reason) => `${code} ${reason}`),
    )
    expect(rows.filter((row) => !known.has(row))).toEqual([])
  })

  test('every row says what it means and what to do', () => {
    for (const [, , means = '', advice = ''] of table.rows) {
      expect(means).not.toBe('')
      expect(advice).not.toBe('')
    }
  })
})

describe('the code', () => {
  const root = fileURLToPath(new URL('../../examples/operating/src/', import.meta.url))
  const sources = globSync('*.ts', { cwd: root }).map((name) => readFileSync(root + name, 'utf8'))
  const blocks = [...operating.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)

  test('is there', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(3)
  })

  test.each(blocks)('is in a source of examples/operating, which a test runs: %#', (block) => {
    expect(sources.some((source) => source.includes(block))).toBe(true)
  })

  test('is only of the kind that is compared', () => {
    const fences = [...operating.matchAll(/^```(\w+)$/gm)].map(([, kind]) => kind)
    expect(new Set(fences)).toEqual(new Set(['ts']))
  })
})

describe('what it names', () => {
  test('metrics are those of the recipe', () => {
    const recipe = read('examples/operating/src/prometheus.ts')
    const named = operating.match(/portcullis_\w+/g) ?? []
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !recipe.includes(`'${name}'`))).toEqual([])
  })

  test('files are there', () => {
    const named = operating.match(/examples\/[\w/.-]+\.(?:ts|json)/g) ?? []
    expect(named.length).toBeGreaterThan(3)
    for (const path of named) expect(read(path)).not.toBe('')
  })

  test('the capacity is what bench:fleet has printed', () => {
    const { rows } = tableUnder(operating, 'Capacity', 'Processes')
    const keys = tableUnder(bench, 'What a fleet asks of one key endpoint', 'Processes').rows
    const revocations = tableUnder(
      bench,
      'What a fleet asks of the Redis with its revocations',
      'Processes',
    ).rows
    const expected = keys.map((key, at) => {
      const [processes = '', steady = '', deploy = '', outage = '', , rotation = ''] = key
      const [, quiet = '', , , sent = ''] = revocations[at] ?? []
      return [
        processes,
        steady,
        deploy,
        outage.replace(/ .*/, ''),
        rotation.replace(/.*\/ /, ''),
        quiet,
        sent,
      ]
    })
    expect(rows).toEqual(expected)
  })
})

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
}
