import { decodeJwt } from 'jose'

import type { SigningKey } from '../keys/signing-key.ts'
import { LONG_LIFE, type TokenTableOptions, tableSigner, type TokenDefaults } from './token.ts'

// The table of tokens that are unusual and must be accepted, so that tests also find a verifier that is too strict.

/** In characters. When encoded, it still fits the 16 KiB that a verifier reads by default, beside a signature of ML-DSA as well. */
const VERY_LONG = 7000

export async function createEdgeTokens(
  defaults: TokenDefaults,
  stranger: SigningKey,
  base: TokenTableOptions | undefined,
): Promise<readonly { readonly name: string; readonly token: string }[]> {
  const sign = tableSigner('edgeTokens', defaults, base)
  const { clock, audience = 'api', type, maxTokenAge } = defaults
  const now = Math.floor(clock.now())
  const indented = JSON.stringify(decodeJwt(await sign()), null, '\t')
  const rows = {
    'no kid': { omit: ['kid'] },
    ...(type === undefined
      ? {
          'no typ': { omit: ['typ'] },
          'typ of access tokens in another case': { header: { typ: 'application/AT+jwt' } },
        }
      : {}),
    ...(maxTokenAge === undefined ? { 'no iat': { omit: ['iat'] } } : {}),
    'expiry within tolerance': { expiresIn: -1 },
    'not before within tolerance': { notBefore: 4 },
    'issued half a minute ahead': { claims: { iat: now + 30 } },
    'fractional expiry': { expiresIn: LONG_LIFE + 0.5 },
    'expiry in a thousand years': { expiresIn: 31_557_600_000 },
    'audience as array': { claims: { aud: [audience, 'other'].flat() } },
    'unicode claims': { claims: { name: 'Ада 愛 \u{1F511} \u{0}', ключ: '\u{2028}"\\' } },
    'very long claims': { claims: { note: 'x'.repeat(VERY_LONG) } },
    'claims with the names of methods': { claims: { constructor: 1, toString: [], '': {} } },
    'white space and escapes in JSON': {
      payload: `\n${indented.replace('"exp"', String.raw`"\u0065xp"`)}\n`,
    },
    'unknown header members': { header: { 'urn:test': { list: [1, null] }, cty: 'JWT' } },
    'a jwk that it was not signed with': { header: { jwk: stranger.publicJwk } },
    'a jku that leads elsewhere': { header: { jku: 'https://keys.stranger.test/keys.json' } },
  }
  return await Promise.all(
    Object.entries(rows).map(async ([name, options]) => ({ name, token: await sign(options) })),
  )
}
