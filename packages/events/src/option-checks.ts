import { complaintUnder, foreignness, ruleChecks } from '@portcullis/core/verifier'
import {
  checkOptions,
  hasMethods,
  isFunction,
  oneOf,
  type OptionCheck,
  ownMembers,
  seconds,
  urlComplaint,
} from '@portcullis/kit/options'
import { systemClock } from '@portcullis/kit/time'

import { REVOKING_EVENTS } from './event-types.ts'
import type { Limits } from './in-time.ts'
import type {
  AppleEventOptions,
  EventOptions,
  LogoutOptions,
  PollEventsOptions,
  ReceiveEventsOptions,
  SecurityEventOptions,
} from './options.ts'

// Checks the options of receivers at start-up.

const TEN_YEARS = 315_360_000

/** Nothing is accepted of anybody: what an event revokes depends on who tells it. */
const isStated =
  (check: OptionCheck): OptionCheck =>
  (value) =>
    [value].flat().includes(null) || check(value) !== undefined
      ? 'must be a string or a list of strings'
      : undefined

const EVENT_CHECKS: Readonly<Record<keyof EventOptions, OptionCheck>> = {
  keys: (value) =>
    hasMethods(value, 'now', 'current', 'wait', 'suspect')
      ? foreignness(value)
      : 'must be a key source, such as discoverKeys(issuer)',
  issuer: isStated(ruleChecks.issuer),
  revocations: (value) =>
    hasMethods(value, 'revoke', 'revokeBefore')
      ? foreignness(value)
      : 'must have the functions revoke and revokeBefore, as localRevocations() has',
  revokes: (value) =>
    value === 'session' || value === 'subject' ? undefined : "must be 'session' or 'subject'",
  maxTokenLifetime: seconds(1, TEN_YEARS),
  algorithms: () => undefined, // `createVerifier` knows the names
  profile: oneOf('fapi2'),
  clockTolerance: ruleChecks.clockTolerance,
  clock: ruleChecks.clock,
  recordTimeout: seconds(1, 600),
  onEvent: isFunction,
}

const LOGOUT_CHECKS: Readonly<Record<keyof LogoutOptions, OptionCheck>> = {
  ...EVENT_CHECKS,
  clientId: isStated(ruleChecks.audience),
  type: (value) =>
    value === null || value === 'logout+jwt' ? undefined : "must be 'logout+jwt' or null",
  requireExpiry: ruleChecks.requireExpiry,
  maxTokenAge: ruleChecks.maxTokenAge,
}

export const SECURITY_EVENT_CHECKS: Readonly<Record<keyof SecurityEventOptions, OptionCheck>> = {
  ...EVENT_CHECKS,
  audience: isStated(ruleChecks.audience),
  revokeOn: (value) =>
    Array.isArray(value) && value.every((each) => REVOKING_EVENTS.some((name) => name === each))
      ? undefined
      : `must be a list of ${REVOKING_EVENTS.join(', ')}`,
  type: (value) =>
    value === null || value === 'secevent+jwt' ? undefined : "must be 'secevent+jwt' or null",
  mapSubject: isFunction,
}

/** Characters. Shorter ones can be guessed. */
const SHORTEST_SECRET = 16

/** What arrives as it was sent: HTTP takes spaces and the end of a line away. RFC 9110 section 5.5. */
export const HEADER: RegExp = /^[!-~](?:[ -~]*[!-~])?$/

const isAuthorization: OptionCheck = (value) => {
  const isSecret =
    typeof value === 'string' && value.length >= SHORTEST_SECRET && HEADER.test(value)
  return value === null || isSecret || hasMethods(value, 'verify', 'ready')
    ? undefined
    : `must be a verifier, null, or a text of ${SHORTEST_SECRET} characters or more as a header can have it`
}

export const POLL_CHECKS: Readonly<Record<keyof PollEventsOptions, OptionCheck>> = {
  ...SECURITY_EVENT_CHECKS,
  endpoint: (value) => urlComplaint(String(value)),
  fetch: isFunction,
  interval: seconds(1, 3600),
  timeout: seconds(1, 600),
}

/** @returns The options, safe from a polluted prototype. @throws TypeError for a wrong, misspelt or missing one. */
export function checkLogoutOptions(options: LogoutOptions): LogoutOptions {
  return checked('receiveLogout', options, LOGOUT_CHECKS, ['clientId'])
}

export function checkReceiveEventsOptions(options: ReceiveEventsOptions): ReceiveEventsOptions {
  const checks: Readonly<Record<keyof ReceiveEventsOptions, OptionCheck>> = {
    ...SECURITY_EVENT_CHECKS,
    authorize: isAuthorization,
  }
  return checked('receiveEvents', options, checks, ['audience', 'authorize'])
}

export function checkPollEventsOptions(options: PollEventsOptions): PollEventsOptions {
  return checked('pollEvents', options, POLL_CHECKS, ['audience', 'endpoint', 'fetch'])
}

const { issuer: _, revokes: __, profile: ___, ...OF_APPLE } = EVENT_CHECKS

export function checkAppleEventOptions(options: AppleEventOptions): AppleEventOptions {
  const checks = { ...OF_APPLE, clientId: isStated(ruleChecks.audience), mapSubject: isFunction }
  const required = ['keys', 'revocations', 'clientId', 'mapSubject'] as const
  return checkedOptions('receiveAppleEvents', options, checks, required)
}

export function limitsOf({
  clock = systemClock,
  recordTimeout = 10,
}: Pick<EventOptions, 'clock' | 'recordTimeout'>): Limits {
  return { clock, timeout: recordTimeout }
}

const REQUIRED = ['keys', 'issuer', 'revocations', 'revokes'] as const

type Profiled = Pick<EventOptions, 'algorithms' | 'profile'> &
  Partial<Pick<ReceiveEventsOptions, 'authorize'>>

/** @param required Those of this factory; what every receiver needs is required as well. */
function checked<Options extends EventOptions>(
  factory: string,
  options: Options,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly (string & keyof Options)[],
): Options {
  return checkedOptions(factory, options, checks, [...REQUIRED, ...required])
}

export function checkedOptions<Options extends Profiled>(
  factory: string,
  options: Options,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly (string & keyof Options)[],
): Options {
  checkOptions(factory, options, checks)
  const stated = ownMembers(options)
  for (const name of required) {
    if (stated[name] === undefined) throw new TypeError(`${factory}: ${name} must be stated`)
  }
  checkProfile(factory, stated)
  return stated
}

/** Of every JWT that it reads: events, and what `authorize` verifies. @throws TypeError for what does not keep the stated profile. */
function checkProfile(factory: string, { profile, algorithms, authorize }: Profiled): void {
  const stated = Array.isArray(algorithms) ? algorithms : undefined
  const callers = typeof authorize === 'object' && authorize !== null ? authorize : undefined
  const complaint = complaintUnder(profile, stated, callers)
  if (complaint === undefined) return
  // Mistake `…: profile …: …`: State what the message names, or leave out `profile`.
  throw new TypeError(`${factory}: profile ${profile}: ${complaint}`)
}
