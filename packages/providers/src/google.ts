import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts } from './options.ts'
import { type ClaimsOption, claimsOf, type Preset } from './preset.ts'

// Identity tokens of service accounts of Google Cloud.

export interface GoogleOptions extends ClaimsOption {
  /** What callers name as the audience, such as the URL of this API. */
  audience: string | readonly string[]
  /**
   * The email addresses of the service accounts that may call. Without this list everybody could: each service account of
   * every customer of Google may ask for a token with any audience.
   */
  serviceAccounts: string | readonly string[]
}

const ISSUER = 'https://accounts.google.com'

/**
 * Options of `createVerifier` for identity tokens of service accounts, such as those of Cloud Run, Cloud Scheduler and Pub/Sub.
 *
 * Does NOT accept access tokens of Google, which are opaque.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://cloud.google.com/docs/authentication/token-types#id
 */
export function google(options: GoogleOptions, keysOptions: RemoteKeysOptions = {}): Preset {
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
