import { AuthError, type KeySource, type VerifyOptions } from '@portcullis/core'
import { type Claims, createUnobservedVerifier } from '@portcullis/core/verifier'
import { isJsonObject, member, parseUnambiguousObject, withoutNulls } from '@portcullis/kit/json'
import type { Instant } from '@portcullis/kit/time'

import type { CheckedOptions } from './checked-options.ts'
import { failed, type RawAnswer, unavailableEndpoint } from './exchange.ts'

// Reads what an issuer says of a token, as strictly as the payload of a JWT, but that a member which is null is absent: plain, or signed
// (RFC 9701), proven by a verifier of our own with its rules and its cache of keys.

/** What the issuer says. `inactive` has no claims: whatever else the answer has means nothing (RFC 7662 section 2.2). */
export type Statement =
  | { readonly word: 'active'; readonly claims: Claims; readonly size: number }
  | { readonly word: 'inactive' }

/** RFC 7662 section 2.2 @throws FailedExchange `bad_answer` */
export function readAnswer({ mediaType, octets }: RawAnswer): Statement {
  if (mediaType !== 'application/json') {
    throw failed('bad_answer', 'the answer is not application/json')
  }
  return statementOf(parseUnambiguousObject(octets), octets.length)
}

/** @param value From `parseUnambiguousObject`: frozen, each member once. @param size Octets. @throws FailedExchange `bad_answer` */
function statementOf(value: unknown, size: number): Statement {
  if (!isJsonObject(value)) {
    throw failed(
      'bad_answer',
      'the answer is not a JSON object in UTF-8 of at most 32 levels, or has a member twice, or one named __proto__',
    )
  }
  const active = member(value, 'active')
  if (active === false) return { word: 'inactive' }
  // The boolean, and nothing that is only like it.
  if (active !== true) throw failed('bad_answer', 'active is neither true nor false in the answer')
  return { word: 'active', claims: withoutNulls(value), size }
}

const TYPE = 'token-introspection+jwt'

/** No call takes longer. Seconds. */
const LONGEST_AGE = 60

export interface SignedAnswers {
  /** @param askedAt When the question was sent. @throws FailedExchange */
  readonly read: (
    answer: RawAnswer,
    askedAt: Instant,
    caller: Pick<VerifyOptions, 'signal' | 'waitUntil'>,
  ) => Promise<Statement>
  readonly ready: () => Promise<void>
}

/** RFC 9701 section 5: no answer names its token. Who can replace one can send that about another, within the tolerance of clocks. */
export function createSignedAnswers(
  keys: KeySource,
  issuer: string,
  {
    clientId,
    algorithms,
    clockTolerance,
    clock,
  }: Pick<CheckedOptions, 'algorithms' | 'clientId' | 'clockTolerance' | 'clock'>,
): SignedAnswers {
  const verifier = createUnobservedVerifier({
    keys,
    issuer,
    algorithms,
    audience: clientId,
    type: TYPE,
    requireExpiry: false,
    clockTolerance,
    maxTokenAge: LONGEST_AGE,
    maxTokenSize: 65_536,
    remember: false,
    clock,
  })
  return {
    ready: async () => {
      await verifier.ready()
    },
    async read({ mediaType, octets }, askedAt, caller) {
      // A plain answer in the place of a signed one would be a way around the signature.
      if (mediaType !== `application/${TYPE}`) {
        throw failed('bad_answer', `the answer is not application/${TYPE}, and keys are stated`)
      }
      const jwt = octets.toString('latin1').trim()
      if (jwt.split('.', 6).length === 5) {
        throw failed('bad_answer', 'the answer is encrypted (JWE), which is not supported')
      }
      checkTime(await prove(jwt, caller), askedAt)
      // The verifier has read it as well, but repeated members at the top level alone.
      const payload = parseUnambiguousObject(Buffer.from(jwt.split('.', 2)[1] ?? '', 'base64url'))
      return statementOf(payload && member(payload, 'token_introspection'), octets.length)
    },
  }

  async function prove(jwt: string, caller: VerifyOptions): Promise<number> {
    try {
      const { claims } = await verifier.verify(jwt, caller)
      // `maxTokenAge` requires it.
      return claims.iat ?? -Infinity
    } catch (error) {
      if (!(error instanceof AuthError)) throw error
      const detail = `the signed answer: ${error.detail}`
      if (error.code !== 'keys_unavailable') throw failed('bad_answer', detail)
      throw unavailableEndpoint(error.reason === 'timeout' ? 'timeout' : 'unreachable', detail)
    }
  }

  /** An older one was made for another question, such as one before a revocation. `iat` counts whole seconds. */
  function checkTime(iat: number, askedAt: Instant): void {
    const age = Math.floor(askedAt.wall) - iat
    if (age > clockTolerance) throw failed('bad_answer', madeBefore(clockTolerance))
  }
}

function madeBefore(clockTolerance: number): string {
  return `the signed answer was made before the question, by more than clockTolerance (${clockTolerance} s)`
}
