import type { Clock } from '../time.ts'
import type { Retry } from './retry.ts'

// What is sent by every package that asks somebody, and what an answer has.

/** The part of `fetch` that is used. The platform's `fetch` and that of undici both fit. */
export type Fetch = (
  url: string,
  init: {
    readonly method: 'GET'
    readonly headers: Readonly<Record<string, string>>
    readonly redirect: 'manual'
    readonly credentials: 'omit'
    readonly cache: 'no-store'
    readonly signal: AbortSignal
  },
) => Promise<FetchResponse>

export interface FetchResponse {
  readonly status: number
  readonly redirected: boolean
  readonly url: string
  readonly headers: { get(name: string): string | null }
  /** A stream of the platform, or one of Node's. The types of a browser did not say before TypeScript 6 that theirs can be iterated. */
  readonly body:
    | AsyncIterable<Uint8Array>
    | {
        getReader(): {
          read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
          cancel(): Promise<void>
        }
      }
    | null
}

export interface Exchange {
  /** Sends one request, which ends with the attempt. */
  readonly get: (url: string) => Promise<FetchResponse>
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Of every request: what a redirect, or a cache of the platform, gives is not the answer of whoever was asked. */
export const REQUEST_SETTINGS = {
  redirect: 'manual',
  credentials: 'omit',
  // Frameworks such as Next.js keep answers by this, of POST as well, and not by the header.
  cache: 'no-store',
} as const

/** Looked up at each call, so that replacing the global works. */
export const platformFetch = async (
  ...args: Parameters<typeof globalThis.fetch>
): Promise<Response> => await globalThis.fetch(...args)

export function createExchange(
  {
    fetch,
    retry,
    clock,
    headers,
  }: {
    readonly fetch: Fetch
    readonly retry: Retry
    readonly clock: Clock
    readonly headers: Readonly<Record<string, string>>
  },
  signal: AbortSignal,
): Exchange {
  const init = { method: 'GET', headers, ...REQUEST_SETTINGS, signal } as const
  return {
    get: async (url) => await retry(async () => await fetch(url, init), signal),
    signal,
    clock,
  }
}
