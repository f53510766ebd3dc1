import { type Clock, type Instant, instant } from '../ground/time.ts'
import { LATENESS, type Place, settledWithin } from '../ground/waiting-room.ts'
import type { Attempt } from './cache-state.ts'
import { badDocument, type FetchFailure, withDeadline } from './fetch-json.ts'
import type { FetchedKeys } from './fetch-keys.ts'
import { lifetime } from './lifetime.ts'
import type { Trigger } from './pace.ts'
import type { RingDocument } from './ring.ts'
import type { RotationPolicy } from './rotation.ts'

// Attempts to fetch the keys: one at a time, each with a deadline. When one starts, `rotation.ts` decides.

/** Loads a key document, by whatever way. */
export type Load = (signal: AbortSignal) => Promise<FetchedKeys | FetchFailure>

export interface FetchedDocument extends RingDocument {
  readonly failure: undefined
}

/** What the cache asks of its attempts. */
interface Attempts {
  readonly isFetching: () => boolean
  /** Resolves when the attempt has settled, which is when the state changes. */
  readonly start: (trigger: Trigger) => Promise<void>
  /** Resolves when the attempt under way has settled, or is given up. */
  readonly join: (place?: Place) => Promise<void>
}

/** An attempt under way. */
interface Flight {
  readonly startedAt: Instant
  readonly settling: Promise<void>
}

/** @param settle Is told what an attempt has brought, unless it was given up. */
export function createAttempts(
  load: Load,
  policy: RotationPolicy,
  clock: Clock,
  settle: (attempt: Omit<Attempt, 'failure'>, outcome: FetchedDocument | FetchFailure) => void,
): Attempts {
  let flight: Flight | undefined

  /** Its own timer ends an attempt. One that goes on after that has lost its timer, and will never settle. */
  function untilGivenUp({ startedAt }: Flight): number {
    return startedAt.monotonic + policy.timeout + LATENESS - clock.monotonic()
  }

  return {
    isFetching: () => flight !== undefined && untilGivenUp(flight) > 0,
    start(trigger) {
      const startedAt = instant(clock)
      const fetchDocument = async (signal: AbortSignal) => await documentOf(load(signal), policy)
      const settling = withDeadline(clock, policy.timeout, fetchDocument).then((outcome) => {
        // Another attempt is under way: this one was given up.
        if (flight?.startedAt !== startedAt) return
        flight = undefined
        settle({ trigger, startedAt, settledAt: instant(clock) }, outcome)
      })
      flight = { startedAt, settling }
      return settling
    },
    async join(place) {
      if (flight === undefined) return
      await settledWithin(untilGivenUp(flight), flight.settling, clock, place)
    },
  }
}

/** An attempt has to settle: one that did not would be waited for and never be followed by another. */
async function documentOf(
  loading: Promise<FetchedKeys | FetchFailure>,
  policy: RotationPolicy,
): Promise<FetchedDocument | FetchFailure> {
  const answer = await loading.catch(() => badDocument('the document could not be read'))
  if (answer.failure !== undefined) return answer
  return { ...answer, maxAge: lifetime(answer.freshnessLifetime, policy) }
}
