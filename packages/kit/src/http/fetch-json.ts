import { isUtf8 } from 'node:buffer'

import { parseJson } from '../json.ts'
import type { Clock } from '../time.ts'
import { readBody } from './body.ts'
import { freshnessLifetime, retryAfter, textOf } from './caching.ts'
import type { Exchange, FetchResponse } from './exchange.ts'
import { whatIsMissing, whereItIsFrom, whyFailed } from './fetch-words.ts'

// Gets JSON over the network: the deadline, the size limit, and what counts as an answer.

/** Why there is no document. `detail` is for developers and names no URL. */
export interface FetchFailure {
  readonly failure: 'unreachable' | 'timeout' | 'bad_document'
  readonly detail: string
  /** The pause that the answer asked for, in seconds. */
  readonly retryAfter: number | undefined
}

export interface JsonDocument {
  readonly failure: undefined
  readonly value: unknown
  /** How much longer the answer says that it is fresh, in seconds; `undefined` if it does not say. */
  readonly freshnessLifetime: number | undefined
}

const MAX_OCTETS = 1024 * 1024

/** Never rejects. Only status 200 from the very URL counts, and 1 MiB after decompression. @param name Of the URL, in failures. */
export async function fetchJson(
  url: string,
  { get, signal, clock }: Exchange,
  name = 'the key URL',
): Promise<JsonDocument | FetchFailure> {
  // An injected `fetch` need not look at its signal.
  if (signal.aborted) return unreachable('the attempt is over')
  try {
    const response = await get(url)
    return await readResponse(response, { url, name }, signal, clock)
  } catch (error) {
    return unreachable(`the connection to ${name} failed${whyFailed(error)}`)
  }
}

/** Ends an exchange after so many seconds, whatever it waits for, and aborts what is under way: a `fetch` need not honour its signal. */
export async function withDeadline<Result>(
  clock: Clock,
  timeout: number,
  exchange: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | FetchFailure> {
  const controller = new AbortController()
  let cancel: (() => void) | undefined
  const deadline = new Promise<FetchFailure>((resolve) => {
    cancel = clock.after(timeout, () => {
      resolve({ failure: 'timeout', detail: `no answer in ${timeout} s`, retryAfter: undefined })
    })
  })
  try {
    return await Promise.race([exchange(controller.signal), deadline])
  } finally {
    cancel?.()
    controller.abort(OVER)
  }
}

/** Why what is left of an exchange is aborted. One for all: each would have a stack, which takes time and which nobody reads. */
const OVER = new DOMException('the exchange is over', 'AbortError')

/** The outcome of a read within its share (seconds); `undefined` if it takes longer, or the attempt is over. The read goes on. */
export async function within<Outcome>(
  share: number,
  outcome: Promise<Outcome>,
  { clock, signal }: Pick<Exchange, 'clock' | 'signal'>,
): Promise<Outcome | undefined> {
  let giveUp: (() => void) | undefined
  let cancel: (() => void) | undefined
  const end = new Promise<undefined>((resolve) => {
    giveUp = () => {
      resolve(undefined)
    }
    cancel = clock.after(share, giveUp)
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
  })
  try {
    return await Promise.race([outcome, end])
  } finally {
    cancel?.()
    if (giveUp !== undefined) signal.removeEventListener('abort', giveUp)
  }
}

async function readResponse(
  response: FetchResponse,
  { url, name }: { url: string; name: string },
  signal: AbortSignal,
  clock: Clock,
): Promise<JsonDocument | FetchFailure> {
  const complaint = whatIsMissing(response) ?? whereItIsFrom(response, url, name)
  if (complaint !== undefined) return unreachable(complaint)
  const { status, headers } = response
  if (status !== 200) {
    const pause = retryAfter(headers, clock.now())
    return unreachable(`${name} answered ${status}`, pause)
  }
  const document = await readDocument(response.body, signal)
  if (document.failure !== undefined) return document
  const [cacheControl, age] = [textOf(headers, 'cache-control'), textOf(headers, 'age')]
  return { ...document, freshnessLifetime: freshnessLifetime(cacheControl, age) }
}

/** Of an answer, or of a file. @throws What the body fails with. */
export async function readDocument(
  body: FetchResponse['body'],
  signal: AbortSignal,
): Promise<JsonDocument | FetchFailure> {
  const octets = await readBody(body, signal, MAX_OCTETS)
  if (octets === undefined) return badDocument(`the document has more than ${MAX_OCTETS} bytes`)
  const value = readJson(octets)
  return value === undefined
    ? badDocument(`the document is not JSON${whatItIs(octets)}`)
    : { failure: undefined, value, freshnessLifetime: undefined }
}

/** A byte order mark, which some servers write, is left out (RFC 8259 section 8.1 allows to ignore it). */
function readJson(octets: Buffer): unknown {
  return isUtf8(octets) ? parseJson(new TextDecoder().decode(octets)) : undefined
}

/** What a wrong URL or a proxy answers with instead. Nothing of the document is shown. */
function whatItIs(octets: Buffer): string {
  if (octets.length === 0) return ': it is empty'
  const start = octets.toString('latin1', 0, 64).trimStart()
  if (start.startsWith('<')) return ': it begins with "<", as HTML does. Is the path right?'
  return start.startsWith('-----BEGIN ')
    ? ': it looks like PEM, and must be a JWK or a JWK set'
    : ''
}

function unreachable(detail: string, pause?: number): FetchFailure {
  return { failure: 'unreachable', detail, retryAfter: pause }
}

export function badDocument(detail: string): FetchFailure {
  return { failure: 'bad_document', detail, retryAfter: undefined }
}
