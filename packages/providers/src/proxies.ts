import { remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, listOf, matching } from './options.ts'
import { preset, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// What proxies say of a request that they let through.

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
  const { team, audience, requiredClaims, keys } = checkOptions('cloudflareAccess', options, {
    team: matching(/^[a-z\d-]+$/, 'the name of the team alone, such as example'),
    audience: isTextOrTexts,
  })
  const issuer = `https://${team}.cloudflareaccess.com`
  return preset(
    'cloudflareAccess',
    { requiredClaims, keys },
    {
      keys: remoteKeys(`${issuer}/cdn-cgi/access/certs`, keysOptions),
      issuer,
      audience,
      algorithms: ['RS256'],
      // A session of all applications has `org`. `sub` is empty for service tokens.
      requiredClaims: { type: 'app' },
    },
  )
}

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
  const { audience, requiredClaims, keys } = checkOptions('iap', options, {
    audience: (value) => (Array.isArray(value) ? listOf(isAudience)(value) : isAudience(value)),
  })
  return preset(
    'iap',
    { requiredClaims, keys },
    {
      keys: remoteKeys('https://www.gstatic.com/iap/verify/public_key-jwk', keysOptions),
      issuer: 'https://cloud.google.com/iap',
      audience,
      algorithms: ['ES256'],
      requiredClaims: { sub: true },
    },
  )
}
