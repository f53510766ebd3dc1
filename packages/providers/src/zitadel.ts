import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, isUrl } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of ZITADEL.

/**
 * Options of `createVerifier` for access tokens of ZITADEL of the type JWT.
 *
 * Does NOT accept opaque tokens, which are the default of ZITADEL.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://zitadel.com/docs/apis/openidoauth/claims
 */
export function zitadel(
  options: ProviderOptions['zitadel'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { issuer, audience, requiredClaims } = checkOptions('zitadel', options, {
    issuer: isUrl('https://example.zitadel.cloud'),
    audience: isTextOrTexts,
  })
  return {
    keys: discoverKeys(issuer, keysOptions),
    issuer,
    audience,
    algorithms: ['RS256'],
    // An ID token has the same audience, but no `jti`.
    requiredClaims: claimsOf('zitadel', { sub: true, jti: true }, requiredClaims),
  }
}
