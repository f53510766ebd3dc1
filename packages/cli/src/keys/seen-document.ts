import type { Clock } from '@portcullis/kit/time'

import type { Fetch } from '../surroundings/surroundings.ts'

// Looks at the answers that keys come in, for what core does not tell: the text, caching, the clock of the server, and metadata.

export type SeenDocument = ReturnType<typeof nothingSeen>

export function nothingSeen() {
  return {
    /** Where it came from: of keys that metadata name, the URL that they name. */
    url: undefined as string | undefined,
    text: undefined as string | undefined,
    response: undefined as Pick<Response, 'status' | 'headers'> | undefined,
    /** How far the clock of the server is ahead of ours, in seconds. */
    clockDifference: undefined as number | undefined,
    /** Where metadata were asked for, and the status of the newest answer; `undefined` without an answer. */
    metadata: new Map<string, number | undefined>(),
  }
}

/** Seconds. `Date` has no fractions, and an answer takes its time. */
export const CLOCKS_MAY_DIFFER = 5

/** That the clock of `whose` differs from ours by more than that; `undefined` if it does not, or is not known. */
export function clockWords(
  whose: string,
  { clockDifference = 0 }: Pick<SeenDocument, 'clockDifference'>,
) {
  const difference = Math.round(clockDifference)
  if (Math.abs(difference) <= CLOCKS_MAY_DIFFER) return undefined
  const side = difference > 0 ? 'ahead of' : 'behind'
  return `the clock of ${whose} is ${Math.abs(difference)} s ${side} the one of this machine`
}

/** Where an issuer has its metadata: OpenID Connect Discovery 1.0 section 4, RFC 8414 section 3. */
const METADATA = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(?:\/|$)/

export function observing(
  fetch: Fetch,
  clock: Clock,
  seen: SeenDocument,
  { hasMetadata }: { readonly hasMetadata: boolean },
): Fetch {
  return async (input, init) => {
    const { href: url, pathname } = new URL(input instanceof Request ? input.url : input)
    const isMetadata = hasMetadata && METADATA.test(pathname)
    if (isMetadata) seen.metadata.set(url, undefined)
    else [seen.url, seen.text] = [url, undefined]
    const response = await fetch(input, init)
    const date = Date.parse(response.headers.get('date') ?? '') / 1000
    // A stored answer has the date of another moment.
    if (!Number.isNaN(date) && response.headers.get('age') === null) {
      seen.clockDifference = date - clock.now()
    }
    if (isMetadata) seen.metadata.set(url, response.status)
    else {
      seen.response = response
      seen.text = await startOf(response.clone().body)
    }
    return response
  }
}

/** Characters. Core reads no longer document either. */
const LONGEST_DOCUMENT = 1024 * 1024

async function startOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length <= LONGEST_DOCUMENT) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
  // Not awaited: it waits for the other half of the answer, which core reads later.
  reader.cancel().catch(() => {
    // Core sees the same failure.
  })
  return text
}
