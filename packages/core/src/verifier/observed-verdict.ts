import type { Clock } from '@portcullis/kit/time'

import type { Auth } from '../claims/auth.ts'
import { AuthError } from '../refusal/errors.ts'
import { verdictMessage, verdicts } from '../report/diagnostics.ts'

// Publishes the verdicts of a verifier on the channel `portcullis:verify`.

export interface VerdictRecord {
  remembered: boolean
}

/** Publishes acceptances and refusals. An aborted wait is neither. */
export async function observed(
  verifier: object,
  verdict: (record: VerdictRecord) => Promise<Auth<unknown>>,
  clock: Clock,
): Promise<Auth<unknown>> {
  const start = clock.monotonic()
  const record = { remembered: false }
  const publish = (error?: AuthError) => {
    const duration = clock.monotonic() - start
    verdicts.publish(() => verdictMessage({ verifier, ...record, duration }, error))
  }
  try {
    const auth = await verdict(record)
    publish()
    return auth
  } catch (error) {
    if (error instanceof AuthError) publish(error)
    throw error
  }
}

/** Publishes that a token was accepted which was remembered. Every request causes this, so it is one plain object. */
export function publishRemembered(verifier: () => object, duration: () => number): void {
  verdicts.publish(() => ({
    verifier: verifier(),
    code: undefined,
    reason: undefined,
    detail: undefined,
    numbers: undefined,
    remembered: true,
    duration: duration(),
  }))
}
