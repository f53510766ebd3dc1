import { base64url } from 'jose'

import { rows } from '../rows.ts'
import type { BadTokenParts, BadTokenRow } from './bad-token.ts'

// Tokens that the issuer signed, and that are refused for their payload or type.

/** Longer than any clock tolerance that a verifier can have. Seconds. */
const LONG = 3600
/** Of no key that anybody has. */
const THUMBPRINT = 'no-key-has-this-thumbprint-portcullis-tests'

type Signing = BadTokenParts['signing']

export function badPayloads(signing: Signing, payload: string): readonly BadTokenRow[] {
  const octets = base64url.decode(payload)
  const members = new TextDecoder().decode(octets).slice(1, -1)
  const signed = (text: string | Uint8Array) => signing({ payload: text })
  return rows<BadTokenRow>('malformed', {
    'not JSON': signed('claims'),
    'JSON array': signed(`[{${members}}]`),
    'JSON string': signed(JSON.stringify(members)),
    'JSON null': signed('null'),
    'duplicate members': signed(`{"sub":"ada",${members},"sub":"eve"}`),
    'member __proto__': signed(`{${members},"__proto__":{"admin":true}}`),
    'number beyond a double': signed(`{${members},"limit":1e999}`),
    'nested too deep': signed(`{${members},"deep":${'['.repeat(100)}${']'.repeat(100)}}`),
    'byte order mark': signed(`\u{FEFF}{${members}}`),
    'invalid UTF-8': signed(Buffer.from(`{${members},"name":"\u{FF}"}`, 'latin1')),
  })
}

export function badClaims(
  signing: Signing,
  { clock, issuer, audience, maxTokenAge }: BadTokenParts['defaults'],
): readonly BadTokenRow[] {
  const now = Math.floor(clock.now())
  const claiming = (claims: Readonly<Record<string, unknown>>) => signing({ claims })
  return [
    ['expired', 'expired', claiming({ iat: now - 2 * LONG, exp: now - LONG })],
    ['not_yet_valid', 'not yet valid', signing({ notBefore: LONG, expiresIn: 2 * LONG })],
    [
      'issued_in_future',
      'issued in the future',
      claiming({ iat: now + LONG, exp: now + 2 * LONG }),
    ],
    ['missing_claim', 'missing expiry', signing({ omit: ['exp'] })],
    ...rows<BadTokenRow>('claim', {
      'expiry as string': claiming({ exp: String(now + LONG) }),
      'expiry null': claiming({ exp: null }),
      'not before as string': claiming({ nbf: String(now) }),
      'issued at as string': claiming({ iat: String(now) }),
      'expiry in milliseconds': claiming({ exp: 1000 * (now + LONG) }),
    }),
    // Without a proof of what they are bound to.
    ...rows<BadTokenRow>('binding', {
      'bound to the key of somebody else': claiming({ cnf: { jkt: THUMBPRINT } }),
      'bound to the certificate of somebody else': claiming({ cnf: { 'x5t#S256': THUMBPRINT } }),
      'bound to nothing that is known': claiming({ cnf: {} }),
    }),
    ...(maxTokenAge === undefined ? [] : badAges(signing, now - maxTokenAge)),
    ...(issuer === undefined ? [] : badIssuers(signing, issuer)),
    ...(audience === undefined ? [] : badAudiences(signing, audience)),
  ]
}

/** @param oldest The earliest `iat` that is accepted, without any tolerance. */
function badAges(signing: Signing, oldest: number): readonly BadTokenRow[] {
  return [
    ['too_old', 'issued too long ago', signing({ claims: { iat: oldest - LONG } })],
    ['missing_claim', 'missing time of issue', signing({ omit: ['iat'] })],
  ]
}

/** The type is in the header, but it is checked after the signature. */
export function badTypes({ signing, defaults: { type } }: BadTokenParts): readonly BadTokenRow[] {
  const typed = (typ: string) => signing({ header: { typ } })
  if (type === undefined) {
    return rows<BadTokenRow>('type', {
      'logout token': typed('logout+jwt'),
      'DPoP proof in another case': typed('application/DPoP+JWT'),
      credential: typed('vc+sd-jwt'),
    })
  }
  // Longer than each of them, so none of them.
  const types = [type].flat().join('.')
  return rows<BadTokenRow>('type', {
    'wrong type': typed(`strange-${types}`),
    'type that begins alike': typed(`${types}.test`),
    'missing type': signing({ omit: ['typ'] }),
  })
}

function badIssuers(signing: Signing, issuer: string): readonly BadTokenRow[] {
  return rows<BadTokenRow>('issuer', {
    'wrong issuer': signing({ claims: { iss: strangerTo(issuer) } }),
    'issuer that begins alike': signing({ claims: { iss: `${issuer}.test` } }),
    'issuer in an array': signing({ claims: { iss: [issuer] } }),
    'missing issuer': signing({ omit: ['iss'] }),
  })
}

function badAudiences(signing: Signing, audience: string | readonly string[]) {
  const stranger = strangerTo(audience)
  return rows<BadTokenRow>('audience', {
    'wrong audience': signing({ claims: { aud: stranger } }),
    'wrong audiences': signing({ claims: { aud: [stranger, `${stranger}/2`] } }),
    'audience as object': signing({ claims: { aud: {} } }),
    'missing audience': signing({ omit: ['aud'] }),
  })
}

/** A name that differs from all of these, because it is longer. */
function strangerTo(names: string | readonly string[]): string {
  return `https://stranger.test/${[names].flat().join('/')}`
}
