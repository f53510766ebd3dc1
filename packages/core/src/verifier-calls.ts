import { checksOtherIssuer, functionFailed, functionHangs, noVerifier } from './details/issuers.ts'
import type { Detail } from './details/text.ts'
import { LATENESS } from './keys/waiting-room.ts'
import { hasMethods, ownMembers } from './options.ts'
import { findOwnVerifier } from './own-verifiers.ts'
import { type Clock, type Instant, instant } from './time.ts'
import type { Verifier } from './verifier.ts'

/** The function given to `byIssuer`. */
export type FindVerifier<Member extends Verifier<unknown> = Verifier<unknown>> = (
  issuer: string,
  context: {
    /** Aborts at the deadline of the call. */
    readonly signal: AbortSignal
  },
) => Member | null | undefined | PromiseLike<Member | null | undefined>

/** What a call has come to. */
export type Answer =
  | { readonly word: 'verifier'; readonly verifier: Verifier<unknown> }
  | { readonly word: 'none' }
  | { readonly word: 'failed'; readonly failure: Failure }

/** An outage of the function, for one issuer. */
interface Failure {
  readonly reason: 'unreachable' | 'timeout'
  readonly detail: Detail
  /** What was thrown. */
  readonly cause?: unknown
}

/** A call that is under way. */
interface Call {
  readonly since: Instant
  /** Never rejects. */
  readonly answer: Promise<Answer>
}

/** Calls of the function: one at a time for an issuer, limited in number and in time. */
export interface Calls {
  /** The one under way for this issuer. */
  find(issuer: string): Call | undefined
  /**
   * Calls the function.
   *
   * @param settled Called once, before anybody who waits for the answer goes on. Not for a call that was given up.
   * @returns `undefined` if too many are under way.
   */
  start(issuer: string, settled: (answer: Answer, since: Instant) => void): Call | undefined
}

interface CallLimits {
  readonly maxCalls: number
  /** Seconds. */
  readonly timeout: number
  readonly clock: Clock
}

export function createCalls(find: FindVerifier, { maxCalls, timeout, clock }: CallLimits): Calls {
  const underWay = new Map<string, Call>()

  /** Its timer has been lost: see `LATENESS`. */
  function isLost({ since }: Call): boolean {
    return clock.monotonic() - since.monotonic > timeout + LATENESS
  }

  function findCall(issuer: string): Call | undefined {
    const call = underWay.get(issuer)
    if (call === undefined || !isLost(call)) return call
    underWay.delete(issuer)
    return undefined
  }

  function isFull(): boolean {
    if (underWay.size < maxCalls) return false
    for (const issuer of underWay.keys()) findCall(issuer)
    return underWay.size >= maxCalls
  }

  async function answerInTime(issuer: string): Promise<Answer> {
    const exit = new AbortController()
    let cancel: (() => void) | undefined
    const late = new Promise<Answer>((resolve) => {
      cancel = clock.after(timeout, () => {
        resolve(failed('timeout', functionHangs(timeout)))
        exit.abort()
      })
    })
    try {
      return await Promise.race([answerOf(find, issuer, exit.signal), late])
    } finally {
      cancel?.()
    }
  }

  return {
    find: findCall,
    start(issuer, settled) {
      if (isFull()) return undefined
      const since = instant(clock)
      const answered = answerInTime(issuer)
      const settle = async () => {
        const answer = await answered
        if (underWay.get(issuer) === call) {
          underWay.delete(issuer)
          settled(answer, since)
        }
        return answer
      }
      const call: Call = { since, answer: settle() }
      underWay.set(issuer, call)
      return call
    },
  }
}

/** Whatever the function does, it is an answer. */
async function answerOf(find: FindVerifier, issuer: string, signal: AbortSignal): Promise<Answer> {
  try {
    const answer: unknown = await find(issuer, ownMembers({ signal }))
    if (answer === undefined || answer === null) return { word: 'none' }
    if (!isVerifier(answer)) return failed('unreachable', noVerifier(answer))
    return checksIssuer(answer, issuer)
      ? { word: 'verifier', verifier: answer }
      : failed('unreachable', checksOtherIssuer)
  } catch (error) {
    return failed('unreachable', functionFailed, error)
  }
}

function failed(reason: Failure['reason'], detail: Detail, cause?: unknown): Answer {
  return { word: 'failed', failure: { reason, detail, cause } }
}

export function isVerifier(value: unknown): value is Verifier<unknown> {
  return hasMethods(value, 'verify', 'ready')
}

/** Of one that is not ours it cannot be told: what it proves is compared instead. */
export function checksIssuer(verifier: Verifier<unknown>, issuer: string): boolean {
  return findOwnVerifier(verifier)?.checksIssuer(issuer) ?? true
}
