import { type Calls, createCalls as createSharedCalls } from '@portcullis/kit/calls'
import { hasMethods, ownMembers } from '@portcullis/kit/options'
import { type Clock, type Instant } from '@portcullis/kit/time'

import type { Detail } from '../refusal/text.ts'
import { checkOurVerifier, findInternals } from '../verifier/internals.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { checksOtherIssuer, functionFailed, functionHangs, noVerifier } from './details.ts'

// Calls of the function that a user has given to `byIssuer`: one at a time for each issuer, limited in number and in time. After a
// failure nothing is paced here: it is an outage of one issuer, which the memory of issuers leaves alone.

/** The function given to `byIssuer`. */
export type FindVerifier<Member extends Verifier<unknown> = Verifier<unknown>> = (
  issuer: string,
  context: {
    /** Aborts at the deadline of the call. */
    readonly signal: AbortSignal
  },
) => Member | null | undefined | PromiseLike<Member | null | undefined>

export type Answer =
  | ({ readonly word: 'verifier' } & Found)
  | { readonly word: 'none' }
  | { readonly word: 'failed'; readonly failure: Failure }

export interface Found {
  readonly verifier: Verifier<unknown>
  /** When the function was called for it. */
  readonly since: Instant
}

interface Failure {
  readonly reason: 'unreachable' | 'timeout'
  readonly detail: Detail
  readonly cause?: unknown
}

export interface NamedIssuer {
  readonly name: string
}

export interface CallLimits {
  readonly maxCalls: number
  /** Seconds. */
  readonly timeout: number
  readonly clock: Clock
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

/** @param settled Is told of each answer that came in time, before anybody who waits for it goes on. */
export function createCalls(
  find: FindVerifier,
  { maxCalls, timeout, clock, endsWithRequest }: CallLimits,
  settled: (issuer: string, answer: Answer, since: Instant) => void,
): Calls<NamedIssuer, Answer> {
  const late = () => failed('timeout', functionHangs(timeout))

  async function answerInTime(issuer: string, since: Instant): Promise<Answer> {
    const exit = new AbortController()
    let cancel: (() => void) | undefined
    const end = new Promise<Answer>((resolve) => {
      cancel = clock.after(timeout, () => {
        resolve(late())
        exit.abort()
      })
    })
    try {
      return await Promise.race([answerOf(find, issuer, since, exit.signal), end])
    } finally {
      cancel?.()
    }
  }

  return createSharedCalls<NamedIssuer, Answer, Answer>({
    clock,
    timeout,
    endsWithRequest,
    // What the user has stated bounds calls that hang as well: they may all wait for one database.
    step: ({ since }) =>
      since.length < maxCalls ? { word: 'begin' } : { word: 'full', seconds: Infinity },
    call: async ({ name }, { startedAt }) => await answerInTime(name, startedAt),
    settled(issuer, answer, { startedAt }) {
      settled(issuer.name, answer, startedAt)
      return answer
    },
    givenUp: late,
  })
}

/** Whatever the function does, it is an answer. */
async function answerOf(
  find: FindVerifier,
  issuer: string,
  since: Instant,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const answer: unknown = await find(issuer, ownMembers({ signal }))
    if (answer === undefined || answer === null) return { word: 'none' }
    if (!isVerifier(answer)) return failed('unreachable', noVerifier(answer))
    checkOurVerifier('byIssuer', 'the answer of the function', answer)
    if (checksIssuer(answer, issuer)) return { word: 'verifier', verifier: answer, since }
    // A stranger has chosen the `iss`: a tenant that is not accepted, or none at all.
    if (findInternals(answer)?.hasTemplate === true) return { word: 'none' }
    return failed('unreachable', checksOtherIssuer)
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
  return findInternals(verifier)?.checksIssuer(issuer) ?? true
}
