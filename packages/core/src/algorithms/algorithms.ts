// The table of signature algorithms. It alone says which key an algorithm needs and what a key is for, whatever a token claims.

/** A signature algorithm that a verifier can be told to accept: asymmetric ones only. RFC 7518 section 3; RFC 8037; RFC 9864; RFC 9964. */
export type Algorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519'
  // Where the platform has them.
  | 'ML-DSA-44'
  | 'ML-DSA-65'
  | 'ML-DSA-87'

type MlDsa = Extract<Algorithm, `ML-DSA-${string}`>

export type AlgorithmRule = RsaRule | EcRule | EdwardsRule | AkpRule

interface RsaRule {
  readonly kty: 'RSA'
  readonly hash: string
  /** Of PSS: octets of salt, as many as the hash has (RFC 7518 section 3.5). Without: PKCS #1 v1.5. */
  readonly saltLength?: number
}

export interface EcRule extends CurveRule {
  readonly kty: 'EC'
  readonly hash: string
}

export interface EdwardsRule extends CurveRule {
  readonly kty: 'OKP'
  /** The algorithm has its own. */
  readonly hash: null
}

/** An algorithm key pair: the key itself states the one algorithm that it is for. RFC 9964 section 3. */
export interface AkpRule extends FixedRule {
  readonly kty: 'AKP'
  readonly alg: MlDsa
  /** The algorithm has its own. */
  readonly hash: null
  /** Octets of `pub`. */
  readonly keyLength: number
}

interface CurveRule extends FixedRule {
  readonly crv: string
  /** Octets of a coordinate, which a JWK must spell out in full (RFC 7518 section 6.2.1.2). */
  readonly coordinateLength: number
}

interface FixedRule {
  readonly signatureLength: number
  /** How long it takes to check a signature: microseconds on one machine, of which only the proportions matter. */
  readonly cost: number
}

const ED25519: EdwardsRule = {
  kty: 'OKP',
  crv: 'Ed25519',
  hash: null,
  coordinateLength: 32,
  signatureLength: 64,
  cost: 80,
}

function ecRule(crv: string, hash: string, coordinateLength: number, cost: number): EcRule {
  return { kty: 'EC', crv, hash, coordinateLength, signatureLength: 2 * coordinateLength, cost }
}

/** @see FIPS 204 table 2: the lengths */
function akpRule(alg: MlDsa, keyLength: number, signatureLength: number, cost: number): AkpRule {
  return { kty: 'AKP', alg, hash: null, keyLength, signatureLength, cost }
}

const RULES: Readonly<Record<Algorithm, AlgorithmRule>> = {
  RS256: { kty: 'RSA', hash: 'sha256' },
  RS384: { kty: 'RSA', hash: 'sha384' },
  RS512: { kty: 'RSA', hash: 'sha512' },
  PS256: { kty: 'RSA', hash: 'sha256', saltLength: 32 },
  PS384: { kty: 'RSA', hash: 'sha384', saltLength: 48 },
  PS512: { kty: 'RSA', hash: 'sha512', saltLength: 64 },
  ES256: ecRule('P-256', 'sha256', 32, 55),
  ES384: ecRule('P-384', 'sha384', 48, 520),
  ES512: ecRule('P-521', 'sha512', 66, 1150),
  EdDSA: ED25519,
  Ed25519: ED25519,
  'ML-DSA-44': akpRule('ML-DSA-44', 1312, 2420, 150),
  'ML-DSA-65': akpRule('ML-DSA-65', 1952, 3309, 270),
  'ML-DSA-87': akpRule('ML-DSA-87', 2592, 4627, 480),
}

/** The table that headers, keys and signatures are compared with. What a token says about itself changes nothing in it. */
export const ALGORITHMS: ReadonlyMap<Algorithm, AlgorithmRule> = new Map(
  Object.entries(RULES) as [Algorithm, AlgorithmRule][] /* `RULES` is written out above */,
)

export function isAlgorithm(name: unknown): name is Algorithm {
  return typeof name === 'string' && Object.hasOwn(RULES, name)
}

/** Whether both name one algorithm: `EdDSA` and `Ed25519` do, since no other curve of EdDSA is in the table. RFC 9864 section 2.2 */
export function isSameAlgorithm(one: Algorithm, other: unknown): boolean {
  return isAlgorithm(other) && RULES[one] === RULES[other]
}

/** The option `algorithms` of a verifier. `undefined`: it is not stated, and each key says what it is for. */
export type AcceptedAlgorithms = readonly Algorithm[] | undefined

export interface KeyPurpose {
  /** The algorithm that its entry states. One that nobody knows makes no key. */
  readonly stated: Algorithm | undefined
  /** What it could verify: what it states, or everything that its kind allows. */
  readonly prepared: ReadonlyMap<Algorithm, unknown>
}

/** What an RSA key is for that states nothing. The other kinds of keys fit one algorithm alone. */
const OF_SILENT_RSA_KEYS: Algorithm = 'RS512'

/** Whether a verifier takes a key for an algorithm. Nothing else decides it, and nothing that a token says changes it. */
export function isFor(
  { stated, prepared }: KeyPurpose,
  algorithm: Algorithm,
  accepted: AcceptedAlgorithms,
): boolean {
  if (!prepared.has(algorithm)) return false
  if (accepted !== undefined) return accepted.includes(algorithm)
  return stated !== undefined || RULES[algorithm].kty !== 'RSA' || algorithm === OF_SILENT_RSA_KEYS
}

export function purposesOf(key: KeyPurpose, accepted: AcceptedAlgorithms): readonly Algorithm[] {
  return [...key.prepared.keys()].filter((algorithm) => isFor(key, algorithm, accepted))
}

/** Microseconds on one machine: only proportions matter. RSA's grow with the square of the modulus, which is as long as the signature. */
export function costOfCheck(algorithm: Algorithm, signatureLength: number): number {
  const rule = RULES[algorithm]
  return rule.kty === 'RSA' ? 5 + 15 * (signatureLength / 256) ** 2 : rule.cost
}

/** For the end of a `switch` over kinds of keys: a new one is a mistake there until it has a case of its own. */
export function unknownKind({ kty }: { readonly kty: never }): never {
  throw new TypeError(`unknown kind of key: ${String(kty)}`)
}
