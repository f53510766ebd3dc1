import { createPublicKey, type KeyObject, sign } from 'node:crypto'

import type { Take } from './measure.ts'
import { keyInput, RS512, type SignatureKind } from './signature-kinds.ts'

// What every bench verifies: tokens of about 700 octets, signed RS512 with one key of 2048 bits unless told otherwise. All
// but the key and the signatures is the same in every run.

export const ISSUER = 'https://auth.test/'
export const AUDIENCE = 'https://api.test'
export const KID = 'bench-key'

const ISSUED_AT = 1_767_225_600 // 2026-01-01
export const EXPIRES_AT = 4_102_444_800 // 2100-01-01

/** The public key, as a document shows it. */
export interface PublicJwk extends Readonly<
  Partial<Record<'crv' | 'e' | 'n' | 'pub' | 'x' | 'y', string>>
> {
  readonly kty: string
  readonly kid: string
  readonly alg: SignatureKind['alg']
  readonly use: 'sig'
}

export interface Signer {
  readonly jwk: PublicJwk
  /** A valid token, different for each index. Takes about a millisecond. */
  token(index: number): string
  /** So many of them, from the first on. */
  tokens(count: number, first?: number): string[]
  /** Signs whatever it is given: a hostile payload under a genuine signature. */
  sign(header: string, payload: string): string
}

export function createSigner(kind: SignatureKind = RS512, kid: string = KID): Signer {
  const { publicKey, privateKey } = kind.generate()
  const { kty = '', ...material } = publicKey.export({ format: 'jwk' })
  const { alg } = kind
  const header = JSON.stringify({ alg, typ: 'JWT', kid })
  const signToken = (anyHeader: string, payload: string) => {
    const input = `${encode(anyHeader)}.${encode(payload)}`
    const signature = sign(kind.hash, Buffer.from(input), keyInput(kind, privateKey))
    return `${input}.${signature.toString('base64url')}`
  }
  const token = (index: number) => signToken(header, JSON.stringify(claims(index)))
  return {
    jwk: { kty, ...material, kid, alg, use: 'sig' },
    token,
    tokens: (count, first = 0) => Array.from({ length: count }, (_, at) => token(first + at)),
    sign: signToken,
  }
}

export function publicKeyOf(jwk: PublicJwk): KeyObject {
  return createPublicKey({ format: 'jwk', key: { ...jwk } })
}

export function claims(index: number): Readonly<Record<string, unknown>> {
  const number = String(index).padStart(9, '0')
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: `user-${number}`,
    scope: 'locations:read locations:write',
    jti: `${number}-5d0c3f5e8b7a`,
    client: 'bench',
    iat: ISSUED_AT,
    exp: EXPIRES_AT,
  }
}

export function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/**
 * Begins a turn that takes the tokens over and over, as a socket gives them: as a new string each time, whose hash nobody has
 * computed yet. Whoever has a cache needs a turn of its own: what has just gone by for another is still new for it.
 */
export function turnsThrough(tokens: readonly string[]): () => Take {
  const octets = tokens.map((token) => Buffer.from(token, 'latin1'))
  return () => {
    let next = 0
    return (count) =>
      Array.from({ length: count }, () => octets[next++ % octets.length]?.toString('latin1') ?? '')
  }
}

/** Each with the signature of the next: the right form and size, so that the whole price of a check is paid. */
export function forgeries(tokens: readonly string[]): string[] {
  return tokens.map((token, index) => {
    const other = tokens[(index + 1) % tokens.length] ?? ''
    return `${token.slice(0, token.lastIndexOf('.'))}${other.slice(other.lastIndexOf('.'))}`
  })
}

/** Of an algorithm that is not accepted: what a flood costs that is refused before any signature is checked. */
export function otherAlgorithms(tokens: readonly string[]): string[] {
  const header = encode(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid: KID }))
  return tokens.map((token) => `${header}${token.slice(token.indexOf('.'))}`)
}

/** Without a signature, with a header that is no JSON, with a header that is no base64url. */
export function malformations(tokens: readonly string[]): string[] {
  return tokens.map((token, index) => {
    const [header = '', payload = '', signature = ''] = token.split('.')
    if (index % 3 === 0) return `${header}.${payload}`
    return `${index % 3 === 1 ? encode('no JSON') : `!${header}`}.${payload}.${signature}`
  })
}
