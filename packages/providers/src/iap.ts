import { remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, listOf, matching } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Assertions of Google's Identity-Aware Proxy.

const isAudience = matching(
  /^\/projects\/\d+\/.+$/,
  'what IAP writes, with the number of the project, such as /projects/123456789/global/backendServices/987654321',
)

/**
 * Options of `createVerifier` for the assertions of Identity-Aware Proxy.
 *
 * The proxy sends them in a header of its own: state `credentials: { header: 'x-goog-iap-jwt-assertion' }` in the guard.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://cloud.google.com/iap/docs/signed-headers-howto
 */
export function iap(options: ProviderOptions['iap'], keysOptions: RemoteKeysOptions = {}): Preset {
  const { audience, requiredClaims } = checkOptions('iap', options, {
    audience: (value) => (Array.isArray(value) ? listOf(isAudience)(value) : isAudience(value)),
  })
  return {
    keys: remoteKeys('https://www.gstatic.com/iap/verify/public_key-jwk', keysOptions),
    issuer: 'https://cloud.google.com/iap',
    audience,
    algorithms: ['ES256'],
    requiredClaims: claimsOf('iap', { sub: true }, requiredClaims),
  }
}
