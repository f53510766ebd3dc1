import type { Backend } from './backend.ts'
import {
  checkTokenServiceOptions,
  PATHS,
  pathsOf,
  respondAsTokenService,
  type TokenServiceOptions,
} from './endpoints.ts'
import { listen, type ListeningTokenService, type ListenOptions } from './listen.ts'
import { type Handler, recorded } from './recorded.ts'

// A service as tests get it: in the process, or listening on a port.

/** A token service for tests. */
export interface TokenService {
  /** The base URL that `fetch` answers. No server listens there. */
  readonly authUrl: string
  readonly keyUrl: string
  /** Answers like the service, without a network. Pass it wherever Portcullis takes a `fetch`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** Serves the same over HTTP, by default on a free port of 127.0.0.1. */
  listen(options?: ListenOptions): Promise<ListeningTokenService>
}

export function serviceOf(backend: Backend, options: TokenServiceOptions = {}): TokenService {
  checkTokenServiceOptions(options)
  const handle = recorded(backend, pathsOf(options), respondAsTokenService(backend, options))
  return {
    ...urlsUnder(EMULATED),
    fetch: fetchFrom(handle),
    async listen(listenOptions) {
      const listener = await listen(handle, listenOptions)
      return { ...listener, ...urlsUnder(listener.url) }
    },
  }
}

/** The base URL of what is answered in the process. */
export const EMULATED = 'https://auth.test'

export function fetchFrom(handle: Handler): TokenService['fetch'] {
  return async (input, init) => {
    // The caller's signal: that of a new `Request` no longer follows it once the `Request` is garbage-collected.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
    signal?.throwIfAborted()
    return await handle(new Request(input, init), signal)
  }
}

export function urlsUnder(authUrl: string): { authUrl: string; keyUrl: string } {
  return { authUrl, keyUrl: `${authUrl}${PATHS.keys}` }
}
