import { elapsed, type Instant } from '@portcullis/kit/time'

import type { TokenClientStatus } from './token-client.ts'

// How fresh a token is: pure functions of the token and a time. What is done about it is said in `renewal.ts`.

/** Times are seconds. */
export interface HeldToken {
  readonly token: string
  readonly obtainedAt: Instant
  /** From `obtainedAt`, by the service's clock. */
  readonly lifetime: number
  /** With less than this left it is renewed, and used meanwhile. */
  readonly renewBefore: number
  /** With less than this left callers wait for the renewal. */
  readonly waitBefore: number
  /** Origins that have answered it with anything but 401. */
  readonly acceptedBy: ReadonlySet<string>
  /** Origins that have answered it with 401. */
  readonly refusedBy: ReadonlySet<string>
}

export const UNKNOWN_LIFETIME = 60
const LONGEST_RENEW_BEFORE = 300
const LONGEST_WAIT_BEFORE = 10

/**
 * @param random From 0 to 1, so that processes which logged in together do not renew together.
 * @param isRenewable Whether a renewal could bring a token that lasts longer. If not, it is used until it expires.
 */
export function hold(
  token: string,
  lifetime: number | undefined,
  obtainedAt: Instant,
  random: number,
  isRenewable: boolean,
): HeldToken {
  const known = lifetime ?? UNKNOWN_LIFETIME
  const advance = isRenewable ? Math.min(LONGEST_RENEW_BEFORE, known / 10) : 0
  return {
    token,
    obtainedAt,
    lifetime: known,
    renewBefore: advance * (1 + random / 4),
    // Less for a short-lived token: callers would wait for most of its lifetime.
    waitBefore: Math.min(LONGEST_WAIT_BEFORE, advance / 2),
    acceptedBy: new Set(),
    refusedBy: new Set(),
  }
}

/** Seconds. By both clocks: the monotonic one stops while a machine is suspended, and the wall clock can be set back. */
export function remaining({ obtainedAt, lifetime }: HeldToken, now: Instant): number {
  return lifetime - elapsed(obtainedAt, now)
}

export function freshness(
  held: HeldToken | undefined,
  now: Instant,
  minValidity: number = held?.waitBefore ?? 0,
): TokenClientStatus['freshness'] {
  if (held === undefined) return 'none'
  const left = remaining(held, now)
  if (!(left > 0)) return 'none'
  if (left < minValidity) return 'short'
  return left < held.renewBefore ? 'due' : 'fresh'
}

/** A caller who needs a token for more than nine tenths of its lifetime would cause a login at nearly each call. */
export function canLast({ lifetime }: HeldToken, minValidity: number): boolean {
  return minValidity <= 0.9 * lifetime
}
