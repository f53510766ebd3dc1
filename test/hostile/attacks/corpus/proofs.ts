import { createHash, createHmac, type JsonWebKey, type KeyObject } from 'node:crypto'

import type { Algorithm, AuthErrorReason } from '@portcullis/core'

import { otherUrls, sameUrls, SMALL_ORDER } from './proof-parts.ts'
import {
  encode,
  keyFor,
  type KeyPair,
  signatureOf,
  type TokenMaker,
  withSignature,
} from './token-maker.ts'

/** The request that the proofs are for. */
export interface ProvenRequest {
  /** Without query and fragment. */
  readonly url: string
  readonly method: string
  readonly token: string
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly now: number
}

/** One value of the header `DPoP`, hostile or only unusual, and what decides about it. */
export interface ProofRow {
  /** Unique. */
  readonly name: string
  /** The sections and advisories that decide, apart by "; ". */
  readonly source: string
  readonly verdict: 'accepted' | AuthErrorReason
  readonly proof: string
  /** The key that the proof shows. */
  readonly key: KeyPair
}

type Members = Readonly<Record<string, unknown>>

interface Draft {
  readonly header?: Members
  readonly claims?: Members
  readonly headerText?: string
  readonly payloadText?: string
  readonly alg?: Algorithm
  readonly by?: KeyPair
}

interface Workshop {
  readonly maker: TokenMaker
  readonly usualHeader: Members
  readonly usualClaims: Members
  readonly row: (
    verdict: ProofRow['verdict'],
    name: string,
    source: string,
    draft: Draft,
  ) => ProofRow
}

/** Every class of hostile proof: each member wrong, missing, doubled and of another type; keys; algorithms; sizes; URLs. */
export function proofs(maker: TokenMaker, request: ProvenRequest): readonly ProofRow[] {
  const workshop = createWorkshop(maker, request)
  return [
    ...members(workshop),
    ...privateKeys(workshop),
    ...weakKeys(workshop),
    ...algorithms(workshop),
    ...sizes(workshop),
    ...urls(workshop, request),
    ...good(workshop, request),
  ]
}

function createWorkshop(maker: TokenMaker, { url, method, token, now }: ProvenRequest): Workshop {
  const { p256 } = maker.stranger
  const usualHeader = { typ: 'dpop+jwt', alg: 'ES256', jwk: bare(p256.jwk) }
  const ath = createHash('sha256').update(token).digest('base64url')
  const usualClaims = { htm: method, htu: url, iat: now, ath }
  let count = 0
  return {
    maker,
    usualHeader,
    usualClaims,
    row(verdict, name, source, draft) {
      const { alg = 'ES256', by = keyFor(maker.stranger, alg) } = draft
      const header = { ...usualHeader, alg, jwk: bare(by.jwk), ...draft.header }
      const claims = { jti: `corpus ${count++}`, ...usualClaims, ...draft.claims }
      const parts = [
        draft.headerText ?? JSON.stringify(header),
        draft.payloadText ?? JSON.stringify(claims),
      ]
      const input = parts.map(encode).join('.')
      const proof = withSignature(input, signatureOf(Buffer.from(input), alg, by.privateKey))
      return { name: `a proof ${name}`, source, verdict, proof, key: by }
    },
  }
}

/** As clients write it. */
function bare(jwk: KeyPair['jwk']): JsonWebKey {
  return { ...jwk, kid: undefined }
}

const OTHERS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e300,
  '',
  ' ',
  [],
  {},
  [[]],
  { a: 1 },
]

/** What decides about each member, wherever it is not what it should be. */
const HEADER: readonly (readonly [name: string, verdict: AuthErrorReason])[] = [
  ['typ', 'malformed_proof'],
  ['alg', 'proof_algorithm'],
  ['jwk', 'proof_key'],
]
const CLAIMS: readonly (readonly [name: string, verdict: AuthErrorReason])[] = [
  ['jti', 'malformed_proof'],
  ['htm', 'proof_method'],
  ['htu', 'proof_url'],
  ['iat', 'proof_time'],
  ['ath', 'proof_token'],
]

