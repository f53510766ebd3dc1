import { base64url, CompactSign, exportJWK, generateKeyPair } from 'jose'

import { octetsOf } from '../octets.ts'
import type { BadProofParts, BadProofRow } from './bad-proof.ts'

// Proofs that are refused for their form, their algorithm or their key.

export function badProofForms({
  sign,
  header,
  payload,
  signature,
}: BadProofParts): readonly BadProofRow[] {
  const good = `${header}.${payload}.${signature}`
  const under = (text: string) => `${base64url.encode(text)}.${payload}.${signature}`
  const members = new TextDecoder().decode(base64url.decode(header)).slice(0, -1)
  return [
    ['missing_proof', 'no proof', () => undefined],
    ['malformed_proof', 'one word', () => 'proof'],
    ['malformed_proof', 'no signature', () => `${header}.${payload}.`],
    ['malformed_proof', 'four segments', () => `${good}.${signature}`],
    ['malformed_proof', 'padded base64', () => `${good}==`],
    ['malformed_proof', 'header not JSON', () => under('header')],
    ['malformed_proof', 'header JSON array', () => under(`[${members}}]`)],
    ['malformed_proof', 'duplicate members in the header', () => under(`${members},"typ":"JWT"}`)],
    [
      'malformed_proof',
      'critical header',
      async () => await sign({ header: { crit: ['urn:test'], 'urn:test': true } }),
    ],
    [
      'malformed_proof',
      'type of an access token',
      async () => await sign({ header: { typ: 'JWT' } }),
    ],
    ['malformed_proof', 'missing type', async () => await sign({ omit: ['typ'] })],
    ['malformed_proof', 'not JSON', async () => await sign({ payload: 'claims' })],
    ['malformed_proof', 'JSON array', async () => await sign({ payload: '[]' })],
  ]
}

export function badProofAlgorithms({
  key,
  payload,
  signature,
}: BadProofParts): readonly BadProofRow[] {
  const { algorithm, publicJwk } = key
  const named = (name: unknown) => {
    const header = JSON.stringify({ typ: 'dpop+jwt', alg: name, jwk: publicJwk })
    return `${base64url.encode(header)}.${payload}.${signature}`
  }
  const hmac = async (secret: string) =>
    await new CompactSign(octetsOf(base64url.decode(payload)))
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'HS256', jwk: publicJwk })
      .sign(octetsOf(secret))
  return [
    ['proof_algorithm', 'alg none', () => named('none')],
    ['proof_algorithm', 'no alg', () => named(undefined)],
    ['proof_algorithm', 'alg in lower case', () => named(algorithm.toLowerCase())],
    [
      'proof_algorithm',
      'HS256 keyed with its own JWK',
      async () => await hmac(JSON.stringify(publicJwk)),
    ],
  ]
}

export async function badProofKeys({
  sign,
  key,
  stranger,
  header,
  payload,
  signature,
}: BadProofParts): Promise<readonly BadProofRow[]> {
  const { publicJwk, algorithm } = key
  const privateJwk = await key.privateJwk()
  const octets = base64url.decode(signature)
  const flipped = octets.map((octet, at) => (at === 9 ? octet ^ 1 : octet))
  const otherKind = algorithm.startsWith('ES') ? 'Ed25519' : 'ES256'
  const { publicKey } = await generateKeyPair(otherKind, { extractable: true })
  const otherJwk = await exportJWK(publicKey)
  return [
    ['proof_key', 'no key', async () => await sign({ omit: ['jwk'] })],
    ['proof_key', 'private key', async () => await sign({ header: { jwk: privateJwk } })],
    [
      'proof_key',
      'key as text',
      async () => await sign({ header: { jwk: JSON.stringify(publicJwk) } }),
    ],
    [
      'proof_key',
      'secret key',
      async () => await sign({ header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } } }),
    ],
    ['proof_key', 'key of another kind', async () => await sign({ header: { jwk: otherJwk } })],
    [
      'proof_key',
      'key that is named and not there',
      async () => await sign({ omit: ['jwk'], header: { kid: key.thumbprint } }),
    ],
    [
      'proof_signature',
      'signed by another key than its own',
      async () => await sign({ header: { jwk: publicJwk } }, stranger),
    ],
    [
      'proof_signature',
      'key replaced',
      async () => await sign({ header: { jwk: stranger.publicJwk } }),
    ],
    [
      'proof_signature',
      'tampered signature',
      () => `${header}.${payload}.${base64url.encode(flipped)}`,
    ],
    [
      'proof_signature',
      'truncated signature',
      () => `${header}.${payload}.${base64url.encode(octets.subarray(0, -1))}`,
    ],
    ['binding', 'a sound proof of another key', async () => await sign({}, stranger)],
  ]
}
