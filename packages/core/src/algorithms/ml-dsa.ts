import { createPublicKey } from 'node:crypto'

import { ownMembers } from '@portcullis/kit/options'

// Asks the platform whether it has ML-DSA, because not every supported Node has it.

export const NO_ML_DSA =
  'needs a platform whose node:crypto has ML-DSA, such as Node 24.6 or later, and this one has not'

let isThere: boolean | undefined

export function hasMlDsa(): boolean {
  isThere ??= takesKey()
  return isThere
}

function takesKey(): boolean {
  // Any octets are a public key of ML-DSA, if there are enough of them.
  const pub = Buffer.alloc(1312).toString('base64url')
  const key = ownMembers({ kty: 'AKP', alg: 'ML-DSA-44', pub })
  try {
    createPublicKey(ownMembers({ key, format: 'jwk' as const }))
    return true
  } catch {
    return false
  }
}
