import type { Clock } from '../clock.ts'

export type Endpoint = 'keys' | 'token'

/** One request to the service, without the password. */
export interface SeenRequest {
  /** `undefined` for a path that the service does not have. */
  readonly endpoint: Endpoint | undefined
  /** When it arrived: seconds since 1970-01-01T00:00:00Z, by the issuer's clock. */
  readonly time: number
  /** Of the answer; `undefined` as long as there is none. */
  readonly status: number | undefined
  /** Who logged in, or tried to. */
  readonly loginId: string | undefined
}

/** The same while it can still be written. */
export type Entry = { -readonly [Name in keyof SeenRequest]: SeenRequest[Name] }

/** The requests in their order. There is no limit, since a test makes few. */
export interface RequestLog {
  /** Adds a request when it arrives. What is known only later is written into the entry. */
  enter(endpoint: Endpoint | undefined): Entry
  copy(): readonly SeenRequest[]
}

export function createRequestLog(clock: Clock): RequestLog {
  const entries: Entry[] = []
  return {
    enter(endpoint) {
      const entry: Entry = { endpoint, time: clock.now(), status: undefined, loginId: undefined }
      entries.push(entry)
      return entry
    },
    copy: () => structuredClone(entries),
  }
}
