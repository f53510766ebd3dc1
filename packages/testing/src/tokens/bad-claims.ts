import { base64url } from 'jose'

import type { BadTokenParts, BadTokenRow } from './bad-token.ts'

// Tokens that the issuer signed, and that are refused for their payload or type.

/** Longer than any clock tolerance that a verifier can have. Seconds. */
const LONG = 3600

export async function badPayloads({
  sign,
  payload,
}: BadTokenParts): Promise<readonly BadTokenRow[]> {
  const octets = base64url.decode(payload)
  const members = new TextDecoder().decode(octets).slice(1, -1)
  const signed = async (text: string | Uint8Array) => await sign({ payload: text })
  return [
    ['malformed', 'not JSON', await signed('claims')],
    ['malformed', 'JSON array', await signed(`[{${members}}]`)],
    ['malformed', 'JSON string', await signed(JSON.stringify(members))],
    ['malformed', 'JSON null', await signed('null')],
    ['malformed', 'duplicate members', await signed(`{"sub":"ada",${members},"sub":"eve"}`)],
    ['malformed', 'member __proto__', await signed(`{${members},"__proto__":{"admin":true}}`)],
    ['malformed', 'number beyond a double', await signed(`{${members},"limit":1e999}`)],
    [
      'malformed',
      'nested too deep',
      await signed(`{${members},"deep":${'['.repeat(100)}${']'.repeat(100)}}`),
    ],
    ['malformed', 'byte order mark', await signed(`\u{FEFF}{${members}}`)],
    [
      'malformed',
      'invalid UTF-8',
      await signed(Buffer.from(`{${members},"name":"\u{FF}"}`, 'latin1')),
    ],
  ]
}

export async function badClaims({
  sign,
  defaults,
}: BadTokenParts): Promise<readonly BadTokenRow[]> {
  const { clock, issuer, audience, maxTokenAge } = defaults
  const now = Math.floor(clock.now())
  const claiming = async (claims: Readonly<Record<string, unknown>>) => await sign({ claims })
  return [
    ['expired', 'expired', await claiming({ iat: now - 2 * LONG, exp: now - LONG })],
    ['not_yet_valid', 'not yet valid', await sign({ notBefore: LONG, expiresIn: 2 * LONG })],
    [
      'issued_in_future',
      'issued in the future',
      await claiming({ iat: now + LONG, exp: now + 2 * LONG }),
    ],
    ['missing_claim', 'missing expiry', await sign({ omit: ['exp'] })],
    ['claim', 'expiry as string', await claiming({ exp: String(now + LONG) })],
    ['claim', 'expiry null', await claiming({ exp: null })],
    ['claim', 'not before as string', await claiming({ nbf: String(now) })],
    ['claim', 'issued at as string', await claiming({ iat: String(now) })],
    ...(maxTokenAge === undefined ? [] : await badAges({ sign, oldest: now - maxTokenAge })),
    ...(issuer === undefined ? [] : await badIssuers({ sign, issuer })),
    ...(audience === undefined ? [] : await badAudiences({ sign, audience })),
  ]
}

/** @param oldest The earliest `iat` that is accepted, without any tolerance. */
async function badAges({
  sign,
  oldest,
}: Pick<BadTokenParts, 'sign'> & { oldest: number }): Promise<readonly BadTokenRow[]> {
  return [
    ['too_old', 'issued too long ago', await sign({ claims: { iat: oldest - LONG } })],
    ['missing_claim', 'missing time of issue', await sign({ omit: ['iat'] })],
  ]
}

/** The type is in the header, but it is checked after the signature. */
export async function badTypes({
  sign,
  defaults: { type },
}: BadTokenParts): Promise<readonly BadTokenRow[]> {
  if (type === undefined) return []
  return [
    ['type', 'wrong type', await sign({ header: { typ: `strange-${type}` } })],
    ['type', 'type that begins alike', await sign({ header: { typ: `${type}.test` } })],
    ['type', 'missing type', await sign({ omit: ['typ'] })],
  ]
}

async function badIssuers({
  sign,
  issuer,
}: Pick<BadTokenParts, 'sign'> & { issuer: string }): Promise<readonly BadTokenRow[]> {
  return [
    ['issuer', 'wrong issuer', await sign({ claims: { iss: strangerTo(issuer) } })],
    ['issuer', 'issuer that begins alike', await sign({ claims: { iss: `${issuer}.test` } })],
    ['issuer', 'issuer in an array', await sign({ claims: { iss: [issuer] } })],
    ['issuer', 'missing issuer', await sign({ omit: ['iss'] })],
  ]
}

async function badAudiences({
  sign,
  audience,
}: Pick<BadTokenParts, 'sign'> & { audience: string | readonly string[] }): Promise<
  readonly BadTokenRow[]
> {
  const stranger = strangerTo(audience)
  return [
    ['audience', 'wrong audience', await sign({ claims: { aud: stranger } })],
    ['audience', 'wrong audiences', await sign({ claims: { aud: [stranger, `${stranger}/2`] } })],
    ['audience', 'audience as object', await sign({ claims: { aud: {} } })],
    ['audience', 'missing audience', await sign({ omit: ['aud'] })],
  ]
}

/** A name that differs from all of these, because it is longer. */
function strangerTo(names: string | readonly string[]): string {
  return `https://stranger.test/${[names].flat().join('/')}`
}
