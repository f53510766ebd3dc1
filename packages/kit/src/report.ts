import { env } from 'node:process'
import { debuglog } from 'node:util'

// What is told to others: to functions that have subscribed, to developers by NODE_DEBUG=portcullis, and to the process where a function
// of a user fails and nobody could catch it.

/** @param name Of the function. What is thrown and is no error is not shown: it may be anything. */
export function warn(name: string, fault: unknown): void {
  process.emitWarning(fault instanceof Error ? fault : `${name} failed`)
}

/** For a function of a user, which may be asynchronous: neither what it throws nor its rejection ends the process, or changes anything. */
export async function callListener(name: string, call: () => unknown): Promise<void> {
  try {
    await call()
  } catch (fault) {
    warn(name, fault)
  }
}

const log = debuglog('portcullis')

/**
 * To be asked before anything is composed. On Cloudflare Workers every such log is enabled, whatever `NODE_DEBUG` says.
 */
export function isDebugging(): boolean {
  return log.enabled && (env['NODE_DEBUG'] ?? '') !== ''
}

/** Prints one line, if somebody wants it. It has no token, no claim, no credential and no URL. */
export function debug(line: () => string): void {
  if (isDebugging()) log('%s', line())
}

export interface Listeners {
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
