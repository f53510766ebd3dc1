import type { Auth, Verifier } from '@portcullis/core'
import { ownerOf, proverOf, type TokenOwner } from '@portcullis/core/adapter'
import { warn } from '@portcullis/kit/report'

import type { CheckedOptions } from './checked-options.ts'

// Whose the token of a request is: as core says it, or the function of the user's.

export function createOwners(
  verifier: Verifier<unknown>,
  { clientIdClaims, owner }: Pick<CheckedOptions, 'clientIdClaims' | 'owner'>,
): (auth: Auth<unknown>) => TokenOwner {
  /** Verifiers that have proven a token without `iss`: it is known by them. */
  const numbers = new WeakMap<object, number>()
  let last = 0

  function numberOf(prover: object): number {
    const number = numbers.get(prover) ?? ++last
    numbers.set(prover, number)
    return number
  }

  return (auth) => {
    const proven = proverOf(verifier, auth.token)
    const prover = typeof proven === 'string' ? proven : numberOf(proven)
    const rules = { clientIdClaims, prover }
    return ownerOf(auth, owner === undefined ? rules : { ...rules, stated: answerOf(owner, auth) })
  }
}

/** Whatever goes wrong makes the owner this very token: so the session goes on until the token is renewed, and is nobody else's. */
function answerOf(owner: (auth: Auth<unknown>) => string, auth: Auth<unknown>): unknown {
  try {
    const answer: unknown = owner(auth)
    if (typeof answer === 'string' && answer !== '') return answer
    process.emitWarning('owner must return a text that is not empty, and has not')
    // Nobody waits for a promise, which may reject.
    void Promise.resolve(answer).catch(() => {})
  } catch (fault) {
    warn('owner', fault)
  }
  return undefined
}
