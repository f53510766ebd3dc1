import { checkOptions, oneOf } from '@portcullis/kit/options'

import type { Clock } from '../clock.ts'
import type { KeyDocument, KeyRotation } from '../keys/key-rotation.ts'
import { isCount, isDuration } from '../options.ts'
import { type Exchange, MISBEHAVIOURS, type OutageKind } from './misbehaviours.ts'
import { type Endpoint, ENDPOINTS } from './request-log.ts'

// Which outages are in force, for how long and at which endpoint. What they do is in `misbehaviours.ts`.

export interface OutageOptions {
  /** How many requests it affects. By default all. */
  times?: number | undefined
  /** How long it lasts, by the issuer's clock. By default until `restore()`. */
  seconds?: number | undefined
  /** Which endpoint it affects. By default all, but the kinds about keys affect only the key endpoint. */
  endpoint?: Endpoint | undefined
  /**
   * How late a `slow` answer comes. Seconds.
   * @default 3
   */
  delay?: number | undefined
}

/** A fault of the services of an issuer, and what is left of it at this moment. */
export interface Outage {
  readonly kind: OutageKind
  readonly endpoints: readonly Endpoint[]
  /** When it began: seconds since 1970-01-01T00:00:00Z, by the issuer's clock. */
  readonly since: number
  /** How long it will last from now on, and how many answers it will affect; `undefined` if there is no limit. */
  readonly secondsLeft: number | undefined
  readonly timesLeft: number | undefined
  /** Ends the outage. Requests that already hang are not answered. */
  restore(): void
}

/** The outages of an issuer. Of several, the one that began last decides. */
export interface Outages {
  inForce(): readonly Outage[]
  begin(kind: OutageKind, options?: OutageOptions): Outage
  answer(endpoint: Endpoint, exchange: Exchange): Promise<Response>
}

const ABOUT_KEYS: ReadonlySet<OutageKind> = new Set(['key-set', 'stale-key', 'other-key'])

/** @param otherDocument A key document that is not the issuer's. */
export function createOutages(
  clock: Clock,
  keys: KeyRotation,
  otherDocument: () => Promise<KeyDocument>,
): Outages {
  let current: readonly ActiveOutage[] = []

  function lasting(): readonly ActiveOutage[] {
    current = current.filter(({ until, left }) => clock.monotonic() < until && left > 0)
    return current
  }

  function shown(outage: ActiveOutage): Outage {
    const { kind, endpoints, since, until } = outage
    return {
      kind,
      endpoints,
      since,
      get secondsLeft() {
        return limited(Math.max(0, until - clock.monotonic()))
      },
      get timesLeft() {
        return limited(outage.left)
      },
      restore() {
        outage.left = 0
      },
    }
  }

  return {
    inForce: () => lasting().map(shown),
    begin(kind, options = {}) {
      const outage = activate(kind, options, clock)
      if (kind === 'stale-key' && keys.staleDocument === undefined) {
        throw new TypeError('outage: no key is stale before the issuer has rotated')
      }
      current = [...lasting(), outage]
      return shown(outage)
    },
    async answer(endpoint, exchange) {
      const outage = lasting().findLast(({ endpoints }) => endpoints.includes(endpoint))
      if (outage === undefined) return await exchange.answer()
      outage.left -= 1
      const { kind, delay } = outage
      if (typeof kind === 'number') return new Response(null, { status: kind })
      const { state, staleDocument } = keys
      const { document } = state
      const circumstances = { clock, delay, document, staleDocument, otherDocument }
      return await MISBEHAVIOURS[kind](exchange, circumstances)
    },
  }
}

interface ActiveOutage {
  readonly kind: OutageKind
  readonly endpoints: readonly Endpoint[]
  readonly delay: number
  readonly since: number
  /** On the monotonic clock. */
  readonly until: number
  left: number
}

function activate(kind: OutageKind, options: OutageOptions, clock: Clock): ActiveOutage {
  if (!isKind(kind)) {
    const known = Object.keys(MISBEHAVIOURS).join(', ')
    throw new TypeError(`outage: the kind must be a status from 200 to 599, or one of ${known}`)
  }
  const possible = ABOUT_KEYS.has(kind) ? (['keys'] as const) : ENDPOINTS
  checkOptions('outage', options, {
    times: isCount,
    seconds: isDuration,
    endpoint: oneOf(...possible),
    delay: kind === 'slow' ? isDuration : () => 'is for the kind slow',
  })
  const { times = Infinity, seconds = Infinity, endpoint, delay = 3 } = options
  const endpoints = endpoint === undefined ? possible : [endpoint]
  const until = clock.monotonic() + seconds
  return { kind, endpoints, delay, since: clock.now(), until, left: times }
}

function limited(count: number): number | undefined {
  return count === Infinity ? undefined : count
}

function isKind(kind: unknown): kind is OutageKind {
  return typeof kind === 'number'
    ? Number.isInteger(kind) && kind >= 200 && kind <= 599
    : typeof kind === 'string' && Object.hasOwn(MISBEHAVIOURS, kind)
}
