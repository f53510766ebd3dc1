import { type Detail, shown } from './details/text.ts'
import { AuthError } from './errors.ts'
import { JOSE_NAMES } from './jose-names.ts'
import { isJsonObject } from './json.ts'
import { hasMlDsa, NO_ML_DSA } from './ml-dsa.ts'
import { isTextList, type OptionCheck } from './options.ts'

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
  | MlDsa

/** Where the platform has them. */
type MlDsa = 'ML-DSA-44' | 'ML-DSA-65' | 'ML-DSA-87'

/** All that an algorithm fixes: the kind of key, how `node:crypto` is asked, and how long a signature is. */
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

/** Of an algorithm whose keys are all of one size. */
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

/**
 * How long it takes to check one signature of a key: microseconds on one machine, of which only the proportions matter. With
 * RSA it grows with the square of the modulus, which is as long as the signature.
 */
export function costOfCheck(algorithm: Algorithm, signatureLength: number): number {
  const rule = RULES[algorithm]
  return rule.kty === 'RSA' ? 5 + 15 * (signatureLength / 256) ** 2 : rule.cost
}

/** For the end of a `switch` over kinds of keys: a new one is a mistake there until it has a case of its own. */
export function unknownKind({ kty }: { readonly kty: never }): never {
  throw new TypeError(`unknown kind of key: ${String(kty)}`)
}

/**
 * The header's `alg`, if it is one of those that the verifier lists, or another name of one.
 *
 * @throws AuthError `algorithm`
 * @see RFC 8725 section 3.1
 */
export function checkAlgorithm(
  alg: unknown,
  allowed: readonly Algorithm[],
  names?: AlgorithmNames,
): Algorithm {
  const meant = algorithmNamed(alg, names)
  const algorithm = allowed.find((name) => name === meant)
  if (algorithm === undefined) {
    throw new AuthError('invalid_token', 'algorithm', otherAlgorithm(alg, allowed))
  }
  return algorithm
}

function otherAlgorithm(alg: unknown, allowed: readonly Algorithm[]): Detail {
  return () => {
    const found = alg === undefined ? 'the header has no alg' : `the header's alg is ${shown(alg)}`
    return `${found}; this verifier accepts ${allowed.join(', ')}${adviceOn(alg, allowed)}`
  }
}

function adviceOn(alg: unknown, allowed: readonly Algorithm[]): string {
  if (typeof alg !== 'string' || !/^[\w.+-]{1,16}$/.test(alg)) return ''
  if (/^none$/i.test(alg)) return '; a token without a signature proves nothing'
  if (/^HS\d+$/i.test(alg)) return '; that needs a shared secret, and only public keys are taken'
  if (isAlgorithm(alg)) return `; if your tokens are signed so, state algorithms: ['${alg}']`
  const meant = algorithmLike(alg)
  if (meant === undefined || !allowed.includes(meant)) return ''
  return `; if your issuer writes it so, state algorithmNames: ${exampleOf(alg, meant)}`
}

/**
 * The option `algorithms` of a factory, checked at start-up.
 *
 * @param isMlDsaThere By default the platform is asked.
 * @throws TypeError on an empty list, on a name that is not in the table, and on one that the platform does not have.
 */
export function checkAlgorithmList(
  names: readonly Algorithm[],
  factory = 'createVerifier',
  isMlDsaThere: () => boolean = hasMlDsa,
): readonly Algorithm[] {
  const unreadable = isTextList(names)
  if (unreadable !== undefined) throw new TypeError(`${factory}: algorithms ${unreadable}`)
  for (const name of names) {
    const rule = ALGORITHMS.get(name)
    if (rule === undefined) {
      const hint = factory === 'createVerifier' ? adviceOnName(name) : ''
      throw new TypeError(`${factory}: algorithms: ${complaint(name)}${hint}`)
    }
    if (rule.kty === 'AKP' && !isMlDsaThere()) {
      throw new TypeError(`${factory}: algorithms: ${JSON.stringify(name)} ${NO_ML_DSA}`)
    }
  }
  return [...names]
}

function complaint(name: string): string {
  const known = [...ALGORITHMS.keys()].join(', ')
  const meant = algorithmLike(name)
  return meant === undefined
    ? `${JSON.stringify(name)} is not supported, choose from ${known}`
    : `${JSON.stringify(name)} is not supported, did you mean ${meant}?`
}

/** For verifiers alone: proofs and `algs` in challenges have the names of JOSE. */
function adviceOnName(name: string): string {
  const meant = algorithmLike(name)
  return meant === undefined
    ? ''
    : ` If that is what tokens and keys say, state algorithmNames: ${exampleOf(name, meant)}`
}

/** The algorithm that another spelling ("RSA512", "rs-512") probably means. */
export function algorithmLike(name: string): Algorithm | undefined {
  return [...ALGORITHMS.keys()].find((candidate) => simplified(candidate) === simplified(name))
}

function simplified(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .replace('RSA', 'RS')
}

export function exampleOf(name: string, meant: Algorithm): string {
  return `{ ${JSON.stringify(name)}: ${JSON.stringify(meant)} }`
}

/** Other names of algorithms, as an issuer writes them in headers and keys. */
export type AlgorithmNames = ReadonlyMap<string, Algorithm>

/** What a name in a header or a key means. Where nobody has given it a meaning, itself. */
export function algorithmNamed(alg: unknown, names?: AlgorithmNames): unknown {
  return typeof alg === 'string' ? (names?.get(alg) ?? alg) : alg
}

/** The option `algorithmNames`, once `isAlgorithmNames` has nothing to say against it. */
export function algorithmNamesOf(
  option: Readonly<Record<string, Algorithm>> | undefined,
): AlgorithmNames {
  return new Map(Object.entries(option ?? {}))
}

/**
 * Checks the option `algorithmNames`. A name of JOSE keeps its meaning, in whatever case it is written: only the other
 * cases of an algorithm's own name may stand for it.
 */
export const isAlgorithmNames: OptionCheck = (value) => {
  if (!isPlainObject(value)) return `must be an object such as ${exampleOf('RSA512', 'RS512')}`
  for (const [name, meant] of Object.entries(value)) {
    if (name === '') return 'must not give a meaning to the empty name'
    if (typeof meant !== 'string' || !isAlgorithm(meant)) {
      const known = [...ALGORITHMS.keys()].join(', ')
      return `must name for ${JSON.stringify(name)} one of ${known}`
    }
    const isOwnName = name !== meant && name.toLowerCase() === meant.toLowerCase()
    if (!isOwnName && JOSE_NAMES.has(name.toLowerCase())) {
      return `must not give another meaning to ${JSON.stringify(name)}, a name of JOSE`
    }
  }
  return undefined
}

function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(RULES, name)
}

/** A `Map` or an array has no members to read, and would be taken for an empty object. */
function isPlainObject(value: unknown): value is object {
  if (!isJsonObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
