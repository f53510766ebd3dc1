import type { Flight } from '@portcullis/kit/calls'

import { TokenClientError } from '../answer/errors.ts'

// Ends of waits: of a signal that many share, and of the client itself.

/** Node 20 warns of a leak at the eleventh listener of one signal that many share, so each has a signal of its own that follows it. */
function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const own = AbortSignal.any([signal])
  own.addEventListener('abort', listener, { once: true })
  // It does not abort a second time.
  if (own.aborted) listener()
  return () => {
    own.removeEventListener('abort', listener)
  }
}

/** No `AbortController`, since it lives longer than a request: older Cloudflare Workers let no other request use one. */
export interface Closing {
  readonly isClosed: boolean
  /** Calls a function once, at the end or now if that has come. Returns a function that takes it back. */
  onClose(listener: () => void): () => void
  close(): void
}

export function createClosing(): Closing {
  const listeners = new Set<() => void>()
  let isClosed = false
  return {
    get isClosed() {
      return isClosed
    },
    onClose(listener) {
      if (isClosed) listener()
      else listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    close() {
      isClosed = true
      for (const listener of listeners) {
        listeners.delete(listener)
        listener()
      }
    },
  }
}

export async function raceAbort<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await promise
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = onAbort(signal, () => {
      reject(new TokenClientError('aborted', 'the wait was aborted'))
    })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    stop?.()
  }
}

/** Waits for the outcome of a flight; `undefined` if that never comes. @throws TokenClientError if the signal ends this wait. */
export async function waitFor<Outcome>(
  flight: Flight<Outcome>,
  signal: AbortSignal | undefined,
): Promise<Outcome | undefined> {
  const leaving = createClosing()
  const wait = flight.wait({
    whenLeft: (cancel) => {
      leaving.onClose(cancel)
    },
  })
  try {
    return await raceAbort(wait, signal)
  } finally {
    leaving.close()
  }
}
