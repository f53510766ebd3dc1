import { member } from '@portcullis/kit/json'
import { checkOptions, isClock, ownMembers } from '@portcullis/kit/options'
import { type Clock, systemClock } from '@portcullis/kit/time'

import { signedClaims } from '../claims/signed-claims.ts'
import { lacksAcr, lacksAge } from './details.ts'
import { isAcr, isMaxAge, type Requirement } from './requirement-list.ts'

// Requirements about how and when the user has logged in.

/** An `auth_time` may be this far ahead, in seconds, as an `iat` may: clocks differ. */
const TOLERANCE = 60

/**
 * Requires that the user has logged in not longer ago than this, by the claim `auth_time`. A token without that claim does
 * not meet the requirement.
 *
 * @param age Seconds.
 * @throws TypeError for an age that is not a number of seconds, and for a wrong or misspelt option.
 * @see RFC 9470 section 3; RFC 9068 section 2.2.1
 */
export function authenticatedWithin(
  age: number,
  options: {
    /** The clock that `auth_time` is compared with. By default the system's. */
    clock?: Clock | undefined
  } = {},
): Requirement {
  const complaint = isMaxAge(age)
  // Mistake `authenticatedWithin: the age …`: Seconds since the user authenticated, such as `authenticatedWithin(300)`.
  if (complaint !== undefined) throw new TypeError(`authenticatedWithin: the age ${complaint}`)
  checkOptions('authenticatedWithin', options, { clock: isClock })
  const { clock = systemClock } = ownMembers(options)
  return {
    reason: 'age',
    description: `authenticated within ${age} s`,
    maxAge: age,
    explain: (auth) => lacksAge(member(signedClaims(auth), 'auth_time'), age, clock.now()),
    isMetBy(auth) {
      const time = member(signedClaims(auth), 'auth_time')
      if (typeof time !== 'number') return false
      const elapsed = clock.now() - time
      // Of what is no number, neither comparison is true.
      return elapsed <= age && elapsed >= -TOLERANCE
    },
  }
}

/**
 * Requires that the user has logged in in one of these ways, by the claim `acr`.
 *
 * @param values Accepted values of `acr`, without spaces, the preferred one first.
 * @throws TypeError without values, and for values of another form.
 * @see RFC 9470 section 3; RFC 9068 section 2.2.1
 */
export function acr(...values: readonly string[]): Requirement {
  if (values.length === 0 || !values.every(isAcr)) {
    // Mistake `acr: the arguments must be classes of authentication`: `acr('phr', 'phrh')`: the accepted values of the claim
    // `acr`.
    throw new TypeError(
      'acr: the arguments must be classes of authentication, strings of printable ASCII without spaces',
    )
  }
  return {
    reason: 'acr',
    description: `acr ${values.join(' or ')}`,
    acr: [...values],
    explain: (auth) => lacksAcr(member(signedClaims(auth), 'acr'), values),
    isMetBy(auth) {
      const value = member(signedClaims(auth), 'acr')
      return typeof value === 'string' && values.includes(value)
    },
  }
}
