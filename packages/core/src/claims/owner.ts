import { member } from '@portcullis/kit/json'
import { own } from '@portcullis/kit/options'

import type { Auth } from './auth.ts'
import { signedClaims } from './signed-claims.ts'

// Whose a token is. Whatever is kept for a user or a client beyond one request asks here.

/** Whose a token is. The texts are for comparisons: one of them may hold the token. */
export interface TokenOwner {
  /**
   * The same for all tokens of one user with one client from one issuer. A token that does not say whose it is has one of its own:
   * two users whom nobody can tell apart must not share anything.
   */
  readonly id: string
  /** By what a number of things is limited: the user, whatever clients there are; for tokens that name no user, their client. */
  readonly account: string
  /** The client that the token was issued to. */
  readonly client: string | undefined
}

export interface OwnerRules {
  /** The claims that may name the client. The first that does counts. */
  readonly clientIdClaims: readonly string[]
  /** What stands for the issuer of a token without `iss`: who has proven it. A number is no issuer's name. */
  readonly prover: string | number
  /** What somebody else says of the owner, in place of user and client: only a text that is not empty says it. */
  readonly stated?: unknown
}

/**
 * Says whose a token is, by its claims as they were signed.
 *
 * The user is `sub`. A client that is missing is none; one that has a value by which it cannot be told from others makes the token
 * one that does not say whose it is, and so does such an issuer.
 */
export function ownerOf(auth: Auth<unknown>, rules: OwnerRules): TokenOwner {
  const claims = signedClaims(auth)
  const { clientIdClaims, prover } = rules
  const issuer = nameIn(member(claims, 'iss'))
  const clients = clientIdClaims.map((name) => nameIn(member(claims, name)))
  const client = clients.find((each) => typeof each === 'string')
  const from = issuer ?? prover
  const alone = JSON.stringify(['token', auth.token])
  const nobody = JSON.stringify(['client', from, client])
  if (Object.hasOwn(rules, 'stated')) {
    const owner = own(rules, 'stated')
    if (typeof owner !== 'string' || owner === '') return { id: alone, account: nobody, client }
    const stated = JSON.stringify(['owner', from, owner])
    return { id: issuer === false ? alone : stated, account: stated, client }
  }
  const user = nameIn(member(claims, 'sub'))
  if (typeof user !== 'string') return { id: alone, account: nobody, client }
  const isClear = issuer !== false && (client !== undefined || !clients.includes(false))
  return {
    // A list, since a joined text could be cut in several ways. JSON writes `null` for what is not there.
    id: isClear ? JSON.stringify(['user', from, user, client]) : alone,
    account: JSON.stringify(['user', from, user]),
    client,
  }
}

/** A text, or a number that JSON can tell from others, as some issuers write names and revocations take both. `false`: it names nobody. */
function nameIn(value: unknown): string | false | undefined {
  // JSON `null` is absent.
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value !== '' && value
  // Of two larger numbers `JSON.parse` may have made one.
  return typeof value === 'number' && Number.isSafeInteger(value) && String(value)
}
