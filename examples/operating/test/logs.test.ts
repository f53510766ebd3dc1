import { channel } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'

import {
  InMemoryLogRecordExporter,
  LoggerProvider,
  SimpleLogRecordProcessor,
} from '@opentelemetry/sdk-logs'
import { AuthError, createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { pino } from 'pino'
import { expect, test } from 'vitest'

import {
  logOperations,
  logRefusals,
  sampled,
  toOpenTelemetry,
  toPino,
  type Write,
} from '../src/logs.ts'

const lines: Parameters<Write>[] = []
// Once, as a program does it: a subscription lasts as long as the process.
logOperations((...line) => void lines.push(line))

test('a line for keys that come and leave, and for what fails; none for a refresh that changes nothing', async () => {
  lines.length = 0
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock, snapshot: {} as never })
  for (const change of ['start', 'nothing', 'rotate', 'outage']) {
    if (change === 'rotate') await issuer.rotate()
    if (change === 'outage') issuer.outage(503)
    await clock.advance(2)
    await keys.refresh().catch(() => {})
  }
  const first = expect.any(String) as string
  expect(lines).toMatchObject([
    ['warn', 'keys', { trigger: 'snapshot', outcome: 'ignored' }],
    ['info', 'keys', { trigger: 'refresh', added: [first], removed: [] }],
    ['info', 'keys', { trigger: 'refresh', added: [first], removed: [first] }],
    ['warn', 'keys', { outcome: 'unreachable', detail: 'the key URL answered 503' }],
  ])
})

function publish(name: string, message: object): void {
  channel(`portcullis:${name}`).publish(message)
}

test('a line for what fails elsewhere, and none for what works', () => {
  lines.length = 0
  const detail = 'why'
  publish('revocations', { event: 'failure', state: 'stale', reason: 'timeout', detail })
  publish('revocations', { event: 'load', state: 'current' })
  publish('replays', { reason: 'busy', detail })
  publish('introspection', { outcome: 'active' })
  publish('introspection', { outcome: 'timeout', detail })
  publish('login', { kind: 'login', outcome: 'success' })
  publish('login', { kind: 'exchange', outcome: 'timeout', detail })
  publish('events', { outcome: 'recorded' })
  publish('events', { outcome: 'refused', error: 'invalid_key' })
  expect(lines).toEqual([
    ['warn', 'revocations', { event: 'failure', state: 'stale', reason: 'timeout', detail }],
    ['info', 'revocations', { event: 'load', state: 'current' }],
    ['warn', 'replays', { reason: 'busy', detail }],
    ['warn', 'introspection', { outcome: 'timeout', detail }],
    ['warn', 'exchange', { outcome: 'timeout', detail }],
    ['warn', 'event', { outcome: 'refused', error: 'invalid_key' }],
  ])
})

const ours = new AuthError('keys_unavailable', 'timeout')
const theirs = new AuthError('invalid_token', 'expired')

test('pino has a refusal as fields, and a warning if it is our problem', () => {
  const written: string[] = []
  const log = logRefusals(toPino(pino({}, { write: (line) => void written.push(line) })))
  log(theirs)
  log(ours)
  expect(written.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 30, msg: 'portcullis', event: 'refusal', code: 'invalid_token', reason: 'expired' },
    { level: 40, msg: 'portcullis', event: 'refusal', code: 'keys_unavailable', reason: 'timeout' },
  ])
})

test('OpenTelemetry has it as attributes with a prefix, and its severity', async () => {
  const exporter = new InMemoryLogRecordExporter()
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] })
  const log = logRefusals(toOpenTelemetry(provider.getLogger('portcullis')))
  log(theirs)
  log(ours)
  await provider.forceFlush()
  expect(exporter.getFinishedLogRecords()).toMatchObject([
    { eventName: 'portcullis.refusal', severityText: 'INFO' },
    {
      severityNumber: 13,
      severityText: 'WARN',
      body: 'portcullis refusal',
      attributes: { 'portcullis.code': 'keys_unavailable', 'portcullis.reason': 'timeout' },
    },
  ])
  await provider.shutdown()
})

