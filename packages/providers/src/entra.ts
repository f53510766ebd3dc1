import { discoverKeys, remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, matching } from './options.ts'
import { preset, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of Microsoft Entra ID.

const LOGIN = 'https://login.microsoftonline.com'
const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Options of `createVerifier` for access tokens of one tenant of Microsoft Entra ID, of one version. For several, pass the
 * verifiers to `byIssuer`.
 *
 * Refuses ID tokens, also those whose client is the API itself. Does NOT accept tokens of any tenant: for `common` and
 * `organizations` there is no one issuer to compare with.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference
 */
export function entra(
  options: ProviderOptions['entra'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions(
    'entra',
    options,
    {
      tenant: matching(
        GUID,
        'the id of one tenant in lower case, such as 11111111-2222-3333-4444-555555555555: no domain, and not common or organizations',
      ),
      audience: isTextOrTexts,
    },
    { version: matching(/^[12]\.0$/, '1.0 or 2.0, as a string') },
  )
  const { tenant, audience, version = '2.0', requiredClaims, keys } = checked
  const isFirst = version === '1.0'
  const client = isFirst ? 'appid' : 'azp'
  const issuer = isFirst ? `https://sts.windows.net/${tenant}/` : `${LOGIN}/${tenant}/v2.0`
  return preset(
    'entra',
    { requiredClaims, keys },
    {
      // The metadata of version 1.0 are at another origin than the issuer that they name.
      keys: isFirst
        ? remoteKeys(`${LOGIN}/${tenant}/discovery/keys`, keysOptions)
        : discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms: ['RS256'],
      // The id of the client, which an ID token has in `aud` alone: often that of the API itself.
      requiredClaims: { sub: true, ver: version, [client]: true },
    },
  )
}
