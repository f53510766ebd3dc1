import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, isUrl, listOf, matching } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// ID tokens of jobs of GitLab CI/CD.

/**
 * Options of `createVerifier` for ID tokens of jobs of GitLab CI/CD.
 *
 * Any branch of these projects is accepted: require `ref_protected: 'true'` or `ref` as well, by `requiredClaims`.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://docs.gitlab.com/ci/secrets/id_token_authentication/
 */
export function gitlab(
  options: ProviderOptions['gitlab'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions(
    'gitlab',
    options,
    {
      audience: isTextOrTexts,
      projects: listOf(
        matching(
          /^[\w.-]+(?:\/[\w.-]+)+$/,
          'a list of paths with their group, such as group/project',
        ),
      ),
    },
    { url: isUrl('https://gitlab.example.com') },
  )
  const { url = 'https://gitlab.com', audience, projects, requiredClaims } = checked
  return {
    keys: discoverKeys(url, keysOptions),
    issuer: url,
    audience,
    algorithms: ['RS256'],
    requiredClaims: claimsOf('gitlab', { sub: true, project_path: projects }, requiredClaims),
  }
}
