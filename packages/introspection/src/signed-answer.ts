import { AuthError, type Clock, type KeySource } from '@portcullis/core'
import { createUnobservedVerifier, member, parseUnambiguousObject } from '@portcullis/core/verifier'

import { type Statement, statementOf } from './answer.ts'
import { failed, type RawAnswer, unavailableEndpoint } from './exchange.ts'

// Reads signed answers (RFC 9701): a verifier of our own proves them, with its rules and its cache of keys.

const TYPE = 'token-introspection+jwt'

/** How old an answer may be: it was made for this request. Seconds. */
const LONGEST_AGE = 60

export interface SignedAnswers {
  /** @throws FailedExchange */
  readonly read: (answer: RawAnswer, signal: AbortSignal) => Promise<Statement>
  /** @throws AuthError `keys_unavailable` */
  readonly ready: () => Promise<void>
}

/**
 * @param clientId Who the answers are for.
 * @see RFC 9701 section 5
 */
export function createSignedAnswers(
  keys: KeySource,
  issuer: string,
  clientId: string,
  clock: Clock,
): SignedAnswers {
  const verifier = createUnobservedVerifier({
    keys,
    issuer,
    audience: clientId,
    type: TYPE,
    requireExpiry: false,
    maxTokenAge: LONGEST_AGE,
    maxTokenSize: 65_536,
    remember: false,
    clock,
  })
  return {
    ready: async () => {
      await verifier.ready()
    },
    async read({ mediaType, octets }, signal) {
      // A plain answer in the place of a signed one would be a way around the signature.
      if (mediaType !== `application/${TYPE}`) {
        throw failed('bad_answer', `the answer is not application/${TYPE}, and keys are stated`)
      }
      const jwt = octets.toString('latin1').trim()
      if (jwt.split('.', 6).length === 5) {
        throw failed('bad_answer', 'the answer is encrypted (JWE), which is not supported')
      }
      await prove(jwt, signal)
      // The verifier has read it as well, but repeated members at the top level alone.
      const payload = parseUnambiguousObject(Buffer.from(jwt.split('.', 2)[1] ?? '', 'base64url'))
      return statementOf(payload && member(payload, 'token_introspection'), octets.length)
    },
  }

  async function prove(jwt: string, signal: AbortSignal): Promise<void> {
    try {
      await verifier.verify(jwt, { signal })
    } catch (error) {
      if (!(error instanceof AuthError)) throw error
      const detail = `the signed answer: ${error.detail}`
      if (error.code !== 'keys_unavailable') throw failed('bad_answer', detail)
      throw unavailableEndpoint(error.reason === 'timeout' ? 'timeout' : 'unreachable', detail)
    }
  }
}
