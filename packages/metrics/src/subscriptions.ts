import type { LoginMessage } from '@portcullis/client'
import type { KeysMessage, RefusalMessage, VerifyMessage } from '@portcullis/core'
import type { EventReport } from '@portcullis/events'
import type { IntrospectionMessage } from '@portcullis/introspection'
import type { ReplaysMessage, RevocationsMessage } from '@portcullis/redis'

import { type Listener, listenTo } from './listening.ts'
import { COUNTED } from './metrics.ts'
import type { NamedSources } from './sources.ts'
import type { Recorder } from './tally.ts'
import {
  ATTEMPT_OUTCOMES,
  CODES,
  EVENT_ERRORS,
  EVENT_OUTCOMES,
  FRAMEWORKS,
  INTROSPECTION_OUTCOMES,
  LOGIN_KINDS,
  LOGIN_OUTCOMES,
  REASONS,
  REPLAY_REASONS,
  REPLICA_EVENTS,
  REPLICA_STATES,
  TRIGGERS,
  wordIn,
} from './words.ts'

// Counts what the diagnostics channels of all packages say. Of a message only words of our tables become labels.

/** Returns a function that ends it. */
export function subscribeAll(sources: NamedSources, recorder: Recorder): () => void {
  const listeners = {
    ...requestListeners(sources, recorder),
    ...exchangeListeners(sources, recorder),
  }
  return listenTo(Object.entries(listeners))
}

type Listeners = Readonly<Record<string, Listener>>

// In both, each message is that of its channel.

/** Of what comes of requests: verdicts, and what they are drawn from. */
function requestListeners({ nameOf }: NamedSources, { count, time }: Recorder): Listeners {
  return {
    'portcullis:verify'(message) {
      const { verifier, code, reason, remembered, duration } = message as VerifyMessage
      const isRemembered = remembered ? 'true' : 'false'
      count(COUNTED.verdicts, [
        nameOf(verifier),
        wordIn(CODES, code, 'accepted'),
        wordIn(REASONS, reason),
        isRemembered,
      ])
      time(COUNTED.verifyTime, [isRemembered], duration)
    },
    'portcullis:refusal'(message) {
      const { framework, code, reason } = message as RefusalMessage
      count(COUNTED.refusals, [
        wordIn(FRAMEWORKS, framework, 'http'),
        wordIn(CODES, code),
        wordIn(REASONS, reason),
      ])
    },
    'portcullis:keys'(message) {
      const { source, trigger, outcome, added, removed } = message as KeysMessage
      const name = nameOf(source)
      count(COUNTED.keyAttempts, [
        name,
        wordIn(TRIGGERS, trigger),
        wordIn(ATTEMPT_OUTCOMES, outcome),
      ])
      count(COUNTED.keyChanges, [name, 'added'], added.length)
      count(COUNTED.keyChanges, [name, 'removed'], removed.length)
    },
    'portcullis:introspection'(message) {
      const { verifier, outcome, duration } = message as IntrospectionMessage
      const name = nameOf(verifier)
      count(COUNTED.introspections, [name, wordIn(INTROSPECTION_OUTCOMES, outcome)])
      time(COUNTED.introspectionTime, [name], duration)
    },
  }
}

/** Of what a service receives, sends and shares with others, whatever requests come. */
function exchangeListeners({ nameOf }: NamedSources, { count, time }: Recorder): Listeners {
  return {
    'portcullis:events'(message) {
      const { source, outcome, error } = message as EventReport
      count(COUNTED.events, [
        nameOf(source),
        wordIn(EVENT_OUTCOMES, outcome),
        wordIn(EVENT_ERRORS, error),
      ])
    },
    'portcullis:login'(message) {
      const { client, kind, outcome, duration } = message as LoginMessage
      const values = [nameOf(client), wordIn(LOGIN_KINDS, kind, 'login')]
      count(COUNTED.logins, [...values, wordIn(LOGIN_OUTCOMES, outcome)])
      time(COUNTED.loginTime, values, duration)
    },
    'portcullis:replays'(message) {
      const { source, reason } = message as ReplaysMessage
      count(COUNTED.replayFailures, [nameOf(source), wordIn(REPLAY_REASONS, reason)])
    },
    'portcullis:revocations'(message) {
      const { source, event, state } = message as RevocationsMessage
      count(COUNTED.revocationEvents, [
        nameOf(source),
        wordIn(REPLICA_EVENTS, event),
        wordIn(REPLICA_STATES, state),
      ])
    },
  }
}
