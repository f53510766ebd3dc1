import { type Clock, systemClock } from '@portcullis/kit/time'

import type { Auth } from '../claims/auth.ts'
import { AuthError } from '../refusal/errors.ts'
import { verdictMessage, verdicts } from '../report/diagnostics.ts'
import { checkText } from '../token/token.ts'
import {
  audiencesOf,
  findInternals,
  formOf,
  type Internals,
  onlyIssuerOf,
  setInternals,
} from './internals.ts'
import { complaintOfAll } from './profile-check.ts'
import { watchInTurn } from './revocation-watch.ts'
import { LONGEST_TOKEN } from './verifier-options.ts'
import type { Verifier, VerifyOptions } from './verifier.ts'

// One verifier out of a few: what the text of a token alone says selects who judges it.

/**
 * Makes one verifier of several. Each token is judged by one of them, and never by another afterwards.
 *
 * @param verifiers All that can be selected.
 * @param select A function of the text alone, which always answers the same of the same token.
 *   It throws an `AuthError` for a token that is for none of them.
 */
export function createSelectedVerifier<ClaimsType>(
  verifiers: readonly Verifier<ClaimsType>[],
  select: (token: string) => Verifier<ClaimsType>,
  clock: Clock = systemClock,
): Verifier<ClaimsType> {
  async function verify(token: string, options?: VerifyOptions): Promise<Auth<ClaimsType>> {
    return await selected(token).verify(token, options)
  }

  /** Publishes the refusals made here. All others are published by the verifier that the token has reached. */
  function selected(token: unknown): Verifier<ClaimsType> {
    const start = clock.monotonic()
    try {
      checkText(token)
      return select(token)
    } catch (error) {
      if (error instanceof AuthError) {
        const duration = clock.monotonic() - start
        verdicts.publish(() => verdictMessage({ verifier, remembered: false, duration }, error))
      }
      throw error
    }
  }

  /** Who is selected says so alone: a text that begins as a JWT is none because another verifier would take it. */
  function mayBeToken(text: string): boolean {
    try {
      return formOf(select(text))?.(text) === true
    } catch (error) {
      if (error instanceof AuthError) return false
      throw error
    }
  }

  setInternals(verify, {
    checksIssuer: (issuer) =>
      verifiers.every((each) => findInternals(each)?.checksIssuer(issuer) === true),
    issuer: sharedIssuer(verifiers),
    audiences: audiencesOf(verifiers),
    complaintUnder: complaintOfAll(verifiers),
    maxTokenSize: Math.max(
      ...verifiers.map((each) => findInternals(each)?.maxTokenSize ?? LONGEST_TOKEN),
    ),
    recall: (token, waitUntil) => findInternals(select(token))?.recall(token, waitUntil),
    watch: (auth, listener) => watchInTurn(() => select(auth.token), auth, listener),
    mayBeToken: verifiers.some((each) => formOf(each) !== undefined) ? mayBeToken : undefined,
    selected: select,
  })
  const verifier: Verifier<ClaimsType> = {
    verify,
    async ready() {
      const outcomes = await Promise.allSettled(verifiers.map(async (each) => await each.ready()))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    },
  }
  return verifier
}

/** Of verifiers that accept whatever issuer, each may mean another one. */
function sharedIssuer(verifiers: readonly Verifier<unknown>[]): Internals['issuer'] {
  const [first, ...others] = verifiers.map(onlyIssuerOf)
  return typeof first === 'string' && others.every((each) => each === first) ? first : undefined
}
