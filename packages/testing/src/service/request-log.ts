import type { Clock } from '../clock.ts'

export type Endpoint = 'keys' | 'token'

/** What the service saw of one request: never a password. */
export interface SeenRequest {
  /** `undefined` for a path that the service does not have. */
  readonly endpoint: Endpoint | undefined
  /** When it came: seconds since 1970-01-01T00:00:00Z, by the issuer's clock. */
  readonly time: number
  /** Of the answer; `undefined` as long as there is none. */
  readonly status: number | undefined
  /** Who logged in, or tried to. */
  readonly loginId: string | undefined
}

/** The same, as it is written. */
export type Entry = { -readonly [Name in keyof SeenRequest]: SeenRequest[Name] }

/** The requests in the order they came, without a bound: as many as a test makes. */
export interface RequestLog {
  /** Notes a request at once. What is learnt of it later is written into the entry. */
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
