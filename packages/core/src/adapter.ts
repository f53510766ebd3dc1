// What packages for a framework need beside the main entry: `@portcullis/core/adapter`. Nobody else has to find these names.

export { checkGuardOptions } from './request/guard-options.ts'
export { hasPassed, isAtOnce } from './request/http.ts'
export { checkRequirementList } from './requirement/requirement-list.ts'
export { applySchema } from './claims/schema.ts'
