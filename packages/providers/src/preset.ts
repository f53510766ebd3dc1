import type { RemoteKeys, RequiredClaimValue, VerifierOptions } from '@portcullis/core'

import type { ProviderOptions } from './provider-options.ts'

// What every provider takes and returns.

/** Options of `createVerifier`. They are plain: spread them to add others. */
export interface Preset extends VerifierOptions {
  /** Fetches the keys of the provider. Nothing is fetched before the first use. */
  keys: RemoteKeys
}

type Claims = Readonly<Record<string, RequiredClaimValue>>

/** With the claims that the caller adds, and the keys that it has. @throws TypeError for one that the provider requires already. */
export function preset(
  provider: string,
  { requiredClaims: further, keys: stated }: ProviderOptions['every'],
  own: Omit<Preset, 'requiredClaims'> & { readonly requiredClaims: Claims },
): Preset {
  const { requiredClaims, keys, ...others } = own
  const twice = Object.keys(further ?? {}).find((name) => Object.hasOwn(requiredClaims, name))
  if (twice !== undefined) {
    throw new TypeError(
      `${provider}: requiredClaims must not have ${JSON.stringify(twice)}: ${provider} requires it already`,
    )
  }
  return { ...others, keys: stated ?? keys, requiredClaims: { ...requiredClaims, ...further } }
}
