import type { Endpoint, OutageKind } from '@portcullis/testing'

import {
  anyObject,
  anyText,
  count,
  duration,
  InputError,
  listOf,
  objectOf,
  oneOf,
  type Read,
  seconds,
  shortDuration,
  someText,
  textUpTo,
} from './input.ts'

// What the control interface reads of the bodies of its requests.

export type MintInput = ReturnType<typeof readMint>

export const readMint = objectOf({
  claims: anyObject,
  expiresIn: seconds,
  notBefore: seconds,
  header: anyObject,
  omit: listOf(someText, 100),
  payload: anyText,
  /** One of `badKinds()`. */
  kind: someText,
})

/** What every bad token has, beside what is bad about it. */
export const readMintBad = objectOf({ claims: anyObject, header: anyObject })

export type RotateInput = ReturnType<typeof readRotate>

export const readRotate = objectOf({
  kid: oneOf('new', 'same', 'none'),
  publish: oneOf('now', 'first', 'later', 'both'),
  /** After so long the second half follows by itself. */
  seconds: shortDuration,
})

const endpoint: Read<Endpoint> = oneOf('keys', 'token', 'introspection', 'metadata')

/** A status, or the name of a misbehaviour; which of them there are is said by testing. */
const kindOfFault: Read<OutageKind> = (value, where) =>
  typeof value === 'number' ? value : (someText(value, where) as OutageKind)

export type FaultInput = ReturnType<typeof readFault>

export const readFault = objectOf(
  { endpoint, kind: kindOfFault, times: count, seconds: duration, delay: shortDuration },
  'endpoint',
  'kind',
)

export const readClear = objectOf({ endpoint })

export type LogoutInput = ReturnType<typeof readLogoutMembers>

/** A log-out that a client is told of: `url` is its `backchannel_logout_uri`. */
const readLogoutMembers = objectOf(
  { url: textUpTo(2000), clientId: textUpTo(200), sub: textUpTo(200), sid: textUpTo(200) },
  'url',
  'clientId',
)

export const readLogout: Read<LogoutInput> = (value, where) => {
  const members = readLogoutMembers(value, where)
  if (members.sub === undefined && members.sid === undefined) {
    throw new InputError(`${where}: sub or sid must be stated`)
  }
  return members
}

/** A verdict that an API has reported, or several that are alike: `count` of them. */
const readVerdict: Read<object> = (value, where) => ({
  remembered: false,
  count: 1,
  ...readVerdictMembers(value, where),
})

const readVerdictMembers = objectOf({
  code: textUpTo(64),
  reason: textUpTo(64),
  detail: textUpTo(1000),
  remembered: oneOf(true, false),
  count,
  duration,
})

const MAX_VERDICTS = 100

/** What an API reports: see `reportVerdicts` of `@portcullis/testing`. `dropped` could not be reported. */
export const readVerdicts = objectOf({
  api: textUpTo(100),
  verdicts: listOf(readVerdict, MAX_VERDICTS),
  dropped: count,
})

export type VerdictsInput = ReturnType<typeof readVerdicts>

export const readExplain = objectOf({ token: someText })

export const readNothing = objectOf({})
