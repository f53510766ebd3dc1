import type { SigningKey } from '../keys/signing-key.ts'
import { badClaims, badPayloads, badTypes } from './bad-claims.ts'
import { badForms, badHeaders } from './bad-forms.ts'
import { badAlgorithms, badSignatures } from './bad-signatures.ts'
import type { BadToken, BadTokenParts } from './bad-token.ts'
import { type TokenTableOptions, tableSigner, type TokenDefaults } from './token.ts'

// Makes all bad tokens of the tables for one issuer.

export async function createBadTokens(
  defaults: TokenDefaults,
  stranger: SigningKey,
  base: TokenTableOptions | undefined,
): Promise<readonly BadToken[]> {
  const sign = tableSigner('badTokens', defaults, base)
  const [header = '', payload = '', signature = ''] = (await sign()).split('.')
  const signing: BadTokenParts['signing'] = (options, key) => async () => await sign(options, key)
  const parts = { defaults, signing, stranger, header, payload, signature }
  const rows = [
    ...badForms(parts),
    ...badHeaders(parts),
    ...badAlgorithms(parts),
    ...badSignatures(parts),
    ...badTypes(parts),
    ...badPayloads(signing, payload),
    ...badClaims(signing, defaults),
  ]
  return await Promise.all(
    rows.map(async ([reason, name, make]) => ({
      name,
      code: 'invalid_token',
      reason,
      token: await make(),
    })),
  )
}
