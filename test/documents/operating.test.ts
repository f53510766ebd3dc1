import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { nameForPrometheus } from '../../packages/metrics/src/metric.ts'
import { COUNTED, MEASURED } from '../../packages/metrics/src/metrics.ts'
import { BENCHES } from '../bench/benches.ts'
import { codeSpans, tableUnder } from './markdown.ts'

const operating = read('packages/core/OPERATING.md')

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

  test('each line of the capacity names benches that there are', () => {
    const { rows } = tableUnder(operating, 'Capacity', 'You have')
    const named = rows.flatMap(([, , cell = '']) => codeSpans(cell))
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((name) => !Object.hasOwn(BENCHES, name))).toEqual([])
  })
})

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
}
