import { base64url, CompactSign, exportJWK, generateKeyPair } from 'jose'

import { octetsOf } from '../octets.ts'
import { rows } from '../rows.ts'
import type { BadProofParts, BadProofRow } from './bad-proof.ts'

// Proofs that are refused for their form, their algorithm or their key.

export function badProofForms(parts: BadProofParts): readonly BadProofRow[] {
  const { signing, header, payload, signature } = parts
  const good = `${header}.${payload}.${signature}`
  const under = (text: string) => () => `${base64url.encode(text)}.${payload}.${signature}`
  const members = new TextDecoder().decode(base64url.decode(header)).slice(0, -1)
  return [
    ['missing_proof', 'no proof', () => undefined],
    ...rows<BadProofRow>('malformed_proof', {
      'one word': () => 'proof',
      'no signature': () => `${header}.${payload}.`,
      'four segments': () => `${good}.${signature}`,
      'padded base64': () => `${good}==`,
      'header not JSON': under('header'),
      'header JSON array': under(`[${members}}]`),
      'duplicate members in the header': under(`${members},"typ":"JWT"}`),
      'critical header': signing({ header: { crit: ['urn:test'], 'urn:test': true } }),
      'type of an access token': signing({ header: { typ: 'JWT' } }),
      'missing type': signing({ omit: ['typ'] }),
      'not JSON': signing({ payload: 'claims' }),
      'JSON array': signing({ payload: '[]' }),
    }),
  ]
}

export function badProofAlgorithms(parts: BadProofParts): readonly BadProofRow[] {
  const { key, payload, signature } = parts
  const { algorithm, publicJwk } = key
  const named = (name: unknown) => () => {
    const header = JSON.stringify({ typ: 'dpop+jwt', alg: name, jwk: publicJwk })
    return `${base64url.encode(header)}.${payload}.${signature}`
  }
  const hmac = async (secret: string) =>
    await new CompactSign(octetsOf(base64url.decode(payload)))
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'HS256', jwk: publicJwk })
      .sign(octetsOf(secret))
  return rows<BadProofRow>('proof_algorithm', {
    'alg none': named('none'),
    'no alg': named(undefined),
    'alg in lower case': named(algorithm.toLowerCase()),
    'HS256 keyed with its own JWK': async () => await hmac(JSON.stringify(publicJwk)),
  })
}

export async function badProofKeys(parts: BadProofParts): Promise<readonly BadProofRow[]> {
  const { signing, key, stranger, header, payload, signature } = parts
  const { publicJwk, algorithm } = key
  const privateJwk = await key.privateJwk()
  const octets = base64url.decode(signature)
  const flipped = octets.map((octet, at) => (at === 9 ? octet ^ 1 : octet))
  const otherKind = algorithm.startsWith('ES') ? 'Ed25519' : 'ES256'
  const { publicKey } = await generateKeyPair(otherKind, { extractable: true })
  const otherJwk = await exportJWK(publicKey)
  const having = (jwk: unknown) => signing({ header: { jwk } })
  const ending = (end: Uint8Array) => () => `${header}.${payload}.${base64url.encode(end)}`
  return [
    ...rows<BadProofRow>('proof_key', {
      'no key': signing({ omit: ['jwk'] }),
      'private key': having(privateJwk),
      'key as text': having(JSON.stringify(publicJwk)),
      'secret key': having({ kty: 'oct', k: 'c2VjcmV0' }),
      'key of another kind': having(otherJwk),
      'key that is named and not there': signing({
        omit: ['jwk'],
        header: { kid: key.thumbprint },
      }),
    }),
    ...rows<BadProofRow>('proof_signature', {
      'signed by another key than its own': signing({ header: { jwk: publicJwk } }, stranger),
      'key replaced': having(stranger.publicJwk),
      'tampered signature': ending(flipped),
      'truncated signature': ending(octets.subarray(0, -1)),
    }),
    ['binding', 'a sound proof of another key', signing({}, stranger)],
  ]
}
