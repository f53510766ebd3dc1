import type { Clock } from '@portcullis/kit/time'
import type { KeyPhases, Rotation, TestIssuer } from '@portcullis/testing'

import type { EventLog } from './event-log.ts'
import { InputError } from './input.ts'
import { OperationError } from './operation-error.ts'
import type { RotateInput } from './requests.ts'

// Rotations of the signing key while the service runs. The second half of one is done by hand, or by itself after a time.

/** The rotations of a running service: one at a time. */
export interface Rotations {
  /** What is left to do of the last one, and how long until it happens by itself, if it does. Seconds. */
  pending():
    | { readonly next: Rotation['next']; readonly secondsLeft: number | undefined }
    | undefined
  /** @throws OperationError while another is under way, and if the new key cannot be kept. */
  rotate(input: RotateInput): Promise<void>
  /** Does the second half of the last one. */
  complete(): Promise<void>
  /** Undoes the last one. */
  rollBack(): Promise<void>
  /** Does no second half any more. */
  close(): void
}

/** @param keep Called when the keys have changed. */
export function createRotations(
  issuer: TestIssuer,
  clock: Clock,
  log: EventLog,
  keep: () => Promise<void>,
): Rotations {
  let isUnderWay = false
  let timer: { readonly at: number; readonly cancel: () => void } | undefined

  function refuseMeanwhile(): void {
    if (isUnderWay) throw new OperationError(409, 'another rotation is under way')
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
      throw error instanceof OperationError
        ? new OperationError(error.status, `done, but ${error.message}`)
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
    pending() {
      const rotation = issuer.pendingRotation()
      if (rotation === undefined) return undefined
      const secondsLeft =
        timer === undefined ? undefined : Math.max(0, timer.at - clock.monotonic())
      return { next: rotation.next, secondsLeft }
    },
    async rotate({ kid, publish = 'now', seconds }) {
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
    async complete() {
      refuseMeanwhile()
      await complete()
    },
    async rollBack() {
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
    close: forgetTimer,
  }
}

/** The thumbprint of the key that signs. */
function signingKey(issuer: TestIssuer): string {
  return issuer.keyPhases().find(({ signing }) => isOpen(signing))?.thumbprint ?? ''
}

function isOpen(phases: KeyPhases['signing']): boolean {
  return phases.some(({ until }) => until === undefined)
}
