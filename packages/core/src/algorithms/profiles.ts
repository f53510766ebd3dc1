import type { Algorithm } from './algorithms.ts'

// The security profiles that a guard can be held to: what each asks of every JWT, whoever has signed it.

export type ProfileName = 'fapi2'

export interface Profile {
  readonly name: ProfileName
  /** Of every JWT: tokens, proofs, signed answers, assertions. */
  readonly algorithms: readonly string[]
  /** How far `iat` and `nbf` of a proof may be ahead: what must be accepted, and what must not. Seconds. */
  readonly ahead: { readonly least: number; readonly most: number }
}

const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  // FAPI 2.0 Security Profile, sections 5.3.2.1 and 5.4.1. `Ed25519` is RFC 9864's name of what it calls EdDSA.
  fapi2: {
    name: 'fapi2',
    algorithms: ['PS256', 'ES256', 'EdDSA', 'Ed25519'] satisfies readonly Algorithm[],
    ahead: { least: 10, most: 60 },
  },
}

export const PROFILE_NAMES: readonly string[] = Object.keys(PROFILES)

/** @param name From an option that is checked. */
export function profileNamed(name: ProfileName | undefined): Profile | undefined {
  return name === undefined ? undefined : PROFILES[name]
}
