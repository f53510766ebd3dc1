import { ownMembers } from '@portcullis/kit/options'

import { createClient } from '../login/client.ts'
import type { TokenClient } from '../login/token-client.ts'
import { createRetry, type Retry } from '../request/retry.ts'
import { type Closing, createClosing } from '../waiting/abort.ts'
import { authenticate } from './client-authentication.ts'
import { grantExchange, type Grant } from './grant-exchange.ts'
import { createDiscovery, type Locate } from './metadata.ts'
import { oauthErrors } from './oauth-error.ts'
import { createOnBehalfOf, type OnBehalf, type OnBehalfOfOptions } from './on-behalf-of.ts'
import { checkOAuthClientOptions, type OAuthClientOptions, type OAuthSettings } from './options.ts'
import { createServerPace } from './server-pace.ts'
import type { Subject } from './subject.ts'
import { parametersOf } from './target.ts'

// Makes a client of an authorization server: for itself by client credentials, and on behalf of its callers.

/** Like every client, but it fails with an `OAuthError`. */
export interface OAuthClient extends TokenClient {
  /**
   * Tokens for calls on behalf of a caller, whose token is exchanged for one of another audience.
   *
   * One exchange serves all handles of the same token, target and actor. What is exchanged is used until the subject's token
   * expires, at the longest. The token of a subject without `exp` is used by its handle alone.
   *
   * @param auth What a guard has verified: an `Auth` of `@portcullis/core`. It is not verified again.
   * @throws TypeError for a wrong or misspelt option, and for a token that is bound to a key or certificate (`cnf`).
   * @see RFC 8693
   */
  onBehalfOf(auth: Subject, options?: OnBehalfOfOptions): OnBehalf
}

/**
 * Creates a client of an authorization server. It sends nothing before the first use.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see RFC 6749 section 4.4
 */
export function createOAuthClient(options: OAuthClientOptions): OAuthClient {
  const settings = checkOAuthClientOptions(options)
  const { clientId, credentials, target, origins, dpop, timeout, fetch, clock } = settings
  const closing = createClosing()
  const retry = createRetry()
  const environment = {
    clientId,
    locate: locateBy(settings, retry, closing),
    pace: createServerPace(clock),
    authenticate: async (now: number) => await authenticate(credentials, now),
    clock,
  }
  const exchangeFor = (grant: Grant) => grantExchange(environment, grant)
  const ownGrant = { type: 'client_credentials', parameters: parametersOf(target), end: undefined }
  const endpoint = { fetch, retry, clock, dpop }
  const plan = {
    endpoint: { ...endpoint, exchange: exchangeFor(ownGrant) },
    timeout,
    verifier: undefined,
  }
  const client = createClient({ origins, plan, closing, errorOf: oauthErrors(false) })
  const shared = { ...settings, endpoint, exchangeFor, closing, reportedAs: () => client }
  return Object.assign(client, { onBehalfOf: createOnBehalfOf(shared) })
}

function locateBy(settings: OAuthSettings, retry: Retry, closing: Closing): Locate {
  const { issuer = '', tokenEndpoint } = settings
  if (tokenEndpoint !== undefined) {
    const server = ownMembers({ issuer: issuer || tokenEndpoint, token_endpoint: tokenEndpoint })
    return async () => server
  }
  return createDiscovery({ ...settings, issuer, retry, closing })
}
