import type { IncomingMessage, ServerResponse } from 'node:http'

// What becomes of a connection when the body of its request is answered before it has ended.

/**
 * Before the answer to a request whose body nobody reads to its end: the rest would be taken for the next request, so the connection ends.
 * A stream of HTTP/2 ends by itself, and the header must not be there (RFC 9113 section 8.2.2).
 */
export function closeUnread(
  { complete, httpVersionMajor }: Pick<IncomingMessage, 'complete' | 'httpVersionMajor'>,
  response: Pick<ServerResponse, 'setHeader'>,
): void {
  if (!complete && httpVersionMajor === 1) response.setHeader('Connection', 'close')
}
