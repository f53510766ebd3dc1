import type { EventQueue } from './event-queue.ts'

/** An endpoint as a fleet sees it: it answers after a round trip, or not while it is down. */
export interface SimulatedEndpoint<Answer = true> {
  /** One request: `settle` gets the answer, or nothing from an endpoint that is down. */
  get(settle: (answer: Answer | undefined) => void): void
  /** When its requests came, in order. */
  readonly requests: readonly number[]
  answer(): Answer
  rotate(answer: Answer): void
  setDown(isDown: boolean): void
}

/** Seconds. */
export const ROUND_TRIP = 0.02

/** Reads its answer halfway through the round trip: a request may be overtaken by a rotation. */
export function createEndpoint<Answer>(
  queue: EventQueue,
  first: Answer,
): SimulatedEndpoint<Answer> {
  const requests: number[] = []
  let answer = first
  let isDown = false
  return {
    requests,
    get(settle) {
      requests.push(queue.now())
      queue.after(ROUND_TRIP / 2, () => {
        const read = isDown ? undefined : answer
        queue.after(ROUND_TRIP / 2, () => settle(read))
      })
    },
    answer: () => answer,
    rotate(next) {
      answer = next
    },
    setDown(down) {
      isDown = down
    },
  }
}

/** How many requests came from one moment to before another. */
export function countBetween(requests: readonly number[], from: number, until: number): number {
  return requests.filter((time) => time >= from && time < until).length
}

/** The most requests in any second, wherever it begins. */
export function peakBetween(requests: readonly number[], from: number, until: number): number {
  const times = requests.filter((time) => time >= from && time < until)
  let [peak, first] = [0, 0]
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) <= time - 1) first += 1
    peak = Math.max(peak, index - first + 1)
  }
  return peak
}
