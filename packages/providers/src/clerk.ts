import { remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, isUrl } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Session tokens of Clerk.

/**
 * Options of `createVerifier` for session tokens of Clerk.
 *
 * Does NOT accept a token without `azp`, and does NOT read the cookie `__session`.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://clerk.com/docs/guides/sessions/session-tokens
 */
export function clerk(
  options: ProviderOptions['clerk'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { frontendApi, authorizedParties, requiredClaims } = checkOptions('clerk', options, {
    frontendApi: isUrl('https://clerk.example.com'),
    authorizedParties: isTextOrTexts,
  })
  return {
    keys: remoteKeys(`${frontendApi}/.well-known/jwks.json`, keysOptions),
    issuer: frontendApi,
    audience: null,
    algorithms: ['RS256'],
    requiredClaims: claimsOf(
      'clerk',
      { sub: true, sid: true, azp: authorizedParties },
      requiredClaims,
    ),
  }
}
