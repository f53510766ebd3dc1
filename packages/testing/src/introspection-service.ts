import { checkOptions, isBoolean } from '@portcullis/kit/options'

import type { Clock } from './clock.ts'
import { answerWith, issuerAt, NOT_ACTIVE, stateToken } from './introspection/answers.ts'
import type { BadAnswer } from './introspection/bad-answer.ts'
import { type BadAnswersOptions, createBadAnswers } from './introspection/bad-answers.ts'
import { createOpaqueTokens } from './introspection/opaque-tokens.ts'
import {
  checkIntrospectionOptions,
  INTROSPECTION_PATH,
  type IntrospectionServiceOptions,
  PATHS,
  respondAsIntrospection,
} from './introspection/service.ts'
import type { TestIssuer } from './issuer.ts'
import { platformFetch } from './platform-fetch.ts'
import { type Backend, backendOf } from './service/backend.ts'
import { EMULATED, fetchFrom, type TokenService, urlsUnder } from './service/emulation.ts'
import { listen, type ListeningTokenService, type ListenOptions } from './service/listen.ts'
import { recorded } from './service/recorded.ts'
import { type ClaimOptions, claimChecks, type TokenOptions } from './tokens/token.ts'

// The public way to a service that issues opaque tokens and answers what it says of them.

/** A service of opaque tokens for tests. It is a token service as well, whose logins get opaque tokens. */
export interface IntrospectionService extends Omit<TokenService, 'listen'> {
  /** Where it is asked about its tokens. */
  readonly introspectionUrl: string
  /**
   * All options for `introspected`, with the first of the clients. `endpoint` can be left out if the issuer has no option
   * `issuer`, or the URL of the service in it: then the verifier finds the endpoint by the metadata. For signed answers add the
   * `keys` of `issuer.verifierOptions`.
   */
  readonly verifierOptions: {
    readonly issuer: string
    readonly audience: string | readonly string[] | null
    readonly endpoint: string
    readonly clientId: string
    /** `undefined` for a client that has a key. */
    readonly clientSecret: string | undefined
    readonly maxTokenAge: number | undefined
    readonly fetch: TokenService['fetch']
    readonly clock: Clock
  }
  /**
   * Issues an opaque token. What is said of it has the claims that `issuer.token` would sign.
   *
   * @throws TypeError for a wrong or misspelt option.
   */
  issue(options?: Omit<TokenOptions, 'header' | 'payload'>): string
  /** From now on it says that the token is not active. */
  revoke(token: string): void
  /**
   * Tokens about which it answers wrongly, each with the `code` and `reason` of the refusal; with `signed` for a verifier that has
   * `keys`. After some of these answers a verifier asks nothing for a while: take a new one for each, or move the clock.
   *
   * The tokens that test a time are refused for it only for some time. A verifier with `type: null` accepts `no kind of token`.
   */
  badAnswers(options?: BadAnswersOptions): Promise<readonly BadAnswer[]>
  /** Serves the same over HTTP, by default on a free port of 127.0.0.1. */
  listen(
    options?: ListenOptions,
  ): Promise<
    ListeningTokenService & Pick<IntrospectionService, 'introspectionUrl' | 'verifierOptions'>
  >
}

/**
 * Makes a service of opaque tokens: with an introspection endpoint (RFC 7662) that checks who asks, signs its answers if it is
 * asked to (RFC 9701), and is found by metadata (RFC 8414). It shares keys, outages and the log of requests with all services of
 * the issuer.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function introspectionService(
  issuer: TestIssuer,
  options: IntrospectionServiceOptions = {},
): IntrospectionService {
  checkIntrospectionOptions(options)
  const shared = backendOf('introspectionService', issuer)
  const { clock, defaults } = shared
  const tokens = createOpaqueTokens()

  function issue(issueOptions: ClaimOptions = {}): string {
    checkOptions('issue', issueOptions, claimChecks)
    const { at, isActiveAt } = stateToken(defaults, issueOptions)
    return tokens.add(async (question) => {
      const isActive = isActiveAt(clock.now())
      const statement = isActive ? JSON.stringify(at(question.origin)) : NOT_ACTIVE
      return await answerWith(defaults, question, statement)
    })
  }

  const backend = {
    ...shared,
    token: async (claims: ClaimOptions) => await Promise.resolve(issue(claims)),
  }
  const handle = recorded(backend, PATHS, respondAsIntrospection(backend, tokens, options))
  const urls = urlsFor(shared, options)
  const fetch = fetchFrom(handle)
  return {
    ...urls(EMULATED, fetch),
    fetch,
    issue,
    revoke(token) {
      tokens.revoke(token)
    },
    async badAnswers(badOptions = {}) {
      checkOptions('badAnswers', badOptions, {
        claims: claimChecks.claims,
        boundTo: claimChecks.boundTo,
        signed: isBoolean,
      })
      return await createBadAnswers(shared, tokens, badOptions)
    },
    async listen(listenOptions) {
      const listener = await listen(handle, listenOptions)
      return {
        ...listener,
        ...urls(listener.url, platformFetch),
      }
    },
  }
}

/** Where it is asked, and what a verifier is told of that, for the first of its clients. */
function urlsFor(
  { clock, defaults }: Pick<Backend, 'clock' | 'defaults'>,
  { clients = {} }: IntrospectionServiceOptions,
) {
  const [[clientId, client] = ['api', { secret: 'secret' }]] = Object.entries(clients)
  return (origin: string, fetch: TokenService['fetch']) => {
    const introspectionUrl = `${origin}${INTROSPECTION_PATH}`
    const verifierOptions = {
      issuer: issuerAt(defaults, origin),
      audience: defaults.audience ?? null,
      endpoint: introspectionUrl,
      clientId,
      clientSecret: client.secret,
      maxTokenAge: defaults.maxTokenAge,
      fetch,
      clock,
    }
    return { ...urlsUnder(origin), introspectionUrl, verifierOptions }
  }
}
