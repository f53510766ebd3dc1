import { AuthError } from '@portcullis/core'
import {
  type Claims,
  createWaitingRoom,
  instant,
  isJsonObject,
  member,
  textMember,
  type TokenProver,
} from '@portcullis/core/verifier'

import { createLane, type Outcome } from './calls.ts'
import { answerState, isStillInactive } from './decisions.ts'
import {
  endedWhileJudged,
  noTurn,
  notActive,
  notActiveLately,
  otherForm,
  otherTokenType,
  outdated,
  roomFull,
  unavailable,
  unboundDpop,
} from './details.ts'
import type { Endpoint } from './endpoint.ts'
import { createFormCheck } from './form.ts'
import { createMemory, type HeldAnswer, nameOf } from './memory.ts'
import type { CheckedOptions } from './options.ts'
import { type Answer, callTimeout, failureOf, type Question } from './question.ts'
import type { SignedAnswers } from './signed-answer.ts'

// Proves opaque tokens by what the issuer says of them: what is held, and calls for the rest. Core judges the claims.

/** @param call Asks the issuer about one token. */
export function createProver(
  options: CheckedOptions,
  endpoint: Pick<Endpoint, 'locate'>,
  signed: SignedAnswers | undefined,
  call: Question,
): TokenProver<HeldAnswer> {
  const { clock, maxRate, types } = options
  const timeout = callTimeout(options)
  const memory = createMemory(options.max)
  const complaintOf = createFormCheck(options.form)
  const room = createWaitingRoom(clock, options.timeout, {
    whenFull: () => busy(roomFull),
    whenLate: (patience) => busy(noTurn(patience)),
  })

  function settled(token: string, name: string, answer: Answer): void {
    if (answer.word === 'active') memory.remember(token, name, answer.held)
    else memory.rememberInactive(token, name, answer.askedAt)
  }

  const shared = { clock, timeout, random: Math.random, call, settled, maxCalls: options.maxCalls }
  /** Invented tokens are all in the second: what they fill, slow down or make fail is no way of those that were active before. */
  const lanes = {
    known: createLane<Answer>({ ...shared, maxRate: Infinity }),
    unknown: createLane<Answer>({ ...shared, maxRate }),
  }

  function stateOf(held: HeldAnswer): ReturnType<typeof answerState> {
    return answerState(held, instant(clock), options)
  }

  function inactiveLately(name: string): boolean {
    const askedAt = memory.findInactive(name)
    return askedAt !== undefined && isStillInactive(askedAt, instant(clock), options)
  }

  async function ask(token: string, signal: AbortSignal | undefined): Promise<HeldAnswer> {
    const name = nameOf(token)
    if (inactiveLately(name)) throw new AuthError('invalid_token', 'inactive', notActiveLately)
    const before = memory.find(token)
    const lane = laneOf(name, before !== undefined)
    const caller = { arrived: undefined, tokenSize: token.length, signal }
    const outcome = await room.wait(caller, async (place) => await lane.ask(name, token, place))
    return provenBy(outcome, before)
  }

  /** A call for a token that is under way stays the only one, whatever has become of its answer meanwhile. */
  function laneOf(name: string, isKnown: boolean) {
    if (lanes.known.has(name)) return lanes.known
    return isKnown && !lanes.unknown.has(name) ? lanes.known : lanes.unknown
  }

  function provenBy(outcome: Outcome<Answer>, before: HeldAnswer | undefined): HeldAnswer {
    if (outcome.failure !== undefined) {
      if (before !== undefined && stateOf(before) === 'stale') return before
      const { failure, retryAfter } = outcome
      const detail = unavailable(failure.detail, retryAfter)
      throw new AuthError('introspection_unavailable', failure.reason, { detail, retryAfter })
    }
    const { answer } = outcome
    if (answer.word === 'inactive') throw new AuthError('invalid_token', 'inactive', notActive)
    // A machine that was suspended meanwhile, or a clock that was set.
    if (stateOf(answer.held) !== 'over') return answer.held
    throw new AuthError('introspection_unavailable', 'timeout', outdated)
  }

  return {
    recall(token) {
      const held = memory.find(token)
      if (held === undefined) return undefined
      const state = stateOf(held)
      if (state === 'fresh') return held
      if (state === 'over' || !lanes.known.isDown()) return undefined
      // One call at a time finds out whether the endpoint has come back. Nobody waits for it.
      lanes.known.renew(nameOf(token), token)
      return held
    },
    async prove(token, signal) {
      const complaint = complaintOf(token)
      if (complaint !== undefined) {
        throw new AuthError('invalid_token', 'malformed', otherForm(complaint))
      }
      return await ask(token, signal)
    },
    stands(token, proven) {
      const held = memory.find(token)
      // Many others may have pushed it out.
      const isContradicted = held === undefined ? inactiveLately(nameOf(token)) : held !== proven
      return !isContradicted && stateOf(proven) !== 'over'
    },
    check(claims) {
      checkTokenType(claims, types)
    },
    late: () => new AuthError('introspection_unavailable', 'timeout', endedWhileJudged),
    async ready() {
      try {
        await endpoint.locate()
      } catch (error) {
        const { reason, detail, retryAfter = 0 } = failureOf(error)
        throw new AuthError('introspection_unavailable', reason, {
          detail: unavailable(detail, retryAfter),
          retryAfter,
        })
      }
      await signed?.ready()
    },
  }
}

function busy(detail: () => string): AuthError {
  return new AuthError('introspection_unavailable', 'busy', detail)
}

/** @throws AuthError `type` or `binding` @see RFC 7662 section 2.2; RFC 9449 section 6.2 */
function checkTokenType(claims: Claims, types: readonly string[] | undefined): void {
  const found = member(claims, 'token_type')
  const type = typeof found === 'string' ? found.toLowerCase() : found
  const isAccepted =
    types === undefined
      ? type === undefined || type === 'bearer' || type === 'dpop'
      : types.some((each) => each.toLowerCase() === type)
  if (!isAccepted) throw new AuthError('invalid_token', 'type', otherTokenType(found, types))
  if (type !== 'dpop') return
  const cnf = member(claims, 'cnf')
  if (!isJsonObject(cnf) || textMember(cnf, 'jkt') === undefined) {
    throw new AuthError('invalid_token', 'binding', unboundDpop)
  }
}
