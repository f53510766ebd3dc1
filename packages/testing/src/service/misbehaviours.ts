import type { Clock } from '../clock.ts'
import type { KeyDocument } from '../keys/key-rotation.ts'

// The table of what an endpoint can do wrong, with how each is done.

/** One request, and how it would be answered properly. */
export interface Exchange {
  readonly signal: AbortSignal | undefined
  readonly answer: () => Response | Promise<Response>
}

interface Circumstances {
  readonly clock: Clock
  /** Seconds. */
  readonly delay: number
  readonly document: KeyDocument
  readonly staleDocument: KeyDocument | undefined
  readonly otherDocument: () => Promise<KeyDocument>
}

type Misbehaviour = (
  exchange: Exchange,
  circumstances: Circumstances,
) => Response | Promise<Response>

/** How an endpoint misbehaves. */
export type OutageKind =
  /** A status from 200 to 599, which has no body. */
  | number
  /** No answer. Ends when the request is aborted or the server closed. */
  | 'hang'
  /** The connection ends without an answer. */
  | 'reset'
  /** The connection ends in the middle of the body. */
  | 'truncated'
  /** Status 200 and a web page. */
  | 'html'
  /** Status 200 and no body. */
  | 'empty'
  /** The proper answer, late. */
  | 'slow'
  /** The right key, in a set. */
  | 'key-set'
  /** The key document as it was before it last changed. */
  | 'stale-key'
  /** A key that has signed none of the issuer's tokens. */
  | 'other-key'

const PAGE = '<!doctype html><title>Maintenance</title><p>We will be back soon.'

export const MISBEHAVIOURS: Readonly<Record<Exclude<OutageKind, number>, Misbehaviour>> = {
  hang: async ({ signal }) =>
    await new Promise<never>((_, reject) => {
      whenAborted(signal, reject)
    }),
  reset() {
    throw connectionReset()
  },
  truncated: async ({ answer }) => await truncated(await answer()),
  html: () => new Response(PAGE, { headers: { 'content-type': 'text/html' } }),
  empty: () => new Response(null),
  async slow({ answer, signal }, { clock, delay }) {
    await pause(clock, delay, signal)
    return await answer()
  },
  'key-set': (_, { document }) =>
    Response.json('keys' in document ? document : { keys: [document] }),
  'stale-key': (_, { staleDocument }) => Response.json(staleDocument),
  'other-key': async (_, { otherDocument }) => Response.json(await otherDocument()),
}

async function pause(clock: Clock, seconds: number, signal: AbortSignal | undefined) {
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(seconds, resolve)
    whenAborted(signal, (reason) => {
      cancel()
      reject(reason)
    })
  })
}

function whenAborted(signal: AbortSignal | undefined, give: (reason: Error) => void): void {
  // Nearly always an error; any other reason is passed on as it is.
  const end = () => {
    give(signal?.reason as Error)
  }
  if (signal?.aborted === true) end()
  else signal?.addEventListener('abort', end, { once: true })
}

async function truncated(answer: Response): Promise<Response> {
  const octets = new Uint8Array(await answer.arrayBuffer())
  const parts = [octets.subarray(0, Math.ceil(octets.length / 2))]
  const body = new ReadableStream<Uint8Array>({
    // One part for each call: an error discards parts that are still queued.
    pull(controller) {
      const part = parts.pop()
      if (part === undefined || part.length === 0) controller.error(connectionReset())
      else controller.enqueue(part)
    },
  })
  return new Response(body, answer)
}

function connectionReset(): TypeError {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  return new TypeError('fetch failed', { cause })
}
