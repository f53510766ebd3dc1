import type { Clock } from '../clock.ts'

// Remembers the newest requests to the services of an issuer, without passwords and tokens.

/** `token`: logins, and the grants of clients of OAuth. `introspection` is that of `introspectionService`. */
export type Endpoint = 'keys' | 'token' | 'introspection' | 'metadata'
export const ENDPOINTS: readonly Endpoint[] = ['keys', 'token', 'introspection', 'metadata']

/** One request to a service, without the password, the secret of a client and the token. */
export interface SeenRequest {
  /** `undefined` for a path that the service does not have. */
  readonly endpoint: Endpoint | undefined
  /** When it arrived: seconds since 1970-01-01T00:00:00Z, by the issuer's clock. */
  readonly time: number
  /** The status of the answer; `undefined` before there is one. */
  readonly status: number | undefined
  /** The `loginId` of a login, also of a failed one: at most 256 characters of it. */
  readonly loginId: string | undefined
  /** Which client asked about a token, right or wrong: at most 256 characters of its name. */
  readonly clientId: string | undefined
  /** The `User-Agent` of the client: at most 256 characters of it. */
  readonly userAgent: string | undefined
}

export type Entry = { -readonly [Name in keyof SeenRequest]: SeenRequest[Name] }

/** How much the log keeps of each text that a client sent, in characters. */
export const MAX_TEXT = 256

export interface RequestLog {
  /** Adds a request when it arrives. What is known only later is written into the entry. */
  enter(endpoint: Endpoint | undefined, userAgent: string | undefined): Entry
  /** Tells the listeners of a request that has been answered, or never will be. */
  finish(entry: Entry): void
  /** @returns A function that ends it. */
  watch(listener: (request: SeenRequest) => void): () => void
  copy(): readonly SeenRequest[]
}

export function createRequestLog(clock: Clock, max: number): RequestLog {
  const entries: Entry[] = []
  const listeners = new Set<{ readonly tell: (request: SeenRequest) => void }>()

  return {
    enter(endpoint, userAgent) {
      const entry: Entry = {
        endpoint,
        time: clock.now(),
        status: undefined,
        loginId: undefined,
        clientId: undefined,
        userAgent: userAgent?.slice(0, MAX_TEXT),
      }
      // Many at once, since each removal moves all that stay.
      if (entries.length >= 2 * max) entries.splice(0, max)
      entries.push(entry)
      return entry
    },
    finish(entry) {
      for (const { tell } of listeners) tell({ ...entry })
    },
    watch(listener) {
      const listening = { tell: listener }
      listeners.add(listening)
      return () => {
        listeners.delete(listening)
      }
    },
    copy: () => structuredClone(entries.slice(-max)),
  }
}
