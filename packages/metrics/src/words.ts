import type { LoginMessage } from '@portcullis/client'
import type { KeyFreshness, KeysMessage } from '@portcullis/core'
import type { EventReport } from '@portcullis/events'
import type { IntrospectionMessage } from '@portcullis/introspection'
import type { ReplaysMessage, RevocationsMessage } from '@portcullis/redis'

import { REASONS_OF } from './refusal-words.ts'

// The words that labels may have. Everybody in the process can publish on a channel, and later versions have further words: a
// word that is not in its list becomes `other`, so that labels stay few.

export interface Words {
  readonly words: Readonly<Record<string, true>>
  /** What stands for `undefined`. */
  readonly none: string
}

/** Where one of its type is missing, or one is there that the type has not, `tsc` says which. */
export interface WordsOf<in out Word extends string> extends Words {
  readonly words: Readonly<Record<Word, true>>
}

type WordsIn<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | WordsIn<Rest>
  : Text

/** The words of texts, with a space between two. */
function words<const Text extends string>(...texts: readonly Text[]): WordsOf<WordsIn<Text>> {
  const entries = texts.flatMap((text) => text.split(' ')).map((word) => [word, true])
  return { words: Object.fromEntries(entries) as Record<WordsIn<Text>, true>, none: 'none' }
}

export const OTHER = 'other'

export function wordIn({ words: known, none }: Words, word: unknown): string {
  if (word === undefined) return none
  const text = typeof word === 'boolean' ? String(word) : word
  return typeof text === 'string' && Object.hasOwn(known, text) ? text : OTHER
}

export const BOOLEANS: Words = words('true', 'false')

export const CODES: Words = words(...Object.keys(REASONS_OF))

/** Of a verdict, which need not be a refusal. */
export const VERDICT_CODES: Words = { ...CODES, none: 'accepted' }

export const REASONS: Words = words(...Object.values(REASONS_OF).flat())

/** As in the lines of `NODE_DEBUG`. A guard without a package of its own is `http`. */
export const FRAMEWORKS: Words = {
  ...words('express fastify hono http koa mcp-express mcp-fetch nest'),
  none: 'http',
}

export const TRIGGERS: WordsOf<KeysMessage['trigger']> = words('age suspicion refresh snapshot')

/** What fails is called as the refusal that it leads to. */
export const ATTEMPT_OUTCOMES: WordsOf<KeysMessage['outcome']> = words(
  'success',
  'ignored',
  ...REASONS_OF.keys_unavailable,
)

export const FRESHNESS: WordsOf<KeyFreshness> = words('fresh stale expired empty')

export const REPLICA_EVENTS: WordsOf<RevocationsMessage['event']> = words('load failure state')

export const REPLICA_STATES: WordsOf<RevocationsMessage['state']> = words(
  'loading current stale missing replaced restoring unreadable full closed',
)

export const REPLAY_REASONS: WordsOf<ReplaysMessage['reason']> = words(
  'unreachable timeout out_of_memory busy refused evicting unsupported closed',
)

export const INTROSPECTION_OUTCOMES: WordsOf<IntrospectionMessage['outcome']> = words(
  'active inactive unreachable timeout bad_answer',
)

export const EVENT_OUTCOMES: WordsOf<EventReport['outcome']> = words(
  'recorded repeated ignored refused unavailable',
)

export const EVENT_ERRORS: WordsOf<NonNullable<EventReport['error']>> = words(
  'invalid_request invalid_key invalid_issuer invalid_audience authentication_failed access_denied invalid_state',
)

export const LOGIN_KINDS: Words = {
  ...(words('login exchange') satisfies WordsOf<LoginMessage['kind']>),
  none: 'login',
}

export const LOGIN_OUTCOMES: WordsOf<LoginMessage['outcome']> = words(
  'success credentials_rejected service_unavailable timeout unexpected_response',
  'token_unusable origin_not_allowed aborted',
)
