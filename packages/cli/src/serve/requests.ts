import type { OutageKind, OutageOptions, RotateOptions, TokenOptions } from '@portcullis/testing'

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
  someText,
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

export type RotateInput = RotateOptions

export const readRotate: Read<RotateInput> = objectOf({
  kid: oneOf('new', 'same', 'none'),
  publish: oneOf('now', 'first', 'later', 'both'),
})

const readEndpoint: Read<'keys' | 'token'> = oneOf('keys', 'token')

export interface FaultInput extends Omit<OutageOptions, 'endpoint'> {
  readonly endpoint: 'keys' | 'token'
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
  delay: duration,
})

export const readFault: Read<FaultInput> = (value, where) => {
  const { endpoint, kind, ...options } = readFaultMembers(value, where)
  if (endpoint === undefined) throw new InputError(`${where}: endpoint must be stated`)
  if (kind === undefined) throw new InputError(`${where}: kind must be stated`)
  return { endpoint, kind, ...options }
}

export const readClear: Read<{ readonly endpoint?: 'keys' | 'token' | undefined }> = objectOf({
  endpoint: readEndpoint,
})

export const readNothing: Read<object> = objectOf({})
