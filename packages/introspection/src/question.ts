import type { Claims, Header } from '@portcullis/core'
import type { WaitUntil } from '@portcullis/kit/calls'
import { withDeadline } from '@portcullis/kit/http'
import { member } from '@portcullis/kit/json'
import type { Instant } from '@portcullis/kit/time'

import { readAnswer, type SignedAnswers, type Statement } from './answer.ts'
import type { CheckedOptions } from './checked-options.ts'
import { type Failure, renewalAge } from './decisions.ts'
import { publishCall } from './diagnostics.ts'
import type { Endpoint } from './endpoint.ts'
import { FailedExchange, type RawAnswer } from './exchange.ts'
import type { HeldAnswer } from './memory.ts'

// One call about one token, under a deadline: it ends with an answer or a failure in words, and is told to whoever listens.

export type Answer =
  | { readonly word: 'active'; readonly held: HeldAnswer }
  | { readonly word: 'inactive'; readonly askedAt: Instant }

interface Call {
  readonly token: string
  readonly askedAt: Instant
  readonly signal: AbortSignal
  readonly waitUntil: WaitUntil | undefined
}

/** Never rejects. @param waitUntil Of the request. */
export type Question = (
  token: string,
  askedAt: Instant,
  waitUntil?: WaitUntil,
) => Promise<Answer | Failure>

/** For the `Auth` of an opaque token, which has no signed header; that of an answer is not its own. `opaque` is no algorithm. */
const HEADER: Header = Object.freeze({ alg: 'opaque' })

/** So that an answer is no older than `maxAge` when it comes. Seconds. */
export function callTimeout({ timeout, maxAge }: CheckedOptions): number {
  return Math.min(timeout, maxAge)
}

/** @param verifier What `introspected` returns: messages name it. @param random From 0 to 1, drawn for each answer. */
export function createQuestion(
  options: CheckedOptions,
  endpoint: Endpoint,
  signed: SignedAnswers | undefined,
  verifier: () => object,
  random: () => number,
): Question {
  const { clock } = options
  const timeout = callTimeout(options)

  async function ask(
    token: string,
    askedAt: Instant,
    waitUntil: WaitUntil | undefined,
  ): Promise<Answer | Failure> {
    let concerns: Failure['concerns'] = 'endpoint'
    const sending = () => {
      concerns = 'token'
    }
    const outcome = await withDeadline(clock, timeout, async (signal) => ({
      failure: undefined,
      answer: await answerOrFailure({ token, askedAt, signal, waitUntil }, sending),
    }))
    if (outcome.failure === undefined) return outcome.answer
    const detail = `the introspection endpoint: ${outcome.detail}`
    return { reason: 'timeout', detail, concerns, retryAfter: undefined }
  }

  async function answerOrFailure(
    { token, askedAt, signal, waitUntil }: Call,
    sending: () => void,
  ): Promise<Answer | Failure> {
    let raw: RawAnswer | undefined
    try {
      // Until it is found, no token can be the reason for a failure.
      await endpoint.locate(waitUntil)
      sending()
      raw = await endpoint.ask(token, signal, waitUntil)
      const statement =
        signed === undefined
          ? readAnswer(raw)
          : await signed.read(raw, askedAt, { signal, waitUntil })
      return answerOf(statement, {
        askedAt,
        renewAt: renewalAge(options, random()),
      })
    } catch (error) {
      const failure = failureOf(error)
      if (raw?.retryAfter === undefined) return failure
      return { ...failure, concerns: 'endpoint', retryAfter: raw.retryAfter }
    }
  }

  return async (token, askedAt, waitUntil) => {
    const answer = await ask(token, askedAt, waitUntil)
    publishCall(verifier(), answer, clock.monotonic() - askedAt.monotonic)
    return answer
  }
}

function answerOf(statement: Statement, times: Pick<HeldAnswer, 'askedAt' | 'renewAt'>): Answer {
  if (statement.word === 'inactive') return { word: 'inactive', askedAt: times.askedAt }
  const { claims, size } = statement
  return { word: 'active', held: { claims, header: HEADER, size, ...times, exp: expOf(claims) } }
}

/** Whether it is a time is for the rules to say. */
function expOf(claims: Claims): number | undefined {
  const exp: unknown = member(claims, 'exp')
  return typeof exp === 'number' ? exp : undefined
}

/** What no exchange says, such as a fault of a client's key, is a call without an answer as well. */
export function failureOf(error: unknown): Failure {
  if (error instanceof FailedExchange) return error.failure
  const detail = 'the call could not be made'
  return { reason: 'unreachable', detail, concerns: 'endpoint', retryAfter: undefined }
}
