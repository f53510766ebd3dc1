import type { Meter, Observable } from '@opentelemetry/api'

import { collectCounts, createMeasure, createTally } from './collecting.ts'
import { BUCKETS, labelled, type Metric } from './metric.ts'
import { COUNTED, MEASURED, VERIFY_TIME } from './metrics.ts'
import { checkSources, type Sources } from './sources.ts'

// Metrics and spans by the API of OpenTelemetry, which has to be installed as well. Counts are read when they are exported.

export type {
  MeasuredClient,
  MeasuredKeys,
  MeasuredPoll,
  MeasuredRevocations,
  Sources,
} from './sources.ts'
export { traceOperations } from './spans.ts'
export type { TraceOptions } from './spans.ts'

/**
 * Metrics of all guards, verifiers and clients of the process, and of the sources that have names. An exporter for Prometheus
 * gives them the names that the entry `prometheus` has.
 *
 * The time of a verdict of a remembered token is not recorded: to record it would take as long as the verdict.
 *
 * @param meter Such as `metrics.getMeter('portcullis')` of @opentelemetry/api.
 * @returns A function that ends it.
 * @throws TypeError for what is wrong or misspelt in `sources`.
 */
export function collectMetrics(meter: Meter, sources: Sources = {}): () => void {
  if (typeof Reflect.get(Object(meter), 'createObservableCounter') !== 'function') {
    throw new TypeError('collectMetrics: the first argument must be a meter of @opentelemetry/api')
  }
  const named = checkSources(sources)
  const tally = createTally()
  const histograms = new Map(
    COUNTED.filter(({ kind }) => kind === 'histogram').map((row) => [
      row,
      meter.createHistogram(row.name, {
        ...described(row),
        advice: { explicitBucketBoundaries: [...BUCKETS] },
      }),
    ]),
  )
  const counters = COUNTED.filter(({ kind }) => kind === 'counter').map(
    (row) => [meter.createObservableCounter(row.name, described(row)), row] as const,
  )
  const gauges = MEASURED.map(
    (row) => [meter.createObservableGauge(row.name, described(row)), row] as const,
  )

  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    for (const [instrument, row] of counters) {
      for (const { values, count } of tally.cells(row)) {
        result.observe(instrument, count, labelled(row, values))
      }
    }
    const measure = createMeasure(named)
    for (const [instrument, row] of gauges) {
      for (const { values, value } of measure(row)) {
        result.observe(instrument, value, labelled(row, values))
      }
    }
  }
  const observed: Observable[] = [...counters, ...gauges].map(([instrument]) => instrument)
  meter.addBatchObservableCallback(observe, observed)
  const end = collectCounts(named, (row, values, amount) => {
    if (row.kind === 'counter') tally.add(row, values, amount)
    else if (row !== VERIFY_TIME || values[0] === 'false') {
      histograms.get(row)?.record(amount, labelled(row, values))
    }
  })
  return () => {
    end()
    meter.removeBatchObservableCallback(observe, observed)
  }
}

function described({ help, unit }: Metric) {
  return { description: help, ...(unit === undefined ? {} : { unit }) }
}
