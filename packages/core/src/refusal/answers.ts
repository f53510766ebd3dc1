import { own, ownMembers } from '@portcullis/kit/options'

import { AuthError } from './errors.ts'
import { refusals } from './refusals.ts'

// Turns a refusal into an HTTP answer, for code that has no adapter.

/**
 * The `AuthError`, if the error is a refusal: its `status`, `headers` and `body` are the HTTP answer. For any other error
 * `undefined`.
 */
export function refusal(error: unknown): AuthError | undefined {
  return error instanceof AuthError ? error : undefined
}

const PLAIN_TEXT = 'text/plain; charset=utf-8'

/**
 * A refusal as a `Response` of the Fetch standard. Its body is a problem document if the guard has `respond: 'problem'`,
 * otherwise the message as plain text. For HEAD, the server leaves the body out.
 *
 * @throws The error itself, if it is not a refusal, so that no other error becomes an answer.
 */
export function refusalResponse(error: unknown): Response {
  const answer = refusal(error)
  if (answer === undefined) throw error
  const { status, headers, body, message } = answer
  // They inherit nothing, since a `Response` reads its options at request time.
  return new Response(
    body ?? message,
    ownMembers({
      status,
      headers: ownMembers({ 'Content-Type': PLAIN_TEXT, ...headers }),
    }),
  )
}

/**
 * A refusal as the text of an HTTP/1.1 answer, for the socket of Node's `upgrade` event. Destroy the socket after you have
 * written it.
 *
 * @throws The error itself, if it is not a refusal.
 * @see RFC 9110 section 7.8
 */
export function refusalMessage(error: unknown): string {
  const answer = refusal(error)
  if (answer === undefined) throw error
  const { code, status, headers, body = answer.message } = answer
  const fields = Object.entries({
    'Content-Type': PLAIN_TEXT,
    ...headers,
    'Content-Length': body.length, // ASCII, as everything that a refusal says
    Connection: 'close',
  })
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  // Another copy of core may know codes that this one does not. RFC 9112 section 4: the reason phrase may be empty.
  const title = own(refusals, code)?.title ?? ''
  return `HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${body}`
}
