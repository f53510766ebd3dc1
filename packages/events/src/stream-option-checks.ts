import {
  checkArgument,
  checkOptions,
  isAbsoluteUrl,
  isFunction,
  isText,
  oneOf,
  type OptionCheck,
  ownMembers,
  urlComplaint,
} from '@portcullis/kit/options'

import { REVOKING_EVENTS } from './event-types.ts'
import { checkedOptions, HEADER, POLL_CHECKS, SECURITY_EVENT_CHECKS } from './option-checks.ts'
import type { PushDelivery, StreamOptions } from './options.ts'
import { TRANSMISSIONS } from './stream-events.ts'

// Checks the options of a stream at start-up, and what its functions are given.

const isIssuerUrl: OptionCheck = (value) => {
  const complaint = typeof value === 'string' ? urlComplaint(value) : 'must be a string'
  if (complaint !== undefined || typeof value !== 'string') return complaint
  const { search, hash } = new URL(value)
  return search === '' && hash === '' ? undefined : 'must have neither a query nor a fragment'
}

/** Bits of a character of a random text: of one in hexadecimal digits, and of any other. */
const BITS = { hex: 4, other: 6 }
const SECRET_BITS = 128
/** So many different characters have random texts of that length, but for one in a million. */
const FEWEST_CHARACTERS = 8

const isPushAuthorization: OptionCheck = (value) => {
  if (value === null) return undefined
  const text = typeof value === 'string' && HEADER.test(value) ? value : ''
  const secret = text.slice(text.lastIndexOf(' ') + 1)
  const bits = secret.length * (/^[\da-f]+$/i.test(secret) ? BITS.hex : BITS.other)
  return bits >= SECRET_BITS && new Set(secret).size >= FEWEST_CHARACTERS
    ? undefined
    : `must be null, or a scheme and a random secret of ${SECRET_BITS} bits: 22 characters of base64url, or 32 hexadecimal digits`
}

const isDelivery: OptionCheck = (value) => {
  if (value === 'poll') return undefined
  if (typeof value !== 'object' || value === null) {
    return "must be 'poll' or { endpoint, authorization }"
  }
  const { endpoint, authorization, ...others } = ownMembers(value as Partial<PushDelivery>)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `has no member ${unknown}`
  const complaint = urlComplaint(String(endpoint))
  if (complaint !== undefined) return `.endpoint ${complaint}`
  const ofSecret = isPushAuthorization(authorization)
  return ofSecret === undefined ? undefined : `.authorization ${ofSecret}`
}

const LONGEST_DESCRIPTION = 200
/** Names, of which the URIs are known. */
const NAMED: ReadonlySet<unknown> = new Set(REVOKING_EVENTS)

const { issuer: _, ...OF_RECEIVERS } = SECURITY_EVENT_CHECKS

const STREAM_CHECKS: Readonly<Record<keyof StreamOptions, OptionCheck>> = {
  ...OF_RECEIVERS,
  transmitter: isIssuerUrl,
  fetch: isFunction,
  deliver: isDelivery,
  events: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => NAMED.has(each) || isAbsoluteUrl(each) === undefined)
      ? undefined
      : `must be a list of URIs, or of ${REVOKING_EVENTS.join(', ')}`,
  description: (value) =>
    typeof value === 'string' && value.trim() === value && /^[ -~]{1,200}$/.test(value)
      ? undefined
      : `must be a text of 1 to ${LONGEST_DESCRIPTION} ASCII characters, without spaces around it`,
  origins: (value) =>
    Array.isArray(value) && value.every((each) => urlComplaint(String(each)) === undefined)
      ? undefined
      : 'must be a list of origins, such as https://events.example.com',
  interval: POLL_CHECKS.interval,
  timeout: POLL_CHECKS.timeout,
}

const STREAM_REQUIRED = [
  'transmitter',
  'keys',
  'audience',
  'revocations',
  'revokes',
  'fetch',
  'deliver',
  'events',
  'description',
] as const

export function checkStreamOptions(options: StreamOptions): StreamOptions {
  const stated = checkedOptions('openStream', options, STREAM_CHECKS, STREAM_REQUIRED)
  const { deliver } = stated
  return { ...stated, deliver: deliver === 'poll' ? deliver : ownMembers(deliver) }
}

/** Of `verify`. @returns The signal. @throws TypeError */
export function checkSignal(given: {
  readonly signal?: AbortSignal | undefined
}): AbortSignal | undefined {
  checkOptions('verify', given, {
    signal: (value) => (value instanceof AbortSignal ? undefined : 'must be an AbortSignal'),
  })
  return ownMembers(given).signal
}

/** Of `setStatus`. @throws TypeError */
export function checkStatus(status: string, reason: string | undefined): void {
  checkArgument('setStatus', 'the status', oneOf(...TRANSMISSIONS)(status))
  checkArgument('setStatus', 'the reason', reason === undefined ? undefined : isText(reason))
}
