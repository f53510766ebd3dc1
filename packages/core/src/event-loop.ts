// When a verification may hold up the event loop, and when it should leave it to others.

// Captured at import, so that fake timers cannot stop the counts from being reset.
const { queueMicrotask, setImmediate } = globalThis

/** What tells how busy the event loop is with work of one kind. */
export interface EventLoopWatch {
  /** Whether a piece of work of this cost would be more than this synchronous run, or this iteration, should do. */
  isBusy(cost: number): boolean
  /** Is told of each piece of work before it is done. */
  count(cost: number): void
}

/**
 * Tells work that comes one by one, or few pieces at once, from work that comes faster than the event loop iterates. Then only
 * the first callback of an iteration should do its work at once.
 *
 * @param limit What all that one synchronous run does may cost.
 */
export function watchEventLoop(limit: number): EventLoopWatch {
  /** In the synchronous run that is under way. */
  let done = 0
  let isIterationCounted = false
  let isFirstCallbackOver = false

  function count(cost: number): void {
    if (done === 0) {
      queueMicrotask(() => {
        done = 0
      })
    }
    done += cost
    if (isIterationCounted) return
    isIterationCounted = true
    // Runs when the code that counted is over; if that ran in a promise, when no promise has anything left to do. What is
    // counted later in this iteration belongs to other callbacks.
    process.nextTick(() => {
      isFirstCallbackOver = isIterationCounted
    })
    setImmediate(() => {
      isIterationCounted = false
      isFirstCallbackOver = false
    })
  }

  return { count, isBusy: (cost) => done + cost > limit || isFirstCallbackOver }
}
