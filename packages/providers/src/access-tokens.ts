import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'
import { isText } from '@portcullis/kit/options'

import { checkOptions, isTextOrTexts } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens in the profile of RFC 9068, of any issuer.

/**
 * Options of `createVerifier` for an issuer whose access tokens keep to RFC 9068 and whose keys are found by its metadata.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see RFC 9068 sections 2 and 4
 */
export function accessTokens(
  options: ProviderOptions['accessTokens'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions(
    'accessTokens',
    options,
    {
      issuer: (value) =>
        isText(value) === undefined ? undefined : 'must be a URL, as the tokens have it in iss',
      audience: isTextOrTexts,
    },
    // Their names are checked by `createVerifier`.
    { algorithms: isTextOrTexts },
  )
  const { issuer, audience, algorithms = ['RS256'], requiredClaims } = checked
  const own = { sub: true, client_id: true, iat: true, jti: true }
  return {
    keys: discoverKeys(issuer, keysOptions),
    issuer,
    audience,
    algorithms,
    type: 'at+jwt',
    requiredClaims: claimsOf('accessTokens', own, requiredClaims),
  }
}
