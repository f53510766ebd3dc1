import type { EventLog, LoggedEvent } from './event-log.ts'

// Sends events to browsers and to `log --follow` as they happen. The number of readers and what waits for each are bounded.

/** How many events may wait for a reader that is slow. It can ask again, from the last that it has seen. */
const MAX_WAITING = 1000
const MAX_STREAMS = 50
/** Of these, so that one client leaves room for others. All that come from one address are one client: nothing else tells them apart. */
const MAX_STREAMS_OF_ONE = 10

export function createEventStreams(log: EventLog) {
  const open: string[] = []

  /** Answers with the events after one, then each new one as it comes (server-sent events); `undefined` if too many listen. */
  return (after: number, signal: AbortSignal, address: string): Response | undefined => {
    const own = open.filter((each) => each === address).length
    if (open.length >= MAX_STREAMS || own >= MAX_STREAMS_OF_ONE) return undefined
    open.push(address)
    let end: (() => void) | undefined
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          const send = (event: LoggedEvent) => {
            controller.enqueue(encoded(event))
            if ((controller.desiredSize ?? 0) > 0) return
            end?.()
            controller.close()
          }
          const unwatch = log.watch(send)
          let isOpen = true
          end = () => {
            if (!isOpen) return
            isOpen = false
            open.splice(open.indexOf(address), 1)
            unwatch()
          }
          signal.addEventListener('abort', end, { once: true })
          if (signal.aborted) end?.()
          for (const event of log.after(after)) if (isOpen) send(event)
        },
        cancel() {
          end?.()
        },
      },
      { highWaterMark: MAX_WAITING + 1 },
    )
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    })
  }
}

function encoded(event: LoggedEvent): Uint8Array {
  // JSON has no line break, so it is one line of data.
  return new TextEncoder().encode(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`)
}
