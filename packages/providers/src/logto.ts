import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, isUrl } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of Logto.

/**
 * Options of `createVerifier` for access tokens of Logto.
 *
 * Does NOT accept opaque tokens: those that were asked for without a resource.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://docs.logto.io/authorization/validate-access-tokens
 */
export function logto(
  options: ProviderOptions['logto'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { endpoint, audience, requiredClaims } = checkOptions('logto', options, {
    endpoint: isUrl('https://tenant.logto.app'),
    audience: isTextOrTexts,
  })
  const issuer = `${endpoint}/oidc`
  return {
    keys: discoverKeys(issuer, keysOptions),
    issuer,
    audience,
    algorithms: ['ES384', 'RS256'],
    requiredClaims: claimsOf('logto', { sub: true, client_id: true }, requiredClaims),
  }
}
