import { type Algorithm, costOfCheck } from '../algorithms/algorithms.ts'
import { type EventLoopLimits, watchEventLoop } from './event-loop.ts'

// Where a signature is checked: by what a check and a hand-over to the thread pool take on this machine. All times are microseconds.

/** About how long signatures may hold up the event loop. */
const LIMITS = {
  /** Four of RSA keys of 2048 bits, one of P-256, by the table of algorithms. */
  run: 80,
  /** 250 of RSA keys of 2048 bits, 90 of P-256. */
  iteration: 5000,
} satisfies EventLoopLimits

/** The most that one measurement changes of an estimate: it may have been the first, or garbage was collected meanwhile. */
const STEP = 1 / 8

/** What an estimate loses with each measurement of the other way, if it leads there: else a wrong one would stay for ever. */
const FORGETTING = 1 / 256

/** Of a hand-over, until one was measured: so the first ones are made. */
const ALMOST_NOTHING = 1

/** Signatures that take about as long as each other: what the table of algorithms says of them. There are fourteen. */
export type CheckKind = number

/** With RSA all sizes of a modulus up to the same multiple of 1024 bits are one kind, so that strangers' keys are of few. */
export function kindOfCheck(algorithm: Algorithm, signatureLength: number): CheckKind {
  return costOfCheck(algorithm, Math.ceil(signatureLength / 128) * 128)
}

export interface Placement {
  /** Whether the thread pool should do the check that comes now. */
  isForPool(kind: CheckKind): boolean
  /** Is told of each check on the main thread, of its time (0: not measured), and whether it proved the signature. */
  hasChecked(kind: CheckKind, time: number, isProven: boolean): void
  /** Is told of each check that the thread pool was given, and how long the main thread was busy with that (0: not measured). */
  hasHandedOver(kind: CheckKind, time: number): void
}

/** Each has estimates of its own: the keys of proofs are chosen by strangers, and some of them take longer than others of their kind. */
export function createPlacement(): Placement {
  const eventLoop = watchEventLoop(LIMITS)
  const costs = new Map<CheckKind, number>()
  let handOver = ALMOST_NOTHING

  function costOf(kind: CheckKind): number {
    return costs.get(kind) ?? kind
  }

  function hasChecked(kind: CheckKind, time: number, isProven: boolean): void {
    const cost = costOf(kind)
    // What has really passed, if it is more: whatever is wrong about an estimate, the event loop iterates in time.
    eventLoop.count(time > cost ? time : cost)
    if (!isMeasured(time)) return
    // Some forged signatures are refused without arithmetic: they must not make the others look cheaper.
    if (isProven || time > cost) costs.set(kind, corrected(cost, time))
    if (cost <= handOver) handOver -= handOver * FORGETTING
  }

  function hasHandedOver(kind: CheckKind, time: number): void {
    if (!isMeasured(time)) return
    handOver = corrected(handOver, time)
    const cost = costOf(kind)
    if (cost > LIMITS.run && cost > kind) costs.set(kind, cost - (cost - kind) * FORGETTING)
  }

  return {
    isForPool: (kind) => eventLoop.isBusy(costOf(kind), handOver),
    hasChecked,
    hasHandedOver,
  }
}

/** A clock that stands still, or was set back, says nothing. */
function isMeasured(time: number): boolean {
  return time > 0
}

function corrected(estimate: number, time: number): number {
  const most = estimate * STEP
  return estimate + Math.min(most, Math.max(-most, time - estimate))
}
