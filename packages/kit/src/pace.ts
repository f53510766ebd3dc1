// How long an endpoint that has failed is left alone. Times are seconds.

const MAX_FAILURE_PAUSE = 30
/** Each failure pause is multiplied by a random factor from 1 less this to 1 plus this. */
const FAILURE_PAUSE_SPREAD = 0.2
const MAX_RETRY_AFTER = 60

/** The longest time from the start of a failed attempt to the next one, or from its answer if that names a time. */
export const LONGEST_PAUSE: number = Math.max(
  MAX_FAILURE_PAUSE * (1 + FAILURE_PAUSE_SPREAD),
  MAX_RETRY_AFTER,
)

/** After 1 s, doubling to 30 s, or when the endpoint says. @param failures In a row, this one included. */
export function failurePauseEnd(
  failures: number,
  { startedAt, settledAt }: { readonly startedAt: number; readonly settledAt: number },
  retryAfter: number,
  random: number,
): number {
  const pause = doubled(1, failures - 1, MAX_FAILURE_PAUSE)
  const [from, to] = [1 - FAILURE_PAUSE_SPREAD, 1 + FAILURE_PAUSE_SPREAD]
  return Math.max(
    startedAt + drawn(pause, from, to, random),
    settledAt + Math.min(Math.max(retryAfter, 0), MAX_RETRY_AFTER),
  )
}

export function doubled(first: number, repetitions: number, limit: number): number {
  return Math.min(limit, first * 2 ** repetitions)
}

/** Times a factor between two, so that processes which failed together do not come back together. @param random From 0 to 1. */
export function drawn(seconds: number, from: number, to: number, random: number): number {
  return seconds * (from + (to - from) * random)
}
