import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { COMMANDS } from '../packages/cli/src/program/overview.ts'
import { flagsOf } from '../packages/cli/test/flags.ts'
import { nameForPrometheus } from '../packages/metrics/src/metric.ts'
import { COUNTED, MEASURED } from '../packages/metrics/src/metrics.ts'
import { root } from './entries.ts'
import { type Maker, tableOf } from './parts.ts'

// The tables of the program `portcullis`, of the metrics and of their alarms, as their sources say.

export const PROGRAM_MAKERS: Readonly<Record<string, Maker>> = {
  alarms: () => tableOf(['Alarm', 'What it means', 'Look at', 'Do'], alarmsIn('alerts.yml')),
  commands: () =>
    tableOf(
      ['Command', 'Does'],
      COMMANDS.map(({ name, usage, description }) => [
        `\`${`${name} ${usage.replace(/\[options\] ?/, '')}`.trim()}\``,
        description,
      ]),
    ),
  flags: (name = '') =>
    tableOf(
      ['Option', 'Is'],
      flagsOf(name).map(([flags, description]) => [
        `\`${flags}\``,
        description
          .replaceAll(/(?<=^| )--[\w-]+/g, '`$&`')
          .replaceAll(/\b[A-Z]+_[A-Z]+\b/g, '`$&`'),
      ]),
    ),
  metrics: () =>
    tableOf(
      ['Metric', 'Labels', 'In a cluster', 'Says'],
      [...COUNTED, ...MEASURED].map((metric) => [
        `\`${nameForPrometheus(metric)}\``,
        metric.labels.map((label) => `\`${label}\``).join(', '),
        metric.aggregator,
        metric.help,
      ]),
    ),
}

/** The alarms of the package, as far as they are for people. */
function alarmsIn(file: string): readonly (readonly string[])[] {
  const rules = readFileSync(join(root, 'packages/metrics', file), 'utf8').split('- alert: ')
  return rules.slice(1).map((rule) => {
    const [name = ''] = rule.split('\n')
    const [summary, look, todo] = ['summary', 'look', 'do'].map((key) => {
      const [, text] = new RegExp(`^ +${key}: '?(.*?)'?$`, 'm').exec(rule) ?? []
      if (text === undefined) throw new Error(`the alarm ${name} has no ${key}`)
      return text
    })
    // An alarm names its source; the table is about any.
    const meaning = summary?.replaceAll(/:? (?:(?:of|in|by) )?\(?\{\{[^}]*\}\}\)?/g, '') ?? ''
    return [
      `\`${name}\``,
      meaning.replace(/\.$/, ''),
      look ?? '',
      todo?.replace(/(.*?): OPERATING\.md(#[\w-]+)$/, '[$1]($2)') ?? '',
    ]
  })
}
