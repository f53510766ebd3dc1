import type { Verifier } from '@portcullis/core'
import { createSelectedVerifier, foreignness, isLikeJwt } from '@portcullis/core/verifier'
import {
  checkOptions,
  hasMethods,
  oneOf,
  type OptionCheck,
  ownMembers,
} from '@portcullis/kit/options'

import { isJwe } from './form.ts'

// One verifier for an API that gets JWTs and opaque tokens: the form of a token alone says which it is.

export interface ByFormOptions<ClaimsType> {
  /** Judges whatever begins as a JWT does, right or wrong: from `createVerifier` or `byIssuer`. */
  jwt: Verifier<ClaimsType>
  /** Judges all others: from `introspected`. */
  opaque: Verifier<ClaimsType>
  /**
   * Who judges encrypted tokens (JWE, five parts): `jwt` refuses them; `opaque` gives them to the issuer.
   * @default 'jwt'
   */
  encrypted?: 'jwt' | 'opaque' | undefined
}

const isVerifier: OptionCheck = (value) =>
  hasMethods(value, 'verify', 'ready')
    ? foreignness(Reflect.get(Object(value), 'verify'))
    : 'must be a verifier'

/**
 * Makes one verifier of two. What has a dot, and begins as the base64url of a JSON object, is a JWT: it never reaches the
 * verifier of opaque tokens, also if its signature is wrong or its base64url is not strict. An issuer that is asked about it might
 * be more lenient than the verifier that has refused it.
 *
 * @returns A verifier whose `ready()` waits for both.
 * @throws TypeError for a wrong option.
 */
export function byForm<ClaimsType>(options: ByFormOptions<ClaimsType>): Verifier<ClaimsType> {
  checkOptions('byForm', options, {
    jwt: isVerifier,
    opaque: isVerifier,
    encrypted: oneOf('jwt', 'opaque'),
  })
  const { jwt, opaque, encrypted = 'jwt' } = ownMembers(options)
  for (const [name, verifier] of Object.entries({ jwt, opaque })) {
    // Mistake `byForm: … must be stated`: Give both verifiers, `jwt` and `opaque`. Without JWTs, use the opaque one alone.
    if (verifier === undefined) throw new TypeError(`byForm: ${name} must be stated`)
  }
  return createSelectedVerifier([jwt, opaque], (token) => {
    if (!isLikeJwt(token)) return opaque
    return encrypted === 'opaque' && isJwe(token) ? opaque : jwt
  })
}
