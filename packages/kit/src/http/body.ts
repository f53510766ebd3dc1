import type { FetchResponse } from './exchange.ts'

// Bodies of answers: read to a limit beyond which there is no answer, or dropped. Who serves a request reads its body by themselves, since
// they say why it ended, and so does a program that shows the beginning of what is too long, or that allows more than fits in one buffer.

type Body = NonNullable<FetchResponse['body']>
type Reader = ReturnType<Exclude<Body, AsyncIterable<Uint8Array>>['getReader']>

/** `undefined` if there are more than `max`, or the exchange was over before. @throws What the body fails with. */
export async function readBody(
  body: Body | null,
  signal: AbortSignal | undefined,
  max: number,
): Promise<Buffer | undefined> {
  // One buffer, because a body that comes octet by octet would otherwise be a million objects. It grows: most are small.
  let octets: Buffer = Buffer.allocUnsafe(Math.min(max, USUAL_SIZE))
  let size = 0
  for await (const chunk of chunksOf(body)) {
    // An injected `fetch` may go on after the abort: an endless body would keep this buffer in memory.
    if (signal?.aborted === true || size + chunk.length > max) return undefined
    if (size + chunk.length > octets.length) {
      octets = enlarged(octets.subarray(0, size), Math.min(max, GROWTH * (size + chunk.length)))
    }
    octets.set(chunk, size)
    size += chunk.length
  }
  return octets.subarray(0, size)
}

/** Octets. Few answers have more. */
const USUAL_SIZE = 4096
/** A megabyte that comes octet by octet is copied four times on its way, a third of it in all. */
const GROWTH = 4

function enlarged(octets: Uint8Array, size: number): Buffer {
  const larger = Buffer.allocUnsafe(size)
  larger.set(octets)
  return larger
}

function chunksOf(body: Body | null): AsyncIterable<Uint8Array> | readonly Uint8Array[] {
  if (body === null) return []
  return isIterable(body) ? body : chunksBy(body.getReader())
}

function isIterable(body: Body): body is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in body
}

async function* chunksBy(reader: Reader): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || value === undefined) return
      yield value
    }
  } finally {
    // Whoever stops early wants no more; nobody waits for that.
    reader.cancel().catch(() => undefined)
  }
}

/** Does not wait for it: cancelling may fail or never end, and the answer means the same in any case. */
export function discardBody({ body }: { readonly body: Discardable | null }): void {
  discard(body).catch(() => {
    // Nothing more can be done about a body that is not wanted.
  })
}

/** A stream of the platform, or one of Node's. */
interface Discardable {
  cancel?(): Promise<void>
  destroy?(): unknown
}

async function discard(body: Discardable | null): Promise<void> {
  if (body?.cancel === undefined) body?.destroy?.()
  else await body.cancel()
}
