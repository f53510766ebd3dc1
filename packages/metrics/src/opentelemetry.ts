import type { Histogram, Meter, Observable, ObservableCounter } from '@opentelemetry/api'

import { measureAll } from './gauges.ts'
import { BUCKETS, COUNTED, MEASURED, type MetricRow } from './metrics.ts'
import { checkSources, type Sources } from './sources.ts'
import { subscribeAll } from './subscriptions.ts'
import { type Cell, createTally, type Recorder } from './tally.ts'

// Metrics for OpenTelemetry, by a meter of its API. Counts are read when they are exported.

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
  const histograms = new Map<MetricRow, Histogram>()
  const counters = new Map<Observable, MetricRow>()
  for (const row of Object.values<MetricRow>(COUNTED)) {
    if (row.kind === 'histogram') histograms.set(row, histogramOf(meter, row))
    else counters.set(counterOf(meter, row), row)
  }
  const gauges = new Map(
    Object.values<MetricRow>(MEASURED).map((row) => [row, gaugeOf(meter, row)] as const),
  )
  const recorder: Recorder = {
    count: tally.count,
    time(row, values, seconds) {
      if (row === COUNTED.verifyTime && values[0] === 'true') return
      histograms.get(row)?.record(seconds, attributesOf(row, values))
    },
  }

  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    for (const [instrument, row] of counters) {
      for (const { values, count } of tally.cells(row) satisfies readonly Cell[]) {
        result.observe(instrument, count, attributesOf(row, values))
      }
    }
    for (const { row, values, value } of measureAll(named)) {
      const instrument = gauges.get(row)
      if (instrument !== undefined) result.observe(instrument, value, attributesOf(row, values))
    }
  }
  const observed = [...counters.keys(), ...gauges.values()]
  meter.addBatchObservableCallback(observe, observed)
  const unsubscribe = subscribeAll(named, recorder)
  return () => {
    unsubscribe()
    meter.removeBatchObservableCallback(observe, observed)
  }
}

const describe = ({ help, unit }: MetricRow) => ({
  description: help,
  ...(unit === undefined ? {} : { unit }),
})

function counterOf(meter: Meter, row: MetricRow): ObservableCounter {
  return meter.createObservableCounter(row.name, describe(row))
}

function gaugeOf(meter: Meter, row: MetricRow): Observable {
  return meter.createObservableGauge(row.name, describe(row))
}

function histogramOf(meter: Meter, row: MetricRow): Histogram {
  const advice = { explicitBucketBoundaries: [...BUCKETS] }
  return meter.createHistogram(row.name, { ...describe(row), advice })
}

function attributesOf(row: MetricRow, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(row.labels.map((label, at) => [label, values[at] ?? '']))
}
