import { type Detail, duration, kindOf, listed } from '../refusal/text.ts'

// What refusals of `byIssuer` tell developers. The issuer that an unproven token names is in none of them.

export const unknownIssuer: Detail = () =>
  'the token names no issuer that byIssuer has a verifier for, or its payload cannot be read; an unproven iss is not shown'

export const functionFailed: Detail = () =>
  'the function given to byIssuer threw or rejected; what it threw is the cause of this error'

export function functionHangs(timeout: number): Detail {
  return () => `the function given to byIssuer did not answer in ${duration(timeout)}`
}

export function noAnswer(patience: number): Detail {
  return () =>
    `no answer of the function given to byIssuer came while the token waited for ${duration(patience)}; at most maxCalls calls are under way at once`
}

export const tooManyTokens: Detail = () =>
  'too many tokens wait for the function given to byIssuer, so that this one could not wait as well'

export const alwaysReplaced: Detail = () =>
  'each time that the token was judged, the verifier of its issuer had been replaced or had outlived maxAge; does the function given to byIssuer make a new one at each call?'

export function noVerifier(answer: unknown): Detail {
  const kind = kindOf(answer)
  return () =>
    `the function given to byIssuer answered ${kind}; expected a verifier, or undefined for none`
}

export const checksOtherIssuer: Detail = () =>
  'the function given to byIssuer answered a verifier whose issuer option does not contain the issuer that it was called with'

/** @param iss Of proven claims, or of what a schema has made of them; `undefined` if they have none. */
export function provenIssuer(iss: unknown, selected: string): Detail {
  const wanted = `expected ${listed([selected])}, by which byIssuer chose the verifier`
  return () =>
    iss === undefined
      ? `the claims have no iss; ${wanted}: does a schema leave it out?`
      : `iss is ${listed([iss])}; ${wanted}`
}
