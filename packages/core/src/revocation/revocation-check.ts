import { hasMethods, isFunction } from '@portcullis/kit/options'
import { callListener, warn } from '@portcullis/kit/report'
import type { Clock } from '@portcullis/kit/time'
import { answerInTime, PATIENCE } from '@portcullis/kit/waiting'

import type { Auth, Claims } from '../claims/auth.ts'
import { AuthError } from '../refusal/errors.ts'
import type { Detail } from '../refusal/text.ts'
import {
  failedRevocations,
  lateRevocations,
  revokedToken,
  staleRevocations,
  strangeRevocations,
} from './details.ts'
import type { Revocations } from './revocations.ts'
import { createDigests } from './token-digest.ts'

// How a verifier asks revocations of whatever origin. Only the answer `valid` lets a token through; it waits a second at most.

type AskedAbout = Pick<Auth, 'claims' | 'token'>

/** What a verifier asks of its revocations. Times are seconds since 1970-01-01T00:00:00Z. */
export interface RevocationCheck {
  /** Whether the source says at once that a token is valid. If it does not, {@link check} has to be asked. */
  isValidNow(asked: AskedAbout, now: number): boolean
  /** Step 7. A promise if the source takes its time: all else may change. @throws AuthError `revoked`, `stale`; the signal's reason. */
  check(asked: AskedAbout, now: number, signal: AbortSignal | undefined): Promise<void> | undefined
  /** @throws AuthError `stale` if the source will not be ready */
  ready(): Promise<void>
  subscribe(listener: () => void): () => void
}

/** How long `ready` waits for a source, in seconds: it may read a million entries first. Whoever asks again waits anew. */
const START_UP_PATIENCE = 30

/** @param clock What waits are measured with. */
export function createRevocationCheck(source: Revocations, clock: Clock): RevocationCheck {
  // Read once: what somebody puts on `Object.prototype` later is not the source's.
  const [hasReady, hasSubscribe] = [hasMethods(source, 'ready'), hasMethods(source, 'subscribe')]
  const hasWhy = hasMethods(source, 'whyUnknown')
  const why = () => (hasWhy ? reasonOf(source) : undefined)
  /** Then it is not asked in vain by those who cannot wait. */
  let takesItsTime = false
  const digestOf = createDigests()

  /** The only place that asks. */
  function ask({ claims, token }: AskedAbout, now: number): unknown {
    return source.statusOf(claims, now, digestOf(token, claims))
  }

  function answerOf(asked: AskedAbout, now: number): unknown {
    try {
      return ask(asked, now)
    } catch (cause) {
      throw unavailable(failedRevocations(), cause)
    }
  }

  return {
    isValidNow(asked, now) {
      if (takesItsTime) return false
      try {
        const answer = ask(asked, now)
        if (isObject(answer)) {
          takesItsTime = true
          ignore(answer)
        }
        return answer === 'valid'
      } catch {
        // `check` meets the same fault, and says so.
      }
      return false
    },
    check(asked, now, signal) {
      const { claims } = asked
      const answer = answerOf(asked, now)
      if (!isObject(answer)) {
        checkAnswer(answer, claims, why)
        return undefined
      }
      takesItsTime = true
      return (async () => {
        checkAnswer(await answerInTime(awaited(answer), { clock, signal, late }), claims, why)
      })()
    },
    async ready() {
      try {
        if (!hasReady) return
        const readiness = Promise.resolve(source.ready?.())
        await answerInTime(readiness, {
          clock,
          signal: undefined,
          late: () => unavailable(lateRevocations(START_UP_PATIENCE)),
          patience: START_UP_PATIENCE,
        })
      } catch (cause) {
        throw cause instanceof AuthError ? cause : unavailable(failedRevocations(why()), cause)
      }
    },
    subscribe(listener) {
      const end = hasSubscribe ? warningOfFaults(() => source.subscribe?.(listener)) : undefined
      return () => {
        // A source without types may have returned nothing.
        if (end !== undefined && isFunction(end) === undefined) warningOfFaults(end)
      }
    },
  }
}

/** Of anything that can be awaited. Its own failure counts, and none of it stays unhandled. */
async function awaited(answer: unknown): Promise<unknown> {
  try {
    return await answer
  } catch (cause) {
    throw unavailable(failedRevocations(), cause)
  }
}

function ignore(answer: object): void {
  awaited(answer).catch(() => {
    // It is asked again by whoever can wait.
  })
}

/** In warnings. */
const SUBSCRIPTION = 'a subscription to revocations'

/** For calls whose failure must not end a connection, let alone the process: connections are judged by the timer as well. */
function warningOfFaults<Result>(call: () => Result): Result | undefined {
  try {
    const answer = call()
    if (isObject(answer)) void callListener(SUBSCRIPTION, () => answer)
    return answer
  } catch (fault) {
    warn(SUBSCRIPTION, fault)
  }
  return undefined
}

function late(): AuthError {
  return unavailable(lateRevocations(PATIENCE))
}

function reasonOf(source: Revocations): string | undefined {
  try {
    const why: unknown = source.whyUnknown?.()
    if (typeof why === 'string' && why !== '') return why
    if (isObject(why)) ignore(why)
  } catch {
    // The refusal is the same without.
  }
  return undefined
}

/** Only the very word lets a token through. @param why Asked only where the source does not know. */
function checkAnswer(answer: unknown, claims: Claims, why: () => string | undefined): void {
  if (answer === 'valid') return
  if (answer === 'revoked') throw new AuthError('invalid_token', 'revoked', revokedToken(claims))
  throw unavailable(answer === 'unknown' ? staleRevocations(why()) : strangeRevocations(answer))
}

function unavailable(detail: Detail, cause?: unknown): AuthError {
  return new AuthError('revocation_unavailable', 'stale', { detail, cause })
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
