import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Identity tokens of service accounts of Google Cloud.

const ISSUER = 'https://accounts.google.com'

/**
 * Options of `createVerifier` for identity tokens of service accounts, such as those of Cloud Run, Cloud Scheduler and Pub/Sub.
 *
 * Does NOT accept access tokens of Google, which are opaque.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://cloud.google.com/docs/authentication/token-types#id
 */
export function google(
  options: ProviderOptions['google'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions('google', options, {
    audience: isTextOrTexts,
    serviceAccounts: isTextOrTexts,
  })
  const { audience, serviceAccounts, requiredClaims } = checked
  return {
    keys: discoverKeys(ISSUER, keysOptions),
    issuer: ISSUER,
    audience,
    algorithms: ['RS256'],
    requiredClaims: claimsOf(
      'google',
      { sub: true, email: serviceAccounts, email_verified: [true] },
      requiredClaims,
    ),
  }
}
