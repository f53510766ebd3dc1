import type { Said } from './complaints.ts'
import type { Answer, NoAnswer } from './exchange.ts'

// Judges what an API answers to HEAD and OPTIONS without a right token: by the status, since HEAD has no body.

const NOT_SERVED: ReadonlySet<number> = new Set([404, 405, 501])

export function aboutHead({ status }: Answer): Said | undefined {
  if (status < 300) return ['breach', 'HEAD is let through without a token']
  return aboutFailure(status)
}

export function aboutOptions(
  answer: Answer,
  right: Answer | NoAnswer | undefined,
): Said | undefined {
  if (answer.status >= 300) return aboutFailure(answer.status)
  return whoAnswered(answer, right) === 'handler' ? HANDLED : undefined
}

/**
 * Of an answer that refuses nothing. CORS middleware answers a preflight by itself, with the headers that it allows, and frameworks say
 * which methods there are: neither runs the code behind the guard. But such middleware can also add its headers and let the request go
 * on. That an origin may read it stands on the answers of handlers as well.
 *
 * @param right What a right token gets, if there is one.
 */
export function whoAnswered(
  { status, headers, body }: Answer,
  right: Answer | NoAnswer | undefined,
): 'handler' | 'middleware' | 'untold' {
  const isAsRight = right?.failure === undefined && right?.status === status && right.body === body
  if (body === '') return isAsRight ? 'untold' : 'middleware'
  const isWithHeaders = Object.keys(headers).some((name) =>
    /^(allow|access-control-allow-(methods|headers))$/.test(name),
  )
  if (isAsRight || !isWithHeaders) return 'handler'
  return body === headers.allow ? 'middleware' : 'untold'
}

const HANDLED: Said = ['breach', 'OPTIONS is let through to the code behind the guard']

function aboutFailure(status: number): Said | undefined {
  if (status === 429) return ['unclear', 'too many requests for this API']
  return status >= 500 && !NOT_SERVED.has(status)
    ? ['problem', `${status}: the API failed`]
    : undefined
}
