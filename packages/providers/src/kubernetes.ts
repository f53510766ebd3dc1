import { discoverKeys, type RemoteKeysOptions } from '@portcullis/core'
import { isText } from '@portcullis/kit/options'

import { checkOptions, isTextOrTexts, listOf, matching } from './options.ts'
import { claimsOf, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Tokens of service accounts of Kubernetes.

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
    issuer: (value) =>
      isText(value) === undefined ? undefined : 'must be a URL, as the tokens have it in iss',
    audience: isTextOrTexts,
    serviceAccounts: listOf(
      matching(new RegExp(`^${LABEL}:${LABEL}$`), 'a list of namespace:name, such as shop:orders'),
    ),
  })
  const { issuer, audience, serviceAccounts, requiredClaims } = checked
  const sub = serviceAccounts.map((account) => `system:serviceaccount:${account}`)
  return {
    keys: discoverKeys(issuer, keysOptions),
    issuer,
    audience,
    algorithms: ['RS256', 'ES256', 'ES384', 'ES512'],
    requiredClaims: claimsOf('kubernetes', { sub }, requiredClaims),
  }
}
