import { own } from '@portcullis/kit/options'

import { AuthError } from '../refusal/errors.ts'
import { formOf } from '../verifier/internals.ts'
import type { Verifier } from '../verifier/verifier.ts'
import {
  type Credentials,
  type FetchRequest,
  findBearerText,
  parseBearer,
  parseBearerOrDpop,
  type RequestHeaders,
} from './bearer.ts'
import type { GuardOptions } from './guard-options.ts'
import { findTokenText, parseTokenHeader } from './token-header.ts'

// Where a guard reads the token of a request: the header and the scheme that its options name.

/** The text of a token that may have been accepted before. Its form is not checked. */
export function findText(
  request: RequestHeaders | FetchRequest,
  options: GuardOptions<never>,
): string | undefined {
  const credentials = own(options, 'credentials')
  return credentials === undefined ? findBearerText(request) : findTokenText(request, credentials)
}

/** `undefined` for a request without a token, if `optional` allows it. @throws AuthError */
export function findCredentials(
  verifier: Verifier<unknown>,
  request: RequestHeaders | FetchRequest,
  options: GuardOptions<never>,
): Credentials | undefined {
  const mayBeToken = formOf(verifier)
  const credentials = own(options, 'credentials')
  try {
    if (credentials !== undefined) {
      return { scheme: 'Bearer', token: parseTokenHeader(request, credentials, mayBeToken) }
    }
    return own(options, 'dpop') === undefined
      ? { scheme: 'Bearer', token: parseBearer(request, mayBeToken) }
      : parseBearerOrDpop(request, mayBeToken)
  } catch (error) {
    const isAnonymous = error instanceof AuthError && error.code === 'missing_token'
    if (isAnonymous && own(options, 'optional') === true) return undefined
    throw error
  }
}
