import { channel } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'

import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { createVerifier, remoteKeys } from '@portcullis/core'
import type { RedisRevocationsStatus, RevocationsMessage } from '@portcullis/redis'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'

import { collectMetrics as collectForOpenTelemetry } from '../src/opentelemetry.ts'
import { collectMetrics } from '../src/prometheus.ts'

const dashboard = JSON.parse(
  readFileSync(new URL('../grafana/portcullis.json', import.meta.url), 'utf8'),
) as Dashboard

interface Dashboard {
  readonly schemaVersion: number
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly type: string
    readonly gridPos: Readonly<Record<'h' | 'w' | 'x' | 'y', number>>
    readonly targets: readonly { readonly refId: string; readonly expr: string }[]
  }[]
}

/** What `redisRevocations` says after an outage of its store. */
const replica = { status: () => STATUS }
const STATUS: RedisRevocationsStatus = {
  state: 'stale',
  age: 12,
  stream: 'portcullis:revocations',
  identity: 'canary',
  foundIdentity: 'canary',
  position: '1-0',
  entries: 3,
  unreadable: 0,
  firstUnreadable: undefined,
  foreign: 0,
  failures: 4,
  lastFailure: { reason: 'timeout', detail: 'canary', age: 1 },
}
const MESSAGE: RevocationsMessage = {
  source: replica,
  event: 'state',
  state: 'stale',
  trigger: undefined,
  records: undefined,
  duration: undefined,
  reason: undefined,
  detail: undefined,
}

/** A key source that has not fetched yet, and a day of a service: accepted, remembered, refused, rotated, and an outage. */
async function setUp() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const rules = { issuer: null, audience: null, algorithms: ['ES256'] } as const
  const verifier = createVerifier({ keys, ...rules, clock })
  async function day(): Promise<void> {
    const token = await issuer.token({ claims: { sub: 'canary' } })
    const expired = await issuer.token({ claims: { sub: 'canary' }, expiresIn: -60 })
    for (const each of [token, token, expired, 'canary'])
      await verifier.verify(each).catch(() => {})
    await clock.advance(2)
    await issuer.rotate()
    await verifier.verify(await issuer.token())
    await clock.advance(2)
    issuer.outage(503)
    await keys.refresh().catch(() => {})
    channel('portcullis:revocations').publish(MESSAGE)
  }
  return { day, keys }
}

async function prometheusText(): Promise<string> {
  const { day, keys } = await setUp()
  const register = new Registry()
  onTestFinished(collectMetrics(register, keys, replica))
  await day()
  return await register.metrics()
}

test('Prometheus reads verdicts by code and reason, and attempts by trigger and outcome', async () => {
  const text = await prometheusText()
  for (const line of [
    'portcullis_verdicts_total{code="accepted",reason="none",remembered="false"} 2',
    'portcullis_verdicts_total{code="accepted",reason="none",remembered="true"} 1',
    'portcullis_verdicts_total{code="invalid_token",reason="expired",remembered="false"} 1',
    'portcullis_verdicts_total{code="invalid_token",reason="malformed",remembered="false"} 1',
    'portcullis_verify_duration_seconds_count{remembered="true"} 1',
    'portcullis_key_attempts_total{trigger="age",outcome="success"} 1',
    'portcullis_key_attempts_total{trigger="suspicion",outcome="success"} 1',
    'portcullis_key_attempts_total{trigger="refresh",outcome="unreachable"} 1',
    'portcullis_key_changes_total{change="added"} 2',
    'portcullis_key_changes_total{change="removed"} 1',
    'portcullis_keys_age_seconds 2',
    'portcullis_keys_usable 1',
    'portcullis_revocations_events_total{event="state",state="stale"} 1',
    'portcullis_revocations_age_seconds 12',
    'portcullis_revocations_current 0',
    'portcullis_revocations_entries 3',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).not.toContain('canary')
})

test('without keys the age is -1, and nothing is usable', async () => {
  const { keys } = await setUp()
  const register = new Registry()
  onTestFinished(collectMetrics(register, keys))
  const text = await register.metrics()
  expect(text).toContain('portcullis_keys_age_seconds -1')
  expect(text).toContain('portcullis_keys_usable 0')
})

test('once it is ended nothing is counted any more', async () => {
  const { day, keys } = await setUp()
  const register = new Registry()
  collectMetrics(register, keys)()
  await day()
  expect(await register.metrics()).not.toMatch(/^portcullis_verdicts_total\{/m)
})

test('OpenTelemetry has the same metrics by names of its own', async () => {
  const { day, keys } = await setUp()
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter })],
  })
  onTestFinished(collectForOpenTelemetry(provider.getMeter('portcullis'), keys, replica))
  await day()
  await provider.forceFlush()
  const found = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  await provider.shutdown()
  const text = await prometheusText()
  // As an exporter for Prometheus names them: with units, and counters with `_total`.
  const names = found.map(({ descriptor: { name, unit }, dataPointType }) => {
    const seconds = unit === 's' ? '_seconds' : ''
    return `${name.replaceAll('.', '_')}${seconds}${dataPointType === DataPointType.SUM ? '_total' : ''}`
  })
  expect(names.toSorted()).toEqual(namesIn(text))
  const verdicts = found.find(({ descriptor }) => descriptor.name === 'portcullis.verdicts')
  expect(verdicts?.dataPoints).toContainEqual(
    expect.objectContaining({
      attributes: { code: 'accepted', reason: 'none', remembered: false },
      value: 2,
    }),
  )
  expect(JSON.stringify(found)).not.toContain('canary')
})

test('the queries of the dashboard name all metrics of the recipe, and no others', async () => {
  const queried = dashboard.panels
    .flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/portcullis_\w+/g) ?? []))
    .map((name) => name.replace(/_bucket$/, ''))
  expect([...new Set(queried)].toSorted()).toEqual(namesIn(await prometheusText()))
})

test('the labels of the queries are those of the metrics', async () => {
  const text = await prometheusText()
  const known = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label))
  const named = dashboard.panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', ')),
      ...[...expr.matchAll(/[{,](\w+)[!=]/g)].map(([, label]) => label),
    ]),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((label) => !known.has(label))).toEqual([])
})

test('the dashboard is one that Grafana reads: a schema version, and panels with places and queries', () => {
  const { schemaVersion, panels } = dashboard
  expect(schemaVersion).toBeGreaterThanOrEqual(36)
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  for (const { title, type, gridPos, targets } of panels) {
    expect(title).not.toBe('')
    expect(['timeseries', 'stat']).toContain(type)
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    expect(targets.length).toBeGreaterThan(0)
  }
  const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)
  expect(new Set(places).size).toBe(panels.length)
})

function namesIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name).toSorted()
}
