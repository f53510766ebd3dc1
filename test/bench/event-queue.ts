/** Virtual time, in seconds: it moves from one event to the next. */
export interface EventQueue {
  now(): number
  /** Events of one moment run in the order in which they were put in. */
  at(time: number, run: () => void): void
  /** Runs what is due until then, and what that sets going. */
  runUntil(time: number): void
}

interface Event {
  readonly time: number
  readonly order: number
  readonly run: () => void
}

/** A binary heap, because a fleet has tens of thousands of events waiting. */
export function createEventQueue(): EventQueue {
  const heap: Event[] = []
  let now = 0
  let count = 0

  function at(time: number, run: () => void): void {
    const event = { time: Math.max(time, now), order: count++, run }
    let index = heap.length
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = heap[above]
      if (parent === undefined || isBefore(parent, event)) break
      heap[index] = parent
      index = above
    }
    heap[index] = event
  }

  function takeFirst(): void {
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      const below = smallerChild(index)
      const child = heap[below]
      if (child === undefined || isBefore(last, child)) break
      heap[index] = child
      index = below
    }
    heap[index] = last
  }

  function smallerChild(index: number): number {
    const left = heap[2 * index + 1]
    const right = heap[2 * index + 2]
    return 2 * index + (left && right && isBefore(right, left) ? 2 : 1)
  }

  return {
    now: () => now,
    at,
    runUntil(time) {
      for (let first = heap[0]; first !== undefined && first.time <= time; first = heap[0]) {
        takeFirst()
        now = first.time
        first.run()
      }
      now = time
    },
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.time < other.time || (one.time === other.time && one.order < other.order)
}
