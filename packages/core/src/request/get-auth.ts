import type { Auth } from '../claims/auth.ts'
import { checkOurVerifier } from '../verifier/internals.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { guardOf, type PassedGuard } from './passed-guards.ts'

// What handlers ask for, after a guard has let their request through.

/**
 * What the token of a guarded request proves.
 *
 * @param subject What the framework gives to handlers: the request of Express and Fastify, the context of Koa and Hono, a
 *   `Request`.
 * @throws TypeError if no guard has accepted the request, or if the request has no token.
 */
export function getAuth(subject: object): Auth
/**
 * The same, with the type that the schema of a verifier gives to the claims.
 *
 * @param verifier The verifier that must have verified the token.
 */
export function getAuth<ClaimsType>(
  subject: object,
  verifier: Verifier<ClaimsType> | undefined,
): Auth<ClaimsType>
export function getAuth(subject: object, verifier?: Verifier<unknown>): Auth<unknown> {
  const auth = findAuth(subject, verifier)
  if (auth === undefined) {
    // Mistake `getAuth: the request is anonymous`: The guard is `optional`: use `findAuth`, which answers `undefined`.
    throw new TypeError('getAuth: the request is anonymous; use findAuth on an optional route')
  }
  return auth
}

/**
 * What the token of a guarded request proves; `undefined` for a request without a token.
 *
 * @param subject What the framework gives to handlers: the request of Express and Fastify, the context of Koa and Hono, a
 *   `Request`.
 * @throws TypeError if no guard has accepted the request.
 */
export function findAuth(subject: object): Auth | undefined
/**
 * The same, with the type that the schema of a verifier gives to the claims.
 *
 * @param verifier The verifier that must have verified the token.
 */
export function findAuth<ClaimsType>(
  subject: object,
  verifier: Verifier<ClaimsType> | undefined,
): Auth<ClaimsType> | undefined
export function findAuth(subject: object, verifier?: Verifier<unknown>): Auth<unknown> | undefined {
  const guard = withVerifier(guardOf(subject), verifier)
  if (guard === undefined) {
    checkOurVerifier('getAuth', 'the verifier', Object(verifier) as Verifier<unknown>)
    // Mistake `no guard with this verifier has seen the request`: Pass the verifier of the guard to `getAuth`: another one has
    // let the request through.
    throw new TypeError('no guard with this verifier has seen the request')
  }
  return guard.auth
}

function withVerifier(
  guard: PassedGuard,
  verifier: Verifier<unknown> | undefined,
): PassedGuard | undefined {
  if (verifier === undefined) return guard
  let found: PassedGuard | undefined = guard
  while (found !== undefined && found.verifier !== verifier) found = found.previous
  return found
}
