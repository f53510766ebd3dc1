import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isHost, isTextOrTexts } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of Auth0.

/**
 * Options of `createVerifier` for access tokens of Auth0, of both profiles.
 *
 * Does NOT accept opaque tokens: those that were asked for without an audience.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles
 */
export function auth0(
  options: ProviderOptions['auth0'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { domain, audience, requiredClaims } = checkOptions('auth0', options, {
    domain: isHost('tenant.eu.auth0.com'),
    audience: isTextOrTexts,
  })
  const issuer = `https://${domain}/`
  return {
    keys: discoverKeys(issuer, keysOptions),
    issuer,
    audience,
    algorithms: ['RS256'],
    requiredClaims: claimsOf('auth0', { sub: true }, requiredClaims),
  }
}
