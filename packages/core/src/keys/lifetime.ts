import type { FetchedRing } from './ring.ts'

// How long a document can be used. Times are seconds.

export const DEFAULT_MAX_AGE = 300
const MIN_ANNOUNCED_AGE = 60
const MAX_ANNOUNCED_AGE = 3600

/** Seconds: what is stated, else what the headers announce, else 300; spread by 10 % so that a fleet does not fetch together. */
export function lifetime(
  announced: number | undefined,
  { maxAge, spread }: { maxAge: number | undefined; spread: number },
): number {
  const bounded =
    announced === undefined
      ? (maxAge ?? DEFAULT_MAX_AGE)
      : Math.min(
          maxAge ?? Infinity,
          Math.max(MIN_ANNOUNCED_AGE, Math.min(announced, MAX_ANNOUNCED_AGE)),
        )
  return bounded * (0.9 + 0.2 * spread)
}

/** How long a key stays trusted after it was withdrawn: while attempts succeed, and while they fail. */
export function withdrawnKeyTrust(
  { maxAge }: FetchedRing,
  {
    staleWhileRevalidate,
    staleIfError,
    overlap,
  }: { staleWhileRevalidate: number; staleIfError: number; overlap: number },
): { endpointUp: number; endpointDown: number } {
  return {
    endpointUp: maxAge + staleWhileRevalidate + overlap,
    // While a refresh runs behind the requests, nobody asks how it ends.
    endpointDown: maxAge + Math.max(staleWhileRevalidate, staleIfError) + overlap,
  }
}
