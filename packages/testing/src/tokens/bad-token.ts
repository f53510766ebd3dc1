import type { AuthErrorReasons } from '@portcullis/core'

import type { SigningKey } from '../keys/signing-key.ts'
import type { TableSigner, TokenDefaults } from './token.ts'

/** A token that must be refused, by the reason it must be refused for. */
export interface BadToken {
  /** What kind of token it is. */
  readonly name: string
  /** Of the `AuthError`, as `reason` is. */
  readonly code: 'invalid_token'
  readonly reason: AuthErrorReasons['invalid_token']
  readonly token: string
}

/** The same in short, as the tables have it. */
export type BadTokenRow = readonly [reason: BadToken['reason'], name: string, token: string]

/** What bad tokens are made of. */
export interface BadTokenParts {
  readonly defaults: TokenDefaults
  readonly sign: TableSigner
  readonly stranger: SigningKey
  /** The segments of a sound token. */
  readonly header: string
  readonly payload: string
  readonly signature: string
}
