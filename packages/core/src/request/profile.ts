import { own, ownMembers } from '@portcullis/kit/options'

import { type Profile, type ProfileName, profileNamed } from '../algorithms/profiles.ts'
import type { DpopProofs } from '../dpop/proof-check.ts'
import type { MutualTls } from '../possession/mutual-tls.ts'
import type { PresentationOptions } from '../refusal/presentation.ts'
import { complaintOf } from '../verifier/profile-check.ts'
import type { Verifier } from '../verifier/verifier.ts'

// What a profile asks of a guard: of its options and its verifier at start-up, and of how its refusals look.

/** The options of a guard that a profile has to do with. */
interface Profiled {
  readonly profile?: ProfileName | undefined
  readonly dpop?: DpopProofs | undefined
  readonly mutualTls?: MutualTls | undefined
  readonly credentials?: object | undefined
}

export function profileOf(options: Profiled): Profile | undefined {
  return profileNamed(own(options, 'profile'))
}

/** @throws TypeError for options, or a verifier, that do not keep the profile which they state. */
export function checkProfile(verifier: Verifier<unknown>, options: Profiled): void {
  const profile = profileOf(options)
  const complaint =
    profile && (optionsComplaint(options, profile) ?? complaintOf(verifier, profile))
  if (complaint === undefined) return
  // Mistake `authenticate: profile …: …`: State what the message names, or leave out `profile`. `FAPI.md` has all that it asks for.
  throw new TypeError(`authenticate: profile ${profile?.name}: ${complaint}`)
}

function optionsComplaint(options: Profiled, { algorithms }: Profile): string | undefined {
  const dpop = own(options, 'dpop')
  if (own(options, 'credentials')) return 'credentials must be left out'
  if (!dpop && !own(options, 'mutualTls')) return 'dpop or mutualTls must be stated'
  return dpop?.algorithms.some((each) => algorithms.includes(each)) === false
    ? `dpop must accept proofs with one of ${algorithms.join(', ')}`
    : undefined
}

/** Whether every token needs a DPoP proof: nothing else can show that it is bound. */
export function needsProof(options: Profiled): boolean {
  const dpop = own(options, 'dpop')
  const isAlone = own(options, 'profile') !== undefined && !own(options, 'mutualTls')
  return dpop !== undefined && (dpop.required || isAlone)
}

/** What challenges say of proofs: the algorithms that the profile leaves, and whether there is another way. */
export function shownProofs(
  options: Profiled,
  { algorithms }: Profile,
): PresentationOptions['dpop'] {
  const dpop = own(options, 'dpop')
  return (
    dpop &&
    ownMembers({
      algorithms: dpop.algorithms.filter((each) => algorithms.includes(each)),
      required: needsProof(options),
      nonce: () => dpop.nonce(),
    })
  )
}
