// Exchanges over HTTP: what is sent, what counts as an answer, and what is said of one that fails.

export { discardBody, readBody } from './http/body.ts'
export { deltaSeconds, freshnessLifetime, httpDate, retryAfter, textOf } from './http/caching.ts'
export {
  createExchange,
  type Exchange,
  type Fetch,
  type FetchResponse,
  platformFetch,
  REQUEST_SETTINGS,
} from './http/exchange.ts'
export {
  badDocument,
  type FetchFailure,
  fetchJson,
  type JsonDocument,
  readDocument,
  withDeadline,
  within,
} from './http/fetch-json.ts'
export { platformCode, whatIsMissing, whereItIsFrom, whyFailed } from './http/fetch-words.ts'
export { mediaTypeOf } from './http/media-type.ts'
export { closeUnread } from './http/unread-body.ts'
export { createRetry, isSuccess, isWorthRetrying, type Retry } from './http/retry.ts'
