import type { AuthErrorReasons } from '@portcullis/core'

import type { SigningKey } from '../keys/signing-key.ts'
import type { TokenDefaults, TokenOptions } from './token.ts'

// The types of the tables of bad tokens: what a row has, and what rows are made of.

/** A token that must be refused, with the reason. */
export interface BadToken {
  /** What kind of token it is. */
  readonly name: string
  /** `code` and `reason` of the `AuthError`. */
  readonly code: 'invalid_token'
  readonly reason: AuthErrorReasons['invalid_token']
  readonly token: string
}

export type BadTokenRow = readonly [
  reason: BadToken['reason'],
  name: string,
  make: () => string | Promise<string>,
]

export interface BadTokenParts {
  readonly defaults: TokenDefaults
  readonly signing: (options: TokenOptions, key?: SigningKey) => BadTokenRow[2]
  readonly stranger: SigningKey
  readonly header: string
  readonly payload: string
  readonly signature: string
}
