import { mediaTypeOf } from '@portcullis/kit/http'
import { ownMembers } from '@portcullis/kit/options'

// Streams of events: which answers are such, and how one is ended from outside.

/** @see https://html.spec.whatwg.org/multipage/server-sent-events.html#text/event-stream */
export function isEventStream(contentType: string | null | undefined): boolean {
  return mediaTypeOf(contentType) === 'text/event-stream'
}

/**
 * @param watch Gets the function that ends the stream, which may be called at once and several times, and returns what is called when it has
 * ended by itself.
 */
export function untilEnded(
  source: ReadableStream<Uint8Array>,
  watch: (end: () => void) => () => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let isOver = false
  let stop: (() => void) | undefined
  return new ReadableStream<Uint8Array>(
    ownMembers({
      start(controller: ReadableStreamDefaultController<Uint8Array>) {
        stop = watch(() => {
          if (isOver) return
          isOver = true
          controller.close()
          // What makes it sees that nobody reads any more.
          void reader.cancel().catch(() => {})
        })
      },
      async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
        try {
          const { done, value } = await reader.read()
          if (isOver) return
          if (value !== undefined) controller.enqueue(value)
          if (!done) return
          controller.close()
        } catch (error) {
          if (!isOver) controller.error(error)
        }
        stop?.()
      },
      async cancel(reason: unknown) {
        stop?.()
        await reader.cancel(reason)
      },
    }),
  )
}