test('lines of two expired tokens are grouped by their sentence, and their times are fields', async () => {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  const verifier = createVerifier({ ...issuer.verifierOptions, clock })
  const written: Parameters<Write>[2][] = []
  const log = logRefusals((_level, _event, fields) => void written.push(fields))
  for (const expiresIn of [-60, -3600]) {
    const token = await issuer.token({ expiresIn })
    await verifier.verify(token).catch((error: unknown) => {
      log(error as AuthError)
    })
  }
  expect(new Set(written.map(({ detail }) => detail)).size).toBe(1)
  expect(written.map(({ exp, now }) => Number(exp) - Number(now))).toEqual([-60, -3600])
})

test('of a flood of 20,000 bad tokens a second, 20 lines a minute are written for each reason, then how many were not', async () => {
  const exporter = new InMemoryLogRecordExporter()
  const processors = [new SimpleLogRecordProcessor({ exporter })]
  const logger = new LoggerProvider({ processors }).getLogger('portcullis')
  const printed: string[] = []
  const toBoth: readonly Write[] = [
    toPino(pino({ base: null, timestamp: false }, { write: (line) => void printed.push(line) })),
    toOpenTelemetry(logger),
  ]
  let now = 0
  for (const write of toBoth) {
    now = 0
    const log = logRefusals(sampled(write, 20, () => now))
    for (let at = 0; at < 20_000; at++) {
      now = at / 20_000
      log(new AuthError('invalid_token', at % 2 === 0 ? 'signature' : 'expired'))
    }
    log(new AuthError('keys_unavailable', 'timeout'))
    now = 60
    log(new AuthError('invalid_token', 'signature'))
  }
  const reasons = printed.map((line) => (JSON.parse(line) as { reason: string }).reason)
  expect(reasons.filter((reason) => reason === 'signature')).toHaveLength(22)
  expect(reasons.filter((reason) => reason === 'expired')).toHaveLength(20)
  expect(printed.filter((line) => line.includes('refusals_left_out'))).toEqual([
    `${JSON.stringify({ level: 40, reason: 'signature', count: 9980, event: 'refusals_left_out', msg: 'portcullis' })}\n`,
  ])
  expect(reasons).toContain('timeout')
  expect(exporter.getFinishedLogRecords()).toHaveLength(printed.length)
})

test('OPERATING.md says how many bytes a day the lines of a flood are, with `sampled` and without', async () => {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const verifier = createVerifier({ ...issuer.verifierOptions, keys, clock })
  await keys.refresh()
  await clock.advance(41.837)
  const stranger = await createTestIssuer({ clock })
  const refused = await verifier
    .verify(await stranger.token())
    .catch((error: unknown) => error as AuthError)
  if (!(refused instanceof AuthError)) throw new Error('a forged token was accepted')
  let bytes = 0
  const base = { pid: 4711, hostname: 'orders-7d9f6c5b8-x2x4z' }
  const write = toPino(pino({ base }, { write: (line) => void (bytes += Buffer.byteLength(line)) }))
  logRefusals(write)(refused)
  const line = bytes
  bytes = 0
  const rate = 20_000
  let now = 0
  const log = logRefusals(sampled(write, 20, () => now))
  // A minute, and the first refusal of the next one, with which the line comes that counts.
  for (let at = 0; at <= rate * 60; at++) {
    now = at / rate
    log(refused)
  }
  const minute = bytes - line
  const [, stated, whole, rest] =
    /of a forged token is (\d+) bytes with pino, .* would be (\d+) GB a day; with `sampled` it is (\d+) MB/.exec(
      readFileSync(new URL('../../../packages/core/OPERATING.md', import.meta.url), 'utf8'),
    ) ?? []
  const day = 86_400
  expect([line, Math.round((line * rate * day) / 1e9), Math.round((minute * 1440) / 1e6)]).toEqual(
    [stated, whole, rest].map(Number),
  )
})
