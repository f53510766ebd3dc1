import { isJsonObject, type JsonObject, member } from '@portcullis/kit/json'
import {
  checkArgument,
  checkOptions,
  isText,
  isTextList,
  ownMembers,
} from '@portcullis/kit/options'

import type { Auth } from '../claims/auth.ts'
import { checkAuth, signedClaims } from '../claims/signed-claims.ts'
import { lacksActor } from './details.ts'
import type { Requirement } from './requirement-list.ts'

// Who acts for the subject of a token, by the claim `act` of a token exchange.

/** How many actors of a chain are read: none but the first may decide anything. RFC 8693 section 4.1 */
const LONGEST_CHAIN = 8

/** A party that acts for the subject. What is missing, or is no text, is `undefined`: somebody acts who has no name. */
export interface Actor {
  readonly sub: string | undefined
  /** Who names it so. Without it, the issuer of the token. */
  readonly iss: string | undefined
}

/**
 * Who acts for the subject: first the party that acts now, then those through which it came to do so, 8 at most. Nobody for a
 * token that its subject uses itself.
 *
 * Decide by the first alone, as `actor` does: the others are information. `may_act` is not read, since it says who may become an
 * actor.
 *
 * @see RFC 8693 sections 4.1 and 4.4
 */
export function delegationOf(auth: Auth<unknown>): readonly Actor[] {
  checkAuth('delegationOf', auth)
  return actorsOf(signedClaims(auth)).map((act) => ({
    sub: textOf(act, 'sub'),
    iss: textOf(act, 'iss'),
  }))
}

/**
 * Requires that one of these parties acts for the subject now. One that has acted before it does not meet this.
 *
 * @param subjects What `act.sub` may be.
 * @throws TypeError without subjects, and for a wrong or misspelt option.
 * @see RFC 8693 section 4.1
 */
export function actor(
  subjects: string | readonly string[],
  options: {
    /** Who names them so: `act.iss`, or without it the issuer of the token. By default the issuer of the token. */
    issuer?: string | undefined
  } = {},
): Requirement {
  const accepted: readonly string[] = [subjects].flat()
  checkArgument('actor', 'the subjects', isTextList(accepted))
  checkOptions('actor', options, { issuer: isText })
  const { issuer } = ownMembers(options)
  const description = `actor ${accepted.join(' or ')}`
  return {
    reason: 'claim',
    description,
    explain: (auth) => lacksActor(description, actorsOf(signedClaims(auth)).length),
    isMetBy(auth) {
      const claims = signedClaims(auth)
      const [act] = actorsOf(claims)
      if (act === undefined) return false
      const subject = member(act, 'sub')
      const issuedBy = member(claims, 'iss')
      const namedBy = Object.hasOwn(act, 'iss') ? member(act, 'iss') : issuedBy
      return (
        typeof subject === 'string' &&
        accepted.includes(subject) &&
        namedBy === (issuer ?? issuedBy)
      )
    },
  }
}

/** The actors of a chain, the present one first. One that is no object has no members, and ends it. */
function actorsOf(claims: JsonObject): readonly JsonObject[] {
  const actors: JsonObject[] = []
  let holder = claims
  while (Object.hasOwn(holder, 'act') && actors.length < LONGEST_CHAIN) {
    const act = member(holder, 'act')
    holder = isJsonObject(act) ? act : {}
    actors.push(holder)
  }
  return actors
}

function textOf(act: JsonObject, name: string): string | undefined {
  const value = member(act, name)
  return typeof value === 'string' ? value : undefined
}
