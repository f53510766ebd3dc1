// What only packages for a framework need, such as `@portcullis/express`. The document "Any other framework" of `@portcullis/core`
// says how to guard routes without it.

export { checkGuardOptions } from './request/guard-options.ts'
export { propertySetter } from './request/shown-property.ts'
export { hasPassed, isAtOnce, requireAudience } from './request/http.ts'
export { checkMetadata } from './refusal/resource-metadata.ts'
export type { ClientAudience } from './request/resource.ts'
export { targetOf } from './request/proven-request.ts'
export { checkRequirementList } from './requirement/requirement-list.ts'
export { audiencesOf, decidedByTenantsOf, onlyIssuerOf, proverOf } from './verifier/internals.ts'
export { signedClaims } from './claims/signed-claims.ts'
export { applySchema } from './claims/schema.ts'
export { ownerOf, type OwnerRules, type TokenOwner } from './claims/owner.ts'
