import type { AuthErrorReasons } from '@portcullis/core'

import type { SigningKey } from '../keys/signing-key.ts'
import type { TokenDefaults } from '../tokens/token.ts'
import type { Answer } from './opaque-tokens.ts'

// The types of the tables of bad answers: what a row has, and what rows are made of.

/** An opaque token about which the service gives an answer that must not be believed. */
export interface BadAnswer {
  /** What is wrong with the answer. */
  readonly name: string
  /** `code` and `reason` of the `AuthError`. */
  readonly code: 'introspection_unavailable' | 'invalid_token'
  readonly reason:
    | Extract<AuthErrorReasons['introspection_unavailable'], 'bad_answer' | 'unreachable'>
    | AuthErrorReasons['invalid_token']
  readonly token: string
}

export type BadAnswerRow = readonly [reason: BadAnswer['reason'], name: string, answer: Answer]

export interface BadAnswerParts {
  readonly defaults: TokenDefaults
  readonly stranger: SigningKey
  readonly sound: (origin: string) => Readonly<Record<string, unknown>>
}
