import type { Clock } from '@portcullis/kit/time'

// When a verification may hold up the event loop, and when it should leave it to others.

// Captured at import, so that fake timers cannot stop the counts from being reset.
const { setImmediate } = globalThis

/** To await it takes one microtask. */
const fulfilled = Promise.resolve()

/** How long reading what strangers send may take of one iteration, in seconds, for everything that reads. */
const READING = 0.005

/** What tells how busy the event loop is with work of one kind. */
export interface EventLoopWatch {
  /** Whether a piece of work of this cost would be more than this synchronous run, or this iteration, should do. */
  isBusy(cost: number): boolean
  /** Is told of each piece of work before it is done. */
  count(cost: number): void
}

/** What may be done at once, in the unit of the costs. */
export interface EventLoopLimits {
  /** By all that one synchronous run does. */
  readonly run: number
  /** By one iteration, for all watches. Whoever awaits each piece starts a new run, but promises keep the event loop where it is. */
  readonly iteration: number
}

interface Iteration {
  spent: number
  /** Seconds of reading. */
  read: number
}

/** Of all watches, because a thread has one event loop. `undefined` until something is counted in it. */
let current: Iteration | undefined

function currentIteration(): Iteration {
  if (current === undefined) {
    current = { spent: 0, read: 0 }
    // Keeps no process alive: it runs when the event loop iterates next, and nothing else is waited for.
    setImmediate(() => {
      current = undefined
    })
  }
  return current
}

/**
 * Tells work that comes one by one, or few pieces at once, from work that comes faster than the event loop iterates. Then only
 * the first callback of an iteration should do its work at once, and that only up to a limit.
 */
export function watchEventLoop(limits: EventLoopLimits): EventLoopWatch {
  let done = 0
  /** The last iteration in which something was counted here, and the last one whose first callback to do so is over. */
  let counted: Iteration | undefined
  let over: Iteration | undefined

  function count(cost: number): void {
    if (done === 0) void endRun()
    done += cost
    const iteration = currentIteration()
    iteration.spent += cost
    if (counted === iteration) return
    counted = iteration
    // Runs when the code that counted is over; if that ran in a promise, when no promise has anything left to do. What is
    // counted later in this iteration belongs to other callbacks.
    process.nextTick(() => {
      over = iteration
    })
  }

  /** One microtask later. `queueMicrotask` would do the same, but in Node it makes an `AsyncResource` at each call. */
  async function endRun(): Promise<void> {
    await fulfilled
    done = 0
  }

  function isBusy(cost: number): boolean {
    if (done + cost > limits.run) return true
    if (current === undefined) return false
    return over === current || current.spent + cost > limits.iteration
  }

  return { count, isBusy }
}

/** What to await before anything of a stranger is read, if anything: malformed ones cost no signature, and hold up the loop all the same. */
export function turnToRead(): Promise<void> | undefined {
  return hasReadEnough() ? nextTurn() : undefined
}

export function timeReading<Read>(clock: Pick<Clock, 'monotonic'>, read: () => Read): Read {
  const start = clock.monotonic()
  try {
    return read()
  } finally {
    currentIteration().read += clock.monotonic() - start
  }
}

function hasReadEnough(): boolean {
  return current !== undefined && current.read >= READING
}

/** Those who wait come before what arrives meanwhile: the iteration that they read in is over when others are asked. */
async function nextTurn(): Promise<void> {
  do {
    const before = current
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
    // Where a request takes what it has scheduled along, the end of its iteration is never heard of.
    if (current === before) current = undefined
  } while (hasReadEnough())
}
