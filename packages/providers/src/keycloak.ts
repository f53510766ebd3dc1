import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, isUrl } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of Keycloak.

/**
 * Options of `createVerifier` for access tokens of a realm of Keycloak that signs with RS256, the default.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://www.keycloak.org/docs/latest/server_admin/#_audience
 */
export function keycloak(
  options: ProviderOptions['keycloak'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions('keycloak', options, {
    realm: isUrl('https://kc.example.com/realms/shop'),
    audience: isTextOrTexts,
  })
  const { realm, audience, requiredClaims } = checked
  return {
    keys: discoverKeys(realm, keysOptions),
    issuer: realm,
    audience,
    algorithms: ['RS256'],
    // The claim, not the header: an ID token has `ID` there.
    requiredClaims: claimsOf('keycloak', { sub: true, typ: ['Bearer', 'DPoP'] }, requiredClaims),
  }
}
