import type { LoginMessage } from '@portcullis/client'
import type { KeyFreshness, KeysMessage } from '@portcullis/core'
import type { EventReport } from '@portcullis/events'
import type { IntrospectionMessage } from '@portcullis/introspection'
import type { ReplaysMessage, RevocationsMessage } from '@portcullis/redis'

import { REASONS_OF } from './refusal-words.ts'

// The words that labels may have. Everybody in the process can publish on a channel, and later versions have further words: a
// word that is not in its table becomes `other`, so that labels stay few.

/** A table has every word of its type, or else `tsc` says which are missing. */
type Table<Word extends string> = Readonly<Record<Word, true>>

const words = <Word extends string>(table: Table<Word>): ReadonlySet<string> =>
  new Set(Object.keys(table))

export const OTHER = 'other'

/** @param none What stands for `undefined`. */
export function wordIn(known: ReadonlySet<string>, word: unknown, none = 'none'): string {
  if (word === undefined) return none
  return typeof word === 'string' && known.has(word) ? word : OTHER
}

export const CODES: ReadonlySet<string> = new Set(Object.keys(REASONS_OF))

export const REASONS: ReadonlySet<string> = new Set(Object.values(REASONS_OF).flat())

/** As in the lines of `NODE_DEBUG`. A guard without a package of its own is `http`. */
export const FRAMEWORKS: ReadonlySet<string> = words<
  'express' | 'fastify' | 'hono' | 'http' | 'koa' | 'mcp-express' | 'mcp-fetch' | 'nest'
>({
  express: true,
  fastify: true,
  hono: true,
  http: true,
  koa: true,
  'mcp-express': true,
  'mcp-fetch': true,
  nest: true,
})

export const TRIGGERS: ReadonlySet<string> = words<KeysMessage['trigger']>({
  age: true,
  suspicion: true,
  refresh: true,
  snapshot: true,
})

/** What fails is called as the refusal that it leads to. */
type AttemptReason = (typeof REASONS_OF)['keys_unavailable'][number]

export const ATTEMPT_OUTCOMES: ReadonlySet<string> = new Set([
  ...words<Exclude<KeysMessage['outcome'], AttemptReason>>({ success: true, ignored: true }),
  ...REASONS_OF.keys_unavailable,
])

export const FRESHNESS: ReadonlySet<string> = words<KeyFreshness>({
  fresh: true,
  stale: true,
  expired: true,
  empty: true,
})

export const REPLICA_EVENTS: ReadonlySet<string> = words<RevocationsMessage['event']>({
  load: true,
  failure: true,
  state: true,
})

export const REPLICA_STATES: ReadonlySet<string> = words<RevocationsMessage['state']>({
  loading: true,
  current: true,
  stale: true,
  missing: true,
  replaced: true,
  unreadable: true,
  full: true,
  closed: true,
})

export const REPLAY_REASONS: ReadonlySet<string> = words<ReplaysMessage['reason']>({
  unreachable: true,
  timeout: true,
  out_of_memory: true,
  busy: true,
  refused: true,
  evicting: true,
  unsupported: true,
  closed: true,
})

export const INTROSPECTION_OUTCOMES: ReadonlySet<string> = words<IntrospectionMessage['outcome']>({
  active: true,
  inactive: true,
  unreachable: true,
  timeout: true,
  bad_answer: true,
})

export const EVENT_OUTCOMES: ReadonlySet<string> = words<EventReport['outcome']>({
  recorded: true,
  repeated: true,
  ignored: true,
  refused: true,
  unavailable: true,
})

export const EVENT_ERRORS: ReadonlySet<string> = words<NonNullable<EventReport['error']>>({
  invalid_request: true,
  invalid_key: true,
  invalid_issuer: true,
  invalid_audience: true,
  authentication_failed: true,
  access_denied: true,
})

export const LOGIN_KINDS: ReadonlySet<string> = words<LoginMessage['kind']>({
  login: true,
  exchange: true,
})

export const LOGIN_OUTCOMES: ReadonlySet<string> = words<LoginMessage['outcome']>({
  success: true,
  credentials_rejected: true,
  service_unavailable: true,
  timeout: true,
  unexpected_response: true,
  token_unusable: true,
  origin_not_allowed: true,
  aborted: true,
})
