import type { Calls, WaitUntil } from '@portcullis/kit/calls'
import {
  createWaitingRoom,
  type Place,
  type WaitingRefusals,
  type WaitingRoom,
} from '@portcullis/kit/waiting'

import { AuthError } from '../refusal/errors.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { noAnswer, tooManyTokens } from './details.ts'
import {
  type Answer,
  type CallLimits,
  createCalls,
  type FindVerifier,
  type Found,
  type NamedIssuer,
} from './function-calls.ts'
import { createIssuerMemory, type MemoryLimits, type Standing } from './issuer-memory.ts'

// Issuer -> verifier: of an object, or of a function. Here it is decided when the function is called, and who waits for it.

export interface IssuerDirectory {
  /** The verifier at this moment, or `undefined` if the caller has to {@link wait}. May start a call. */
  find(issuer: string, waitUntil?: WaitUntil): Found | undefined
  /** `undefined` if there is none. @throws AuthError `keys_unavailable`; the signal's reason when the caller gives up. */
  wait(issuer: string, caller: Waiting): Promise<Found | undefined>
  /** Is told that a verifier would accept a token of the issuer, and answers whether it is still the issuer's. */
  confirm(issuer: string, found: Found): boolean
}

interface Waiting {
  readonly tokenSize: number
  readonly signal: AbortSignal | undefined
  readonly waitUntil: WaitUntil | undefined
}

/** What tokens are refused with that no answer of the function reaches in time. */
const WITHOUT_ANSWER: WaitingRefusals = {
  whenFull: () => new AuthError('keys_unavailable', 'timeout', tooManyTokens),
  whenLate: (patience) => new AuthError('keys_unavailable', 'timeout', noAnswer(patience)),
}

interface Pool {
  readonly calls: Calls<NamedIssuer, Answer>
  readonly room: WaitingRoom
}

/** The verifiers of an object: they are there from the start, and stay. */
export function listedVerifiers(
  verifiers: ReadonlyMap<string, Verifier<unknown>>,
): IssuerDirectory {
  const since = { wall: 0, monotonic: 0 }
  const found = new Map([...verifiers].map(([issuer, verifier]) => [issuer, { verifier, since }]))
  return {
    find: (issuer) => found.get(issuer),
    wait: async () => undefined,
    confirm: () => true,
  }
}

/** The verifiers that a function finds: bounded in number and in age. */
export function foundVerifiers(
  find: FindVerifier,
  limits: CallLimits & MemoryLimits,
): IssuerDirectory {
  const memory = createIssuerMemory(limits)
  // Two limits and two rooms, so that issuers which nobody knows never stand in the way of those that are known.
  const [unknownIssuers, knownIssuers] = [createPool(), createPool()]

  function createPool(): Pool {
    const calls = createCalls(find, limits, (...kept) => {
      memory.keep(...kept)
    })
    const room = createWaitingRoom(limits.clock, limits.timeout, WITHOUT_ANSWER)
    return { calls, room }
  }

  /** An issuer may have been pushed out while it was called for: that call is the one. */
  function poolFor(issuer: string, { word }: Standing): Pool {
    if (knownIssuers.calls.has(issuer)) return knownIssuers
    return unknownIssuers.calls.has(issuer) || word === 'unknown' ? unknownIssuers : knownIssuers
  }

  return {
    find(issuer, waitUntil) {
      const standing = memory.standing(issuer)
      if (standing.word === 'due') {
        poolFor(issuer, standing).calls.renew({ name: issuer }, waitUntil)
      }
      return standing.word === 'current' || standing.word === 'due' ? standing.found : undefined
    },
    async wait(issuer, caller) {
      const standing = memory.standing(issuer)
      if (standing.word === 'absent') return foundIn(standing.answer)
      const { calls, room } = poolFor(issuer, standing)
      const ask = async (place: Place) => await calls.ask({ name: issuer }, place, caller.waitUntil)
      return foundIn(await room.wait({ arrived: undefined, ...caller }, ask))
    },
    confirm: (issuer, found) => memory.confirm(issuer, found),
  }
}

/** @throws AuthError `keys_unavailable`: a new one for each caller, since its headers can be changed. */
function foundIn(answer: Answer): Found | undefined {
  if (answer.word !== 'failed') return answer.word === 'none' ? undefined : answer
  const { reason, ...options } = answer.failure
  throw new AuthError('keys_unavailable', reason, options)
}
