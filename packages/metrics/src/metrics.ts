import type { LoginMessage } from '@portcullis/client'
import type { KeysMessage, RefusalMessage, VerifyMessage } from '@portcullis/core'
import type { EventReport } from '@portcullis/events'
import type { IntrospectionMessage } from '@portcullis/introspection'
import type { ReplaysMessage, RevocationsMessage } from '@portcullis/redis'

import { counter, type CountedMetric, gauge, type MeasuredMetric, states, times } from './metric.ts'
import * as words from './words.ts'

// The table of all metrics: what each is called, its labels, and what a message or a status says of them. Prometheus, OpenTelemetry
// and spans read it.

// Those with a name are read by spans, too.

export const VERDICTS: CountedMetric = counter<VerifyMessage>('verdicts', 'verify', 'verifier', {
  code: words.VERDICT_CODES,
  reason: words.REASONS,
  remembered: words.BOOLEANS,
})
export const VERIFY_TIME: CountedMetric = times<VerifyMessage>('verify.duration', 'verify', '', {
  remembered: words.BOOLEANS,
})
export const KEY_ATTEMPTS: CountedMetric = counter<KeysMessage>('key.attempts', 'keys', 'source', {
  trigger: words.TRIGGERS,
  outcome: words.ATTEMPT_OUTCOMES,
})
export const INTROSPECTIONS: CountedMetric = counter<IntrospectionMessage>(
  'introspections',
  'introspection',
  'verifier',
  { outcome: words.INTROSPECTION_OUTCOMES },
)
export const LOGINS: CountedMetric = counter<LoginMessage>('logins', 'login', 'client', {
  kind: words.LOGIN_KINDS,
  outcome: words.LOGIN_OUTCOMES,
})

/** What happens. */
export const COUNTED: readonly CountedMetric[] = [
  VERDICTS,
  VERIFY_TIME,
  counter<RefusalMessage>('refusals', 'refusal', '', {
    framework: words.FRAMEWORKS,
    code: words.CODES,
    reason: words.REASONS,
  }),
  KEY_ATTEMPTS,
  {
    ...counter<KeysMessage>('key.changes', 'keys', 'source', {}),
    labels: ['source', 'change'],
    read(message, nameOf, add) {
      const { source, added, removed } = message as KeysMessage // of that channel
      add([nameOf(source), 'added'], added.length)
      add([nameOf(source), 'removed'], removed.length)
    },
  },
  INTROSPECTIONS,
  times<IntrospectionMessage>('introspection.duration', 'introspection', 'verifier', {}),
  counter<EventReport>('events', 'events', 'source', {
    outcome: words.EVENT_OUTCOMES,
    error: words.EVENT_ERRORS,
  }),
  LOGINS,
  times<LoginMessage>('login.duration', 'login', 'client', { kind: words.LOGIN_KINDS }),
  counter<ReplaysMessage>('replay.failures', 'replays', 'source', { reason: words.REPLAY_REASONS }),
  counter<RevocationsMessage>('revocations.events', 'revocations', 'source', {
    event: words.REPLICA_EVENTS,
    state: words.REPLICA_STATES,
  }),
]

/** What is so. */
export const MEASURED: readonly MeasuredMetric[] = [
  gauge('keys.age', 'keys', 'max', ({ age }) => age),
  // Keys that have become too old are still there, and prove nothing.
  gauge('keys.usable', 'keys', 'min', ({ freshness, thumbprints }) =>
    freshness === 'empty' ? 0 : thumbprints.length,
  ),
  gauge('keys.skipped', 'keys', 'max', ({ skippedKeys }) => skippedKeys),
  gauge('keys.untried', 'keys', 'max', ({ untriedKeys }) => untriedKeys),
  states('keys.freshness', 'keys', words.FRESHNESS, ({ freshness }) => freshness),
  gauge('keys.failing', 'keys', 'max', ({ lastFailure }) => (lastFailure === undefined ? 0 : 1)),
  gauge('revocations.age', 'revocations', 'max', ({ age }) => age),
  states('revocations.state', 'revocations', words.REPLICA_STATES, ({ state }) => state),
  gauge('revocations.current', 'revocations', 'min', ({ state }) => (state === 'current' ? 1 : 0)),
  gauge('revocations.entries', 'revocations', 'max', ({ entries }) => entries),
  gauge('revocations.failures', 'revocations', 'max', ({ failures }) => failures),
  gauge('event.poll.failures', 'polls', 'max', ({ failures }) => failures),
]
