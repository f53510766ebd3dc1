import { RevocationStoreError } from '../store/errors.ts'
import { obstacleOf } from './readiness.ts'
import type { RedisRevocationsStatus } from './status.ts'

// The sentence that refusals repeat while a replica cannot be relied on.

/** Why a replica cannot say that a token was not revoked, in words for developers; `undefined` if it can. */
export function whyUnknown(status: RedisRevocationsStatus): string | undefined {
  const { state, failures, lastFailure } = status
  if (state === 'current') return undefined
  if (state === 'closed') return new RevocationStoreError('closed').message
  const why = obstacleOf(state)?.message ?? howOld(status)
  const failure = failures > 0 ? lastFailure?.detail : undefined
  return failure === undefined || failure === why ? why : `${why}; the last attempt: ${failure}`
}

function howOld({ age }: RedisRevocationsStatus): string {
  return age === undefined
    ? 'the stream of revocations was never read completely'
    : `the stream of revocations was last read completely ${Math.floor(age)} s ago`
}
