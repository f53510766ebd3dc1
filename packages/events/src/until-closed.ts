import type { Clock } from '@portcullis/core'

// What whoever works in the background until it is closed waits for.

/** Throws where the runtime sets none: without timers nothing would ever be asked, and nobody told. */
export function checkTimers(factory: string, clock: Clock): void {
  try {
    clock.after(0, () => {})()
  } catch {
    // Mistake `…: no timers can be set here`: Cloudflare Workers set none outside of a request, and end those of a request with
    // it. Let the transmitter push its events to `receiveEvents`.
    throw new TypeError(
      `${factory}: no timers can be set here, so nothing can be polled: on Cloudflare Workers receive events with receiveEvents`,
    )
  }
}

/** A `fetch` of the caller's need not look at its signal. @param over Aborts at the end of the exchange. */
export async function whenClosed<Answer>(
  closed: AbortSignal,
  over: AbortSignal,
  answer: Answer,
): Promise<Answer> {
  return await new Promise((resolve) => {
    const end = () => {
      resolve(answer)
    }
    // A `fetch` of the caller's may have closed it before it returned.
    if (closed.aborted) end()
    else closed.addEventListener('abort', end, { once: true, signal: over })
  })
}

export async function pause(seconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (!(seconds > 0) || signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(seconds, end)
    signal.addEventListener('abort', end, { once: true })
  })
}
