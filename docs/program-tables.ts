import { COMMANDS } from '../packages/cli/src/program/overview.ts'
import { flagsOf } from '../packages/cli/test/flags.ts'
import { nameForPrometheus } from '../packages/metrics/src/metric.ts'
import { COUNTED, MEASURED } from '../packages/metrics/src/metrics.ts'
import { type Maker, tableOf } from './parts.ts'

// The tables of the program `portcullis` and of the metrics, as their sources say.

export const PROGRAM_MAKERS: Readonly<Record<string, Maker>> = {
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
