import type { FetchResponse } from '@portcullis/core'
import type { WaitUntil } from '@portcullis/kit/calls'
import { authenticatedForm, type FormClient } from '@portcullis/kit/client-authentication'
import { createRetry, REQUEST_SETTINGS } from '@portcullis/kit/http'

import { exchange, type RawAnswer } from './exchange.ts'
import { createDiscovery, type Discovery, type MetadataOptions } from './metadata.ts'

// The introspection endpoint: how it is asked.

export interface EndpointOptions extends Omit<MetadataOptions, 'retry'>, FormClient {
  /** The identifier of the issuer; with `endpoint` any text will do. */
  readonly issuer: string
  /** The URL of the endpoint; without it the metadata of the issuer name it. */
  readonly endpoint: string | undefined
  readonly isSigned: boolean
}

export interface Endpoint {
  /** Asks about one token. @throws FailedExchange */
  readonly ask: (token: string, signal: AbortSignal, waitUntil?: WaitUntil) => Promise<RawAnswer>
  /** Its URL. @param waitUntil Of the request. @throws FailedExchange */
  readonly locate: (waitUntil?: WaitUntil) => Promise<string>
}

const ENDPOINT = 'the introspection endpoint'

/** @throws TypeError for what is no issuer, if the metadata have to name the endpoint. */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { endpoint, fetch, clock, isSigned } = options
  const accept = isSigned ? 'application/token-introspection+jwt' : 'application/json'
  const retry = createRetry()
  const { locate, doubt } =
    endpoint === undefined ? createDiscovery({ ...options, retry }) : stated(endpoint)

  async function send(url: string, token: string, signal: AbortSignal): Promise<FetchResponse> {
    const parameters = [
      ['token_type_hint', 'access_token'],
      ['token', token],
    ] as const
    const form = await authenticatedForm(options, parameters, accept)
    return await fetch(url, { method: 'POST', ...form, ...REQUEST_SETTINGS, signal })
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
