import type { Metric, Registry } from 'prom-client'

import { measureAll, type Sample } from './gauges.ts'
import { BUCKETS, COUNTED, MEASURED, type MetricRow, nameForPrometheus } from './metrics.ts'
import { checkSources, type Sources } from './sources.ts'
import { subscribeAll } from './subscriptions.ts'
import { type Cell, createTally } from './tally.ts'

// Metrics for Prometheus, in a registry of prom-client. Each metric makes its values when it is read, so a request pays for
// numbers alone.

export type {
  MeasuredClient,
  MeasuredKeys,
  MeasuredPoll,
  MeasuredRevocations,
  Sources,
} from './sources.ts'

interface Value {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

/**
 * Puts the metrics of all guards, verifiers and clients of the process into `register`, and those of the sources that have
 * names. With `node:cluster` prom-client's `AggregatorRegistry` puts the processes together: counters are added, ages are the
 * largest, usable keys the fewest.
 *
 * @param register A `Registry` of prom-client, with any type of content, such as its `register`.
 * @returns A function that ends it and takes the metrics out again.
 * @throws TypeError for what is wrong or misspelt in `sources`; what prom-client throws if a metric has been registered before.
 */
export function collectMetrics(
  register: Pick<Registry, 'registerMetric' | 'removeSingleMetric'>,
  sources: Sources = {},
): () => void {
  if (typeof Reflect.get(Object(register), 'registerMetric') !== 'function') {
    throw new TypeError('collectMetrics: the first argument must be a registry of prom-client')
  }
  const named = checkSources(sources)
  const tally = createTally()
  const metrics = [
    ...Object.values(COUNTED).map((row: MetricRow) =>
      metricOf(row, () => tally.cells(row).flatMap((cell) => valuesOf(row, cell)), tally.clear),
    ),
    ...Object.values(MEASURED).map((row: MetricRow) =>
      metricOf(row, () =>
        measureAll(named)
          .filter((sample) => sample.row === row)
          .map(({ values, value }: Sample) => ({ labels: labelsOf(row, values), value })),
      ),
    ),
  ]
  for (const metric of metrics) register.registerMetric(metric)
  const unsubscribe = subscribeAll(named, tally)
  return () => {
    unsubscribe()
    for (const row of [...Object.values(COUNTED), ...Object.values(MEASURED)]) {
      register.removeSingleMetric(nameForPrometheus(row))
    }
  }
}

/** What a registry reads of a metric. `name` can be changed: for OpenMetrics prom-client takes `_total` from it. */
function metricOf(
  row: MetricRow,
  read: () => readonly Value[],
  reset: () => void = () => {},
): Metric {
  const metric = {
    name: nameForPrometheus(row),
    help: row.help,
    type: row.kind,
    aggregator: row.aggregator,
    reset,
    get: async () => ({
      name: metric.name,
      help: row.help,
      type: row.kind,
      aggregator: row.aggregator,
      values: read(),
    }),
  }
  // prom-client makes such objects itself when it puts processes together; its types know its classes alone.
  return metric as unknown as Metric
}

function valuesOf(row: MetricRow, { values, count, sum, buckets }: Cell): readonly Value[] {
  const labels = labelsOf(row, values)
  if (row.kind !== 'histogram') return [{ labels, value: count }]
  const name = nameForPrometheus(row)
  let below = 0
  const steps = buckets.map((each, at) => {
    below += each
    const le = BUCKETS[at] ?? '+Inf'
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below }
  })
  return [
    ...steps,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

function labelsOf(row: MetricRow, values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(row.labels.map((label, at) => [label, values[at] ?? '']))
}
