import { TokenClientError } from './errors.ts'

// What `fetch` or the stream of a body fails with: an outage.

/** Everything that a step fails with counts as an outage. */
export async function reach<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    throw outageOf(error)
  }
}

export function outageOf(error: unknown): TokenClientError {
  if (error instanceof TokenClientError) return error
  const message = `the token service could not be reached${platformCode(error)}`
  return new TokenClientError('service_unavailable', message)
}

/** Such as ECONNREFUSED. The error's message is left out, since it may quote what was sent. */
export function platformCode(error: unknown): string {
  const causes = [error, error instanceof Error ? error.cause : undefined]
  const code = causes
    .map((each) => (each instanceof Error && 'code' in each ? each.code : undefined))
    .find((each) => typeof each === 'string' && /^[A-Z][A-Z\d_]{2,40}$/.test(each))
  return typeof code === 'string' ? ` (${code})` : ''
}
