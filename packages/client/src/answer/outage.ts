import { whyFailed } from '@portcullis/kit/http'

import { TokenClientError } from './errors.ts'

// What `fetch` or the stream of a body fails with: an outage. No message is shown: it may name hosts or quote what was sent.

export async function reach<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    throw outageOf(error)
  }
}

export function outageOf(error: unknown): TokenClientError {
  if (error instanceof TokenClientError) return error
  const message = `the token service could not be reached${whyFailed(error)}`
  return new TokenClientError('service_unavailable', message)
}
