import type {
  Endpoint,
  OutageKind,
  OutageOptions,
  RotateOptions,
  TokenOptions,
} from '@portcullis/testing'

import type { ReportedVerdict } from './event-log.ts'
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

export interface MintInput extends Pick<
  TokenOptions,
  'claims' | 'expiresIn' | 'notBefore' | 'header' | 'omit' | 'payload'
> {
  /** One of `badKinds()`. */
  readonly kind?: string | undefined
}

export const readMint: Read<MintInput> = objectOf({
  claims: anyObject,
  expiresIn: seconds,
  notBefore: seconds,
  header: anyObject,
  omit: listOf(someText, 100),
  payload: anyText,
  kind: someText,
})

export interface RotateInput extends RotateOptions {
  /** After so long the second half follows by itself. */
  readonly seconds?: number | undefined
}

export const readRotate: Read<RotateInput> = objectOf({
  kid: oneOf('new', 'same', 'none'),
  publish: oneOf('now', 'first', 'later', 'both'),
  seconds: shortDuration,
})

const readEndpoint: Read<Endpoint> = oneOf('keys', 'token', 'introspection', 'metadata')

export interface FaultInput extends Omit<OutageOptions, 'endpoint'> {
  readonly endpoint: Endpoint
  readonly kind: OutageKind
}

/** A status, or the name of a misbehaviour; which of them there are is said by testing. */
const readKind: Read<OutageKind> = (value, where) =>
  typeof value === 'number' ? value : (someText(value, where) as OutageKind)

const readFaultMembers = objectOf({
  endpoint: readEndpoint,
  kind: readKind,
  times: count,
  seconds: duration,
  delay: shortDuration,
})

export const readFault: Read<FaultInput> = (value, where) => {
  const { endpoint, kind, ...options } = readFaultMembers(value, where)
  if (endpoint === undefined) throw new InputError(`${where}: endpoint must be stated`)
  if (kind === undefined) throw new InputError(`${where}: kind must be stated`)
  return { endpoint, kind, ...options }
}

/** A log-out that a client is told of. */
export interface LogoutInput {
  /** The `backchannel_logout_uri` of the client. */
  readonly url: string
  readonly clientId: string
  readonly sub?: string | undefined
  readonly sid?: string | undefined
}

const readLogoutMembers = objectOf({
  url: textUpTo(2000),
  clientId: textUpTo(200),
  sub: textUpTo(200),
  sid: textUpTo(200),
})

export const readLogout: Read<LogoutInput> = (value, where) => {
  const { url, clientId, sub, sid } = readLogoutMembers(value, where)
  if (url === undefined) throw new InputError(`${where}: url must be stated`)
  if (clientId === undefined) throw new InputError(`${where}: clientId must be stated`)
  if (sub === undefined && sid === undefined) {
    throw new InputError(`${where}: sub or sid must be stated`)
  }
  return { url, clientId, sub, sid }
}

export const readClear: Read<{ readonly endpoint?: Endpoint | undefined }> = objectOf({
  endpoint: readEndpoint,
})

/** What an API reports: see `reportVerdicts` of `@portcullis/testing`. */
export interface VerdictsInput {
  /** Its name. */
  readonly api: string | undefined
  readonly verdicts: readonly ReportedVerdict[]
  /** How many could not be reported. */
  readonly dropped: number | undefined
}

const MAX_VERDICTS = 100

const readVerdictMembers = objectOf({
  code: textUpTo(64),
  reason: textUpTo(64),
  detail: textUpTo(1000),
  remembered: oneOf(true, false),
  count,
  duration,
})

const readVerdict: Read<ReportedVerdict> = (value, where) => {
  const {
    code,
    reason,
    detail,
    remembered,
    count: times,
    duration: took,
  } = readVerdictMembers(value, where)
  return {
    code,
    reason,
    detail,
    remembered: remembered ?? false,
    count: times ?? 1,
    duration: took,
  }
}

const readVerdictsMembers = objectOf({
  api: textUpTo(100),
  verdicts: listOf(readVerdict, MAX_VERDICTS),
  dropped: count,
})

export const readVerdicts: Read<VerdictsInput> = (value, where) => {
  const { api, verdicts = [], dropped } = readVerdictsMembers(value, where)
  return { api, verdicts, dropped }
}

export interface ExplainInput {
  /** A token, or a line that has one. */
  readonly token?: string | undefined
}

export const readExplain: Read<ExplainInput> = objectOf({ token: someText })

export const readNothing: Read<object> = objectOf({})
