import { member } from '@portcullis/kit/json'

import type { Auth } from './auth.ts'
import { checkAuth, signedClaims } from './signed-claims.ts'

// For connections that outlive their first request: until when their token lasts.

/**
 * When a token expires. You can tell the client until when its connection lasts.
 *
 * Does NOT know of revocations and withdrawn keys: use `watchToken` for these.
 *
 * @param auth What the verifier has returned. `exp` is that of the signed claims, because a schema may have removed it.
 * @returns The `exp`, in seconds since 1970-01-01T00:00:00Z; `Infinity` for a token without one.
 */
export function expiry(auth: Auth<unknown>): number {
  checkAuth('expiry', auth)
  const exp = member(signedClaims(auth), 'exp')
  return typeof exp === 'number' && Number.isFinite(exp) ? exp : Infinity
}
