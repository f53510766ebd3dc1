import type { Clock } from '@portcullis/kit/time'
import type { Endpoint } from '@portcullis/testing'

// The log of the service: which events there are, and the newest of them.

/**
 * What happened. No event has a password or a token. Of claims there is what the `detail` of a reported refusal shows: `iss`,
 * `aud`, `typ` and times.
 */
interface Happening {
  readonly type:
    | 'request'
    | 'rotated'
    | 'completed'
    | 'rolled back'
    | 'minted'
    | 'fault'
    | 'faults cleared'
    | 'session ended'
    | 'verdict'
    | 'verdicts dropped'
  /** Of a request, `undefined` for a path that the service does not have; of cleared faults, for all. */
  readonly endpoint?: Endpoint | undefined
  /** `undefined` if the client left before an answer, or if an API did not answer. */
  readonly status?: number | undefined
  readonly kind?: string | number | undefined
  readonly [name: string]: unknown
}

export interface LoggedEvent extends Happening {
  /** 1 for the first event of this process, then 2, and so on. */
  readonly id: number
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly time: number
}

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
    watch(tell) {
      const listening = { tell }
      listeners.add(listening)
      return () => {
        listeners.delete(listening)
      }
    },
  }
}

const OTHER_KEYS: ReadonlySet<unknown> = new Set(['stale-key', 'other-key'])

/** The fault that let the key endpoint serve other keys than the service's own, if it had not ended before the last event. */
export function otherKeysFault(events: readonly LoggedEvent[]): string | number | undefined {
  let kind: string | number | undefined
  for (const event of events) {
    if (event.type === 'faults cleared' && event.endpoint !== 'token') kind = undefined
    if (event.type === 'fault' && OTHER_KEYS.has(event.kind)) ({ kind } = event)
  }
  return kind
}
