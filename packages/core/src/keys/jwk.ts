import {
  constants,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  type SigningOptions,
} from 'node:crypto'

import { sha256 } from '@portcullis/kit/digest'
import type { JsonObject } from '@portcullis/kit/json'
import { own, ownMembers } from '@portcullis/kit/options'

import { algorithmLike, algorithmNamed, exampleOf } from '../algorithms/accepted-algorithms.ts'
import {
  type Algorithm,
  type AlgorithmRule,
  ALGORITHMS,
  isAlgorithm,
  isSameAlgorithm,
  unknownKind,
} from '../algorithms/algorithms.ts'
import { hasMlDsa, NO_ML_DSA } from '../algorithms/ml-dsa.ts'
import { contradicted, type EntryRules } from './entry-rules.ts'
import { jwkInput } from './jwk-input.ts'
import { type PublicJwk, readMaterial, valueOf } from './key-material.ts'
import type { PreparedKey, VerificationKey } from './key-source.ts'

// From one JWK to a key: what it may be used for, its identity, and what `crypto.verify` needs for each algorithm.

type AlgorithmRow = readonly [name: Algorithm, rule: AlgorithmRule]

/** Or why it cannot be used, without key material. RFC 7517 section 4; RFC 7518 section 6; RFC 8037 section 2; RFC 9964 section 3 */
export function readJwk(
  jwk: JsonObject,
  entryRules: EntryRules = {},
  isMlDsaThere: () => boolean = hasMlDsa,
): VerificationKey | string {
  const other = contradicted(jwk, own(entryRules, 'ifStated'))
  if (other !== undefined) return mismatch(other[0], valueOf(jwk, other[0]), other[1])
  const purpose = purposeOf(jwk, entryRules)
  if (typeof purpose === 'string') return purpose
  const { rows, stated } = purpose
  const [[, rule]] = rows
  if (rule.kty === 'AKP' && !isMlDsaThere()) return `alg (${rule.alg}) ${NO_ML_DSA}`
  const material = readMaterial(jwk, rule)
  if (typeof material === 'string') {
    return valueOf(jwk, 'x5c') === undefined ? material : `${material}; ${NO_CHAIN}`
  }
  const { publicJwk, signatureLength } = material
  const key = importKey(publicJwk)
  if (key === undefined) return 'its numbers are no key of that kind'
  return {
    thumbprint: thumbprintOf(publicJwk),
    kid: textIn(jwk, 'kid'),
    issuer: textIn(jwk, 'issuer'),
    publicJwk,
    use: own(entryRules, 'use') ?? 'sig',
    stated,
    prepared: new Map(
      rows.map(([name, each]) => [name, prepare(key, publicJwk, each, signatureLength)]),
    ),
  }
}

const NO_CHAIN = 'x5c is not read: a certificate is no key, and nobody would check its chain'

function textIn(jwk: JsonObject, name: string): string | undefined {
  const value = valueOf(jwk, name)
  return typeof value === 'string' ? value : undefined
}

interface Purpose {
  readonly rows: readonly [AlgorithmRow, ...AlgorithmRow[]]
  /** By the name in the table. */
  readonly stated: Algorithm | undefined
}

/** What a JWK allows its use for: nothing if its `alg` is unknown. RFC 7517 sections 4.1 to 4.4; RFC 8725 section 3.1 */
function purposeOf(jwk: JsonObject, entryRules: EntryRules): Purpose | string {
  const kty = valueOf(jwk, 'kty')
  const ofKind = [...ALGORITHMS].filter(([, rule]) => rule.kty === kty)
  if (ofKind.length === 0) return mismatch('kty', kty, ['RSA', 'EC', 'OKP', 'AKP'])

  const crv = valueOf(jwk, 'crv')
  // None for keys of RSA and ML-DSA, whatever they say.
  const curves = ofKind.flatMap(curveOf)
  const ofCurve = ofKind.filter((_, at) => curves.length === 0 || curves[at] === crv)
  if (ofCurve.length === 0) return mismatch('crv', crv, curves)

  const use = valueOf(jwk, 'use')
  const wanted = own(entryRules, 'use') ?? 'sig'
  // Only what is for signatures may leave it out: a SPIFFE bundle says of each key which kind of document it is for.
  const isWanted = use === wanted || (use === undefined && wanted === 'sig')
  if (!isWanted) return mismatch('use', use, [wanted])
  const operations = valueOf(jwk, 'key_ops')
  if (operations !== undefined && !isOperationList(operations)) {
    return 'key_ops is not a list of different strings'
  }
  if (operations?.includes('verify') === false) return 'key_ops does not contain verify'

  const alg = valueOf(jwk, 'alg')
  const meant = algorithmNamed(alg, own(entryRules, 'algorithmNames'))
  const [first, ...others] = ofCurve.filter(([name, rule]) =>
    // Of a key that is made for one algorithm, `alg` is a required member.
    meant === undefined ? rule.kty !== 'AKP' : isSameAlgorithm(name, meant),
  )
  if (first !== undefined) {
    return { rows: [first, ...others], stated: isAlgorithm(meant) ? meant : undefined }
  }
  return (
    mismatch(
      'alg',
      alg,
      ofCurve.map(([name]) => name),
    ) + adviceOn(alg)
  )
}

function curveOf([, rule]: AlgorithmRow): readonly string[] {
  return rule.kty === 'RSA' || rule.kty === 'AKP' ? [] : [rule.crv]
}

/** @see RFC 7517 section 4.3 */
function isOperationList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.every((each) => typeof each === 'string') &&
    new Set(value).size === value.length
  )
}

/** Shows the value only if it looks like a name: somebody may have put the key there. */
function mismatch(name: string, value: unknown, wanted: readonly string[]): string {
  if (value === undefined) return `${name} is missing`
  const shown = isName(value) ? ` (${value})` : ''
  return `${name}${shown} is not ${[...new Set(wanted)].join(' or ')}`
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.+-]{1,16}$/.test(value)
}

function adviceOn(alg: unknown): string {
  const like = isName(alg) ? algorithmLike(alg) : undefined
  return like === undefined || like === alg
    ? ''
    : `, unless algorithmNames is ${exampleOf(String(alg), like)}`
}

function importKey(publicJwk: PublicJwk): KeyObject | undefined {
  try {
    // Without inherited members: Node would take a key with an inherited `d` for a private one.
    const key = ownMembers<JsonWebKey>(publicJwk)
    return createPublicKey(ownMembers({ key, format: 'jwk' as const }))
  } catch {
    // Such as a point that is not on its curve.
  }
  return undefined
}

/** The required members alone, in one spelling and in order. RFC 7638 section 3; RFC 9964 section 6 */
function thumbprintOf(publicJwk: PublicJwk): string {
  return sha256(JSON.stringify(publicJwk))
}

function prepare(
  key: KeyObject,
  jwk: PublicJwk,
  rule: AlgorithmRule,
  signatureLength: number,
): PreparedKey {
  // Without inherited members: Node reads those as well.
  const input = ownMembers({ ...optionsOf(rule), key })
  return { hash: rule.hash, input, jwkInput: jwkInput(input, jwk), signatureLength }
}

function optionsOf(rule: AlgorithmRule): SigningOptions {
  switch (rule.kty) {
    case 'RSA': {
      const saltLength = own(rule, 'saltLength')
      // The length of the salt is stated, because `crypto.verify` would take any.
      return saltLength === undefined
        ? {}
        : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
    }
    case 'EC':
    case 'OKP':
      return { dsaEncoding: 'ieee-p1363' }
    case 'AKP':
      return {}
    default:
      return unknownKind(rule)
  }
}
