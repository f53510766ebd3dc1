import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'

import type { Span, SpanOptions, Tracer } from '@opentelemetry/api'
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { expect, onTestFinished, test } from 'vitest'

import { nameForPrometheus } from '../src/metric.ts'
import { COUNTED, MEASURED } from '../src/metrics.ts'
import { collectMetrics, traceOperations, type TraceOptions } from '../src/opentelemetry.ts'
import { setUp } from './scene.ts'

test('an exporter for Prometheus gives them the names of the other entry', async () => {
  const { day, sources } = await setUp()
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter })],
  })
  onTestFinished(collectMetrics(provider.getMeter('portcullis'), sources))
  await day()
  await provider.forceFlush()
  const found = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  await provider.shutdown()
  const names = found.map(({ descriptor: { name, unit }, dataPointType }) => {
    const seconds = unit === 's' ? '_seconds' : ''
    return `${name.replaceAll('.', '_')}${seconds}${dataPointType === DataPointType.SUM ? '_total' : ''}`
  })
  const rows = [...COUNTED, ...MEASURED]
  expect(names.toSorted()).toEqual(rows.map(nameForPrometheus).toSorted())
  const pointsOf = (name: string) =>
    found.find(({ descriptor }) => descriptor.name === name)?.dataPoints
  expect(pointsOf('portcullis.verdicts')).toContainEqual(
    expect.objectContaining({
      attributes: { source: 'api', code: 'accepted', reason: 'none', remembered: 'false' },
      value: 2,
    }),
  )
  expect(pointsOf('portcullis.keys.usable')).toMatchObject([
    { attributes: { source: 'main' }, value: 1 },
  ])
  // Of remembered tokens no time is recorded.
  expect(pointsOf('portcullis.verify.duration')).toMatchObject([
    { attributes: { remembered: 'false' }, value: { count: 4 } },
  ])
  expect(JSON.stringify(found)).not.toContain('canary')
})

interface Recorded {
  readonly name: string
  readonly options: SpanOptions
  status: number | undefined
  end: number
}

/** What a day makes of spans. */
async function spansOfDay(options?: TraceOptions): Promise<readonly Recorded[]> {
  const { day, sources } = await setUp()
  const spans: Recorded[] = []
  const tracer: Pick<Tracer, 'startSpan'> = {
    startSpan(name, given = {}) {
      const recorded: Recorded = { name, options: given, status: undefined, end: NaN }
      spans.push(recorded)
      const span = {
        setStatus: ({ code }: { code: number }) => (recorded.status = code),
        end: (time: number) => void (recorded.end = time),
      }
      return span as unknown as Span // all that is called
    },
  }
  onTestFinished(traceOperations(tracer as Tracer, sources, options))
  await day()
  channel('portcullis:keys').publish({ trigger: 'snapshot', outcome: 'success', duration: 0 })
  return spans
}

test('one span for each attempt for keys, introspection and log-in, and none for a verdict', async () => {
  const spans = await spansOfDay()
  expect(spans.map(({ name, status }) => [name, status])).toEqual([
    ['portcullis.keys.fetch', undefined],
    ['portcullis.keys.fetch', undefined],
    ['portcullis.keys.fetch', 2],
    ['portcullis.login', undefined],
    ['portcullis.exchange', 2],
    ['portcullis.other', 2],
    ['portcullis.introspection', 2],
  ])
  const [, , , login] = spans
  expect(login?.options.attributes).toEqual({
    'portcullis.source': 'orders',
    'portcullis.outcome': 'success',
    'portcullis.requests': 1,
  })
  expect((login?.end ?? 0) - Number(login?.options.startTime)).toBeCloseTo(200, 0)
  expect(JSON.stringify(spans)).not.toContain('canary')
})

test('a span is a child of what was active where the call was caused', async () => {
  const { day, sources } = await setUp()
  const active = new AsyncLocalStorage<string>()
  const parents: unknown[] = []
  const tracer: Pick<Tracer, 'startSpan'> = {
    startSpan(name) {
      parents.push([name, active.getStore()])
      return { setStatus() {}, end() {} } as unknown as Span // all that is called
    },
  }
  onTestFinished(traceOperations(tracer as Tracer, sources))
  await active.run('a request', day)
  expect(parents).toContainEqual(['portcullis.keys.fetch', 'a request'])
  expect(parents).not.toContainEqual(['portcullis.keys.fetch', undefined])
})

test('with `verdicts` one for each verdict as well; a bad token is no failure', async () => {
  const verdicts = (await spansOfDay({ verdicts: true })).filter(
    ({ name }) => name === 'portcullis.verify',
  )
  expect(verdicts).toHaveLength(5)
  expect(verdicts.map(({ status }) => status)).toEqual(Array(5).fill(undefined))
  expect(verdicts[2]?.options.attributes).toMatchObject({ 'portcullis.reason': 'expired' })
})

const startSpan = () => {
  throw new TypeError('canary tracer')
}

test('a tracer that throws, and a message that is none, are warnings and end nothing', async () => {
  const { day, sources } = await setUp()
  const faults: unknown[] = []
  const onWarning = (warning: Error) => faults.push(warning.message)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  onTestFinished(traceOperations({ startSpan } as unknown as Tracer, sources))
  const meter = new MeterProvider().getMeter('portcullis')
  const createHistogram = () => ({ record: startSpan })
  onTestFinished(collectMetrics(Object.assign(meter, { createHistogram }), sources))
  await day()
  for (const name of ['keys', 'verify', 'login', 'introspection', 'events', 'replays']) {
    channel(`portcullis:${name}`).publish(undefined)
  }
  await new Promise<void>((resolve) => void setImmediate(resolve))
  expect(faults.length).toBeGreaterThan(10)
  expect(faults).toContain('canary tracer')
})

test('wrong options are a TypeError', () => {
  const tracer = {} as Tracer
  expect(() => traceOperations(tracer, {}, { verdicts: 1 } as never)).toThrow(TypeError)
  expect(() => traceOperations(tracer, {}, { verdict: true } as never)).toThrow(TypeError)
  expect(() => traceOperations(tracer, { key: {} } as never)).toThrow(TypeError)
})
