import { ownMembers } from '@portcullis/kit/options'

import type { Profile } from '../algorithms/profiles.ts'
import { AuthError } from '../refusal/errors.ts'
import { timeReading, turnToRead } from '../token/event-loop.ts'
import { createSignatureCheck } from '../token/signature.ts'
import { invalidNonce, missingNonce, otherProofAlgorithm, otherProofSignature } from './details.ts'
import { createNonces } from './nonces.ts'
import { brandedProofs, type DpopProofs } from './proof-check.ts'
import { checkProofClaims, type ProofRules } from './proof-claims.ts'
import { type DpopProofsOptions, readProofOptions } from './proof-options.ts'
import { createProofReader, type ReadProof } from './proof.ts'
import { createReplayCheck } from './replay-check.ts'
import { createUrlCheck } from './target-url.ts'

// The check of a DPoP proof, from its header to the memory of used proofs. It alone knows the order of the steps.

/**
 * Lets a guard accept tokens that are bound to a key: `authenticate(verifier, { dpop: dpopProofs({ origin }) })`.
 *
 * Checks each proof in this order: size and form, type, algorithm, key, signature; then the signed `jti`, `htm`, `htu`,
 * `iat`, `ath`, and the nonce if there are `nonces`. A proof is remembered only when the guard has accepted its token, so
 * that nobody without a token can fill the memory.
 *
 * Does NOT check whether the token is bound to the key of the proof: the verifier does that.
 *
 * @throws TypeError for a wrong or misspelt option.
 * @see RFC 9449 sections 4.3, 7 and 9
 */
export function dpopProofs(options: DpopProofsOptions): DpopProofs {
  const settings = readProofOptions(options)
  const { origins, algorithms, clockTolerance, required, clock, ...sources } = settings
  const readProof = createProofReader(algorithms)
  const isSignedBy = createSignatureCheck()
  const rules: ProofRules = { ...settings, isUrlOf: createUrlCheck(origins) }
  const nonces = sources.nonces && createNonces(sources.nonces, clockTolerance)
  const rememberProof = createReplayCheck(sources.replays, clock)

  async function checkSignature({ parsed, key, algorithm }: ReadProof): Promise<void> {
    let isSigned = false
    let cause: unknown
    try {
      isSigned = await isSignedBy(key, algorithm, parsed)
    } catch (fault) {
      // The key is the sender's: whatever OpenSSL cannot do with it is no fault of ours.
      cause = fault
    }
    if (isSigned) return
    throw new AuthError('invalid_dpop_proof', 'proof_signature', {
      detail: otherProofSignature,
      cause,
    })
  }

  function rulesUnder(profile: Profile | undefined): ProofRules {
    if (profile === undefined) return rules
    const { least, most } = profile.ahead
    return { ...rules, toleranceAhead: Math.min(most, Math.max(least, rules.toleranceAhead)) }
  }

  function checkNonce(nonce: unknown, now: number): void {
    const validity = nonces?.validity(nonce, now) ?? 'valid'
    if (validity === 'missing') throw new AuthError('use_dpop_nonce', 'missing_nonce', missingNonce)
    if (validity === 'invalid') throw new AuthError('use_dpop_nonce', 'invalid_nonce', invalidNonce)
  }

  const proofs = brandedProofs({
    algorithms,
    required,
    async check(request) {
      const asked = ownMembers(request)
      const { profile } = asked
      await turnToRead()
      const read = timeReading(clock, () => readProof(asked.proof))
      checkAlgorithm(read, profile)
      await checkSignature(read)
      // After the wait for the signature: it may have been long.
      const now = clock.now()
      const { payload } = read.parsed
      const { jti, expires, nonce } = checkProofClaims(payload, asked, rulesUnder(profile), now)
      checkNonce(nonce, now)
      return Object.freeze({ jkt: read.key.thumbprint, jti, expires })
    },
    remember: (proof, signal) => rememberProof(proof, signal),
    nonce: () => nonces?.make(clock.now()),
  })
  return Object.freeze(proofs)
}

/** The option `algorithms` has accepted it. @throws AuthError */
function checkAlgorithm({ algorithm }: ReadProof, profile: Profile | undefined): void {
  if (profile === undefined || profile.algorithms.includes(algorithm)) return
  const detail = otherProofAlgorithm(algorithm, profile.algorithms)
  throw new AuthError('invalid_dpop_proof', 'proof_algorithm', detail)
}