function members(workshop: Workshop): readonly ProofRow[] {
  return [
    ...HEADER.flatMap(([name, verdict]) => ofHeader(workshop, name, verdict)),
    ...CLAIMS.flatMap(([name, verdict]) => ofClaims(workshop, name, verdict)),
    ...['kty', 'crv', 'x', 'y'].flatMap((name) => ofKey(workshop, name)),
  ]
}

function ofHeader(
  { usualHeader, row }: Workshop,
  name: string,
  verdict: AuthErrorReason,
): readonly ProofRow[] {
  const source = 'RFC 9449 section 4.3'
  const usual = usualHeader[name]
  return [
    row(verdict, `without ${name}`, source, { header: { [name]: undefined } }),
    row(verdict, `whose ${name} is in a list`, source, { header: { [name]: [usual] } }),
    row('malformed_proof', `with ${name} twice`, 'RFC 7515 section 4', {
      headerText: doubled(JSON.stringify(usualHeader), name, usual),
    }),
    ...OTHERS.map((value) =>
      row(verdict, `whose ${name} is ${JSON.stringify(value)}`, source, {
        header: { [name]: value },
      }),
    ),
  ]
}

function ofClaims(
  { usualClaims, row }: Workshop,
  name: string,
  verdict: AuthErrorReason,
): readonly ProofRow[] {
  const source = 'RFC 9449 section 4.3'
  const claims: Members = { jti: `${name} twice`, ...usualClaims }
  const usual = claims[name]
  return [
    row(verdict, `without ${name}`, source, { claims: { [name]: undefined } }),
    row(verdict, `whose ${name} is in a list`, source, { claims: { [name]: [usual] } }),
    row('malformed_proof', `with ${name} twice`, 'RFC 7519 section 4', {
      payloadText: doubled(JSON.stringify(claims), name, usual),
    }),
    ...valuesFor(name).map((value) =>
      row(verdict, `whose ${name} is ${JSON.stringify(value)}`, source, {
        claims: { [name]: value },
      }),
    ),
  ]
}

function ofKey({ usualHeader, row }: Workshop, name: string): readonly ProofRow[] {
  const jwk = usualHeader['jwk'] as Members
  const text = JSON.stringify(jwk)
  return [
    row('proof_key', `whose key lacks ${name}`, 'RFC 7518 section 6.2.1', {
      header: { jwk: { ...jwk, [name]: undefined } },
    }),
    row('malformed_proof', `whose key has ${name} twice`, 'RFC 7517 section 4', {
      headerText: JSON.stringify(usualHeader).replace(text, doubled(text, name, jwk[name])),
    }),
    ...OTHERS.map((other) =>
      row('proof_key', `whose key has ${JSON.stringify(other)} for ${name}`, 'RFC 7517 section 4', {
        header: { jwk: { ...jwk, [name]: other } },
      }),
    ),
  ]
}

/** An object with one more member at its end. */
function doubled(object: string, name: string, value: unknown): string {
  return `${object.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`
}

/** A `jti` may be any text that is not empty. */
function valuesFor(name: string): readonly unknown[] {
  return name === 'jti' ? OTHERS.filter((value) => value !== ' ') : OTHERS
}

const ALGORITHMS = ['ES256', 'RS256', 'PS256', 'Ed25519', 'EdDSA'] as const

/** @see RFC 9449 section 4.3, check 7 */
function privateKeys(workshop: Workshop): readonly ProofRow[] {
  return ALGORITHMS.flatMap((alg) => privateKeysOf(workshop, alg))
}

