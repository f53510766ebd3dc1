import type { Clock } from '@portcullis/kit/time'
import type { Endpoint, OutageKind, RotateOptions } from '@portcullis/testing'

// The log of the service: which events there are, and the newest of them. It holds no password and no token.

/**
 * What happened. No event has a password or a token. Of claims there is what the `detail` of a refusal shows: `iss`, `aud`,
 * `typ` and times.
 */
type Happening =
  | {
      readonly type: 'request'
      /** `undefined` for a path that the service does not have. */
      readonly endpoint: Endpoint | undefined
      /** `undefined` if the client left before an answer. */
      readonly status: number | undefined
      readonly loginId: string | undefined
      /** Who asked about an opaque token. */
      readonly clientId: string | undefined
      readonly userAgent: string | undefined
    }
  | {
      readonly type: 'rotated'
      readonly publish: NonNullable<RotateOptions['publish']>
      readonly thumbprint: string
    }
  | { readonly type: 'completed' | 'rolled back'; readonly thumbprint: string }
  | { readonly type: 'minted'; readonly kind: string | undefined }
  | { readonly type: 'fault'; readonly endpoint: Endpoint; readonly kind: OutageKind }
  | {
      readonly type: 'faults cleared'
      /** `undefined` for all. */
      readonly endpoint: Endpoint | undefined
      readonly cleared: number
    }
  | {
      readonly type: 'session ended'
      /** What the client answered to the log-out token; `undefined` for nothing. */
      readonly status: number | undefined
    }
  | ({ readonly type: 'verdict'; readonly api: string | undefined } & ReportedVerdict)
  | {
      readonly type: 'verdicts dropped'
      readonly api: string | undefined
      readonly count: number
    }

/** A verdict that an API has reported, or several that are alike. */
export type ReportedVerdict = Readonly<{
  /** Of the refusal, as `AuthError` has them; `undefined` if the token was accepted. */
  code: string | undefined
  reason: string | undefined
  detail: string | undefined
  /** Whether the token had been proven before. */
  remembered: boolean
  /** How often it came since the last report. */
  count: number
  /** The longest of them. Seconds. */
  duration: number | undefined
}>

export type LoggedEvent = Happening & {
  /** 1 for the first event of this process, then 2, and so on. */
  readonly id: number
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly time: number
}

/** The newest events, and who is told of each new one. */
export interface EventLog {
  add(happening: Happening): void
  /** The events that are kept and came after that one. */
  after(id: number): readonly LoggedEvent[]
  /** @returns A function that ends it. */
  watch(listener: (event: LoggedEvent) => void): () => void
}

/** @param max How many events are kept. */
export function createEventLog(clock: Clock, max: number): EventLog {
  const events: LoggedEvent[] = []
  const listeners = new Set<{ readonly tell: (event: LoggedEvent) => void }>()
  let last = 0

  return {
    add(happening) {
      last += 1
      const event = { ...happening, id: last, time: clock.now() }
      // Many at once, since each removal moves all that stay.
      if (events.length >= 2 * max) events.splice(0, max)
      events.push(event)
      for (const { tell } of listeners) tell(event)
    },
    after: (id) => events.slice(-max).filter((event) => event.id > id),
    watch(listener) {
      const listening = { tell: listener }
      listeners.add(listening)
      return () => {
        listeners.delete(listening)
      }
    },
  }
}

const OTHER_KEYS: ReadonlySet<OutageKind> = new Set(['stale-key', 'other-key'])

/** The fault that let the key endpoint serve other keys than the service's own, if it had not ended before the last event. */
export function otherKeysFault(events: readonly LoggedEvent[]): OutageKind | undefined {
  let kind: OutageKind | undefined
  for (const event of events) {
    if (event.type === 'faults cleared' && event.endpoint !== 'token') kind = undefined
    if (event.type === 'fault' && OTHER_KEYS.has(event.kind)) ({ kind } = event)
  }
  return kind
}
