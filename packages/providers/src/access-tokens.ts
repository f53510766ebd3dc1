import { discoverKeys, remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { checkOptions, isHost, isIssuer, isTextOrTexts, isUrl, matching } from './options.ts'
import { preset, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of authorization servers.

/**
 * Options of `createVerifier` for an issuer whose access tokens keep to RFC 9068 and whose keys are found by its metadata.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see RFC 9068 sections 2 and 4
 */
export function accessTokens(
  options: ProviderOptions['accessTokens'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions(
    'accessTokens',
    options,
    {
      issuer: isIssuer,
      audience: isTextOrTexts,
    },
    // Their names are checked by `createVerifier`.
    { algorithms: isTextOrTexts },
  )
  const { issuer, audience, algorithms = ['RS256'], requiredClaims, keys } = checked
  return preset(
    'accessTokens',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms,
      type: 'at+jwt',
      requiredClaims: { sub: true, client_id: true, iat: true, jti: true },
    },
  )
}

/**
 * Options of `createVerifier` for access tokens of Auth0, of both profiles.
 *
 * Does NOT accept opaque tokens: those that were asked for without an audience.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles
 */
export function auth0(
  options: ProviderOptions['auth0'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { domain, audience, requiredClaims, keys } = checkOptions('auth0', options, {
    domain: isHost('tenant.eu.auth0.com'),
    audience: isTextOrTexts,
  })
  const issuer = `https://${domain}/`
  return preset(
    'auth0',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms: ['RS256'],
      requiredClaims: { sub: true },
    },
  )
}

/**
 * Options of `createVerifier` for access tokens of Logto.
 *
 * Does NOT accept opaque tokens: those that were asked for without a resource.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://docs.logto.io/authorization/validate-access-tokens
 */
export function logto(
  options: ProviderOptions['logto'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { endpoint, audience, requiredClaims, keys } = checkOptions('logto', options, {
    endpoint: isUrl('https://tenant.logto.app'),
    audience: isTextOrTexts,
  })
  const issuer = `${endpoint}/oidc`
  return preset(
    'logto',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms: ['ES384', 'RS256'],
      requiredClaims: { sub: true, client_id: true },
    },
  )
}

/**
 * Options of `createVerifier` for access tokens of a custom authorization server of Okta.
 *
 * Does NOT accept tokens of the org authorization server: only Okta itself may read those.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://developer.okta.com/docs/guides/validate-access-tokens/
 */
export function okta(
  options: ProviderOptions['okta'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { domain, server, audience, requiredClaims, keys } = checkOptions('okta', options, {
    domain: isHost('example.okta.com'),
    server: matching(
      /^[\w-]+$/,
      'the id of a custom authorization server, such as default: tokens of the org authorization server are not for APIs',
    ),
    audience: isTextOrTexts,
  })
  const issuer = `https://${domain}/oauth2/${server}`
  return preset(
    'okta',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms: ['RS256'],
      // The id of the client: an ID token has it in `aud` instead.
      requiredClaims: { sub: true, cid: true },
    },
  )
}

/**
 * Options of `createVerifier` for access tokens of ZITADEL of the type JWT.
 *
 * Does NOT accept opaque tokens, which are the default of ZITADEL.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://zitadel.com/docs/apis/openidoauth/claims
 */
export function zitadel(
  options: ProviderOptions['zitadel'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const { issuer, audience, requiredClaims, keys } = checkOptions('zitadel', options, {
    issuer: isUrl('https://example.zitadel.cloud'),
    audience: isTextOrTexts,
  })
  return preset(
    'zitadel',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms: ['RS256'],
      // An ID token has the same audience, but no `jti`.
      requiredClaims: { sub: true, jti: true },
    },
  )
}

/**
 * Options of `createVerifier` for the token service: its keys are at `/tokenservice/pubkey.json`.
 *
 * Its tokens name neither an issuer nor an audience, so both are NOT checked. State them beside these options if yours do.
 *
 * @param authUrl The base URL of the token service, such as `https://auth.example.com`.
 * @throws TypeError for a URL that is neither https nor on this machine, and for a wrong option.
 */
export function tokenServiceAt(authUrl: string, keysOptions: RemoteKeysOptions = {}): Preset {
  const complaint = isUrl('https://auth.example.com')(authUrl)
  if (complaint !== undefined) throw new TypeError(`tokenServiceAt: authUrl ${complaint}`)
  return {
    keys: remoteKeys(`${authUrl}/tokenservice/pubkey.json`, keysOptions),
    issuer: null,
    audience: null,
  }
}
