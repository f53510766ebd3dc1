import { parseJson } from '@portcullis/kit/json'

import { secondsIn } from '../input/seconds.ts'
import { anyObject, anyText, InputError, objectOf, type Read } from '../serve/input.ts'
import type { MintInput } from '../serve/requests.ts'

// Reads the form of the mint panel, and makes of it the input of the same operation that the command `mint` uses.

/** What the form of a new token says, as the texts of its fields. What is disabled is not there. */
export interface MintForm {
  readonly kind?: string | undefined
  readonly sub?: string | undefined
  readonly expiresIn?: string | undefined
  readonly notBefore?: string | undefined
  readonly claims?: string | undefined
  readonly url?: string | undefined
}

export const readMintForm: Read<MintForm> = objectOf({
  kind: anyText,
  sub: anyText,
  expiresIn: anyText,
  notBefore: anyText,
  claims: anyText,
  url: anyText,
})

/** @throws InputError for what is no JSON, or no number. */
export function mintInputOf(form: MintForm): MintInput {
  const { kind = '', sub = '', expiresIn = '', notBefore = '', claims = '' } = form
  return {
    claims: { ...(sub === '' ? {} : { sub }), ...claimsOf(claims) },
    ...(kind === '' ? {} : { kind }),
    ...(expiresIn === '' ? {} : { expiresIn: secondsOf(expiresIn) }),
    ...(notBefore === '' ? {} : { notBefore: secondsOf(notBefore) }),
  }
}

function claimsOf(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  if (value === undefined) {
    throw new InputError('the other claims must be JSON, such as { "scope": "read" }')
  }
  return anyObject(value, 'the other claims')
}

function secondsOf(text: string): number {
  const value = secondsIn(text)
  if (value === undefined) {
    throw new InputError('a time must be like 30s, 5m, 2h or 1d, or a number of seconds')
  }
  return value
}
