import { AuthError } from './errors.ts'
import { ownMembers } from './options.ts'
import { refusals } from './refusals.ts'

/** The error, if it is a refusal; its `status`, `headers` and `body` are the HTTP answer. Otherwise `undefined`. */
export function refusal(error: unknown): AuthError | undefined {
  return error instanceof AuthError ? error : undefined
}

const PLAIN_TEXT = 'text/plain; charset=utf-8'

/**
 * The `Response` of the Fetch standard to a refusal. Its body is a problem document where the guard's options ask for one,
 * otherwise the message as plain text. The server leaves it out for HEAD.
 *
 * @throws The error itself, if it is no refusal, so that no handler takes a fault for an answer.
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
 * The same as a message of HTTP/1.1, for the bare socket of an `upgrade` event. Destroy the socket when it is written.
 *
 * @throws The error itself, if it is no refusal.
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
  return `HTTP/1.1 ${status} ${refusals[code].title}\r\n${lines.join('')}\r\n${body}`
}
