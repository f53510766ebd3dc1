// When a verification may hold up the event loop, and when it should leave it to others.

// Captured at import, so that fake timers cannot stop the counts from being reset.
const { queueMicrotask, setImmediate } = globalThis

/** What tells how busy the event loop is with work of one kind. */
export interface EventLoopWatch {
  /** Whether as much was done in this synchronous run, or in this iteration of the event loop, as should be. */
  isBusy(): boolean
  /** Is told of each piece of work before it is done. */
  count(): void
}

/**
 * Tells work that comes one by one, or few pieces at once, from work that comes faster than the event loop iterates. Then only
 * the first callback of an iteration should do its work at once.
 *
 * @param limit How many pieces one synchronous run may do.
 */
export function watchEventLoop(limit: number): EventLoopWatch {
  /** In the synchronous run that is under way. */
  let done = 0
  let isIterationCounted = false
  let isFirstCallbackOver = false

  function count(): void {
    if (done === 0) {
      queueMicrotask(() => {
        done = 0
      })
    }
    done++
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

  return { count, isBusy: () => done === limit || isFirstCallbackOver }
}
