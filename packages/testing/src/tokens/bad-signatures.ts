import { base64url, CompactSign } from 'jose'

import { octetsOf } from '../octets.ts'
import { rows } from '../rows.ts'
import type { BadTokenParts, BadTokenRow } from './bad-token.ts'

// Well-formed tokens that the issuer did not sign, or not with its algorithm.

export function badAlgorithms(parts: BadTokenParts): readonly BadTokenRow[] {
  const { defaults, signing, payload, signature } = parts
  const { published } = defaults.keys.state
  const { algorithm, publicJwk } = published
  const { kid, kty } = publicJwk
  const unsigned = (name: unknown) =>
    `${base64url.encode(JSON.stringify({ alg: name, kid, typ: 'JWT' }))}.${payload}.`
  const named = (name: unknown) => () => `${unsigned(name)}${signature}`
  const hmac = async (secret: string) =>
    await new CompactSign(octetsOf(base64url.decode(payload)))
      .setProtectedHeader({ alg: 'HS512', ...(kid === undefined ? {} : { kid }), typ: 'JWT' })
      .sign(octetsOf(secret))
  const other = algorithm === 'RS256' ? 'RS512' : 'RS256'
  return [
    ...rows<BadTokenRow>('algorithm', {
      'alg none': named('none'),
      'alg None': named('None'),
      'alg NONE': named('NONE'),
      'no alg': named(undefined),
      'alg in lower case': named(algorithm.toLowerCase()),
      'HS512 keyed with the public key': async () => await hmac(await published.publicPem()),
      'HS512 keyed with the published JWK': async () => await hmac(JSON.stringify(publicJwk)),
      // An RSA key can really sign with the other algorithm.
      [other]: kty === 'RSA' ? signing({ header: { alg: other } }) : named(other),
    }),
    ['malformed', 'alg none and no signature', () => unsigned('none')],
  ]
}

export function badSignatures(parts: BadTokenParts): readonly BadTokenRow[] {
  const { defaults, signing, stranger, header, payload, signature } = parts
  const { document, published } = defaults.keys.state
  const { kid } = published.publicJwk
  // With the `kid` of the issuer's key, so that the signature alone is wrong.
  const ours = kid === undefined ? { omit: ['kid'] } : { header: { kid } }
  const forged = (members: Readonly<Record<string, unknown>> = {}) =>
    signing({ ...ours, header: { ...ours.header, ...members } }, stranger)
  const isNamed = 'keys' in document && document.keys.every((jwk) => jwk.kid !== undefined)
  const octets = base64url.decode(signature)
  const flipped = octets.map((octet, at) => (at === 9 ? octet ^ 1 : octet))
  const ending = (end: Uint8Array) => () => `${header}.${payload}.${base64url.encode(end)}`
  return [
    [isNamed ? 'unknown_key' : 'signature', 'unknown kid', signing({}, stranger)],
    ...rows<BadTokenRow>('signature', {
      'wrong key': forged(),
      'tampered payload': () => `${header}.${altered(payload, { sub: 'eve' })}.${signature}`,
      'tampered header': () => `${altered(header, { cty: 'JWT' })}.${payload}.${signature}`,
      'tampered signature': ending(flipped),
      truncated: ending(octets.subarray(0, -1)),
      'embedded jwk': forged({ jwk: stranger.publicJwk }),
      jku: forged({ jku: 'https://keys.stranger.test/keys.json' }),
      x5u: forged({ x5u: 'https://keys.stranger.test/chain.pem' }),
    }),
  ]
}

function altered(segment: string, members: object): string {
  const text = new TextDecoder().decode(base64url.decode(segment))
  // oxlint-disable-next-line eslint/no-restricted-properties -- of a token that the issuer has just signed
  const signed = JSON.parse(text) as object
  return base64url.encode(JSON.stringify({ ...signed, ...members }))
}
