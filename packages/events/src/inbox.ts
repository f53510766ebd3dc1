import { hash } from 'node:crypto'

import type { JsonObject, RevocationEntry, RevocationWriter } from '@portcullis/core'
import { callListener } from '@portcullis/kit/report'

import { type EventMessage, publishEvent } from './diagnostics.ts'
import type { Proof, ProveEvent } from './event-verifier.ts'
import type { Limits } from './in-time.ts'
import { nameIn, type ReadEvent } from './reading.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'
import { type CallStore, createStoreCalls } from './store-calls.ts'

// Takes events in: each is proven, read and recorded, and only then remembered and acknowledged.

export type Receipt =
  | { readonly outcome: 'accepted'; readonly isRecorded: boolean }
  | { readonly outcome: 'refused'; readonly refused: RefusedEvent }
  | {
      readonly outcome: 'unavailable'
      readonly error: unknown
      /** Whose failure it is: `event` if only this one cannot be read, such as one that `mapSubject` fails for. */
      readonly failed: 'event' | 'keys' | 'store'
    }

export interface Inbox {
  /** Never rejects. @param name What the sender calls the event: its `jti` must be that. */
  take(token: string, name?: string): Promise<Receipt>
  refuse(refused: RefusedEvent): Receipt
}

export type ReadClaims = (
  claims: JsonObject,
) => ReadEvent | RefusedEvent | Promise<ReadEvent | RefusedEvent>

/** How many events are remembered. A repeat of an older one is recorded once more, which changes nothing. */
const MEMORY = 10_000

const UNKNOWN = {
  iss: undefined,
  jti: undefined,
  types: [],
  claims: undefined,
  unreadable: [],
  revokes: [],
  refused: undefined,
  error: undefined,
} as const

export interface InboxParts {
  readonly prove: ProveEvent
  /** What claims mean. When it fails, the event is not acknowledged. */
  readonly read: ReadClaims
  readonly revocations: RevocationWriter
  /** Of the calls of `revocations`. */
  readonly limits: Limits
  readonly onEvent: ((message: EventMessage) => void) | undefined
  /** What diagnostics call the source of the events. */
  readonly reportedAs: () => object
}

export function createInbox(parts: InboxParts): Inbox {
  const { prove, read, revocations, limits, onEvent, reportedAs } = parts
  const callStore = createStoreCalls(limits)
  const recorded = new Set<string>()
  const underWay = new Map<string, Promise<void>>()

  function remember(key: string): void {
    recorded.add(key)
    const [oldest] = recorded
    if (recorded.size > MEMORY && oldest !== undefined) recorded.delete(oldest)
  }

  /** The same event may come twice at once: it is recorded once, and both are answered afterwards. */
  async function record(
    key: string,
    revokes: readonly RevocationEntry[],
  ): Promise<'recorded' | 'repeated'> {
    if (recorded.has(key)) return 'repeated'
    const others = underWay.get(key)
    if (others !== undefined) {
      await others
      return 'repeated'
    }
    const work = recordAll(revocations, revokes, callStore)
    underWay.set(key, work)
    try {
      await work
      remember(key)
      return 'recorded'
    } finally {
      underWay.delete(key)
    }
  }

  function tell(outcome: EventMessage['outcome'], about: Partial<EventMessage>): void {
    publishEvent(reportedAs, outcome, about.refused)
    void callListener('onEvent', () => onEvent?.({ ...UNKNOWN, ...about, outcome }))
  }

  function refuse(refused: RefusedEvent, about: Partial<EventMessage>): Receipt {
    tell('refused', { ...about, refused })
    return { outcome: 'refused', refused }
  }

  function fail(
    failed: 'event' | 'keys' | 'store',
    error: unknown,
    about: Partial<EventMessage>,
  ): Receipt {
    tell('unavailable', { ...about, error })
    return { outcome: 'unavailable', error, failed }
  }

  async function takeProven(claims: JsonObject, name: string | undefined): Promise<Receipt> {
    const named = { claims, iss: nameIn(claims, 'iss'), jti: nameIn(claims, 'jti') }
    let event: ReadEvent | RefusedEvent
    try {
      event = await read(claims)
    } catch (error) {
      return fail('event', error, named)
    }
    if (event.err !== undefined) return refuse(event, named)
    const { iss, jti, types, unreadable, revokes } = event
    if (name !== undefined && name !== jti) {
      return refuse(invalidEvent('The token has another jti than its name'), named)
    }
    const about = { claims, iss, jti, types, unreadable, revokes }
    if (revokes.length === 0) {
      tell('ignored', about)
      return { outcome: 'accepted', isRecorded: false }
    }
    // With what it revokes: an issuer may give two events the same `jti`, and the second must not pass for a repetition of the first.
    const key = hash('sha256', JSON.stringify([iss, jti, revokes]), 'base64')
    try {
      const outcome = await record(key, revokes)
      tell(outcome, about)
      return { outcome: 'accepted', isRecorded: outcome === 'recorded' }
    } catch (error) {
      return fail('store', error, about)
    }
  }

  return {
    async take(token, name) {
      try {
        const { claims, refused, failure }: Proof = await prove(token)
        if (claims !== undefined) return await takeProven(claims, name)
        return refused === undefined
          ? fail('keys', failure, {})
          : refuse(refused, { error: failure })
      } catch (error) {
        return fail('keys', error, {})
      }
    },
    refuse: (refused) => refuse(refused, {}),
  }
}

/** One after another: if one of them fails, the event is repeated, and what was recorded before is recorded again. */
async function recordAll(
  revocations: RevocationWriter,
  revokes: readonly RevocationEntry[],
  callStore: CallStore,
): Promise<void> {
  for (const entry of revokes) {
    if (entry.type === 'token') {
      const { iss, jti, exp } = entry
      await callStore(() => revocations.revoke({ iss, jti, exp }))
    } else if (entry.type === 'issued_before') {
      const { type: _type, time, until, ...whose } = entry
      await callStore(() => revocations.revokeBefore(whose, { time, until }))
    }
  }
}
