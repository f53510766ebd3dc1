import { base64url, CompactSign } from 'jose'

import { octetsOf } from '../octets.ts'
import type { BadTokenParts, BadTokenRow } from './bad-token.ts'

// Well-formed tokens that the issuer did not sign, or not with its algorithm.

export function badAlgorithms({
  defaults,
  sign,
  payload,
  signature,
}: BadTokenParts): readonly BadTokenRow[] {
  const { published } = defaults.keys
  const { algorithm, publicJwk } = published
  const { kid, kty } = publicJwk
  const named = (name: unknown) =>
    `${base64url.encode(JSON.stringify({ alg: name, kid, typ: 'JWT' }))}.${payload}`
  const hmac = async (secret: string) =>
    await new CompactSign(octetsOf(base64url.decode(payload)))
      .setProtectedHeader({ alg: 'HS512', ...(kid === undefined ? {} : { kid }), typ: 'JWT' })
      .sign(octetsOf(secret))
  const other = algorithm === 'RS256' ? 'RS512' : 'RS256'
  return [
    ['algorithm', 'alg none', () => `${named('none')}.${signature}`],
    ['algorithm', 'alg None', () => `${named('None')}.${signature}`],
    ['algorithm', 'alg NONE', () => `${named('NONE')}.${signature}`],
    ['malformed', 'alg none and no signature', () => `${named('none')}.`],
    ['algorithm', 'no alg', () => `${named(undefined)}.${signature}`],
    ['algorithm', 'alg in lower case', () => `${named(algorithm.toLowerCase())}.${signature}`],
    [
      'algorithm',
      'HS512 keyed with the public key',
      async () => await hmac(await published.publicPem()),
    ],
    [
      'algorithm',
      'HS512 keyed with the published JWK',
      async () => await hmac(JSON.stringify(publicJwk)),
    ],
    [
      'algorithm',
      other,
      // An RSA key can really sign with the other algorithm.
      async () =>
        kty === 'RSA' ? await sign({ header: { alg: other } }) : `${named(other)}.${signature}`,
    ],
  ]
}

export function badSignatures(parts: BadTokenParts): readonly BadTokenRow[] {
  const { defaults, sign, stranger, header, payload, signature } = parts
  const { document, published } = defaults.keys
  const { kid } = published.publicJwk
  // With the `kid` of the issuer's key, so that the signature alone is wrong.
  const ours = kid === undefined ? { omit: ['kid'] } : { header: { kid } }
  const forged = async (members: Readonly<Record<string, unknown>> = {}) =>
    await sign({ ...ours, header: { ...ours.header, ...members } }, stranger)
  const isNamed = 'keys' in document && document.keys.every((jwk) => jwk.kid !== undefined)
  const octets = base64url.decode(signature)
  const flipped = octets.map((octet, at) => (at === 9 ? octet ^ 1 : octet))
  return [
    ['signature', 'wrong key', async () => await forged()],
    [isNamed ? 'unknown_key' : 'signature', 'unknown kid', async () => await sign({}, stranger)],
    [
      'signature',
      'tampered payload',
      () => `${header}.${altered(payload, { sub: 'eve' })}.${signature}`,
    ],
    [
      'signature',
      'tampered header',
      () => `${altered(header, { cty: 'JWT' })}.${payload}.${signature}`,
    ],
    ['signature', 'tampered signature', () => `${header}.${payload}.${base64url.encode(flipped)}`],
    [
      'signature',
      'truncated',
      () => `${header}.${payload}.${base64url.encode(octets.subarray(0, -1))}`,
    ],
    ['signature', 'embedded jwk', async () => await forged({ jwk: stranger.publicJwk })],
    ['signature', 'jku', async () => await forged({ jku: 'https://keys.stranger.test/keys.json' })],
    ['signature', 'x5u', async () => await forged({ x5u: 'https://keys.stranger.test/chain.pem' })],
  ]
}

function altered(segment: string, members: object): string {
  const text = new TextDecoder().decode(base64url.decode(segment))
  // oxlint-disable-next-line eslint/no-restricted-properties -- of a token that the issuer has just signed
  const signed = JSON.parse(text) as object
  return base64url.encode(JSON.stringify({ ...signed, ...members }))
}
