import { type Detail, kindOf, listed } from '../refusal/text.ts'

// What refusals of bound tokens tell developers. Thumbprints are shown to nobody: they would tell users apart in logs.

/** A way to say what a token is bound to, by its name in a `Possession`. RFC 7800 section 6.2. */
export type ConfirmationMethod = 'jkt' | 'x5tS256'

const HOLDERS: Readonly<
  Record<ConfirmationMethod, { name: string; bound: string; means: string; hint: string }>
> = {
  jkt: {
    name: 'cnf.jkt',
    bound: 'a key',
    means: 'a DPoP proof',
    hint: 'a stolen token, a client that sends it as Bearer, or a guard without the option dpop',
  },
  x5tS256: {
    name: 'cnf["x5t#S256"]',
    bound: 'a client certificate',
    means: 'a client certificate',
    hint: 'a stolen token, a client that shows none, or a guard without the option mutualTls',
  },
}

export const unboundToken: Detail = () =>
  'the token came with a DPoP proof, and is bound to no such key: it has no cnf.jkt; did the client ask its issuer without a proof?'

export function notProvenHere(method: ConfirmationMethod): Detail {
  const { name, bound, means, hint } = HOLDERS[method]
  return () => `the token is bound to ${bound} (${name}), and came without ${means}: ${hint}`
}

export function notProven(method: ConfirmationMethod): Detail {
  const { name, bound, means } = HOLDERS[method]
  const other = method === 'jkt' ? `${means} of another key` : `another one`
  return () => `the token is bound to ${bound} (${name}), and came with ${other}`
}

/** @param unprovable Those that cannot be confirmed, and are not ignored. */
export function unreadableConfirmation(
  cnf: unknown,
  known: readonly string[],
  unprovable: ReadonlySet<string>,
): Detail {
  const wanted = `known are ${known.join(' and ')}`
  if (typeof cnf !== 'object' || cnf === null || Array.isArray(cnf)) {
    const kind = kindOf(cnf)
    return () => `cnf is ${kind}; it must be an object whose members say what the token is bound to`
  }
  const members = Object.entries(cnf)
  if (members.length === 0) return () => `cnf is an empty object; ${wanted}`
  const names = members.map(([name]) => name)
  const isAnyKnown = names.some((name) => known.includes(name))
  const strange = names.filter((name) => !isAnyKnown || unprovable.has(name))
  if (strange.length > 0) {
    return () => `cnf binds the token by ${listed(strange)}, which cannot be confirmed; ${wanted}`
  }
  const wrong = members.filter(
    ([name, value]) => known.includes(name) && (typeof value !== 'string' || value === ''),
  )
  const wrongNames = wrong.map(([name]) => name)
  return () => `cnf has ${listed(wrongNames)}, which must be a string that is not empty`
}

export const repeatedConfirmation: Detail = () =>
  'the token has cnf, and an object in its claims has a member twice: another reader could take the other one for what the token is bound to'

export function notBound(method: ConfirmationMethod): Detail {
  const { bound } = HOLDERS[method]
  return () =>
    `the guard takes tokens alone that are bound to ${bound} (required), and this one is not`
}

export const withoutProof: Detail = () =>
  'the guard takes tokens alone that come with a DPoP proof (required, or profile), under the scheme DPoP'

export function boundToNothing(profile: string): Detail {
  return () => `the guard takes bound tokens alone (profile ${profile}), and this one is not`
}

export const checkedNothing: Detail = () =>
  'the option dpop has proven no key: it must be what dpopProofs() returns'

export const lostPossession: Detail = () =>
  'verify has accepted the token without saying in possession that its binding holds: does a wrapper of verify drop its options, or is confirmation ignore?'
