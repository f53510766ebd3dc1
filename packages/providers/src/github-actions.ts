import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, listOf, matching } from './options.ts'
import { type ClaimsOption, claimsOf, type Preset } from './preset.ts'

// Tokens of jobs of GitHub Actions.

export interface GithubActionsOptions extends ClaimsOption {
  /** What the workflow asks for. Choose one that names this API; the default of GitHub names the owner of the repository. */
  audience: string | readonly string[]
  /** The repositories whose workflows may call, such as `['octo-org/octo-repo']`. */
  repositories: readonly string[]
}

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
  options: GithubActionsOptions,
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
