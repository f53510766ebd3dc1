import { type JsonObject, member } from '@portcullis/kit/json'

import type { Auth } from '../claims/auth.ts'
import { checkAudience } from '../claims/claims.ts'
import { lacksScopeOfResource, otherClient } from '../claims/details.ts'
import { signedClaims } from '../claims/signed-claims.ts'
import { AuthError } from '../refusal/errors.ts'
import { scopesOf } from '../requirement/granted-scopes.ts'

// Whether a token is for a resource, also one that names no audience: some issuers write none.

/**
 * What stands for an audience: the token was issued to one of these clients, and has a scope that means this resource. A client says who
 * has asked, and not for whom, so it is worth nothing where anybody may register one: also at another issuer, which may name one alike.
 */
export interface ClientAudience {
  readonly clientIds: readonly string[]
  /** Of these clients. `undefined`: the verifier accepts no other. */
  readonly issuer: string | undefined
  /** The claims that may name the client. The first that a token has counts. */
  readonly clientIdClaims: readonly string[]
  readonly scope: string
}

/** @param audience The texts that name the resource. A token that names any audience is judged by that alone. @throws AuthError */
export function checkResource(
  auth: Auth<unknown>,
  audience: readonly string[],
  instead: ClientAudience | undefined,
): void {
  const claims = signedClaims(auth)
  const isOfOther = instead?.issuer !== undefined && member(claims, 'iss') !== instead.issuer
  if (instead === undefined || isOfOther || !namesNobody(claims)) {
    checkAudience(claims, audience)
    return
  }
  const { clientIds, clientIdClaims, scope } = instead
  const name = clientIdClaims.find((each) => (member(claims, each) ?? undefined) !== undefined)
  const client = name === undefined ? undefined : member(claims, name)
  if (typeof client !== 'string' || !clientIds.includes(client)) {
    const detail = otherClient(name ?? clientIdClaims.join(' or '), client, clientIds)
    throw new AuthError('invalid_token', 'audience', detail)
  }
  const granted = scopesOf(auth)
  if (!scope.split(' ').every((each) => granted.has(each))) {
    throw new AuthError('invalid_token', 'audience', lacksScopeOfResource(scope))
  }
}

function namesNobody(claims: JsonObject): boolean {
  const aud = member(claims, 'aud')
  return aud === undefined || (Array.isArray(aud) && aud.length === 0)
}
