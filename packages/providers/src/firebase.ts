import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, matching } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// ID tokens of Firebase Authentication, which are what its clients send to an API.

/**
 * Options of `createVerifier` for ID tokens of Firebase Authentication.
 *
 * Does NOT accept session cookies, which have another issuer, and does NOT ask whether the user was disabled.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://firebase.google.com/docs/auth/admin/verify-id-tokens
 */
export function firebase(
  options: ProviderOptions['firebase'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { project, requiredClaims } = checkOptions('firebase', options, {
    project: matching(/^[a-z][a-z\d-]+$/, 'the id of a project, such as shop-1a2b3'),
  })
  const issuer = `https://securetoken.google.com/${project}`
  return {
    keys: discoverKeys(issuer, keysOptions),
    issuer,
    audience: project,
    algorithms: ['RS256'],
    requiredClaims: claimsOf('firebase', { sub: true, auth_time: true }, requiredClaims),
  }
}