function privateKeysOf({ maker, row }: Workshop, alg: Algorithm): readonly ProofRow[] {
  const source = 'RFC 9449 section 4.3'
  const { jwk, privateKey } = keyFor(maker.stranger, alg)
  const whole = privateKey.export({ format: 'jwk' })
  const secrets = Object.keys(whole).filter((name) => !Object.hasOwn(jwk, name))
  const names = [...new Set([...secrets, 'd', 'oth', 'k', 'priv'])]
  const withMember = (name: string, value: unknown) => ({
    alg,
    header: { jwk: { ...bare(jwk), [name]: value } },
  })
  return [
    row('proof_key', `of ${alg} with its private key`, source, { alg, header: { jwk: whole } }),
    ...names.map((name) =>
      row(
        'proof_key',
        `of ${alg} with ${name} of a private key`,
        source,
        withMember(name, whole[name] ?? 'AA'),
      ),
    ),
    ...names.map((name) =>
      row('proof_key', `of ${alg} with ${name}, which is null`, source, withMember(name, null)),
    ),
  ]
}

function weakKeys({ maker, row }: Workshop): readonly ProofRow[] {
  const rsa = bare(maker.stranger.rsa.jwk)
  const n = Buffer.from(rsa.n ?? '', 'base64url')
  const { x = '', y = '' } = maker.stranger.p256.jwk
  const refused = (name: string, source: string, alg: Algorithm, jwk: object) =>
    row('proof_key', name, source, { alg, header: { jwk } })
  const flipped = Buffer.from(y, 'base64url')
  flipped.writeUInt8(flipped.readUInt8(31) ^ 1, 31)
  return [
    ...[0, 1, 2, 4].map((e) =>
      refused(`with an RSA key whose e is ${e}`, 'RFC 8017 section 3.1', 'RS256', {
        ...rsa,
        e: encode(Buffer.from([e])),
      }),
    ),
    refused('with an RSA key of 1024 bits', 'RFC 7518 section 3.3', 'RS256', {
      ...rsa,
      n: encode(Buffer.alloc(128, 0xff)),
    }),
    refused('with an RSA key of 16384 bits', 'CWE-400', 'RS256', {
      ...rsa,
      n: encode(Buffer.alloc(2048, 0xff)),
    }),
    refused('with an even modulus', 'RFC 8017 section 3.1', 'RS256', {
      ...rsa,
      n: encode(Buffer.concat([n.subarray(0, -1), Buffer.from([0xfe])])),
    }),
    refused('with a modulus behind a zero', 'RFC 7518 section 6.3.1.1', 'RS256', {
      ...rsa,
      n: encode(Buffer.concat([Buffer.alloc(1), n])),
    }),
    refused('with a point off its curve', 'SP 800-186 section 3.2', 'ES256', {
      ...bare(maker.stranger.p256.jwk),
      y: encode(flipped),
    }),
    refused('with the point of zeros', 'SP 800-186 section 3.2', 'ES256', {
      ...bare(maker.stranger.p256.jwk),
      x: encode(Buffer.alloc(32)),
      y: encode(Buffer.alloc(32)),
    }),
    refused('with swapped coordinates', 'SP 800-186 section 3.2', 'ES256', {
      ...bare(maker.stranger.p256.jwk),
      x: y,
      y: x,
    }),
    ...SMALL_ORDER.map((point) =>
      refused(`with the point ${point} of small order`, 'RFC 8032 section 5.1.3', 'Ed25519', {
        kty: 'OKP',
        crv: 'Ed25519',
        x: encode(Buffer.from(point, 'hex')),
      }),
    ),
  ]
}

