import type { RemoteKeys, RequiredValue, VerifierOptions } from '@portcullis/core'

// What every provider takes and returns.

/** Options of `createVerifier`. They are plain: spread them to add others. */
export interface Preset extends VerifierOptions {
  /** Fetches the keys of the provider. Nothing is fetched before the first use. */
  keys: RemoteKeys
}

/** The claims of the provider, and those that the caller adds. @throws TypeError for a claim that the provider requires already. */
export function claimsOf(
  provider: string,
  own: Readonly<Record<string, RequiredValue>>,
  further: Readonly<Record<string, RequiredValue>> = {},
): Readonly<Record<string, RequiredValue>> {
  const twice = Object.keys(further).find((name) => Object.hasOwn(own, name))
  if (twice !== undefined) {
    throw new TypeError(
      `${provider}: requiredClaims must not have ${JSON.stringify(twice)}: ${provider} requires it already`,
    )
  }
  return { ...own, ...further }
}
