import type { Chronicle } from './history.ts'
import type { Store } from './store.ts'
import { afterSeconds } from './workers.ts'

// Whether the machine keeps up. It is shared with others, and where a store that nobody disturbs does not answer this process in time,
// it does not answer a worker in time either. So the oracle must know of it, and the report says for how long it was so.

export interface Machine {
  /** Seconds in which it was too busy. */
  readonly busy: number
}

/** An answer takes less than a millisecond; a worker allows a quarter of `maxStaleness`, 1.25 s. Seconds. */
const SLOW = 0.4
const PAUSE = 0.25

/** Asks the store again and again until the signal. */
export function watchMachine(
  store: Pick<Store, 'ping'>,
  chronicle: Chronicle,
  now: () => number,
  signal: AbortSignal,
): Machine {
  const machine = { busy: 0 }
  const history = chronicle.at('none')
  const watch = async () => {
    while (!signal.aborted) {
      const asked = now()
      // The pause as well: a busy process comes late to its timers.
      await Promise.race([store.ping(), afterSeconds(SLOW * 2)])
      await afterSeconds(PAUSE)
      const late = now() - asked - PAUSE
      if (late > SLOW && !history.wasDisturbed('store', asked - SLOW, now())) {
        chronicle.note('machine', asked, now())
        machine.busy += late
      }
    }
  }
  void watch()
  return machine
}
