import { channel } from 'node:diagnostics_channel'

import type { Meter } from '@opentelemetry/api'
import type { KeysMessage, RemoteKeys, VerifyMessage } from '@portcullis/core'
import type { RedisRevocations, RevocationsMessage } from '@portcullis/redis'

// The metrics of prometheus.ts for OpenTelemetry. The meter is `metrics.getMeter('portcullis')` of @opentelemetry/api. An
// exporter for Prometheus writes these names as prometheus.ts does.

/**
 * Metrics of all verifiers of the process, of one key source and, if there is one, of a replica of revocations. Returns a
 * function that ends it.
 */
export function collectMetrics(
  meter: Meter,
  keys: RemoteKeys,
  replica?: Pick<RedisRevocations, 'status'>,
): () => void {
  const verdicts = meter.createCounter('portcullis.verdicts', {
    description: 'Tokens judged, by the code and the reason of the refusal',
  })
  const durations = meter.createHistogram('portcullis.verify.duration', {
    description: 'Time from a token to its verdict',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.05, 0.5, 5] },
  })
  const attempts = meter.createCounter('portcullis.key.attempts', {
    description: 'Attempts to fetch keys, and snapshots of keys at start-up',
  })
  const changes = meter.createCounter('portcullis.key.changes', {
    description: 'Keys that came and keys that left',
  })
  const age = meter.createObservableGauge('portcullis.keys.age', {
    description: 'Time since the keys in use were fetched; -1 without keys',
    unit: 's',
  })
  const usable = meter.createObservableGauge('portcullis.keys.usable', {
    description: '1 while there are keys that tokens can be judged by, else 0',
  })
  age.addCallback((result) => {
    result.observe(keys.status().age ?? -1)
  })
  usable.addCallback((result) => {
    result.observe(keys.status().freshness === 'empty' ? 0 : 1)
  })

  const events = meter.createCounter('portcullis.revocations.events', {
    description: 'What the replica of revocations went through, and its state then',
  })
  if (replica !== undefined) collectReplica(meter, replica)

  function countVerdict(message: unknown): void {
    const { code, reason, remembered, duration } = message as VerifyMessage // by its channel
    verdicts.add(1, { code: code ?? 'accepted', reason: reason ?? 'none', remembered })
    durations.record(duration, { remembered })
  }
  function countAttempt(message: unknown): void {
    const { trigger, outcome, added, removed } = message as KeysMessage // by its channel
    attempts.add(1, { trigger, outcome })
    changes.add(added.length, { change: 'added' })
    changes.add(removed.length, { change: 'removed' })
  }
  function countEvent(message: unknown): void {
    const { event, state } = message as RevocationsMessage // by its channel
    events.add(1, { event, state })
  }
  channel('portcullis:verify').subscribe(countVerdict)
  channel('portcullis:keys').subscribe(countAttempt)
  channel('portcullis:revocations').subscribe(countEvent)
  return () => {
    channel('portcullis:revocations').unsubscribe(countEvent)
    channel('portcullis:verify').unsubscribe(countVerdict)
    channel('portcullis:keys').unsubscribe(countAttempt)
  }
}

function collectReplica(meter: Meter, replica: Pick<RedisRevocations, 'status'>): void {
  const age = meter.createObservableGauge('portcullis.revocations.age', {
    description:
      'The replica lacks nothing that was revoked longer ago; -1 if it was never complete',
    unit: 's',
  })
  const current = meter.createObservableGauge('portcullis.revocations.current', {
    description: '1 while the replica can tell what is not revoked, else 0',
  })
  age.addCallback((result) => {
    result.observe(replica.status().age ?? -1)
  })
  const entries = meter.createObservableGauge('portcullis.revocations.entries', {
    description: 'Revocations that the replica knows: at its option max it takes no more',
  })
  entries.addCallback((result) => {
    result.observe(replica.status().entries)
  })
  current.addCallback((result) => {
    result.observe(replica.status().state === 'current' ? 1 : 0)
  })
}
