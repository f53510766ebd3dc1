// What packages for a framework need beside the main entry: `@portcullis/core/adapter`. Nobody else has to find these names.

export { checkGuardOptions } from './guard-options.ts'
export { hasPassed, isAtOnce } from './http.ts'
export { checkRequirementList } from './requirement-list.ts'
export { applySchema } from './schema.ts'
