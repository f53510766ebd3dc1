// What a verifier makes of a token, check by check: `@portcullis/core/explain`.

export { adviceOn } from './explain/advice.ts'
export type { Advice } from './explain/advice-table.ts'
export { describeTime } from './explain/details.ts'
export { explain } from './explain/explain.ts'
export type { ExplainOptions, Explanation, Finding, NamedKeys, Verdict } from './explain/finding.ts'
export type { Hint, Signer } from './explain/hints.ts'
export { explainKey, type KeyExplanation } from './explain/keys.ts'
