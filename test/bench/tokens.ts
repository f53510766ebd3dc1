import type { TestIssuer } from '@portcullis/testing'
import type { JWK } from 'jose'

import type { Random } from './random.ts'

/** How a key is named: by its thumbprint, by the name that every key has, or not at all. */
export type Naming = 'own kid' | 'same kid' | 'no kid'

const SHARED_KID = 'signing-key'
const SIGNATURE_LENGTH = 256

export function documentedKey({ publicJwk }: TestIssuer, naming: Naming): JWK {
  if (naming === 'own kid') return publicJwk
  const { kid: _, ...unnamed } = publicJwk
  return naming === 'same kid' ? { ...unnamed, kid: SHARED_KID } : unnamed
}

/** Its lifetime is longer than any scenario. */
export async function signedToken(issuer: TestIssuer, naming: Naming): Promise<string> {
  const expiresIn = 7200
  if (naming === 'no kid') return await issuer.token({ expiresIn, omit: ['kid'] })
  return await issuer.token({
    expiresIn,
    header: naming === 'same kid' ? { kid: SHARED_KID } : {},
  })
}

/** Tokens like the issuer's but for the signature; `kid` is that of the header, or another one each time. */
export function forger(genuine: string, kid: 'kept' | 'random', random: Random): () => string {
  const [header = '', payload = ''] = genuine.split('.')
  return () => {
    const forgedHeader = kid === 'kept' ? header : withKid(header, `forged-${random()}`)
    const signature = Buffer.from(Array.from({ length: SIGNATURE_LENGTH }, () => random() * 256))
    return `${forgedHeader}.${payload}.${signature.toString('base64url')}`
  }
}

function withKid(encodedHeader: string, kid: string): string {
  const header: unknown = JSON.parse(Buffer.from(encodedHeader, 'base64url').toString())
  return Buffer.from(JSON.stringify({ ...Object(header), kid })).toString('base64url')
}