/** Each pair of algorithms: what the header says, and what the key is for. */
function algorithms({ maker, usualHeader, usualClaims, row }: Workshop): readonly ProofRow[] {
  const confused = ALGORITHMS.flatMap((said) =>
    ALGORITHMS.filter((made) => keyFor(maker.stranger, made) !== keyFor(maker.stranger, said)).map(
      (made) =>
        row('proof_key', `made with a key for ${made} that says ${said}`, 'RFC 8725 section 3.1', {
          alg: made,
          header: { alg: said },
        }),
    ),
  )
  const names = [
    'none',
    'None',
    'NONE',
    'HS256',
    'HS512',
    'RS1',
    'ES256K',
    'es256',
    'dir',
    'A128KW',
  ]
  const { p256 } = maker.stranger
  const header = { ...usualHeader, alg: 'HS256' }
  const input = [header, { jti: 'a MAC', ...usualClaims }]
    .map((part) => encode(JSON.stringify(part)))
    .join('.')
  const secrets: readonly (readonly [string, string | KeyObject])[] = [
    ['its own key', JSON.stringify(usualHeader['jwk'])],
    ['nothing', ''],
  ]
  return [
    ...confused,
    row('proof_signature', 'of RS256 that says PS256', 'RFC 8725 section 3.1', {
      alg: 'RS256',
      header: { alg: 'PS256' },
    }),
    row('proof_signature', 'of PS256 that says RS256', 'RFC 8725 section 3.1', {
      alg: 'PS256',
      header: { alg: 'RS256' },
    }),
    ...names.map((alg) =>
      row('proof_algorithm', `whose algorithm is ${alg}`, 'RFC 9449 section 4.3', {
        header: { alg },
      }),
    ),
    ...secrets.map(([name, secret]): ProofRow => ({
      name: `a MAC with ${name} for a proof`,
      source: 'RFC 9449 section 4.3; CVE-2015-9235',
      verdict: 'proof_algorithm',
      proof: withSignature(input, createHmac('sha256', secret).update(input).digest()),
      key: p256,
    })),
    row('proof_signature', 'whose key is that of the issuer', 'RFC 9449 section 4.3', {
      header: { jwk: bare(maker.issuer.p256.jwk) },
    }),
    row('proof_key', 'with a place of its key instead of a key', 'RFC 9449 section 4.3', {
      header: { jwk: undefined, jku: maker.canary, x5u: maker.canary, kid: 'a' },
    }),
  ]
}

function sizes({ usualHeader, row }: Workshop): readonly ProofRow[] {
  const long = 'x'.repeat(9300)
  return [
    row('malformed_proof', 'with a huge header', 'CWE-400', { header: { x: long } }),
    row('malformed_proof', 'with a huge payload', 'CWE-400', { claims: { x: long } }),
    row('malformed_proof', 'with a long jti', 'RFC 9449 section 11.1', {
      claims: { jti: 'j'.repeat(257) },
    }),
    row('malformed_proof', 'of many levels', 'CWE-674', {
      headerText: `${JSON.stringify(usualHeader).slice(0, -1)},"a":${'['.repeat(60)}${']'.repeat(60)}}`,
    }),
    row('proof_url', 'with a long URL', 'CWE-400', {
      claims: { htu: `https://api.example/${'../'.repeat(2000)}` },
    }),
  ]
}

function urls({ row }: Workshop, { url }: ProvenRequest): readonly ProofRow[] {
  const source = 'RFC 3986 section 6.2.2'
  return [
    ...sameUrls(url).map((htu) => row('accepted', `for ${htu}`, source, { claims: { htu } })),
    ...otherUrls(url).map((htu) =>
      row('proof_url', `for ${JSON.stringify(htu)}`, source, { claims: { htu } }),
    ),
  ]
}

function good({ maker, row }: Workshop, { now }: ProvenRequest): readonly ProofRow[] {
  const source = 'RFC 9449 section 4.2'
  return [
    ...ALGORITHMS.map((alg) => row('accepted', `of ${alg}`, source, { alg })),
    row('accepted', 'with a typ in full', 'RFC 7515 section 4.1.9', {
      header: { typ: 'application/dpop+jwt' },
    }),
    row('accepted', 'with a typ in capital letters', 'RFC 7515 section 4.1.9', {
      header: { typ: 'DPOP+JWT' },
    }),
    row('accepted', 'with members that nobody knows', source, {
      header: { x: { y: 1 } },
      claims: { x: [1], constructor: 1 },
    }),
    row('accepted', 'made a minute ago', source, { claims: { iat: now - 60 } }),
    row('proof_time', 'made long ago', 'RFC 9449 section 11.1', { claims: { iat: now - 3600 } }),
    row('proof_time', 'made in the future', 'RFC 9449 section 11.1', {
      claims: { iat: now + 3600 },
    }),
    row('proof_signature', 'signed by another key', 'RFC 9449 section 4.3', {
      header: { jwk: bare(maker.issuer.p256.jwk) },
      claims: { x: 1 },
    }),
  ]
}
