import { ownMembers } from '@portcullis/core/verifier'
import {
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  customFetch,
  introspectionRequest,
  type IntrospectionRequestOptions,
} from 'oauth4webapi'

import { COMMON_HEADERS, exchange, type RawAnswer, unavailableEndpoint } from './exchange.ts'
import { createDiscovery, type Discovery, type MetadataOptions } from './metadata.ts'

// The introspection endpoint: how it is asked. The request is composed by oauth4webapi, and our own exchange sends it.

export interface EndpointOptions extends MetadataOptions {
  /** The identifier of the issuer; with `endpoint` any text will do. */
  readonly issuer: string
  /** The URL of the endpoint; without it the metadata of the issuer name it. */
  readonly endpoint: string | undefined
  readonly client: Client
  readonly authentication: ClientAuth
  readonly isSigned: boolean
}

export interface Endpoint {
  /**
   * Asks about one token.
   *
   * @throws FailedExchange
   */
  readonly ask: (token: string, signal: AbortSignal) => Promise<RawAnswer>
  /** Its URL. @throws FailedExchange */
  readonly locate: () => Promise<string>
}

const ENDPOINT = 'the introspection endpoint'

/** @throws TypeError for what is no issuer, if the metadata have to name the endpoint. */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { issuer, endpoint, client, authentication, fetch, clock, isSigned } = options
  const { locate, doubt } = endpoint === undefined ? createDiscovery(options) : stated(endpoint)

  return {
    locate,
    async ask(token, signal) {
      // The library reads members that are not there: none of them may come from a polluted prototype.
      const server = ownMembers({ issuer, introspection_endpoint: await locate() })
      let answer: RawAnswer | undefined
      const request: IntrospectionRequestOptions = {
        signal,
        requestJwtResponse: isSigned,
        additionalParameters: { token_type_hint: 'access_token' },
        // Where it may be without TLS has been decided: on the loopback, or as the options say.
        [allowInsecureRequests]: true,
        [customFetch]: async (url, { headers, body }) => {
          const init = {
            method: 'POST',
            headers: { ...headers, ...COMMON_HEADERS },
            body,
          } as const
          answer = await exchange(url, init, { fetch, clock, signal }, ENDPOINT)
          return new Response()
        },
      }
      try {
        await introspectionRequest(server, client, authentication, token, ownMembers(request))
      } catch (error) {
        doubt()
        throw error
      }
      if (answer === undefined)
        throw unavailableEndpoint('unreachable', `${ENDPOINT} was not asked`)
      return answer
    },
  }
}

function stated(endpoint: string): Discovery {
  return { locate: async () => endpoint, doubt: () => {} }
}
