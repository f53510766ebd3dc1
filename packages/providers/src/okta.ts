import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isHost, isTextOrTexts } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of custom authorization servers of Okta.

/**
 * Options of `createVerifier` for access tokens of a custom authorization server of Okta.
 *
 * Does NOT accept tokens of the org authorization server: only Okta itself may read those.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://developer.okta.com/docs/guides/validate-access-tokens/
 */
export function okta(
  options: ProviderOptions['okta'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { domain, server, audience, requiredClaims } = checkOptions('okta', options, {
    domain: isHost('example.okta.com'),
    server: (value) =>
      typeof value === 'string' && /^[\w-]+$/.test(value)
        ? undefined
        : 'must be the id of a custom authorization server, such as default: tokens of the org authorization server are not for APIs',
    audience: isTextOrTexts,
  })
  const issuer = `https://${domain}/oauth2/${server}`
  return {
    keys: discoverKeys(issuer, keysOptions),
    issuer,
    audience,
    algorithms: ['RS256'],
    // The id of the client: an ID token has it in `aud` instead.
    requiredClaims: claimsOf('okta', { sub: true, cid: true }, requiredClaims),
  }
}
