import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'

/** A key pair of ML-DSA, of which the types of Node 20 know nothing. */
export function mlDsaPair(size: 44 | 65 | 87): KeyPairKeyObjectResult {
  const generate: Function = generateKeyPairSync
  return Reflect.apply(generate, undefined, [`ml-dsa-${size}`]) as KeyPairKeyObjectResult // without an encoding
}
