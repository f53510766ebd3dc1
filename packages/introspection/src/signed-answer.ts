import { AuthError, type KeySource, type VerifyOptions } from '@portcullis/core'
import { createUnobservedVerifier } from '@portcullis/core/verifier'
import { member, parseUnambiguousObject } from '@portcullis/kit/json'
import type { Instant } from '@portcullis/kit/time'

import { type Statement, statementOf } from './answer.ts'
import { failed, type RawAnswer, unavailableEndpoint } from './exchange.ts'
import type { CheckedOptions } from './options.ts'

// Reads signed answers (RFC 9701): a verifier of our own proves them, with its rules and its cache of keys.

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
  /** @throws AuthError `keys_unavailable` */
  readonly ready: () => Promise<void>
}

/** RFC 9701 section 5: no answer names its token. Who can replace one can send that about another, within the tolerance of clocks. */
export function createSignedAnswers(
  keys: KeySource,
  issuer: string,
  {
    clientId,
    clockTolerance,
    clock,
  }: Pick<CheckedOptions, 'clientId' | 'clockTolerance' | 'clock'>,
): SignedAnswers {
  const verifier = createUnobservedVerifier({
    keys,
    issuer,
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

  /** @returns When it was made. */
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
    if (age > clockTolerance) throw failed('bad_answer', madeBefore(age, clockTolerance))
  }
}

function madeBefore(age: number, clockTolerance: number): string {
  return `the signed answer was made ${age.toFixed(0)} s before the question; clockTolerance is ${clockTolerance} s`
}
