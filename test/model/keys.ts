import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

// Elliptic keys, which sign and verify fast enough for thousands of sequences: what the policy does is the same for all.

export const NAMES = ['A', 'B', 'C', 'D'] as const

export type KeyName = (typeof NAMES)[number]

export type Signer = KeyName | 'stranger'

const pairs = new Map<Signer, { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>(
  [...NAMES, 'stranger' as const].map((name) => [
    name,
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ]),
)

/** Without a `kid`: only a signature that fails tells of a rotation. */
export function publicJwk(name: Signer): object {
  return { ...pairs.get(name)?.publicKey.export({ format: 'jwk' }) }
}

/** @throws Error for a key that is none of these. */
export function nameOf({ x }: { readonly x: string }): KeyName {
  const found = NAMES.find(
    (name) => 'x' in publicJwk(name) && Reflect.get(publicJwk(name), 'x') === x,
  )
  if (found === undefined) throw new Error('there is no such key')
  return found
}

let count = 0

/** A token that is like no other. It never expires within a sequence. */
export function signToken(signer: Signer, claims: { readonly iat?: number }): string {
  const payload = { jti: String(count++), exp: 10_000_000_000, ...claims }
  const text = [{ alg: 'ES256' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const key = pairs.get(signer)?.privateKey
  if (key === undefined) throw new Error(`there is no key ${signer}`)
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}
