import type { Metric, Registry } from 'prom-client'

import { type Cell, collectCounts, createMeasure, createTally, type Measure } from './collecting.ts'
import { BUCKETS, labelled, type Metric as Described, nameForPrometheus } from './metric.ts'
import { COUNTED, MEASURED } from './metrics.ts'
import { checkSources, type Sources } from './sources.ts'

// Metrics in a registry of prom-client, which has to be installed as well. Each makes its values when it is read: a request pays
// for numbers alone.

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
    // Mistake `collectMetrics: the first argument must be`: Give the registry of prom-client, or a meter of
    // @opentelemetry/api.
    throw new TypeError('collectMetrics: the first argument must be a registry of prom-client')
  }
  const named = checkSources(sources)
  const tally = createTally()
  let measure: Measure | undefined
  /** prom-client begins to read all metrics of a scrape in one run. */
  function measureOfScrape(): Measure {
    if (measure === undefined) {
      measure = createMeasure(named)
      queueMicrotask(() => {
        measure = undefined
      })
    }
    return measure
  }
  const metrics = [
    ...COUNTED.map((row) =>
      metricOf(row, () => tally.cells(row).flatMap((cell) => valuesOf(row, cell)), tally.clear),
    ),
    ...MEASURED.map((row) =>
      metricOf(row, () =>
        measureOfScrape()(row).map(({ values, value }) => ({
          labels: labelled(row, values),
          value,
        })),
      ),
    ),
  ]
  for (const metric of metrics) register.registerMetric(metric)
  const end = collectCounts(named, tally.add)
  return () => {
    end()
    for (const row of [...COUNTED, ...MEASURED]) {
      register.removeSingleMetric(nameForPrometheus(row))
    }
  }
}

/** What a registry reads of a metric. `name` can be changed: for OpenMetrics prom-client takes `_total` from it. */
function metricOf(row: Described, read: () => readonly Value[], reset: () => void = () => {}) {
  const { help, kind: type, aggregator } = row
  const metric = {
    name: nameForPrometheus(row),
    help,
    type,
    aggregator,
    reset,
    get: async () => ({ name: metric.name, help, type, aggregator, values: read() }),
  }
  // prom-client makes such objects itself when it puts processes together; its types know its classes alone.
  return metric as unknown as Metric
}

function valuesOf(row: Described, { values, count, sum, buckets }: Cell): readonly Value[] {
  const labels = labelled(row, values)
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
