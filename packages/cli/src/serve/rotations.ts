import type { Clock } from '@portcullis/kit/time'
import type { TestIssuer } from '@portcullis/testing'

import type { EventLog } from './event-log.ts'
import { InputError } from './input.ts'
import type { RotateInput } from './requests.ts'

// Rotations of the signing key while the service runs: one at a time. The second half of one is done by hand, or by itself after a time.

/** @param keep Called when the keys have changed. @throws InputError in each change, also if the new key cannot be kept. */
export function createRotations(
  issuer: TestIssuer,
  clock: Clock,
  log: EventLog,
  keep: () => Promise<void>,
) {
  let isUnderWay = false
  let timer: { readonly at: number; readonly cancel: () => void } | undefined

  function refuseMeanwhile(): void {
    if (isUnderWay) throw new InputError('another rotation is under way', 409)
  }

  function forgetTimer(): void {
    timer?.cancel()
    timer = undefined
  }

  async function complete(): Promise<void> {
    const rotation = issuer.pendingRotation()
    if (rotation === undefined) throw new InputError('no rotation waits for its second half')
    forgetTimer()
    rotation.complete()
    log.add({ type: 'completed', thumbprint: signingKey(issuer) })
    await keepThem()
  }

  async function keepThem(): Promise<void> {
    try {
      await keep()
    } catch (error) {
      throw error instanceof InputError
        ? new InputError(`done, but ${error.message}`, error.status)
        : error
    }
  }

  function completeAfter(seconds: number): void {
    const cancel = clock.after(seconds, () => {
      // Only what cannot be kept is left to fail, and whoever keeps it reports that.
      complete().catch(() => undefined)
    })
    timer = { at: clock.monotonic() + seconds, cancel }
  }

  return {
    /** What is left to do of the last one, and how long until it happens by itself, if it does. Seconds. */
    pending() {
      const rotation = issuer.pendingRotation()
      if (rotation === undefined) return undefined
      const secondsLeft = timer && Math.max(0, timer.at - clock.monotonic())
      return { next: rotation.next, secondsLeft }
    },
    async rotate({ kid, publish = 'now', seconds }: RotateInput): Promise<void> {
      refuseMeanwhile()
      if (seconds !== undefined && publish === 'now') {
        throw new InputError(
          'seconds goes with publish first, later and both, which have a second half',
        )
      }
      isUnderWay = true
      try {
        await issuer.rotate({ kid, publish })
      } finally {
        isUnderWay = false
      }
      // Not before: until then the last rotation may still be completed.
      forgetTimer()
      if (seconds !== undefined) completeAfter(seconds)
      log.add({ type: 'rotated', publish, thumbprint: signingKey(issuer) })
      await keepThem()
    },
    async complete(): Promise<void> {
      refuseMeanwhile()
      await complete()
    },
    async rollBack(): Promise<void> {
      refuseMeanwhile()
      try {
        issuer.rollBack()
      } catch (error) {
        throw error instanceof TypeError ? new InputError(error.message) : error
      }
      forgetTimer()
      log.add({ type: 'rolled back', thumbprint: signingKey(issuer) })
      await keepThem()
    },
    /** Does no second half any more. */
    close: forgetTimer,
  }
}

function signingKey(issuer: TestIssuer): string | undefined {
  return issuer.keyPhases().find(({ signing }) => signing.some(({ until }) => until === undefined))
    ?.thumbprint
}
