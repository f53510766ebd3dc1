import { own, ownMembers } from '@portcullis/kit/options'

import type { Auth } from '../claims/auth.ts'
import { type ClaimRules, statesIssuer } from '../claims/claims.ts'
import { isTenantRule } from '../claims/tenants.ts'
import { verdicts } from '../report/diagnostics.ts'
import { type Internals, setInternals } from './internals.ts'
import { createJudge } from './judge.ts'
import { observed, type VerdictRecord } from './observed-verdict.ts'
import { complaintOfRules } from './profile-check.ts'
import { createWatch } from './revocation-watch.ts'
import type { Judged, ProofMemory, ProvenToken, TokenProver } from './token-prover.ts'
import type { ProvenRules } from './verifier-options.ts'
import { partsOf, type VerifierParts } from './verifier-parts.ts'
import type { Verifier, VerifyOptions } from './verifier.ts'

// A verifier, whatever proves its tokens.

/**
 * Creates a verifier of tokens that something else than a key proves. Claims, times, `cnf`, schema and revocations are judged as
 * those of a JWT are; guards, `watchToken` and diagnostics know it as one of ours.
 *
 * @param rules Checked: see `ruleChecks` and `checkStated`.
 */
export function createProvenVerifier<Proven extends ProvenToken>(
  prover: TokenProver<Proven>,
  rules: ProvenRules,
): Verifier<unknown> {
  const parts = partsOf(ownMembers(rules), true)
  // The prover remembers tokens by itself, and its proofs may be frozen.
  const memory = { remember() {}, forget() {}, judged: new WeakMap<Proven, Judged>() }
  return verifierOf(prover, { parts, isObserved: () => verdicts.isObserved(), memory })
}

export interface VerifierSetting<Proven> {
  readonly parts: VerifierParts
  readonly isObserved: () => boolean
  readonly memory: ProofMemory<Proven>
}

function issuersOf(
  issuer: ClaimRules['issuer'],
): Pick<Internals, 'hasTemplate' | 'issuer' | 'decidedByTenants'> {
  if (isTenantRule(issuer)) return { hasTemplate: true, decidedByTenants: issuer.decidedByTenants }
  if (issuer === null) return { issuer }
  return { issuer: issuer.length === 1 ? issuer[0] : undefined }
}

export function verifierOf<Proven extends ProvenToken>(
  prover: TokenProver<Proven>,
  { parts, isObserved, memory }: VerifierSetting<Proven>,
): Verifier<unknown> {
  const { rules, maxTokenSize, revocations, clock } = parts
  const kept = {
    ...parts,
    algorithms: own(prover, 'algorithms'),
    asksIssuer: own(prover, 'asksIssuer') === true,
    requireExpiry: rules.requireExpiry,
  }
  const { judge, recall } = createJudge(prover, parts, memory, () => verifier)

  function verify(token: string, options?: VerifyOptions): Promise<Auth<unknown>> {
    if (!isObserved()) return judge(token, options)
    const verdict = async (record: VerdictRecord) => await judge(token, options, record)
    return observed(verifier, verdict, clock)
  }

  setInternals(verify, {
    checksIssuer: (issuer) => statesIssuer(rules, issuer),
    ...issuersOf(rules.issuer),
    audiences: [rules.audience],
    complaintUnder: (profile) => complaintOfRules(kept, profile),
    maxTokenSize,
    recall,
    mayBeToken: own(prover, 'mayBeToken'),
    watch: createWatch(parts),
  })
  const verifier: Verifier<unknown> = {
    verify,
    async ready() {
      await prover.ready()
      await revocations?.ready()
    },
  }
  return verifier
}
