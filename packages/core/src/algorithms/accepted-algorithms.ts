import { isJsonObject } from '@portcullis/kit/json'
import { isTextList, type OptionCheck } from '@portcullis/kit/options'

import { AuthError } from '../refusal/errors.ts'
import { type Detail, shown } from '../refusal/text.ts'
import { type AcceptedAlgorithms, type Algorithm, ALGORITHMS, isAlgorithm } from './algorithms.ts'
import { hasMlDsa, NO_ML_DSA } from './ml-dsa.ts'

// Which algorithms a verifier accepts, and by which other names: the check of a header, and the options `algorithms` and `algorithmNames`.

/**
 * The algorithm that a header's `alg` means, if listed; without a list, if it can be checked here: keys decide later. RFC 8725 section 3.1
 * @throws AuthError `algorithm`
 */
export function checkAlgorithm(
  alg: unknown,
  accepted: AcceptedAlgorithms,
  names?: AlgorithmNames,
  isMlDsaThere: () => boolean = hasMlDsa,
): Algorithm {
  const meant = algorithmNamed(alg, names)
  const isKnown = isAlgorithm(meant) && accepted?.includes(meant) !== false
  if (!isKnown || !isAvailable(meant, isMlDsaThere)) {
    throw new AuthError('invalid_token', 'algorithm', otherAlgorithm(alg, meant, accepted))
  }
  return meant
}

function isAvailable(algorithm: Algorithm, isMlDsaThere: () => boolean): boolean {
  return ALGORITHMS.get(algorithm)?.kty !== 'AKP' || isMlDsaThere()
}

function otherAlgorithm(alg: unknown, meant: unknown, accepted: AcceptedAlgorithms): Detail {
  return () => {
    const found = alg === undefined ? 'the header has no alg' : `the header's alg is ${shown(alg)}`
    const taken = accepted === undefined ? 'what its keys are for' : accepted.join(', ')
    return `${found}; this verifier accepts ${taken}${adviceOn(alg, meant, accepted)}`
  }
}

function adviceOn(alg: unknown, meant: unknown, accepted: AcceptedAlgorithms): string {
  if (typeof alg !== 'string' || !/^[\w.+-]{1,16}$/.test(alg)) return ''
  if (/^none$/i.test(alg)) return '; a token without a signature proves nothing'
  if (/^HS\d+$/i.test(alg)) return '; that needs a shared secret, and only public keys are taken'
  if (isAlgorithm(meant)) {
    return accepted === undefined
      ? `; ${meant} ${NO_ML_DSA}`
      : `; if your tokens are signed so, state algorithms: ['${meant}']`
  }
  const like = algorithmLike(alg)
  if (like === undefined || accepted?.includes(like) === false) return ''
  return `; if your issuer writes it so, state algorithmNames: ${exampleOf(alg, like)}`
}

/** The option `algorithms` of a verifier, checked at start-up: not stated, or as {@link checkAlgorithmList} takes it. @throws TypeError */
export function acceptedAlgorithms(names: AcceptedAlgorithms): AcceptedAlgorithms {
  // A list of `null` is a mistake.
  return names === undefined ? undefined : checkAlgorithmList(names)
}

/** An option `algorithms`, checked at start-up. @throws TypeError for no list, an empty one, and an unknown or missing algorithm. */
export function checkAlgorithmList(
  names: readonly Algorithm[],
  factory = 'createVerifier',
  isMlDsaThere: () => boolean = hasMlDsa,
): readonly Algorithm[] {
  const unreadable = isTextList(names)
  // Mistake `…: algorithms`: State a list of names, such as `['RS512']`. Algorithms with a secret key (`HS256`) are never
  // accepted.
  if (unreadable !== undefined) throw new TypeError(`${factory}: algorithms ${unreadable}`)
  for (const name of names) {
    const rule = ALGORITHMS.get(name)
    if (rule === undefined) {
      const hint = factory === 'createVerifier' ? adviceOnName(name) : ''
      throw new TypeError(`${factory}: algorithms: ${complaint(name)}${hint}`)
    }
    if (!isAvailable(name, isMlDsaThere)) {
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

/** A name of JOSE keeps its meaning in whatever case: only other cases of an algorithm's own name may stand for it. */
export const isAlgorithmNames: OptionCheck = (value) => {
  if (!isPlainObject(value)) return `must be an object such as ${exampleOf('RSA512', 'RS512')}`
  for (const [name, meant] of Object.entries(value)) {
    if (name === '') return 'must not give a meaning to the empty name'
    if (!isAlgorithm(meant)) {
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

/** A `Map` or an array has no members to read, and would be taken for an empty object. */
function isPlainObject(value: unknown): value is object {
  if (!isJsonObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** What means something already, in lower case: https://www.iana.org/assignments/jose (signatures, key management, content encryption) */
const JOSE_NAMES: ReadonlySet<string> = new Set(
  [
    ['none', 'HS1', 'HS256', 'HS384', 'HS512', 'HS256/64'],
    ['RS1', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    ['ES256', 'ES384', 'ES512', 'ES256K', 'ESP256', 'ESP384', 'ESP512', 'ESB256', 'ESB320'],
    ['ESB384', 'ESB512', 'EdDSA', 'Ed25519', 'Ed448', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'],
    ['RSA1_5', 'RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512', 'dir'],
    ['A128KW', 'A192KW', 'A256KW', 'A128GCMKW', 'A192GCMKW', 'A256GCMKW'],
    ['ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A192KW', 'ECDH-ES+A256KW'],
    ['PBES2-HS256+A128KW', 'PBES2-HS384+A192KW', 'PBES2-HS512+A256KW'],
    ['A128GCM', 'A192GCM', 'A256GCM', 'A128CBC', 'A192CBC', 'A256CBC', 'A128CTR', 'A192CTR'],
    ['A256CTR', 'A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512'],
  ]
    .flat()
    .map((name) => name.toLowerCase()),
)
