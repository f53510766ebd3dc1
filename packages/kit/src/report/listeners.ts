import { callListener } from './warnings.ts'

// Calls functions that users have subscribed. One that throws stops neither the others nor the caller.

/** Functions that are called when something has happened. */
export interface Listeners {
  /** @returns A function that ends it. */
  subscribe(listener: () => void): () => void
  /** Calls those that have subscribed by now. What one of them throws is a warning of the process. */
  notify(): void
}

export function createListeners(): Listeners {
  // An object for each, since the same function may be given twice.
  const subscriptions = new Set<{ readonly listener: () => unknown }>()
  return {
    subscribe(listener) {
      const subscription = { listener }
      subscriptions.add(subscription)
      return () => {
        subscriptions.delete(subscription)
      }
    },
    notify() {
      // Not those that subscribe meanwhile, nor those that one of the others ends.
      const subscribed = [...subscriptions]
      for (const subscription of subscribed) {
        if (subscriptions.has(subscription)) void callListener('a listener', subscription.listener)
      }
    },
  }
}
