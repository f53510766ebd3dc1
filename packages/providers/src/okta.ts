import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isHost, isTextOrTexts } from './options.ts'
import { type ClaimsOption, claimsOf, type Preset } from './preset.ts'

// Access tokens of custom authorization servers of Okta.

export interface OktaOptions extends ClaimsOption {
  /** The domain of the organization, or your custom domain: whichever the tokens have in `iss`. */
  domain: string
  /** The id of the custom authorization server; that of the one which is there from the beginning is `default`. */
  server: string
  /** The audience of that server, such as `api://default`. */
  audience: string | readonly string[]
}

/**
 * Options of `createVerifier` for access tokens of a custom authorization server of Okta.
 *
 * Does NOT accept tokens of the org authorization server: only Okta itself may read those.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://developer.okta.com/docs/guides/validate-access-tokens/
 */
export function okta(options: OktaOptions, keysOptions: RemoteKeysOptions = {}): Preset {
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
