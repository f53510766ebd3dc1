import type { Clock } from '@portcullis/core'
import { LATENESS } from '@portcullis/kit/waiting'

// Calls that run, each by the name of its token, and beside them one that finds out whether the failures of others are the fault of the
// endpoint: it takes no place of theirs.

interface Named {
  readonly name: string
  /** When it began. Seconds of the monotonic clock. */
  readonly since: number
}

export interface Running<Call extends Named> {
  find(name: string): Call | undefined
  add(call: Call, isProbe: boolean): void
  /** What it was; `undefined` if it had been given up. */
  end(call: Call): 'call' | 'probe' | undefined
  /** Without the probe, the oldest first. */
  calls(): Iterable<Call>
  isProbing(): boolean
  /** Gives up the probe if it is such a one. */
  dropProbe(isOver: (probe: Call) => boolean): void
  /** Gives up those whose timers have been lost: see `LATENESS`. */
  dropLost(): void
}

/** @param timeout The longest that a call takes. Seconds. */
export function createRunning<Call extends Named>(clock: Clock, timeout: number): Running<Call> {
  const calls = new Map<string, Call>()
  let probe: Call | undefined

  function isLost({ since }: Call): boolean {
    return clock.monotonic() - since > timeout + LATENESS
  }

  return {
    find: (name) => calls.get(name) ?? (probe?.name === name ? probe : undefined),
    add(call, isProbe) {
      if (isProbe) probe = call
      else calls.set(call.name, call)
    },
    end(call) {
      if (probe === call) {
        probe = undefined
        return 'probe'
      }
      if (calls.get(call.name) !== call) return undefined
      calls.delete(call.name)
      return 'call'
    },
    calls: () => calls.values(),
    isProbing: () => probe !== undefined,
    dropProbe(isOver) {
      if (probe !== undefined && isOver(probe)) probe = undefined
    },
    dropLost() {
      if (probe !== undefined && isLost(probe)) probe = undefined
      for (const [name, each] of calls) {
        if (!isLost(each)) return
        calls.delete(name)
      }
    },
  }
}
