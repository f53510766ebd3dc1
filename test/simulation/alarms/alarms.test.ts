import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'
import { parse } from 'yaml'

import { nameForPrometheus } from '../../../packages/metrics/src/metric.ts'
import { COUNTED, MEASURED } from '../../../packages/metrics/src/metrics.ts'
import { describeWith } from '../../describe-with.ts'
import { alarmsOf, ALERTS, fastRules } from './prometheus.ts'
import { tellAlarms } from './story.ts'

// The alarms of @portcullis/metrics, in the words of Prometheus and as a real one sees a cluster.

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly expr: string
      readonly for: string
      readonly annotations: Readonly<Record<'do' | 'runbook_url', string>>
    }[]
  }[]
}

/** Seconds of the fast clock: longer than what rules look back on. `node test/draw.ts alarms` has a calm hour. */
const CALM = 480

const text = readFileSync(ALERTS, 'utf8')
const rules = (parse(text) as Rules).groups.flatMap((group) => group.rules)
const operating = readFileSync(
  new URL('../../../packages/core/OPERATING.md', import.meta.url),
  'utf8',
)

test('each alarm is about metrics that there are, and has its line in OPERATING.md', () => {
  const names = new Set([...COUNTED, ...MEASURED].map(nameForPrometheus))
  for (const { alert, expr } of rules) {
    const named = expr.match(/portcullis_\w+/g) ?? []
    expect(named).not.toEqual([])
    expect(named.filter((name) => !names.has(name))).toEqual([])
    expect(operating).toContain(`| \`${alert}\``)
  }
})

test('each alarm tells APIs apart: whatever it adds up or compares is of one job in one namespace', () => {
  for (const { expr } of rules) {
    const aggregations = expr.match(/\b(?:sum|min|max|count)\b[^(]*\([^)]*\)/g) ?? []
    expect(aggregations).not.toEqual([])
    for (const each of aggregations) expect(each).toMatch(/^\w+ by \(job, namespace\b/)
  }
})

test('each alarm has a runbook_url that can be set, and leads to a section of OPERATING.md', () => {
  const sections = new Set(
    [...operating.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(' ', '-')
        .replaceAll(/[^\w-]/g, ''),
    ),
  )
  for (const { alert, annotations } of rules) {
    const url =
      /^\{\{ with \$externalLabels\.runbook_portcullis \}\}\{\{ \. \}\}#([\w-]+)\{\{ end \}\}$/
    const [, section = ''] = url.exec(annotations.runbook_url) ?? []
    expect([alert, section, sections.has(section)]).toEqual([alert, section, true])
    // What is to be done is where it leads.
    const [, named = section] = /OPERATING\.md#([\w-]+)/.exec(annotations.do) ?? []
    expect([alert, section]).toEqual([alert, named])
  }
})

test('in fast time all durations are shorter, and nothing else is changed', () => {
  const fast = fastRules(text, 40)
  expect(fast).not.toMatch(/(?:for: |\[)\d+[smh]\b/)
  expect(fast).toContain('for: 1500ms')
  expect(fast).toContain('[7500ms]')
  expect(fast.replaceAll(/\d+ms/g, '')).toBe(text.replaceAll(/(?<=for: |\[)\d+[smh]\b/g, ''))
})

describeWith(
  'prometheus',
  'promtool',
  'redis-server',
)('with a real Prometheus', () => {
  test('promtool: each alarm fires for what it is about, and for nothing that is usual', () => {
    const file = fileURLToPath(new URL('rules.test.yml', import.meta.url))
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
      encoding: 'utf8',
    })
    expect(stdout + stderr).toContain('SUCCESS')
    expect(status).toBe(0)
    const tested = readFileSync(file, 'utf8')
    const untested = rules.filter(({ alert }) => !tested.includes(`alertname: ${alert}\n`))
    expect(untested).toEqual([])
  })

  test('a calm stretch has none; when issuer and Redis hang and a flood comes, each fires, and a repair ends them all', async () => {
    const alarms = alarmsOf(text)
    expect(alarms).toEqual(rules.map(({ alert }) => alert))
    const { calm, fired, repairedAt } = await tellAlarms(CALM, alarms)
    expect(calm).toEqual([])
    expect(fired.map(({ alarm }) => alarm).toSorted()).toEqual(alarms.toSorted())
    for (const { from, until } of fired) {
      expect(from).toBeLessThanOrEqual(repairedAt)
      expect(until).toBeGreaterThan(from)
    }
  }, 300_000)
})
