import { nextPoll } from '../../packages/events/src/polling.ts'
import type { EventQueue } from './event-queue.ts'
import type { Random } from './random.ts'
import type { SimulatedIntrospection } from './simulated-introspection.ts'

// One process that polls a transmitter for security events, which has none and answers at once: the most requests that there can be.

/** The default of `pollEvents`. Seconds. */
const INTERVAL = 5

export function startPolling(
  queue: EventQueue,
  transmitter: SimulatedIntrospection,
  random: Random,
  from: number,
): void {
  let failures = 0
  const poll = () => {
    const startedAt = queue.now()
    transmitter.call((isAnswered) => {
      failures = isAnswered ? 0 : failures + 1
      const times = { startedAt, settledAt: queue.now(), failures, retryAfter: 0 }
      const outcome = isAnswered ? 'nothing' : 'failure'
      queue.at(nextPoll(outcome, times, INTERVAL, random()), poll)
    })
  }
  queue.at(from, poll)
}
