import type { EventLog, LoggedEvent } from './event-log.ts'

/** How many events may wait for a reader that is slow. It can ask again, from the last that it has seen. */
const MAX_WAITING = 1000
const MAX_STREAMS = 50

/** Answers with the events after one, then each new one as it comes (server-sent events); `undefined` if too many listen. */
export type EventStreams = (after: number, signal: AbortSignal) => Response | undefined

export function createEventStreams(log: EventLog): EventStreams {
  let open = 0

  return (after, signal) => {
    if (open >= MAX_STREAMS) return undefined
    open += 1
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
            open -= 1
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
