// Says why a verifier accepts or refuses a token: the result of every check. It shows claims that are not proven, so it is for
// people, not for requests.

export { adviceOn } from './explain/advice.ts'
export type { Advice } from './explain/advice-table.ts'
export { describeTime } from './explain/details.ts'
export { explain } from './explain/explain.ts'
export type { ExplainOptions, Explanation, Finding, NamedKeys, Verdict } from './explain/finding.ts'
export type { Hint, Signer } from './explain/hints.ts'
export { explainKey, type KeyExplanation } from './explain/keys.ts'
