import type { AuthErrorOptions } from '@portcullis/core'
import { shown } from '@portcullis/core/verifier'

// What refusals tell developers. Of a token they show nothing, and of an answer nothing but what kind of token it names.

type Detail = () => string

export const notActive: Detail = () =>
  'the issuer says that the token is not active: it is unknown there, has expired or was revoked'

export const notActiveLately: Detail = () =>
  'the issuer said less than 5 s ago that the token is not active'

export function otherForm(complaint: string): Detail {
  return () =>
    `the token has not the form of the option form: ${complaint}; the issuer was not asked`
}

export function otherKind(name: string, found: unknown, accepted: readonly string[]): Detail {
  const expected = accepted.join(', ')
  return () => `the ${name} of the answer is ${shown(found)}; expected ${expected}`
}

export function noKind(stated: readonly string[] | undefined): Detail {
  const members = 'token_type, token_use or typ'
  return () =>
    stated === undefined
      ? `the answer names no kind of token, by ${members}: it may be about a refresh token; to accept it, state type: null`
      : `the answer has none of the option type (${stated.join(', ')}) as ${members}`
}

export const unboundDpop: Detail = () =>
  'the answer is about a token of the type DPoP, and its cnf names no key (jkt)'

export function unavailable(
  why: string,
  retryAfter: number,
): NonNullable<AuthErrorOptions['detail']> {
  return () => ({ text: why, numbers: { nextCallIn: Math.max(0, retryAfter) } })
}

export const roomFull: Detail = () => 'too many requests wait until their token is looked up'

/** @param patience Seconds. @param bounds The options that bound the calls, in words. */
export function noTurn(patience: number, bounds: string): Detail {
  return () =>
    `after ${patience.toFixed(1)} s there was still no answer: other tokens are looked up, as many as ${bounds}`
}

export const endedWhileJudged: Detail = () =>
  'each answer was out of date before the schema and the revocations had answered: is maxAge too short?'

export const outdated: Detail = () =>
  'the answer of the issuer was too old when it came: has the machine been suspended?'
