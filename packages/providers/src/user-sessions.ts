import { discoverKeys, remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isTextOrTexts, isUrl, matching } from './options.ts'
import { preset, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Tokens that clients of an application have of the service that its users log in to.

/**
 * Options of `createVerifier` for session tokens of Clerk.
 *
 * Does NOT accept a token without `azp`, and does NOT read the cookie `__session`.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://clerk.com/docs/guides/sessions/session-tokens
 */
export function clerk(
  options: ProviderOptions['clerk'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { frontendApi, authorizedParties, requiredClaims, keys } = checkOptions('clerk', options, {
    frontendApi: isUrl('https://clerk.example.com'),
    authorizedParties: isTextOrTexts,
  })
  return preset(
    'clerk',
    { requiredClaims, keys },
    {
      keys: remoteKeys(`${frontendApi}/.well-known/jwks.json`, keysOptions),
      issuer: frontendApi,
      audience: null,
      algorithms: ['RS256'],
      requiredClaims: { sub: true, sid: true, azp: authorizedParties },
    },
  )
}

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
  const { region, userPool, clients, requiredClaims, keys } = checkOptions('cognito', options, {
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
  return preset(
    'cognito',
    { requiredClaims, keys },
    {
      keys: remoteKeys(`${issuer}/.well-known/jwks.json`, keysOptions),
      issuer,
      audience: null,
      algorithms: ['RS256'],
      requiredClaims: { sub: true, token_use: 'access', client_id: clients },
    },
  )
}

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
  const { project, requiredClaims, keys } = checkOptions('firebase', options, {
    project: matching(/^[a-z][a-z\d-]+$/, 'the id of a project, such as shop-1a2b3'),
  })
  const issuer = `https://securetoken.google.com/${project}`
  return preset(
    'firebase',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience: project,
      algorithms: ['RS256'],
      requiredClaims: { sub: true, auth_time: true },
    },
  )
}

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
  const { url, requiredClaims, keys } = checkOptions('supabase', options, {
    url: isUrl('https://abcdefghijklmnopqrst.supabase.co'),
  })
  const issuer = `${url}/auth/v1`
  return preset(
    'supabase',
    { requiredClaims, keys },
    {
      keys: remoteKeys(`${issuer}/.well-known/jwks.json`, keysOptions),
      issuer,
      audience: 'authenticated',
      algorithms: ['ES256', 'RS256'],
      requiredClaims: { sub: true, role: 'authenticated' },
    },
  )
}
