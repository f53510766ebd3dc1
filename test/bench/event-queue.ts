/** Virtual time, in seconds: it moves from one event to the next. */
export interface EventQueue {
  now(): number
  /** Events of one moment run in the order in which they were put in. */
  at(time: number, run: () => void): void
  after(seconds: number, run: () => void): void
  /** Runs what is due until then, and what that sets going. */
  runUntil(time: number): void
}

type Event = readonly [time: number, order: number, run: () => void]

/** A binary heap, because a fleet has tens of thousands of events waiting. */
export function createEventQueue(): EventQueue {
  const heap: Event[] = []
  let [now, count] = [0, 0]

  function at(time: number, run: () => void): void {
    const event: Event = [Math.max(time, now), count++, run]
    let index = heap.length
    for (; index > 0; index = (index - 1) >> 1) {
      const parent = heap[(index - 1) >> 1]
      if (parent === undefined || isBefore(parent, event)) break
      heap[index] = parent
    }
    heap[index] = event
  }

  function takeFirst(): void {
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      const [left, right] = [heap[2 * index + 1], heap[2 * index + 2]]
      const isRight = left !== undefined && right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (child === undefined || isBefore(last, child)) break
      heap[index] = child
      index = 2 * index + (isRight ? 2 : 1)
    }
    heap[index] = last
  }

  return {
    now: () => now,
    at,
    after: (seconds, run) => at(now + seconds, run),
    runUntil(time) {
      for (let [first] = heap; first !== undefined && first[0] <= time; [first] = heap) {
        takeFirst()
        now = first[0]
        first[2]()
      }
      now = time
    },
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one[0] < other[0] || (one[0] === other[0] && one[1] < other[1])
}
