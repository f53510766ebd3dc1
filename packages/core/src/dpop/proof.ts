import {
  isJsonObject,
  type JsonObject,
  member,
  repeatsMember,
  textMember,
} from '@portcullis/kit/json'
import { LRUCache } from 'lru-cache'

import { type Algorithm, ALGORITHMS, isSameAlgorithm } from '../algorithms/algorithms.ts'
import { isOfType } from '../claims/kind.ts'
import { decodeBase64url } from '../ground/base64url.ts'
import { readJwk } from '../keys/jwk.ts'
import type { VerificationKey } from '../keys/key-source.ts'
import { AuthError } from '../refusal/errors.ts'
import {
  createHeaderCache,
  type HeaderCache,
  type ParsedToken,
  parseToken,
} from '../token/token.ts'
import {
  malformedProof,
  noProof,
  notTextProof,
  otherProofAlgorithm,
  otherProofType,
  repeatedMember,
  tooLargeProof,
  unusableProofKey,
} from './details.ts'

// Reads a DPoP proof: its size, form, type and algorithm, and the key that it brings along.

export interface ReadProof {
  readonly parsed: ParsedToken
  readonly key: VerificationKey
  readonly algorithm: Algorithm
}

/** Characters: RSA of 8192 bits makes about 3,600, ML-DSA-87 11,200, and the rest is the URL. Node takes 16 KiB for all headers. */
const MAX_SIZE = 12_288

/** Headers: a client writes the same one for all its proofs. */
const REMEMBERED = 500
/** Characters of all headers together. Those of large keys leave fewer. */
const REMEMBERED_SIZE = 1_048_576

/** Form, type, algorithm and key: nothing is proven then. RFC 9449 sections 4.2 and 4.3, checks 2 and 4 to 7 */
export function createProofReader(algorithms: readonly Algorithm[]): (proof: unknown) => ReadProof {
  // Whoever fills it with keys of their own makes others' keys be read again, and nothing else.
  const headers = createHeaderCache(
    new LRUCache({
      max: REMEMBERED,
      maxSize: REMEMBERED_SIZE,
      sizeCalculation: (_, encoded) => encoded.length,
    }),
  )
  /** By headers that are in that cache. */
  const known = new WeakMap<JsonObject, Pick<ReadProof, 'key' | 'algorithm'>>()

  return (proof) => {
    const text = checkText(proof)
    const parsed = parse(text, headers)
    const { header } = parsed
    let read = known.get(header)
    if (read === undefined) {
      checkForm(text, header)
      read = readKey(header, algorithms)
      known.set(header, read)
    }
    const { key, algorithm } = read
    return { parsed, key, algorithm }
  }
}

function checkText(proof: unknown): string {
  if (proof === undefined) throw new AuthError('invalid_dpop_proof', 'missing_proof', noProof)
  if (typeof proof !== 'string') {
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', notTextProof(proof))
  }
  if (proof.length > MAX_SIZE) {
    const detail = tooLargeProof(proof.length, MAX_SIZE)
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', detail)
  }
  return proof
}

/** As strictly as a token is read. */
function parse(proof: string, headers: HeaderCache): ParsedToken {
  try {
    return parseToken(proof, MAX_SIZE, headers)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const detail = malformedProof(() => error.detail)
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', detail)
  }
}

function checkForm(proof: string, header: JsonObject): void {
  // In the key as well: another reader might take another of two values for its thumbprint.
  const octets = decodeBase64url(proof.slice(0, proof.indexOf('.')))
  if (octets === undefined || repeatsMember(octets.toString(), header)) {
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', repeatedMember)
  }
  // Media types are compared in any case, and without `application/`: RFC 7515 section 4.1.9.
  const typ = textMember(header, 'typ')
  if (!isOfType(typ, ['dpop+jwt'])) {
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', otherProofType(typ))
  }
}

function readKey(
  header: JsonObject,
  algorithms: readonly Algorithm[],
): Pick<ReadProof, 'key' | 'algorithm'> {
  const alg = member(header, 'alg')
  // Before the key: it costs more to read.
  const algorithm = algorithms.find((each) => each === alg)
  if (algorithm === undefined) {
    const detail = otherProofAlgorithm(alg, algorithms)
    throw new AuthError('invalid_dpop_proof', 'proof_algorithm', detail)
  }
  const key = readPublicKey(member(header, 'jwk'), algorithm)
  if (typeof key !== 'string') return { key, algorithm }
  throw new AuthError('invalid_dpop_proof', 'proof_key', unusableProofKey(key))
}

/** Members of private and of secret keys. RFC 7518 sections 6.2.2, 6.3.2 and 6.4; RFC 9964 section 3 */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** What nearly all keys have, and the cost of a check is counted for: one of 32 bits takes up to three times as long. */
const USUAL_EXPONENT = 65_537
const LARGE_EXPONENT = `its e is more than ${USUAL_EXPONENT}`

/** Read more strictly than keys of an issuer, since nobody trusts it. @returns A text says why it cannot be used, without key material. */
function readPublicKey(jwk: unknown, algorithm: Algorithm): VerificationKey | string {
  if (!isJsonObject(jwk)) return jwk === undefined ? 'it is missing' : 'it is no JSON object'
  // Whatever its value: a client that sends its private key has lost it.
  const secret = PRIVATE_MEMBERS.find((name) => Object.hasOwn(jwk, name))
  if (secret !== undefined) return `it has ${secret}, a member of private keys`
  // Before it is imported, which takes six milliseconds for a key of P-521 where OpenSSL is of version 3.0.
  if (!isFor(algorithm, jwk)) return `it is not for the alg of the proof, ${algorithm}`
  const key = readJwk(jwk)
  if (typeof key === 'string') return key
  const { publicJwk } = key
  if (publicJwk.kty === 'RSA' && hasLargeExponent(publicJwk.e)) return LARGE_EXPONENT
  // The thumbprint is made of the one canonical form: in another one, others would make another of it.
  const isCanonical = Object.entries(publicJwk).every(([name, text]) => jwk[name] === text)
  return isCanonical ? key : 'its numbers are not written in their shortest form, in base64url'
}

/** By what the key says of itself. */
function isFor(algorithm: Algorithm, jwk: JsonObject): boolean {
  const rule = ALGORITHMS.get(algorithm)
  const isOfCurve =
    rule?.kty === 'EC' || rule?.kty === 'OKP' ? member(jwk, 'crv') === rule.crv : true
  const alg = member(jwk, 'alg') ?? algorithm
  return member(jwk, 'kty') === rule?.kty && isOfCurve && isSameAlgorithm(algorithm, alg)
}

function hasLargeExponent(e: string): boolean {
  const octets = Buffer.from(e, 'base64url')
  return octets.readUIntBE(0, octets.length) > USUAL_EXPONENT
}
