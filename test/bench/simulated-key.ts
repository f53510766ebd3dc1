import { createSecretKey } from 'node:crypto'

import type { VerificationKey } from '../../packages/core/src/keys/key-source.ts'

/** A key that is compared, and never used. */
export function createKey(thumbprint: string): VerificationKey {
  const input = { key: createSecretKey(Buffer.from(thumbprint)) }
  const prepared = { hash: null, input, jwkInput: undefined, signatureLength: 256 }
  const publicJwk = { e: 'AQAB', kty: 'RSA', n: thumbprint } as const
  return {
    thumbprint,
    kid: undefined,
    issuer: undefined,
    publicJwk,
    stated: undefined,
    prepared: new Map([['RS512', prepared]]),
  }
}
