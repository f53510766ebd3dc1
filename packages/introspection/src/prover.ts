import { AuthError } from '@portcullis/core'
import type { ProvingCaller, TokenProver } from '@portcullis/core/verifier'
import { lend, type WaitUntil } from '@portcullis/kit/calls'
import { instant } from '@portcullis/kit/time'
import { createWaitingRoom, type WaitingRoom } from '@portcullis/kit/waiting'

import type { SignedAnswers } from './answer.ts'
import { createCalls, type Calls, type CallsOptions } from './calls.ts'
import type { CheckedOptions } from './checked-options.ts'
import {
  afterTokenFailure,
  answerState,
  type CallTimes,
  type Failure,
  isStillInactive,
  isYoung,
  mayBeOutage,
  type Outcome,
} from './decisions.ts'
import {
  endedWhileJudged,
  noTurn,
  notActive,
  notActiveLately,
  otherForm,
  outdated,
  roomFull,
  unavailable,
} from './details.ts'
import type { Endpoint } from './endpoint.ts'
import { createFormCheck } from './form.ts'
import { checkKind } from './kind.ts'
import { createMemory, type HeldAnswer, nameOf } from './memory.ts'
import { type Answer, callTimeout, failureOf, type Question } from './question.ts'

// Proves opaque tokens by what the issuer says of them: what is held, and calls for the rest. Core judges the claims.

/** @param call Asks the issuer about one token. @param random From 0 to 1, drawn for each pause. */
export function createProver(
  options: CheckedOptions,
  endpoint: Pick<Endpoint, 'locate'>,
  signed: SignedAnswers | undefined,
  call: Question,
  random: () => number,
): TokenProver<HeldAnswer> {
  const { clock, types } = options
  const timeout = callTimeout(options)
  const memory = createMemory(options.max)
  const complaintOf = createFormCheck(options.form)
  /** How many answers have come about any token: see `mayBeOutage`. */
  let answers = 0

  function settled(token: string, name: string, answer: Answer): void {
    answers += 1
    if (answer.word === 'active') memory.remember(token, name, answer.held)
    else memory.rememberInactive(token, name, answer.askedAt)
  }

  /** @returns When the token may be asked about again. */
  function tokenFailed(name: string, failure: Failure, times: CallTimes): number {
    const bad = afterTokenFailure(memory.findFailing(name), times, failure, answers, random())
    memory.rememberFailing(name, bad)
    return bad.pauseEnd
  }

  function isFree(name: string): boolean {
    return !known.calls.has(name) && !unknown.calls.has(name)
  }

  const good = () => memory.newest(clock.now(), isFree)
  const { known, unknown } = createGroups(
    { clock, timeout, random, call, settled, tokenFailed, good },
    options,
  )

  function stateOf(held: HeldAnswer, now = instant(clock)): ReturnType<typeof answerState> {
    return answerState(held, now, options)
  }

  /** Whether an answer that is too old may be used, if `staleIfError` is stated. */
  function isOutage(name: string): boolean {
    return known.calls.isDown() || mayBeOutage(memory.findFailing(name), clock.monotonic(), answers)
  }

  function inactiveLately(name: string): boolean {
    return isStillInactive(memory.findInactive(name), instant(clock), options)
  }

  async function ask(token: string, { signal, waitUntil }: ProvingCaller): Promise<HeldAnswer> {
    const name = nameOf(token)
    if (inactiveLately(name)) throw new AuthError('invalid_token', 'inactive', notActiveLately)
    const before = memory.find(token)
    const bad = memory.findFailing(name)
    const retryAfter = bad === undefined ? 0 : bad.pauseEnd - clock.monotonic()
    if (bad !== undefined && retryAfter > 0) {
      return provenBy({ failure: bad.failure, retryAfter }, name, before)
    }
    const { calls, room } = groupOf(name, before !== undefined)
    const caller = { arrived: undefined, tokenSize: token.length, signal }
    const lent = lend(waitUntil)
    try {
      const outcome = await room.wait(caller, async (place) => {
        return await calls.ask({ name, token }, place, lent.waitUntil)
      })
      return provenBy(outcome, name, before)
    } finally {
      lent.takeBack()
    }
  }

  /** What may be used of an answer that is no longer fresh. Where it is used nobody waits for the call that asks for another one. */
  function recallOld(
    token: string,
    held: HeldAnswer,
    isDue: boolean,
    waitUntil: WaitUntil | undefined,
  ): HeldAnswer | undefined {
    const { calls } = known
    const name = nameOf(token)
    if (!isDue && !isOutage(name)) return undefined
    const bad = memory.findFailing(name)
    // In an outage the endpoint has its pause, and that of the token does not count: one call at a time finds out whether it is back.
    const isPaused = bad !== undefined && clock.monotonic() < bad.pauseEnd && !calls.isDown()
    if (!isPaused && !unknown.calls.has(name)) {
      const lent = lend(waitUntil)
      calls.renew({ name, token }, lent.waitUntil)
      lent.takeBack()
    }
    return held
  }

  /** The group whose call for the token runs or waits, so that it stays the only one, also if what is held of the token has changed. */
  function groupOf(name: string, isKnown: boolean): TokenGroup {
    if (known.calls.has(name)) return known
    return isKnown && !unknown.calls.has(name) ? known : unknown
  }

  function provenBy(
    outcome: Outcome<Answer>,
    name: string,
    before: HeldAnswer | undefined,
  ): HeldAnswer {
    if (outcome.failure !== undefined) {
      const isOld = before !== undefined && stateOf(before) === 'stale'
      if (isOld && (outcome.failure.concerns === 'endpoint' || isOutage(name))) return before
      throw refusalOf(outcome.failure, outcome.retryAfter)
    }
    const { answer } = outcome
    if (answer.word === 'inactive') throw new AuthError('invalid_token', 'inactive', notActive)
    if (isYoung(answer.held, instant(clock), options)) return answer.held
    // A machine that was suspended meanwhile, or a clock that was set.
    throw new AuthError('introspection_unavailable', 'timeout', outdated)
  }

  return {
    recall(token, now, waitUntil) {
      const held = memory.find(token)
      if (held === undefined) return undefined
      const state = stateOf(held, now)
      if (state === 'fresh') return held
      return state === 'over' ? undefined : recallOld(token, held, state === 'due', waitUntil)
    },
    async prove(token, caller) {
      const complaint = complaintOf(token)
      if (complaint !== undefined) {
        throw new AuthError('invalid_token', 'malformed', otherForm(complaint))
      }
      return await ask(token, caller)
    },
    stands(token, proven) {
      const held = memory.find(token)
      // Many others may have pushed it out.
      const isContradicted = held === undefined ? inactiveLately(nameOf(token)) : held !== proven
      const isUsable = isYoung(proven, instant(clock), options) || stateOf(proven) === 'stale'
      return !isContradicted && isUsable
    },
    // Without an alphabet it is that of RFC 6750.
    mayBeToken:
      options.form.alphabet === undefined ? undefined : (text) => complaintOf(text) === undefined,
    asksIssuer: true,
    check: ({ claims }) => checkKind(claims, types),
    late: () => new AuthError('introspection_unavailable', 'timeout', endedWhileJudged),
    async ready() {
      await checkLocated(endpoint)
      await signed?.ready()
    },
  }
}

