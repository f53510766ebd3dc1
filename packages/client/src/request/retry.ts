import { isSuccess, isWorthRetrying } from '@portcullis/kit/http'

import { checkResponse } from '../answer/http-answer.ts'
import { outageOf, reach } from '../answer/outage.ts'

// A second request where the first may have met the end of an idle connection: a server ends those, and until `fetch` has heard of
// it, it takes one for the next request. From its error that cannot be told.

export interface Retry {
  /**
   * Sends a request, and once more at once if it failed before the head of its answer, and an earlier exchange of this client succeeded.
   * @throws TokenClientError for a request without an answer; whatever `compose` fails with.
   * @see RFC 9110 section 9.2.2; RFC 9112 section 9.3.1
   */
  <Request, Head extends AnswerHead>(
    exchange: RetriedExchange<Request, Head>,
    signal: AbortSignal,
  ): Promise<Head>
}

interface AnswerHead {
  readonly response: Response
}

interface RetriedExchange<Request, Head extends AnswerHead> {
  /** Makes what is sent, for each request anew. */
  readonly compose: () => Request | Promise<Request>
  /** Resolves with the head of the answer. */
  readonly send: (request: Request) => Promise<Head>
  /** Whether the second may be sent after the first. */
  readonly mayFollow: (first: Request, second: Request) => boolean
}

export function createRetry(): Retry {
  let hasSucceeded = false

  async function answer<Request, Head extends AnswerHead>(
    { compose, send, mayFollow }: RetriedExchange<Request, Head>,
    signal: AbortSignal,
  ): Promise<Head> {
    async function sent(request: Request): Promise<Head> {
      const head = await send(request)
      hasSucceeded ||= isSuccess(head.response)
      return head
    }
    const first = await compose()
    try {
      return await sent(first)
    } catch (error) {
      if (!isWorthRetrying(error, hasSucceeded, signal)) throw outageOf(error)
      const second = await compose()
      if (!mayFollow(first, second)) throw outageOf(error)
      return await reach(async () => await sent(second))
    }
  }

  return async (exchange, signal) => {
    const head = await answer(exchange, signal)
    checkResponse(head.response)
    return head
  }
}
