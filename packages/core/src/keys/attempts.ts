import { beginFlight, type Flight, type WaitUntil } from '@portcullis/kit/calls'
import { badDocument, type FetchFailure, withDeadline } from '@portcullis/kit/http'
import { type Clock, type Instant, instant } from '@portcullis/kit/time'
import { type Place, settledWithin } from '@portcullis/kit/waiting'

import type { Attempt } from './cache-state.ts'
import type { FetchedKeys } from './fetch-keys.ts'
import { lifetime } from './lifetime.ts'
import type { Trigger } from './pace.ts'
import type { RingDocument } from './ring.ts'
import type { RotationPolicy } from './rotation.ts'

// Attempts to fetch the keys: one at a time, each with a deadline. When one starts, `rotation.ts` decides.

export type Load = (signal: AbortSignal) => Promise<FetchedKeys | FetchFailure>

export interface FetchedDocument extends RingDocument {
  readonly failure: undefined
}

export interface Attempts {
  readonly isFetching: () => boolean
  /** Starts an attempt. @param waitUntil Of the request that starts it. */
  readonly start: (trigger: Trigger, waitUntil: WaitUntil | undefined) => void
  /** Resolves when the attempt under way has settled, which is when the state changes, or is given up. */
  readonly join: (place?: Place) => Promise<void>
  /** Gives up an attempt that whoever must wait does not join: it may have ended with its request. */
  readonly giveUpOrphan: () => void
}

export interface Settling {
  /** Is told what an attempt has brought, unless it was given up. */
  readonly settle: (
    attempt: Omit<Attempt, 'failure'>,
    outcome: FetchedDocument | FetchFailure,
  ) => void
  /** Is told of one that was given up as an orphan. */
  readonly lose: (attempt: Pick<Attempt, 'trigger' | 'startedAt'>) => void
}

interface UnderWay {
  readonly trigger: Trigger
  readonly startedAt: Instant
  readonly flight: Flight<void>
}

/** @param endsWithRequest Of the runtime; by default it is asked. */
export function createAttempts(
  load: Load,
  policy: RotationPolicy,
  clock: Clock,
  { settle, lose }: Settling,
  endsWithRequest?: boolean,
): Attempts {
  let underWay: UnderWay | undefined

  async function fetchDocument(signal: AbortSignal): Promise<FetchedDocument | FetchFailure> {
    return await documentOf(load(signal), policy)
  }

  return {
    isFetching: () => (underWay?.flight.untilGivenUp() ?? 0) > 0,
    start(trigger, waitUntil) {
      const startedAt = instant(clock)
      const work = async () => {
        const outcome = await withDeadline(clock, policy.timeout, fetchDocument)
        // This one was given up, or another has taken its place.
        if (underWay?.startedAt !== startedAt) return
        underWay = undefined
        try {
          settle({ trigger, startedAt, settledAt: instant(clock) }, outcome)
        } catch (fault) {
          // Whatever it is, the next attempt must not begin at once.
          lose({ trigger, startedAt })
          throw fault
        }
      }
      underWay = {
        trigger,
        startedAt,
        flight: beginFlight(work, { clock, timeout: policy.timeout, waitUntil, endsWithRequest }),
      }
    },
    async join(place) {
      if (underWay === undefined) return
      const { flight } = underWay
      await settledWithin(flight.untilGivenUp(), flight.wait(place), clock, place)
    },
    giveUpOrphan() {
      if (underWay?.flight.isOrphaned() !== true) return
      const { trigger, startedAt } = underWay
      underWay = undefined
      lose({ trigger, startedAt })
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
