import { readFileSync } from 'node:fs'

import { AggregatorRegistry, type OpenMetricsContentType, Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'

import { nameForPrometheus } from '../src/metric.ts'
import { COUNTED, MEASURED } from '../src/metrics.ts'
import { collectMetrics } from '../src/prometheus.ts'
import { setUp } from './scene.ts'

const dashboard = JSON.parse(
  readFileSync(new URL('../dashboard.json', import.meta.url), 'utf8'),
) as Dashboard

interface Dashboard {
  readonly schemaVersion: number
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string }[]
  }
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly type: string
    readonly gridPos: Readonly<Record<'h' | 'w' | 'x' | 'y', number>>
    readonly targets: readonly { readonly refId: string; readonly expr: string }[]
  }[]
}

/** Labels that Prometheus adds. */
const SCRAPED = ['job', 'namespace', 'instance']

const NAMES = [...COUNTED, ...MEASURED].map(nameForPrometheus)

/** Its types lack what it takes. */
const aggregate = AggregatorRegistry.aggregate.bind(AggregatorRegistry) as (
  metrics: unknown,
) => Registry

async function afterDay(): Promise<Registry> {
  const { day, sources } = await setUp()
  const register = new Registry()
  onTestFinished(collectMetrics(register, sources))
  await day()
  return register
}