/** @throws AuthError while nobody knows where the endpoint is */
async function checkLocated(endpoint: Pick<Endpoint, 'locate'>): Promise<void> {
  try {
    await endpoint.locate()
  } catch (error) {
    const failure = failureOf(error)
    throw refusalOf(failure, failure.retryAfter ?? 0)
  }
}

/** @param retryAfter Seconds. */
function refusalOf({ reason, detail: why }: Failure, retryAfter: number): AuthError {
  const detail = unavailable(why, retryAfter)
  return new AuthError('introspection_unavailable', reason, { detail, retryAfter })
}

interface TokenGroup {
  readonly calls: Calls<Answer>
  readonly room: WaitingRoom
}

/** `known` tokens were active before. Invented ones are `unknown`, and whatever they fill, slow down or break is of that group alone. */
function createGroups(
  shared: Omit<CallsOptions<Answer>, 'maxCalls' | 'maxRate' | 'answers'>,
  { maxCalls, maxRate, maxRenewals, timeout }: CheckedOptions,
): Readonly<Record<'known' | 'unknown', TokenGroup>> {
  return {
    known: createGroup(
      { ...shared, maxCalls: maxRenewals, maxRate: Infinity, answers: 1 },
      timeout,
      'maxRenewals allows',
    ),
    unknown: createGroup(
      { ...shared, maxCalls, maxRate, answers: 0 },
      timeout,
      'maxCalls and maxRate allow',
    ),
  }
}

/** @param timeout The longest that a caller waits. Seconds. @param bounds The options that bound the calls, in words. */
function createGroup(options: CallsOptions<Answer>, timeout: number, bounds: string): TokenGroup {
  const room = createWaitingRoom(options.clock, timeout, {
    whenFull: () => busy(roomFull),
    whenLate: (patience) => busy(noTurn(patience, bounds)),
  })
  return { calls: createCalls(options), room }
}

function busy(detail: () => string): AuthError {
  return new AuthError('introspection_unavailable', 'busy', detail)
}
