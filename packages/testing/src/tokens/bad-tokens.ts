import type { SigningKey } from '../keys/signing-key.ts'
import { badClaims, badPayloads, badTypes } from './bad-claims.ts'
import { badForms, badHeaders } from './bad-forms.ts'
import { badAlgorithms, badSignatures } from './bad-signatures.ts'
import type { BadToken } from './bad-token.ts'
import { type TableOptions, tableSigner, type TokenDefaults } from './token.ts'

/** @throws TypeError for a wrong or misspelt option. */
export async function createBadTokens(
  defaults: TokenDefaults,
  stranger: SigningKey,
  base: TableOptions | undefined,
): Promise<readonly BadToken[]> {
  const sign = tableSigner('badTokens', defaults, base)
  const [header = '', payload = '', signature = ''] = (await sign()).split('.')
  const parts = { defaults, sign, stranger, header, payload, signature }
  const rows = [
    ...(await badForms(parts)),
    ...(await badHeaders(parts)),
    ...(await badAlgorithms(parts)),
    ...(await badSignatures(parts)),
    ...(await badTypes(parts)),
    ...(await badPayloads(parts)),
    ...(await badClaims(parts)),
  ]
  return rows.map(([reason, name, token]) => ({ name, code: 'invalid_token', reason, token }))
}
