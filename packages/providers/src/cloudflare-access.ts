import { remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, matching } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Application tokens of Cloudflare Access.

/**
 * Options of `createVerifier` for application tokens of Cloudflare Access, of users and of service tokens.
 *
 * Cloudflare sends them in a header of its own: state `credentials: { header: 'cf-access-jwt-assertion' }` in the guard.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/application-token/
 */
export function cloudflareAccess(
  options: ProviderOptions['cloudflareAccess'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { team, audience, requiredClaims } = checkOptions('cloudflareAccess', options, {
    team: matching(/^[a-z\d-]+$/, 'the name of the team alone, such as example'),
    audience: isTextOrTexts,
  })
  const issuer = `https://${team}.cloudflareaccess.com`
  return {
    keys: remoteKeys(`${issuer}/cdn-cgi/access/certs`, keysOptions),
    issuer,
    audience,
    algorithms: ['RS256'],
    // A session of all applications has `org`. `sub` is empty for service tokens.
    requiredClaims: claimsOf('cloudflareAccess', { type: 'app' }, requiredClaims),
  }
}
