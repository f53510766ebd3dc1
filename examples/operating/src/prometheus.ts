import { channel } from 'node:diagnostics_channel'

import type { KeysMessage, RemoteKeys, VerifyMessage } from '@portcullis/core'
import type { RedisRevocations, RevocationsMessage } from '@portcullis/redis'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

// Metrics of the diagnostics channels for Prometheus. Labels are words of ours alone, so their number is bounded; nothing of a
// token is among them.

/**
 * Metrics in `register`, of all verifiers of the process, of one key source and, if there is one, of a replica of
 * revocations. Returns a function that ends it.
 */
export function collectMetrics(
  register: Registry,
  keys: RemoteKeys,
  replica?: Pick<RedisRevocations, 'status'>,
): () => void {
  const registers = [register]
  const verdicts = new Counter({
    name: 'portcullis_verdicts_total',
    help: 'Tokens judged, by the code and the reason of the refusal',
    labelNames: ['code', 'reason', 'remembered'],
    registers,
  })
  const durations = new Histogram({
    name: 'portcullis_verify_duration_seconds',
    help: 'Time from a token to its verdict',
    labelNames: ['remembered'],
    buckets: [0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.05, 0.5, 5],
    registers,
  })
  const attempts = new Counter({
    name: 'portcullis_key_attempts_total',
    help: 'Attempts to fetch keys, and snapshots of keys at start-up',
    labelNames: ['trigger', 'outcome'],
    registers,
  })
  const changes = new Counter({
    name: 'portcullis_key_changes_total',
    help: 'Keys that came and keys that left',
    labelNames: ['change'],
    registers,
  })
  const age = new Gauge({
    name: 'portcullis_keys_age_seconds',
    help: 'Time since the keys in use were fetched; -1 without keys',
    registers: [],
    collect() {
      this.set(keys.status().age ?? -1)
    },
  })
  const usable = new Gauge({
    name: 'portcullis_keys_usable',
    help: '1 while there are keys that tokens can be judged by, else 0',
    registers: [],
    collect() {
      this.set(keys.status().freshness === 'empty' ? 0 : 1)
    },
  })
  register.registerMetric(age)
  register.registerMetric(usable)
  const events = new Counter({
    name: 'portcullis_revocations_events_total',
    help: 'What the replica of revocations went through, and its state then',
    labelNames: ['event', 'state'],
    registers,
  })
  if (replica !== undefined) collectReplica(register, replica)

  function countVerdict(message: unknown): void {
    const { code, reason, remembered, duration } = message as VerifyMessage // by its channel
    const labels = { code: code ?? 'accepted', reason: reason ?? 'none' }
    verdicts.inc({ ...labels, remembered: String(remembered) })
    durations.observe({ remembered: String(remembered) }, duration)
  }
  function countAttempt(message: unknown): void {
    const { trigger, outcome, added, removed } = message as KeysMessage // by its channel
    attempts.inc({ trigger, outcome })
    changes.inc({ change: 'added' }, added.length)
    changes.inc({ change: 'removed' }, removed.length)
  }
  function countEvent(message: unknown): void {
    const { event, state } = message as RevocationsMessage // by its channel
    events.inc({ event, state })
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

function collectReplica(register: Registry, replica: Pick<RedisRevocations, 'status'>): void {
  const age = new Gauge({
    name: 'portcullis_revocations_age_seconds',
    help: 'The replica lacks nothing that was revoked longer ago; -1 if it was never complete',
    registers: [],
    collect() {
      this.set(replica.status().age ?? -1)
    },
  })
  const current = new Gauge({
    name: 'portcullis_revocations_current',
    help: '1 while the replica can tell what is not revoked, else 0',
    registers: [],
    collect() {
      this.set(replica.status().state === 'current' ? 1 : 0)
    },
  })
  const entries = new Gauge({
    name: 'portcullis_revocations_entries',
    help: 'Revocations that the replica knows: at its option max it takes no more',
    registers: [],
    collect() {
      this.set(replica.status().entries)
    },
  })
  register.registerMetric(age)
  register.registerMetric(current)
  register.registerMetric(entries)
}
