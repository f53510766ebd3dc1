import type { Flight } from './flight.ts'

// Calls that run, each by its name, and beside them one that finds out whether the failures of others are the fault of whom all of them
// ask: it takes no place of theirs.

export interface RunningCall {
  readonly item: { readonly name: string }
  readonly isProbe: boolean
  /** For those of other requests who wait for it, once it has begun. */
  readonly flight: Flight<unknown> | undefined
}

export interface Running<Call extends RunningCall> {
  find(name: string): Call | undefined
  add(call: Call): void
  /** Whether it ran: it may have been given up. */
  end(call: Call): boolean
  /** Without the probe, the oldest first. */
  calls(): Iterable<Call>
  isProbing(): boolean
  /** Gives up those that should have ended long ago. */
  dropOverdue(): void
  /** Gives up the probe if it may have ended with its request: nobody has to wait for what it would say. */
  dropOrphanedProbe(): void
  /** Makes room: gives up one that may have ended with its request. Returns whether there was one. */
  dropOrphan(): boolean
}

export function createRunning<Call extends RunningCall>(): Running<Call> {
  const calls = new Map<string, Call>()
  let probe: Call | undefined

  return {
    find: (name) => calls.get(name) ?? (probe?.item.name === name ? probe : undefined),
    add(call) {
      if (call.isProbe) probe = call
      else calls.set(call.item.name, call)
    },
    end(call) {
      if (probe === call) {
        probe = undefined
        return true
      }
      return calls.get(call.item.name) === call && calls.delete(call.item.name)
    },
    calls: () => calls.values(),
    isProbing: () => probe !== undefined,
    dropOverdue() {
      if (probe !== undefined && isOverdue(probe)) probe = undefined
      for (const [name, each] of calls) {
        if (!isOverdue(each)) return
        calls.delete(name)
      }
    },
    dropOrphanedProbe() {
      if (probe?.flight?.isOrphaned() === true) probe = undefined
    },
    dropOrphan() {
      for (const [name, { flight }] of calls) {
        if (flight?.isOrphaned() === true) return calls.delete(name)
      }
      return false
    },
  }
}

function isOverdue({ flight }: RunningCall): boolean {
  return flight !== undefined && flight.untilGivenUp() <= 0
}
