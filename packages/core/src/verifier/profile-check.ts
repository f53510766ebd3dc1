import { own } from '@portcullis/kit/options'

import { type Profile, profileNamed } from '../algorithms/profiles.ts'
import { findInternals } from './internals.ts'
import type { Verifier } from './verifier.ts'

// Whether a verifier keeps the profile of the guard that asks it.

/** What the options of a verifier say that a profile asks for. */
export interface KeptRules {
  /** Of all JWTs that it reads or makes; `undefined` if keys decide. */
  readonly algorithms: readonly string[] | undefined
  /** Whether it asks the issuer itself about each token, which knows expiry and revocation. */
  readonly asksIssuer: boolean
  /** Also as `null`. */
  readonly statesRevocations: boolean
  readonly requireExpiry: boolean
  readonly confirmation: 'require' | 'ignore'
}

/** What keeps it from the profile. */
export function complaintOfRules(rules: KeptRules, profile: Profile): string | undefined {
  const ofAlgorithms = complaintOfAlgorithms(rules.algorithms, profile)
  if (ofAlgorithms !== undefined) return `the verifier ${ofAlgorithms}`
  if (rules.confirmation === 'ignore') return "the verifier must not have confirmation: 'ignore'"
  if (rules.asksIssuer) return undefined
  if (!rules.requireExpiry) return 'the verifier must not have requireExpiry: false'
  return rules.statesRevocations
    ? undefined
    : 'the verifier must state revocations, or null where there are none'
}

/**
 * The same of what is no guard, such as a receiver of events.
 *
 * @param stated `undefined` if keys decide.
 * @param callers What judges the tokens of those who call it.
 */
export function complaintUnder(
  name: 'fapi2' | undefined,
  stated: readonly string[] | undefined,
  callers?: Verifier<unknown>,
): string | undefined {
  const profile = profileNamed(name)
  if (profile === undefined) return undefined
  const ofAlgorithms = complaintOfAlgorithms(stated, profile)
  if (ofAlgorithms !== undefined) return `it ${ofAlgorithms}`
  return callers && complaintOf(callers, profile)
}

function complaintOfAlgorithms(
  stated: readonly string[] | undefined,
  { algorithms }: Profile,
): string | undefined {
  const permitted = algorithms.join(', ')
  if (!stated) return `must state algorithms, of ${permitted}`
  const other = stated.find((each) => !algorithms.includes(each))
  return other === undefined ? undefined : `must not use ${other}, but ${permitted} alone`
}

/** The same of any verifier. One of which nothing is known at start-up has to state the profiles that it keeps. */
export function complaintOf(verifier: Verifier<unknown>, profile: Profile): string | undefined {
  const internal = findInternals(verifier)
  const complaint = internal && own(internal, 'complaintUnder')
  if (complaint) return complaint(profile)
  const stated: unknown = own(verifier, 'profiles')
  return Array.isArray(stated) && stated.includes(profile.name)
    ? undefined
    : `the verifier must state profiles: ['${profile.name}'], since nothing else is known of it`
}

/** Of several the first complaint, since any of them may judge a token. */
export function complaintOfAll(
  verifiers: readonly Verifier<unknown>[],
): (profile: Profile) => string | undefined {
  return (profile) =>
    verifiers.map((each) => complaintOf(each, profile)).find((each) => each !== undefined)
}
