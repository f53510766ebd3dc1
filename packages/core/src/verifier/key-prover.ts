import { textMember } from '@portcullis/kit/json'

import { acceptedAlgorithms, algorithmNamesOf } from '../algorithms/accepted-algorithms.ts'
import type { Header } from '../claims/auth.ts'
import { readClaims } from '../claims/claims.ts'
import { checkType, statesKind } from '../claims/kind.ts'
import { endedProofs } from '../keys/details.ts'
import { type Caller, methodsOf } from '../keys/key-source.ts'
import { repeatsConfirmation } from '../possession/binding.ts'
import { AuthError } from '../refusal/errors.ts'
import { createKeySearch, type Found, isFound } from './key-search.ts'
import type { ProofMemory, TokenProver } from './token-prover.ts'
import { createVerifiedTokens, isStillTrusted, type VerifiedToken } from './verified-tokens.ts'
import type { VerifierOptions } from './verifier-options.ts'
import { typesOf, type VerifierParts } from './verifier-parts.ts'

// Proves JWTs by the trusted keys that have signed them, and remembers those that were accepted.

/** @param options Own members, checked. @param parts Of the verifier for which tokens are proven. */
export function createKeyProver(
  options: VerifierOptions,
  { rules, maxTokenSize, now, clock }: VerifierParts,
): TokenProver<VerifiedToken> & ProofMemory<VerifiedToken> {
  const { remember = { max: 1000 } } = options
  const keys = methodsOf(options.keys)
  const types = typesOf(options)
  const accepted = acceptedAlgorithms(options.algorithms)
  const algorithmNames = algorithmNamesOf(options.algorithmNames)
  const tokens = remember === false ? undefined : createVerifiedTokens(remember.max)
  const searchOptions = { keys, accepted, algorithmNames, maxTokenSize, rules, types, now, clock }
  const search = createKeySearch(searchOptions)

  function proveNew(token: string, caller: Caller): VerifiedToken | Promise<VerifiedToken> {
    const found = search(token, caller)
    return isFound(found) ? provenBy(token, found) : proveLater(token, found)
  }

  async function proveLater(token: string, found: Promise<Found>): Promise<VerifiedToken> {
    return provenBy(token, await found)
  }

  function provenBy(token: string, { reading, key, foundIn }: Found): VerifiedToken {
    const { parsed, algorithm } = reading
    checkType(textMember(parsed.header, 'typ'), types)
    const claims = readClaims(parsed.payload, rules)
    const header = parsed.header as Header // `checkAlgorithm` has found its `alg`
    const repeatsMember = repeatsConfirmation(claims, parsed.payload)
    return { token, claims, header, repeatsMember, key, algorithm, foundIn, judged: undefined }
  }

  /** One that is remembered, where the keys have to be waited for. */
  async function proveAgain(known: VerifiedToken, caller: Caller): Promise<VerifiedToken> {
    if (isStillTrusted(known, await keys.wait(caller), accepted)) return known
    tokens?.forget(known.token)
    return await proveNew(known.token, caller)
  }

  return {
    algorithms: accepted,
    judged: {
      get: (proven) => proven.judged,
      set(proven, judged) {
        proven.judged = judged
      },
    },
    remember(verified) {
      tokens?.remember(verified)
    },
    forget({ token }) {
      tokens?.forget(token)
    },
    recall(token, moment, waitUntil) {
      const known = tokens?.find(token)
      if (known === undefined) return undefined
      const ring = keys.current(moment, waitUntil)
      if (ring === undefined) return undefined
      if (isStillTrusted(known, ring, accepted)) return known
      tokens?.forget(token)
      return undefined
    },
    prove(token, { arrived, signal, waitUntil }) {
      const caller = { arrived, signal, waitUntil, tokenSize: token.length }
      const known = tokens?.find(token)
      return known === undefined ? proveNew(token, caller) : proveAgain(known, caller)
    },
    check: ({ header }) => statesKind(textMember(header, 'typ'), types),
    stands(_token, proven, waitUntil) {
      const ring = keys.current(keys.now(), waitUntil)
      return ring !== undefined && isStillTrusted(proven, ring, accepted)
    },
    late: () => new AuthError('keys_unavailable', 'timeout', endedProofs),
    async ready() {
      const arrived = keys.now()
      if (keys.current(arrived) === undefined) {
        await keys.wait({ arrived, tokenSize: 0, signal: undefined })
      }
    },
  }
}
