import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { nameForPrometheus } from '../../packages/metrics/src/metric.ts'
import { COUNTED, MEASURED } from '../../packages/metrics/src/metrics.ts'
import { BENCHES } from '../bench/benches.ts'
import { codeSpans, tableUnder } from './markdown.ts'

const operating = read('packages/core/OPERATING.md')
const bench = read('test/bench/README.md')

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
    const rows = [...COUNTED, ...MEASURED]
    const names = new Set(rows.map(nameForPrometheus))
    const named = operating.match(/portcullis_\w+/g) ?? []
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !names.has(name))).toEqual([])
  })

  test('files are there', () => {
    const named = operating.match(/examples\/[\w/.-]+\.(?:ts|json)/g) ?? []
    expect(named.length).toBeGreaterThan(1)
    for (const path of named) expect(read(path)).not.toBe('')
  })

  test('the capacity is what bench fleet has printed, which has more rows', () => {
    const { rows } = tableUnder(operating, 'Requests of all processes to the issuer', 'Processes')
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
    expect(rows).toEqual(rowsOf(expected, '50', '100', '10000'))
  })

  test('so are the requests for opaque tokens and events', () => {
    const { columns, rows } = tableUnder(operating, 'Opaque tokens and events', 'Processes')
    const printed = tableUnder(
      bench,
      'What a fleet asks of an introspection endpoint and of a transmitter',
      'Processes',
    )
    expect([columns, ...rows]).toEqual([
      printed.columns,
      ...rowsOf(printed.rows, '50', '100', '10000'),
    ])
    expect(rows).toHaveLength(3)
  })

  test('each line of the capacity names benches that there are', () => {
    const { rows } = tableUnder(operating, 'Capacity', 'You have')
    const named = rows.flatMap(([, , cell = '']) => codeSpans(cell))
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((name) => !Object.hasOwn(BENCHES, name))).toEqual([])
  })
})

function rowsOf(rows: readonly (readonly string[])[], ...processes: readonly string[]) {
  return rows.filter(([cell = '']) => processes.includes(cell))
}

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
}
