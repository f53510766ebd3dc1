import type { ManualClock } from '@portcullis/testing'
import type { JWK, JSONWebKeySet } from 'jose'

/** A key endpoint in virtual time, behind whatever calls its `fetch`. */
export interface KeyEndpoint {
  readonly fetch: () => Promise<Response>
  /** When its requests came. Seconds of the clock. */
  readonly requests: readonly number[]
  /** Requests that have no answer yet. */
  pending(): number
  serve(document: JWK | JSONWebKeySet): void
  /** Refuses connections from now on. */
  die(): void
  answerAfter(seconds: number): void
}

const ROUND_TRIP = 0.02

export function createKeyEndpoint(clock: ManualClock): KeyEndpoint {
  const requests: number[] = []
  let pending = 0
  let roundTrip = ROUND_TRIP
  let document: JWK | JSONWebKeySet | undefined

  return {
    async fetch() {
      requests.push(clock.monotonic())
      pending += 1
      const answer = document
      await new Promise<void>((resolve) => {
        clock.after(roundTrip, resolve)
      })
      pending -= 1
      if (answer === undefined) throw new TypeError('fetch failed')
      return Response.json(answer)
    },
    requests,
    pending: () => pending,
    serve(next) {
      document = next
    },
    die() {
      document = undefined
    },
    answerAfter(seconds) {
      roundTrip = seconds
    },
  }
}
