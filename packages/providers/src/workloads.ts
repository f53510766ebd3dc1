import {
  discoverKeys,
  fileKeys,
  type RemoteKeys,
  remoteKeys,
  type RemoteKeysOptions,
} from '@portcullis/core'
import { isText, type OptionCheck, own, ownMembers } from '@portcullis/kit/options'

import { checkOptions, isIssuer, isTextOrTexts, isUrl, listOf, matching } from './options.ts'
import { preset, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Identity tokens of jobs and services.

const GITHUB = 'https://token.actions.githubusercontent.com'

/**
 * Options of `createVerifier` for tokens of jobs of GitHub Actions, at github.com or of an enterprise.
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
  const checked = checkOptions(
    'githubActions',
    options,
    {
      audience: isTextOrTexts,
      repositories: listOf(
        matching(
          /^[\w.-]+\/[\w.-]+$/,
          'a list of names with their owner, such as octo-org/octo-repo',
        ),
      ),
    },
    { issuer: isUrl('https://github.example.com/_services/token') },
  )
  const { issuer = GITHUB, audience, repositories, requiredClaims, keys } = checked
  return preset(
    'githubActions',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms: ['RS256'],
      requiredClaims: { sub: true, repository: repositories },
    },
  )
}

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
  const { url = 'https://gitlab.com', audience, projects, requiredClaims, keys } = checked
  return preset(
    'gitlab',
    { requiredClaims, keys },
    {
      keys: discoverKeys(url, keysOptions),
      issuer: url,
      audience,
      algorithms: ['RS256'],
      requiredClaims: { sub: true, project_path: projects },
    },
  )
}

const GOOGLE = 'https://accounts.google.com'

/**
 * Options of `createVerifier` for identity tokens of service accounts, such as those of Cloud Run, Cloud Scheduler and Pub/Sub.
 *
 * Does NOT accept access tokens of Google, which are opaque.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://cloud.google.com/docs/authentication/token-types#id
 */
export function google(
  options: ProviderOptions['google'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions('google', options, {
    audience: isTextOrTexts,
    serviceAccounts: isTextOrTexts,
  })
  const { audience, serviceAccounts, requiredClaims, keys } = checked
  return preset(
    'google',
    { requiredClaims, keys },
    {
      keys: discoverKeys(GOOGLE, keysOptions),
      issuer: GOOGLE,
      audience,
      algorithms: ['RS256'],
      requiredClaims: { sub: true, email: serviceAccounts, email_verified: [true] },
    },
  )
}

const LABEL = '[a-z\\d](?:[a-z\\d.-]*[a-z\\d])?'

/**
 * Options of `createVerifier` for projected tokens of service accounts.
 *
 * Does NOT ask whether the pod or the account still exists: only the TokenReview API of the cluster knows that. Legacy tokens,
 * which never expire, are refused.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
 */
export function kubernetes(
  options: ProviderOptions['kubernetes'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions('kubernetes', options, {
    issuer: isIssuer,
    audience: isTextOrTexts,
    serviceAccounts: listOf(
      matching(new RegExp(`^${LABEL}:${LABEL}$`), 'a list of namespace:name, such as shop:orders'),
    ),
  })
  const { issuer, audience, serviceAccounts, requiredClaims, keys } = checked
  const sub = serviceAccounts.map((account) => `system:serviceaccount:${account}`)
  return preset(
    'kubernetes',
    { requiredClaims, keys },
    {
      keys: discoverKeys(issuer, keysOptions),
      issuer,
      audience,
      algorithms: ['RS256', 'ES256', 'ES384', 'ES512'],
      requiredClaims: { sub },
    },
  )
}

/**
 * Options of `createVerifier` for JWT-SVIDs of one trust domain of SPIFFE. Only keys whose `use` is `jwt-svid` count.
 *
 * Their `iss`, which few have, is NOT checked: the bundle is of one trust domain, and `sub` must be of the same. Any workload of it
 * is accepted: require the SPIFFE IDs that may call, by `claim('sub', [...])`.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://github.com/spiffe/spiffe/blob/main/standards/JWT-SVID.md
 */
export function spiffe(
  options: ProviderOptions['spiffe'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions(
    'spiffe',
    options,
    {
      trustDomain: matching(
        /^[a-z\d._-]{1,255}$/,
        'the name of a trust domain in lower case, such as example.org: without "spiffe://" and without a path',
      ),
      audience: isTextOrTexts,
    },
    { bundle: isBundle },
  )
  const { trustDomain, bundle, audience, requiredClaims, keys } = checked
  if ((bundle === undefined) === (keys === undefined)) {
    throw new TypeError('spiffe: bundle or keys must be stated, and not both')
  }
  if (keys !== undefined && own(keys, 'use') !== 'jwt-svid') {
    // Otherwise keys would count that the bundle has for something else.
    throw new TypeError("spiffe: keys must be made with use: 'jwt-svid'")
  }
  return preset(
    'spiffe',
    { requiredClaims, keys },
    {
      keys: keys ?? bundleKeys(String(bundle), keysOptions),
      issuer: null,
      audience,
      algorithms: ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'],
      type: ['JWT', 'JOSE', null],
      requiredClaims: { sub: { pathUnder: `spiffe://${trustDomain}/` } },
    },
  )
}

/** Of two letters or more: one is a drive. */
const SCHEME = /^\s*[A-Za-z][A-Za-z\d+.-]+:/

/** What begins with a scheme is meant for a URL: a misspelt one must not be taken for the name of a file. */
const isBundle: OptionCheck = (value) => {
  const complaint = isText(value)
  if (complaint !== undefined) return complaint
  return !SCHEME.test(String(value)) || /^https?:\/\//.test(String(value))
    ? undefined
    : 'must be the path of a file, or an https URL'
}

function bundleKeys(bundle: string, keysOptions: RemoteKeysOptions): RemoteKeys {
  const ofBundle = { ...ownMembers(keysOptions), use: 'jwt-svid' } as const
  return SCHEME.test(bundle) ? remoteKeys(bundle, ofBundle) : fileKeys(bundle, ofBundle)
}