test('Prometheus reads what every channel has told, by words of short lists', async () => {
  const text = await (await afterDay()).metrics()
  for (const line of [
    'portcullis_verdicts_total{source="api",code="accepted",reason="none",remembered="false"} 2',
    'portcullis_verdicts_total{source="api",code="accepted",reason="none",remembered="true"} 1',
    'portcullis_verdicts_total{source="api",code="invalid_token",reason="expired",remembered="false"} 1',
    'portcullis_verdicts_total{source="api",code="invalid_token",reason="malformed",remembered="false"} 1',
    'portcullis_verify_duration_seconds_count{remembered="true"} 1',
    'portcullis_verify_duration_seconds_bucket{le="+Inf",remembered="true"} 1',
    'portcullis_refusals_total{framework="koa",code="missing_token",reason="missing_header"} 1',
    'portcullis_refusals_total{framework="other",code="other",reason="other"} 1',
    'portcullis_key_attempts_total{source="main",trigger="age",outcome="success"} 1',
    'portcullis_key_attempts_total{source="main",trigger="suspicion",outcome="success"} 1',
    'portcullis_key_attempts_total{source="main",trigger="refresh",outcome="unreachable"} 1',
    'portcullis_key_changes_total{source="main",change="added"} 2',
    'portcullis_key_changes_total{source="main",change="removed"} 1',
    'portcullis_keys_age_seconds{source="main"} 2',
    'portcullis_keys_usable{source="main"} 1',
    'portcullis_keys_skipped{source="main"} 0',
    'portcullis_keys_freshness{source="main",state="fresh"} 1',
    'portcullis_keys_freshness{source="main",state="empty"} 0',
    'portcullis_revocations_events_total{source="redis",event="state",state="stale"} 1',
    'portcullis_revocations_age_seconds{source="redis"} 12',
    'portcullis_revocations_current{source="redis"} 0',
    'portcullis_revocations_state{source="redis",state="stale"} 1',
    'portcullis_revocations_entries{source="redis"} 3',
    'portcullis_revocations_failures{source="redis"} 4',
    'portcullis_keys_failing{source="main"} 1',
    'portcullis_event_poll_failures{source="hub"} 2',
    'portcullis_events_total{source="logouts",outcome="refused",error="invalid_key"} 1',
    'portcullis_logins_total{source="orders",kind="login",outcome="success"} 1',
    'portcullis_logins_total{source="orders",kind="exchange",outcome="timeout"} 1',
    'portcullis_logins_total{source="orders",kind="other",outcome="other"} 1',
    'portcullis_login_duration_seconds_sum{source="orders",kind="login"} 0.2',
    'portcullis_login_duration_seconds_bucket{le="0.05",source="orders",kind="login"} 0',
    'portcullis_login_duration_seconds_bucket{le="0.5",source="orders",kind="login"} 1',
    'portcullis_introspections_total{source="other",outcome="other"} 1',
    'portcullis_replay_failures_total{source="proofs",reason="timeout"} 1',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).not.toContain('canary')
})

test('without keys there is no age, and nothing is usable', async () => {
  const { sources } = await setUp()
  const register = new Registry()
  onTestFinished(collectMetrics(register, sources))
  const text = await register.metrics()
  expect(text).not.toMatch(/^portcullis_keys_age_seconds/m)
  expect(text).toContain('portcullis_keys_usable{source="main"} 0')
})

test('a source is asked once a scrape, and anew for the next one', async () => {
  let asked = 0
  const revocations = {
    status: () => ({ state: 'current', age: asked, entries: ++asked, failures: 0 }),
  }
  const register = new Registry()
  onTestFinished(collectMetrics(register, { revocations: { redis: revocations } }))
  for (const scrape of [1, 2, 3]) {
    const text = await register.metrics()
    expect(asked).toBe(scrape)
    expect(text).toContain(`portcullis_revocations_entries{source="redis"} ${scrape}\n`)
    expect(text).toContain(`portcullis_revocations_age_seconds{source="redis"} ${scrape - 1}\n`)
  }
})

test('a source that fails makes its metrics fail, and the next scrape asks it again', async () => {
  let isDown = true
  const status = () => {
    if (isDown) throw new Error('down')
    return { state: 'ended', failures: 3 }
  }
  const register = new Registry()
  onTestFinished(collectMetrics(register, { polls: { hub: { status } } }))
  await expect(register.metrics()).rejects.toThrow('down')
  isDown = false
  expect(await register.metrics()).toContain('portcullis_event_poll_failures{source="hub"} 3\n')
})

test('keys that have become too old are not usable any more', async () => {
  const { clock, day, sources } = await setUp()
  const register = new Registry()
  onTestFinished(collectMetrics(register, sources))
  await day()
  await clock.advance(86_400)
  const text = await register.metrics()
  expect(text).toContain('portcullis_keys_usable{source="main"} 0')
  expect(text).toContain('portcullis_keys_freshness{source="main",state="empty"} 1')
})

test('a time that is the bound of a bucket is in it', async () => {
  const register = new Registry()
  onTestFinished(collectMetrics(register))
  const { channel } = await import('node:diagnostics_channel')
  channel('portcullis:introspection').publish({ outcome: 'active', duration: 0.05 })
  const text = await register.metrics()
  const bucket = 'portcullis_introspection_duration_seconds_bucket'
  expect(text).toContain(`${bucket}{le="0.005",source="other"} 0`)
  expect(text).toContain(`${bucket}{le="0.05",source="other"} 1`)
})

test('without sources all that is counted has the name other', async () => {
  const { day } = await setUp()
  const register = new Registry()
  onTestFinished(collectMetrics(register))
  await day()
  const text = await register.metrics()
  expect(text).toContain('portcullis_key_changes_total{source="other",change="added"} 2')
  expect(text).not.toMatch(/^portcullis_keys_usable/m)
})

test('once it is ended nothing is counted, and it can begin again in the same registry', async () => {
  const { day, sources } = await setUp()
  const register = new Registry()
  collectMetrics(register, sources)()
  await day()
  expect(await register.metrics()).toBe('\n')
  onTestFinished(collectMetrics(register, sources))
  expect(await register.metrics()).not.toMatch(/^portcullis_verdicts_total\{/m)
})

test('several processes: counts are added, ages are the largest, usable keys the fewest', async () => {
  const [ready, empty] = [await afterDay(), new Registry()]
  const { sources } = await setUp()
  onTestFinished(collectMetrics(empty, sources))
  // What workers send to the primary.
  const read = async () =>
    await Promise.all([ready, ready, empty].map(async (each) => await each.getMetricsAsJSON()))
  const text = await aggregate(JSON.parse(JSON.stringify(await read()))).metrics()
  for (const line of [
    'portcullis_keys_age_seconds{source="main"} 2',
    'portcullis_keys_usable{source="main"} 0',
    'portcullis_keys_freshness{source="main",state="fresh"} 1',
    'portcullis_keys_freshness{source="main",state="empty"} 1',
    'portcullis_revocations_age_seconds{source="redis"} 12',
    'portcullis_revocations_entries{source="redis"} 3',
    'portcullis_revocations_state{source="redis",state="stale"} 1',
    'portcullis_revocations_failures{source="redis"} 4',
    'portcullis_revocations_current{source="redis"} 0',
    'portcullis_keys_failing{source="main"} 1',
    'portcullis_event_poll_failures{source="hub"} 2',
    'portcullis_key_changes_total{source="main",change="added"} 4',
    'portcullis_login_duration_seconds_count{source="orders",kind="login"} 2',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
})

test('OpenMetrics has the same names, and its end', async () => {
  const register = new Registry<OpenMetricsContentType>()
  register.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const { day, sources } = await setUp()
  onTestFinished(collectMetrics(register, sources))
  await day()
  const text = await register.metrics()
  expect(text).toContain('# TYPE portcullis_key_changes counter')
  expect(text).toContain('portcullis_key_changes_total{source="main",change="added"} 2')
  expect(text.endsWith('# EOF\n')).toBe(true)
})

test('resetMetrics begins all counts again', async () => {
  const register = await afterDay()
  register.resetMetrics()
  expect(await register.metrics()).not.toMatch(/^portcullis_verdicts_total\{/m)
})

test('a wrong name, a wrong kind and a source that is none are a TypeError', async () => {
  const { keys } = await setUp()
  const register = new Registry()
  for (const sources of [
    { key: { main: keys } },
    { keys: { other: keys } },
    { keys: { 'https://issuer.example.com': keys } },
    { keys: { main: {} } },
    { keys: { main: keys, same: keys } },
    { keys: { main: keys }, verifiers: { same: keys } },
    { keys: keys },
    { verifiers: { main: 'api' } },
    { keys: null },
    { verifiers: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`v${at}`, {}])) },
  ]) {
    expect(() => collectMetrics(register, sources as never)).toThrow(TypeError)
  }
  expect(register.getMetricsAsArray()).toEqual([])
})

test('10,000 strangers make no new line', async () => {
  const register = await afterDay()
  const { channel } = await import('node:diagnostics_channel')
  const before = (await register.metrics()).split('\n').length
  for (let count = 0; count < 10_000; count++) {
    const word = `stranger-${count}`
    channel('portcullis:refusal').publish({ framework: word, code: word, reason: word })
    channel('portcullis:introspection').publish({ verifier: {}, outcome: word, duration: 1 })
  }
  expect((await register.metrics()).split('\n').length).toBe(before)
})

test('the queries of the dashboard name all metrics, and no others', () => {
  const queried = dashboard.panels
    .flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/portcullis_\w+/g) ?? []))
    .map((name) => name.replace(/_bucket$/, ''))
  expect([...new Set(queried)].toSorted()).toEqual(NAMES.toSorted())
})

test('the labels of the queries are those of the metrics', async () => {
  const text = await (await afterDay()).metrics()
  const known = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label))
  for (const label of SCRAPED) known.add(label)
  const named = dashboard.panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', ')),
      ...[...expr.matchAll(/[{,](\w+)[!=]/g)].map(([, label]) => label),
    ]),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((label) => !known.has(label))).toEqual([])
})

test('the dashboard tells APIs and processes apart: by its variables, and by the labels of what is added up', () => {
  const { panels, templating } = dashboard
  const variables = templating.list.filter(({ type }) => type === 'query')
  expect(variables.map(({ name }) => name)).toEqual(SCRAPED)
  const chosen = SCRAPED.map((name) => `${name}=~"$${name}"`).join(',')
  for (const { expr } of panels.flatMap(({ targets }) => targets)) {
    const selectors = expr.match(/portcullis_\w+(?:\{[^}]*\})?/g) ?? []
    for (const selector of selectors) expect(selector).toContain(`{${chosen}`)
    const sums = expr.match(/\b(?:sum|min|max) ?(?:by )?\([^)]*/g) ?? []
    for (const each of sums) expect(each).toMatch(/^\w+ by \(job, namespace\b/)
  }
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
