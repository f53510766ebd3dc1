// A second request where the first may have met the end of an idle connection: a server ends those, and until `fetch` has heard of
// it, it takes one for the next request. From its error that cannot be told.

export interface Retry {
  /**
   * Sends a request, and once more at once if it failed before its head and an earlier one of this source has succeeded. What is sent
   * twice must mean no more than what is sent once. RFC 9110 section 9.2.2; RFC 9112 section 9.3.1
   *
   * @param signal Of the attempt: nothing is sent again once that is over. @throws What the last request failed with.
   */
  <Head extends { readonly status: number }>(
    request: () => Promise<Head>,
    signal: AbortSignal,
  ): Promise<Head>
}

export function createRetry(): Retry {
  let hasSucceeded = false

  return async (request, signal) => {
    async function send() {
      const head = await request()
      hasSucceeded ||= isSuccess(head)
      return head
    }
    try {
      return await send()
    } catch (error) {
      if (!isWorthRetrying(error, hasSucceeded, signal)) throw error
      return await send()
    }
  }
}

/** Whether the end of an idle connection may be what a request failed by. Some `fetch` end their requests themselves. */
export function isWorthRetrying(
  error: unknown,
  hasSucceeded: boolean,
  signal: Pick<AbortSignal, 'aborted'>,
): boolean {
  if (!hasSucceeded || signal.aborted) return false
  return !(error instanceof Error) || !/^(?:Abort|Timeout)Error$/.test(error.name)
}

/** Whatever an injected `fetch` resolves with. */
export function isSuccess(head: unknown): boolean {
  const status: unknown = Reflect.get(Object(head), 'status')
  return typeof status === 'number' && status >= 200 && status < 300
}
