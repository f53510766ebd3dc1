import { base64url } from 'jose'

import type { BadTokenParts, BadTokenRow } from './bad-token.ts'

// Tokens that the issuer signed, and that are refused for their payload or type.

/** Longer than any clock tolerance that a verifier can have. Seconds. */
const LONG = 3600
/** Of no key that anybody has. */
const THUMBPRINT = 'no-key-has-this-thumbprint-portcullis-tests'

export function badPayloads({
  sign,
  payload,
}: Pick<BadTokenParts, 'sign' | 'payload'>): readonly BadTokenRow[] {
  const octets = base64url.decode(payload)
  const members = new TextDecoder().decode(octets).slice(1, -1)
  const signed = async (text: string | Uint8Array) => await sign({ payload: text })
  return [
    ['malformed', 'not JSON', async () => await signed('claims')],
    ['malformed', 'JSON array', async () => await signed(`[{${members}}]`)],
    ['malformed', 'JSON string', async () => await signed(JSON.stringify(members))],
    ['malformed', 'JSON null', async () => await signed('null')],
    [
      'malformed',
      'duplicate members',
      async () => await signed(`{"sub":"ada",${members},"sub":"eve"}`),
    ],
    [
      'malformed',
      'member __proto__',
      async () => await signed(`{${members},"__proto__":{"admin":true}}`),
    ],
    ['malformed', 'number beyond a double', async () => await signed(`{${members},"limit":1e999}`)],
    [
      'malformed',
      'nested too deep',
      async () => await signed(`{${members},"deep":${'['.repeat(100)}${']'.repeat(100)}}`),
    ],
    ['malformed', 'byte order mark', async () => await signed(`\u{FEFF}{${members}}`)],
    [
      'malformed',
      'invalid UTF-8',
      async () => await signed(Buffer.from(`{${members},"name":"\u{FF}"}`, 'latin1')),
    ],
  ]
}

export function badClaims({
  sign,
  defaults,
}: Pick<BadTokenParts, 'sign' | 'defaults'>): readonly BadTokenRow[] {
  const { clock, issuer, audience, maxTokenAge } = defaults
  const now = Math.floor(clock.now())
  const claiming = async (claims: Readonly<Record<string, unknown>>) => await sign({ claims })
  return [
    ['expired', 'expired', async () => await claiming({ iat: now - 2 * LONG, exp: now - LONG })],
    [
      'not_yet_valid',
      'not yet valid',
      async () => await sign({ notBefore: LONG, expiresIn: 2 * LONG }),
    ],
    [
      'issued_in_future',
      'issued in the future',
      async () => await claiming({ iat: now + LONG, exp: now + 2 * LONG }),
    ],
    ['missing_claim', 'missing expiry', async () => await sign({ omit: ['exp'] })],
    ['claim', 'expiry as string', async () => await claiming({ exp: String(now + LONG) })],
    ['claim', 'expiry null', async () => await claiming({ exp: null })],
    ['claim', 'not before as string', async () => await claiming({ nbf: String(now) })],
    ['claim', 'issued at as string', async () => await claiming({ iat: String(now) })],
    ['claim', 'expiry in milliseconds', async () => await claiming({ exp: 1000 * (now + LONG) })],
    ...badBindings(claiming),
    ...(maxTokenAge === undefined ? [] : badAges({ sign, oldest: now - maxTokenAge })),
    ...(issuer === undefined ? [] : badIssuers({ sign, issuer })),
    ...(audience === undefined ? [] : badAudiences({ sign, audience })),
  ]
}

/** Without a proof of what they are bound to. */
function badBindings(
  claiming: (claims: Readonly<Record<string, unknown>>) => Promise<string>,
): readonly BadTokenRow[] {
  return [
    [
      'binding',
      'bound to the key of somebody else',
      async () => await claiming({ cnf: { jkt: THUMBPRINT } }),
    ],
    [
      'binding',
      'bound to the certificate of somebody else',
      async () => await claiming({ cnf: { 'x5t#S256': THUMBPRINT } }),
    ],
    ['binding', 'bound to nothing that is known', async () => await claiming({ cnf: {} })],
  ]
}

/** @param oldest The earliest `iat` that is accepted, without any tolerance. */
function badAges({
  sign,
  oldest,
}: Pick<BadTokenParts, 'sign'> & { oldest: number }): readonly BadTokenRow[] {
  return [
    ['too_old', 'issued too long ago', async () => await sign({ claims: { iat: oldest - LONG } })],
    ['missing_claim', 'missing time of issue', async () => await sign({ omit: ['iat'] })],
  ]
}

/** The type is in the header, but it is checked after the signature. */
export function badTypes({ sign, defaults: { type } }: BadTokenParts): readonly BadTokenRow[] {
  const typed = async (typ: string) => await sign({ header: { typ } })
  if (type === undefined) {
    return [
      ['type', 'logout token', async () => await typed('logout+jwt')],
      ['type', 'DPoP proof in another case', async () => await typed('application/DPoP+JWT')],
      ['type', 'credential', async () => await typed('vc+sd-jwt')],
    ]
  }
  // Longer than each of them, so none of them.
  const types = [type].flat().join('.')
  return [
    ['type', 'wrong type', async () => await typed(`strange-${types}`)],
    ['type', 'type that begins alike', async () => await typed(`${types}.test`)],
    ['type', 'missing type', async () => await sign({ omit: ['typ'] })],
  ]
}

function badIssuers({
  sign,
  issuer,
}: Pick<BadTokenParts, 'sign'> & { issuer: string }): readonly BadTokenRow[] {
  return [
    ['issuer', 'wrong issuer', async () => await sign({ claims: { iss: strangerTo(issuer) } })],
    [
      'issuer',
      'issuer that begins alike',
      async () => await sign({ claims: { iss: `${issuer}.test` } }),
    ],
    ['issuer', 'issuer in an array', async () => await sign({ claims: { iss: [issuer] } })],
    ['issuer', 'missing issuer', async () => await sign({ omit: ['iss'] })],
  ]
}

function badAudiences({
  sign,
  audience,
}: Pick<BadTokenParts, 'sign'> & { audience: string | readonly string[] }): readonly BadTokenRow[] {
  const stranger = strangerTo(audience)
  return [
    ['audience', 'wrong audience', async () => await sign({ claims: { aud: stranger } })],
    [
      'audience',
      'wrong audiences',
      async () => await sign({ claims: { aud: [stranger, `${stranger}/2`] } }),
    ],
    ['audience', 'audience as object', async () => await sign({ claims: { aud: {} } })],
    ['audience', 'missing audience', async () => await sign({ omit: ['aud'] })],
  ]
}

/** A name that differs from all of these, because it is longer. */
function strangerTo(names: string | readonly string[]): string {
  return `https://stranger.test/${[names].flat().join('/')}`
}
