import { setTimeout as pause } from 'node:timers/promises'

// What every program of the soak tells of itself.

/** What must not grow. */
export interface Measured {
  /** Octets after a collection. */
  readonly heap: number
  /** Octets that the process has of the machine. It may differ by what the allocator keeps. */
  readonly resident: number
  /** What keeps the process alive: sockets, timers, servers. */
  readonly handles: number
  readonly listeners: number
}

export async function measure(): Promise<Measured> {
  // Two, since what a finalizer frees is collected by the next one.
  globalThis.gc?.()
  await pause(0)
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return {
    heap: heapUsed,
    resident: rss,
    handles: process.getActiveResourcesInfo().length,
    listeners: process
      .eventNames()
      .reduce((sum, name) => sum + process.listenerCount(name as 'exit'), 0),
  }
}

/** Waits until it is so. */
export async function isAt(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(10)
}
