import type { AuthErrorReasons } from '@portcullis/core'

import type { SigningKey } from '../keys/signing-key.ts'
import { badClaims, badPayloads } from './bad-claims.ts'
import { badForms, badHeaders } from './bad-forms.ts'
import { badAlgorithms, badSignatures } from './bad-signatures.ts'
import { type TableOptions, tableSigner, type TableSigner, type TokenDefaults } from './token.ts'

/** A token that must be refused, by the reason it must be refused for. */
export interface BadToken {
  /** What kind of token it is. */
  readonly name: string
  /** Of the `AuthError`, as `reason` is. */
  readonly code: 'invalid_token'
  readonly reason: AuthErrorReasons['invalid_token']
  readonly token: string
}

/** An entry of the tables that this one is put together from. */
export type BadTokenRow = readonly [reason: BadToken['reason'], name: string, token: string]

/** What bad tokens are made with. */
export interface Forge {
  readonly defaults: TokenDefaults
  readonly sign: TableSigner
  readonly stranger: SigningKey
  /** The segments of a token that nothing is wrong with. */
  readonly header: string
  readonly payload: string
  readonly signature: string
}

/** @throws TypeError for a wrong or misspelt option. */
export async function createBadTokens(
  defaults: TokenDefaults,
  stranger: SigningKey,
  base: TableOptions | undefined,
): Promise<readonly BadToken[]> {
  const sign = tableSigner('badTokens', defaults, base)
  const [header = '', payload = '', signature = ''] = (await sign()).split('.')
  const forge = { defaults, sign, stranger, header, payload, signature }
  const rows = [
    ...(await badForms(forge)),
    ...(await badHeaders(forge)),
    ...(await badAlgorithms(forge)),
    ...(await badSignatures(forge)),
    ...(await badPayloads(forge)),
    ...(await badClaims(forge)),
  ]
  return rows.map(([reason, name, token]) => ({ name, code: 'invalid_token', reason, token }))
}
