import type { FetchFailure } from '@portcullis/kit/http'
import type { Instant } from '@portcullis/kit/time'

import type { Algorithm } from '../../src/algorithms/algorithms.ts'
import {
  afterFailure,
  afterSuccess,
  type CacheState,
  type SettledState,
} from '../../src/keys/cache-state.ts'
import type { PreparedKey, VerificationKey } from '../../src/keys/key-source.ts'
import type { Trigger } from '../../src/keys/pace.ts'
import { ringEnd, type RotationPolicy } from '../../src/keys/rotation.ts'

// States of a key cache, for tests of what it decides.

export const policy: RotationPolicy = {
  maxAge: undefined,
  staleWhileRevalidate: 300,
  staleIfError: 3600,
  overlap: 0,
  timeout: 5,
  spread: 0.5,
}

export const down: FetchFailure = { failure: 'unreachable', detail: 'down', retryAfter: undefined }

export function at(seconds: number): Instant {
  return { wall: seconds, monotonic: seconds }
}

export function keyOf(
  thumbprint: string,
  kid?: string,
  algorithms: readonly Algorithm[] = ['RS512'],
): VerificationKey {
  // What is tested looks at names alone, never at what they are prepared with.
  const prepared = {} as PreparedKey
  const publicJwk = { kty: 'OKP', crv: 'Ed25519', x: thumbprint } as const
  return {
    thumbprint,
    kid,
    issuer: undefined,
    publicJwk,
    use: 'sig',
    // A key that is for one algorithm states it.
    stated: algorithms.length === 1 ? algorithms[0] : undefined,
    prepared: new Map(algorithms.map((name) => [name, prepared])),
  }
}

export function documentOf(keys: readonly VerificationKey[], maxAge = 300) {
  const skipped = { count: 0, entries: [] }
  return { keys, bare: false, skipped, maxAge, freshnessLifetime: undefined }
}

/** After an attempt that brought keys in no time. */
export function succeed(
  state: CacheState,
  now: number,
  keys: readonly VerificationKey[],
  trigger: Trigger = 'age',
  under = policy,
): SettledState {
  const attempt = { trigger, startedAt: at(now), settledAt: at(now) }
  const { overlap, spread } = under
  const options = { ringEnd: ringEnd(state, at(now), under), overlap, spread }
  return afterSuccess(state, attempt, documentOf(keys), options)
}

/** After an attempt that failed in no time. */
export function fail(state: CacheState, now: number, trigger: Trigger = 'age'): SettledState {
  const attempt = { trigger, startedAt: at(now), settledAt: at(now) }
  return afterFailure(state, attempt, down, { spread: policy.spread, random: 0.5 })
}

export function names(keys: readonly VerificationKey[] | undefined): string[] {
  return (keys ?? []).map(({ thumbprint }) => thumbprint)
}
