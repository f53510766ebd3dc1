// What a package needs whose verifier proves tokens by something else than a key: `@portcullis/core/verifier`. Applications have
// `createVerifier`.

export type { Claims, Header } from './claims/auth.ts'
export { createProvenVerifier } from './verifier/token-prover.ts'
export type {
  ProvenRules,
  ProvenToken,
  ProvingCaller,
  TokenProver,
} from './verifier/token-prover.ts'
export { createSelectedVerifier } from './verifier/selected-verifier.ts'
export { checkStated, LONGEST_TOKEN, ruleChecks } from './verifier/verifier-options.ts'
export { createUnobservedVerifier } from './verifier/verifier.ts'
export { foreignness, marked } from './ground/copy.ts'
export {
  checkArgument,
  checkOptions,
  countUpTo,
  hasMethods,
  isBoolean,
  isClock,
  isFunction,
  isText,
  isTextList,
  noOptions,
  own,
  ownMembers,
  seconds,
} from './ground/options.ts'
export type { OptionCheck } from './ground/options.ts'
export {
  isJsonObject,
  member,
  parseUnambiguousObject,
  textMember,
  withoutNulls,
} from './ground/json.ts'
export {
  beginFlight,
  ENDS_WITH_REQUEST,
  flightOrPause,
  lend,
  outcomeOf,
  TURN_PAUSE,
} from './ground/flight.ts'
export type { Flight, WaitUntil } from './ground/flight.ts'
export { elapsed, instant, systemClock } from './ground/time.ts'
export type { Instant } from './ground/time.ts'
export { createWaitingRoom, LATENESS } from './ground/waiting-room.ts'
export type { Place, WaitingRoom } from './ground/waiting-room.ts'
export { readBody, withDeadline } from './keys/fetch-json.ts'
export type { FetchFailure } from './keys/fetch-json.ts'
export { platformCode, whatIsMissing, whereItIsFrom, whyFailed } from './keys/fetch-words.ts'
export { retryAfter } from './keys/http-caching.ts'
export { failurePauseEnd, LONGEST_PAUSE } from './keys/pace.ts'
export { createRetry } from './keys/retry.ts'
export type { Retry } from './keys/retry.ts'
export { urlComplaint } from './keys/key-url.ts'
export { checkIssuer, findUrl } from './keys/metadata.ts'
export type { Issuer, MetadataReader } from './keys/metadata.ts'
export type { Detail } from './refusal/text.ts'
export { shown } from './refusal/text.ts'
export { isLikeJwt } from './token/token.ts'
