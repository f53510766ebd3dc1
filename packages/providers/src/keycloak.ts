import { discoverKeys, remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, isUrl } from './options.ts'
import { preset, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of Keycloak, whose public address and the one inside of a network may differ.

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
  const isRealm = isUrl('https://kc.example.com/realms/shop')
  const checked = checkOptions(
    'keycloak',
    options,
    { realm: isRealm, audience: isTextOrTexts },
    { internalRealm: isRealm },
  )
  const { realm, internalRealm, audience, requiredClaims, keys } = checked
  return preset(
    'keycloak',
    { requiredClaims, keys },
    {
      // The metadata at the internal address may name the public one.
      keys:
        internalRealm === undefined
          ? discoverKeys(realm, keysOptions)
          : remoteKeys(`${internalRealm}/protocol/openid-connect/certs`, keysOptions),
      issuer: realm,
      audience,
      algorithms: ['RS256'],
      // The claim, not the header: an ID token has `ID` there.
      requiredClaims: { sub: true, typ: ['Bearer', 'DPoP'] },
    },
  )
}
