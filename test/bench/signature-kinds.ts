import { constants, generateKeyPairSync, type KeyObject } from 'node:crypto'

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** An algorithm with a size of key, and what `node:crypto` has to be told for it. */
export interface SignatureKind {
  readonly name: string
  readonly alg: 'ES256' | 'ES512' | 'EdDSA' | 'ML-DSA-44' | 'ML-DSA-65' | 'PS512' | 'RS512'
  generate(): KeyPair
  /** Ed25519 and ML-DSA have their own. */
  readonly hash: 'sha256' | 'sha512' | null
  /** Beside the key. */
  readonly options: {
    readonly padding?: number
    readonly saltLength?: number
    readonly dsaEncoding?: 'ieee-p1363'
  }
}

/** With a key of 2048 bits: what every bench verifies that is not about algorithms. */
export const RS512: SignatureKind = rsa('RS512', 2048, {})
export const ES256: SignatureKind = ec('ES256', 'P-256', 'sha256')

/** By the names that flags have. */
export const KINDS: Readonly<Record<string, SignatureKind>> = {
  RS512,
  'RS512-4096': rsa('RS512', 4096, {}),
  PS512: rsa('PS512', 2048, {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  }),
  ES256,
  ES512: ec('ES512', 'P-521', 'sha512'),
  EdDSA: withOwnHash('EdDSA', 'ed25519'),
  'ML-DSA-44': withOwnHash('ML-DSA-44', 'ml-dsa-44'),
  'ML-DSA-65': withOwnHash('ML-DSA-65', 'ml-dsa-65'),
}

/** What `sign` and `verify` take as a key: the key itself where there is nothing to say beside it. */
export function keyInput(
  { options }: SignatureKind,
  key: KeyObject,
): KeyObject | ({ readonly key: KeyObject } & SignatureKind['options']) {
  return Object.keys(options).length === 0 ? key : { key, ...options }
}

/** Whether this Node can make keys of a kind: ML-DSA needs 24.6 or later. */
export function isThere(kind: SignatureKind): boolean {
  try {
    kind.generate()
    return true
  } catch {
    return false
  }
}

function withOwnHash(alg: SignatureKind['alg'], type: string): SignatureKind {
  // The types of Node 20 do not know all of these.
  const make: Function = generateKeyPairSync
  const generate = () => Reflect.apply(make, undefined, [type]) as KeyPair // without an encoding
  return { name: alg, alg, generate, hash: null, options: {} }
}

function rsa(
  alg: 'PS512' | 'RS512',
  bits: number,
  options: SignatureKind['options'],
): SignatureKind {
  const generate = () => generateKeyPairSync('rsa', { modulusLength: bits })
  return { name: `${alg}, ${bits} bits`, alg, generate, hash: 'sha512', options }
}

function ec(alg: 'ES256' | 'ES512', curve: string, hash: 'sha256' | 'sha512'): SignatureKind {
  const generate = () => generateKeyPairSync('ec', { namedCurve: curve })
  return { name: `${alg}, ${curve}`, alg, generate, hash, options: { dsaEncoding: 'ieee-p1363' } }
}
