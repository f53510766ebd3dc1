import { constants, createPublicKey, type JsonWebKey, verify } from 'node:crypto'

import type { Case } from './judges.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** An entry of a key document, whatever it says. */
export type Jwk = JsonObject

/** A segment of JSON as the most lenient reader would have it. */
export interface Reading {
  readonly octets: Buffer
  readonly value: JsonObject
  /** The names at the top level, as often as they occur. */
  readonly names: readonly string[]
  readonly depth: number
  /** Whether all names can be written without an escape. */
  readonly hasPlainNames: boolean
  /** Whether `JSON.parse`, which jose relies on, takes a name with an escape for another. */
  readonly isMisread: boolean
}

/** Looks into a case for what may explain a disagreement, with none of the code that judged it. */
export interface Subject extends Case {
  readonly header: Reading
  readonly claims: Reading
  /** The entries of the document. */
  readonly entries: readonly unknown[]
  readonly isBare: boolean
  /** Those of them that may verify and that prove the signature to `crypto.verify`, whatever else is wrong with them. */
  readonly provers: readonly Jwk[]
}

export function readCase(subject: Case): Subject {
  const [header = '', payload = '', signature = ''] = subject.token.split('.')
  const document = isObject(subject.document) ? subject.document : {}
  const isBare = !Array.isArray(document['keys'])
  const entries: readonly unknown[] = Array.isArray(document['keys'])
    ? document['keys']
    : [document]
  const read = { header: readSegment(header), claims: readSegment(payload) }
  const proof = {
    alg: read.header.value['alg'],
    kid: isBare ? undefined : read.header.value['kid'],
    input: Buffer.from(`${header}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
  }
  let provers: readonly Jwk[] | undefined
  return {
    ...subject,
    ...read,
    isBare,
    entries,
    // Most classes do not ask, and each answer takes a check of the signature.
    get provers() {
      provers ??= entries
        .filter(isObject)
        .filter((jwk) => permits(jwk, proof) && isProvenBy(jwk, proof))
      return provers
    },
  }
}

function readSegment(segment: string): Reading {
  const octets = Buffer.from(segment, 'base64url')
  const text = new TextDecoder().decode(octets) // without a byte order mark
  const plain = withPlainNames(text)
  const value = parse(plain)
  return {
    octets,
    value: isObject(value) ? value : {},
    ...outline(text),
    isMisread: plain !== text && JSON.stringify(value) !== JSON.stringify(parse(text)),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/gs

/**
 * Spells names without escapes, where that can be: V8 may take one with an escape for another that a text before this
 * one had in the same place. A string alone it reads right.
 */
function withPlainNames(text: string): string {
  return text.replaceAll(STRING, (spelled, at: number) =>
    /^\s*:/.test(text.slice(at + spelled.length)) ? JSON.stringify(nameOf(spelled)) : spelled,
  )
}

const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/gs

function outline(text: string): Pick<Reading, 'names' | 'depth' | 'hasPlainNames'> {
  const names: string[] = []
  let level = 0
  let depth = 0
  let hasPlainNames = true
  let previous = ''
  for (const [token] of text.matchAll(JSON_TOKENS)) {
    if (token === '{' || token === '[') level++
    if (token === '}' || token === ']') level--
    if (token === ':') {
      const name = nameOf(previous)
      if (level === 1) names.push(name)
      if (JSON.stringify(name) !== `"${name}"`) hasPlainNames = false
    }
    depth = Math.max(depth, level)
    previous = token
  }
  return { names, depth, hasPlainNames }
}

/** As spelled, if it is no JSON. */
function nameOf(spelled: string): string {
  const name = parse(spelled)
  return typeof name === 'string' ? name : spelled
}

interface Proof {
  readonly alg: unknown
  /** Where it chooses a key. */
  readonly kid: unknown
  readonly input: Buffer
  readonly signature: Buffer
}

/** @see RFC 7517 sections 4.2 to 4.5 */
function permits(
  { use, key_ops: operations, alg, kid }: JsonObject,
  proof: Pick<Proof, 'alg' | 'kid'>,
): boolean {
  return (
    isAbsentOr(use, 'sig') &&
    (operations === undefined || operations === null || areToVerify(operations)) &&
    (isAbsentOr(alg, proof.alg) || areEdwards(alg, proof.alg)) &&
    ([kid, proof.kid].some((each) => typeof each !== 'string') || kid === proof.kid)
  )
}

/** Two names of one algorithm (RFC 9864 section 2.2). */
function areEdwards(...names: readonly unknown[]): boolean {
  return names.every((each) => each === 'EdDSA' || each === 'Ed25519')
}

/** Different texts (RFC 7517 section 4.3), `verify` among them. */
function areToVerify(operations: unknown): boolean {
  return (
    Array.isArray(operations) &&
    operations.includes('verify') &&
    operations.every((each, at) => typeof each === 'string' && operations.indexOf(each) === at)
  )
}

function isAbsentOr(value: unknown, wanted: unknown): boolean {
  return value === undefined || value === null || value === wanted
}

function isProvenBy(jwk: JsonObject, { alg, input, signature }: Proof): boolean {
  const bits = Number(String(alg).slice(2))
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: bits / 8 }
  try {
    const key = createPublicKey({ key: publicMembers(jwk), format: 'jwk' })
    return verify(
      jwk['kty'] === 'OKP' ? null : `sha${bits}`,
      input,
      { key, dsaEncoding: 'ieee-p1363', ...(String(alg).startsWith('PS') ? pss : {}) },
      signature,
    )
  } catch {
    return false
  }
}

/** Whether somebody who has no list takes a key for an algorithm, whatever its `kid` and whoever has its private half. */
export function isKeyFor(jwk: Jwk, alg: unknown): boolean {
  const { kty, crv, alg: stated } = jwk
  const isSilentRsa = kty === 'RSA' && isAbsentOr(stated, undefined)
  return (
    (!isSilentRsa || alg === 'RS512') &&
    kindsOf(alg).includes(kty === 'RSA' ? kty : crv) &&
    permits(jwk, { kid: undefined, alg }) &&
    isImportable(jwk)
  )
}

/** `kty` or `crv`. */
function kindsOf(alg: unknown): readonly unknown[] {
  const name = String(alg)
  if (/^[RP]S/.test(name)) return ['RSA']
  return name.startsWith('Ed') ? ['Ed25519'] : [`P-${name === 'ES512' ? 521 : name.slice(2)}`]
}

function isImportable(jwk: Jwk): boolean {
  try {
    const { modulusLength = 2048 } =
      createPublicKey({ key: publicMembers(jwk), format: 'jwk' }).asymmetricKeyDetails ?? {}
    return modulusLength >= 2048
  } catch {
    return false
  }
}

/** The numbers made a text, whatever they are, as Web Crypto does. */
function publicMembers({ kty, crv, ...members }: JsonObject): JsonWebKey {
  const names = ['n', 'e', 'x', 'y'].filter((name) => Object.hasOwn(members, name))
  return {
    ...(typeof kty === 'string' ? { kty } : {}),
    ...(typeof crv === 'string' ? { crv } : {}),
    ...Object.fromEntries(names.map((name) => [name, String(members[name])])),
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
