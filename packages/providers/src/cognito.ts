import { remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, matching } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of user pools of Amazon Cognito.

/**
 * Options of `createVerifier` for access tokens of a user pool.
 *
 * Their `aud`, which they have only with resource binding, is NOT checked: state `audience` beside these options for that.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html
 */
export function cognito(
  options: ProviderOptions['cognito'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { region, userPool, clients, requiredClaims } = checkOptions('cognito', options, {
    region: matching(/^[a-z]+(?:-[a-z]+)+-\d+$/, 'a region, such as eu-west-1'),
    userPool: matching(
      /^[a-z\d-]+_[A-Za-z\d]+$/,
      'the id of a user pool, such as eu-west-1_AbCdEfGhI',
    ),
    clients: isTextOrTexts,
  })
  if (!userPool.startsWith(`${region}_`)) {
    throw new TypeError(`cognito: userPool must be of the region: it must begin with ${region}_`)
  }
  const issuer = `https://cognito-idp.${region}.amazonaws.com/${userPool}`
  return {
    keys: remoteKeys(`${issuer}/.well-known/jwks.json`, keysOptions),
    issuer,
    audience: null,
    algorithms: ['RS256'],
    requiredClaims: claimsOf(
      'cognito',
      { sub: true, token_use: 'access', client_id: clients },
      requiredClaims,
    ),
  }
}
