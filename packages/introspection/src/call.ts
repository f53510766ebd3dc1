import type { Failure } from './decisions.ts'

// One call of the endpoint about one token, and what it has brought.

/** What a call has brought. */
export type Outcome<Answer> =
  | { readonly failure: undefined; readonly answer: Answer }
  | { readonly failure: Failure; readonly retryAfter: number }

export interface NamedToken {
  readonly name: string
  readonly token: string
}

/** When a call began, and when it ended. Seconds of the monotonic clock. */
export interface CallTimes {
  readonly startedAt: number
  readonly settledAt: number
}
