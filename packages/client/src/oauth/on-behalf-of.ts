import { checkOptions, isText, mustBe, ownMembers } from '@portcullis/kit/options'

import { createClient } from '../login/client.ts'
import type { GetOptions, TokenClient } from '../login/token-client.ts'
import type { Exchange, TokenEndpoint } from '../request/token-request.ts'
import type { Closing } from '../waiting/abort.ts'
import type { Grant } from './grant-exchange.ts'
import { createMemory } from './memory.ts'
import { oauthErrors } from './oauth-error.ts'
import type { OAuthClientOptions, OAuthSettings } from './options.ts'
import { bearerSubject, bytesOf, digestOf, grantFor, type Subject } from './subject.ts'
import { isResources, isScope, isTexts } from './target.ts'

// Tokens on behalf of a caller: one client for each subject and target, which are remembered within bounds.

export interface OnBehalfOfOptions extends Pick<OAuthClientOptions, 'resource' | 'audience'> {
  /** Separated by spaces. RFC 6749 section 3.3 */
  scope?: string | undefined
  /** A token of whoever acts for the subject, such as one of this client. RFC 8693 section 2.1 */
  actorToken?: string | undefined
  /**
   * `token-exchange` is RFC 8693. `jwt-bearer` is the assertion of RFC 7523 with `requested_token_use=on_behalf_of`, which
   * Entra ID wants.
   * @default 'token-exchange'
   */
  form?: 'token-exchange' | 'jwt-bearer' | undefined
  /** Ends the handle and its requests, such as when `watchToken` says that the subject was revoked. */
  signal?: AbortSignal | undefined
}

/** The client of one subject. Its members are those of the client, with tokens on behalf of the subject. */
export type OnBehalf = Pick<
  TokenClient,
  'fetch' | 'get' | 'getAuthorization' | 'invalidate' | 'status'
>

const CALLER = 'onBehalfOf'
const FORMS: readonly unknown[] = ['token-exchange', 'jwt-bearer']

const CHECKS = {
  scope: isScope,
  resource: isResources,
  audience: isTexts,
  actorToken: mustBe('a token', (value) => isText(value) === undefined),
  form: mustBe(FORMS.join(' or '), (value) => FORMS.includes(value)),
  signal: mustBe('an AbortSignal', (value) => value instanceof AbortSignal),
}

interface OnBehalfOfSettings extends Pick<
  OAuthSettings,
  'clientId' | 'origins' | 'remember' | 'timeout'
> {
  readonly endpoint: Omit<TokenEndpoint, 'exchange'>
  readonly exchangeFor: (grant: Grant) => Exchange
  readonly closing: Closing
  readonly reportedAs: () => object
}

export function createOnBehalfOf(
  settings: OnBehalfOfSettings,
): (auth: Subject, options?: OnBehalfOfOptions) => OnBehalf {
  const { clientId, endpoint, exchangeFor, timeout, closing, ...others } = settings
  const memory = createMemory<TokenClient>(settings.remember)
  /** Those with an exchange under way: also one that the memory has no room for is shared. */
  const underWay = new Map<string, TokenClient>()
  const errorOf = oauthErrors(true)
  closing.onClose(() => {
    memory.clear()
  })

  function clientFor(grant: Grant): TokenClient {
    const key = digestOf(clientId, grant)
    const known = memory.get(key) ?? underWay.get(key)
    if (known !== undefined) return known
    const bytes = bytesOf(grant)
    const exchange = exchangeFor(grant)
    const client = createClient({
      origins: others.origins,
      plan: {
        endpoint: {
          ...endpoint,
          exchange: {
            ...exchange,
            async prepare(ending) {
              underWay.set(key, client)
              return await exchange.prepare(ending)
            },
          },
        },
        timeout,
        verifier: undefined,
      },
      closing,
      errorOf,
      reportedAs: others.reportedAs,
      onSettled(token) {
        if (underWay.get(key) === client) underWay.delete(key)
        if (memory.get(key) !== client) return
        // Without an end it cannot be said how long the token may be used: until then callers share the exchange, and its pauses.
        if (grant.end === undefined && token !== undefined) memory.forget(key)
        else memory.set(key, client, bytes + (token ?? '').length)
      },
    })
    // After `close` it can only fail, and nothing would forget it.
    if (!closing.isClosed) memory.set(key, client, bytes)
    return client
  }

  return (auth, options = {}) => {
    checkOptions(CALLER, options, CHECKS)
    const { form = 'token-exchange', actorToken, signal, ...target } = ownMembers(options)
    if (form === 'jwt-bearer' && actorToken !== undefined) {
      // Mistake `…: there is no actorToken with the form jwt-bearer`: Only a token exchange of RFC 8693 has an actor.
      throw new TypeError(`${CALLER}: there is no actorToken with the form jwt-bearer`)
    }
    const grant = grantFor(bearerSubject(auth), ownMembers({ ...target, form, actorToken }))
    return handleOf(clientFor(grant), signal)
  }
}

/** Without `close`: the client is that of other handles, too. */
function handleOf(client: TokenClient, signal: AbortSignal | undefined): OnBehalf {
  // oxlint-disable-next-line typescript/unbound-method -- the members of a client are closures, without `this`
  const { get, getAuthorization, fetch, invalidate, status } = client
  // As they are: a held token costs no more than that of the client.
  if (signal === undefined) return { get, getAuthorization, fetch, invalidate, status }
  const until = (options: GetOptions) => ({
    ...options,
    signal: either(signal, ownMembers(options).signal),
  })
  return {
    get: async (options = {}) => await get(until(options)),
    getAuthorization: async (options = {}) => await getAuthorization(until(options)),
    async fetch(input, init) {
      const isOfInput = init?.signal === undefined && input instanceof Request
      const own = isOfInput ? input.signal : init?.signal
      return await fetch(input, { ...init, signal: either(signal, own) })
    },
    invalidate,
    status,
  }
}

function either(first: AbortSignal, second: AbortSignal | null | undefined): AbortSignal {
  return second ? AbortSignal.any([first, second]) : first
}
