// What a package needs whose verifier proves tokens by something else than a key, as `@portcullis/introspection` does: the steps
// behind the proof, and what reads answers of others. Applications have `createVerifier`.

export type { Claims, Header } from './claims/auth.ts'
export { checkAlgorithmList } from './algorithms/accepted-algorithms.ts'
export { complaintUnder } from './verifier/profile-check.ts'
export { createProvenVerifier } from './verifier/proven-verifier.ts'
export { checkStated, type ProvenRules, ruleChecks } from './verifier/verifier-options.ts'
export type { ProvenToken, ProvingCaller, TokenProver } from './verifier/token-prover.ts'
export {
  issuedBeforeEntry,
  readRevocationEntry,
  revokedTokenEntry,
} from './revocation/revocation-entries.ts'
export { createSelectedVerifier } from './verifier/selected-verifier.ts'
export { createUnobservedVerifier } from './verifier/create-verifier.ts'
export { parseUnambiguousObject } from '@portcullis/kit/json'
export { foreignness, marked } from './ground/copy.ts'
export { shown } from './refusal/text.ts'
export { isLikeJwt } from './token/token.ts'
