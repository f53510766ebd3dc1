import type { Flight } from '@portcullis/kit/calls'

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

export interface Call<Answer> extends NamedToken {
  readonly outcome: Promise<Outcome<Answer>>
  readonly settle: (outcome: Outcome<Answer>) => void
  /** How many wait for it. */
  waiting: number
  since: number
  /** For those of other requests who wait for it, once it runs. */
  flight: Flight<Outcome<Answer>> | undefined
}

export function createCall<Answer>({ name, token }: NamedToken): Call<Answer> {
  let resolve: ((outcome: Outcome<Answer>) => void) | undefined
  const outcome = new Promise<Outcome<Answer>>((each) => {
    resolve = each
  })
  const settle = (each: Outcome<Answer>) => resolve?.(each)
  return { name, token, outcome, settle, waiting: 0, since: Infinity, flight: undefined }
}
