import { remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isUrl } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of Supabase Auth.

/**
 * Options of `createVerifier` for access tokens of users of a Supabase project.
 *
 * Does NOT accept tokens that are signed with the shared secret of a project (HS256), so neither the keys `anon` and
 * `service_role`: whoever can check such a token can also make one.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://supabase.com/docs/guides/auth/jwt-fields
 */
export function supabase(
  options: ProviderOptions['supabase'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { url, requiredClaims } = checkOptions('supabase', options, {
    url: isUrl('https://abcdefghijklmnopqrst.supabase.co'),
  })
  const issuer = `${url}/auth/v1`
  return {
    keys: remoteKeys(`${issuer}/.well-known/jwks.json`, keysOptions),
    issuer,
    audience: 'authenticated',
    algorithms: ['ES256', 'RS256'],
    requiredClaims: claimsOf('supabase', { sub: true, role: 'authenticated' }, requiredClaims),
  }
}
