import type { FetchResponse } from '@portcullis/core'
import type { WaitUntil } from '@portcullis/kit/calls'
import { createRetry, REQUEST_SETTINGS } from '@portcullis/kit/http'
import { ownMembers } from '@portcullis/kit/options'
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

export interface EndpointOptions extends Omit<MetadataOptions, 'retry'> {
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
   * @param waitUntil Of the request.
   * @throws FailedExchange
   */
  readonly ask: (token: string, signal: AbortSignal, waitUntil?: WaitUntil) => Promise<RawAnswer>
  /** Its URL. @param waitUntil Of the request. @throws FailedExchange */
  readonly locate: (waitUntil?: WaitUntil) => Promise<string>
}

const ENDPOINT = 'the introspection endpoint'

/** @throws TypeError for what is no issuer, if the metadata have to name the endpoint. */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { issuer, endpoint, client, authentication, fetch, clock, isSigned } = options
  const retry = createRetry()
  const { locate, doubt } =
    endpoint === undefined ? createDiscovery({ ...options, retry }) : stated(endpoint)

  async function send(url: string, token: string, signal: AbortSignal): Promise<FetchResponse> {
    // The library reads members that are not there: none of them may come from a polluted prototype.
    const server = ownMembers({ issuer, introspection_endpoint: url })
    let answered: { readonly response: FetchResponse } | undefined
    const request: IntrospectionRequestOptions = {
      signal,
      requestJwtResponse: isSigned,
      additionalParameters: { token_type_hint: 'access_token' },
      // Where it may be without TLS has been decided: on the loopback, or as the options say.
      [allowInsecureRequests]: true,
      [customFetch]: async (asked, { headers, body }) => {
        const init = {
          method: 'POST',
          headers: { ...headers, ...COMMON_HEADERS },
          body,
          ...REQUEST_SETTINGS,
          signal,
        } as const
        answered = { response: await fetch(asked, init) }
        return new Response()
      },
    }
    await introspectionRequest(server, client, authentication, token, ownMembers(request))
    if (answered === undefined)
      throw unavailableEndpoint('unreachable', `${ENDPOINT} was not asked`)
    return answered.response
  }

  return {
    locate,
    async ask(token, signal, waitUntil) {
      const url = await locate(waitUntil)
      const sending = async () => await send(url, token, signal)
      try {
        return await exchange(url, sending, { retry, clock, signal }, ENDPOINT)
      } catch (error) {
        doubt(waitUntil)
        throw error
      }
    },
  }
}

function stated(endpoint: string): Discovery {
  return { locate: async () => endpoint, doubt: () => {} }
}
