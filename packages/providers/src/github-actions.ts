import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, listOf, matching } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Tokens of jobs of GitHub Actions.

const ISSUER = 'https://token.actions.githubusercontent.com'

/**
 * Options of `createVerifier` for tokens of jobs of GitHub Actions at github.com.
 *
 * Any branch of these repositories is accepted: require `ref` or `environment` as well, by `requiredClaims`.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://docs.github.com/en/actions/reference/security/oidc
 */
export function githubActions(
  options: ProviderOptions['githubActions'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { audience, repositories, requiredClaims } = checkOptions('githubActions', options, {
    audience: isTextOrTexts,
    repositories: listOf(
      matching(
        /^[\w.-]+\/[\w.-]+$/,
        'a list of names with their owner, such as octo-org/octo-repo',
      ),
    ),
  })
  return {
    keys: discoverKeys(ISSUER, keysOptions),
    issuer: ISSUER,
    audience,
    algorithms: ['RS256'],
    requiredClaims: claimsOf(
      'githubActions',
      { sub: true, repository: repositories },
      requiredClaims,
    ),
  }
}
