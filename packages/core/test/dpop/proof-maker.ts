import {
  constants,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto'

import { calculateJwkThumbprint } from 'jose'

import type { Algorithm } from '../../src/algorithms/algorithms.ts'
import type { PresentedProof } from '../../src/dpop/proof-check.ts'

// Proofs as a client would make them, or an attacker. Nothing of the product is used.

export const ORIGIN = 'https://api.example.com'
export const TOKEN = 'header.payload.signature'
/** When proofs are made, unless a test says something else. */
export const NOW = 1_795_341_600

export type Members = Readonly<Record<string, unknown>>

/** What is to be different about a proof. `undefined` leaves a member out. */
export interface Draft {
  readonly header?: Members
  readonly claims?: Members
  /** In place of any members. */
  readonly headerText?: string
  readonly payloadText?: string | Buffer
}

export interface ProofMaker {
  readonly alg: string
  readonly jwk: JsonWebKey
  readonly privateJwk: JsonWebKey
  readonly jkt: string
  proof(draft?: Draft): string
}

export async function createProofMaker(
  alg: string,
  privateKey: KeyObject = keyFor(alg),
): Promise<ProofMaker> {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' })
  let count = 0
  return {
    alg,
    jwk,
    privateJwk: privateKey.export({ format: 'jwk' }),
    jkt: await calculateJwkThumbprint(jwk),
    proof({ header, claims, headerText, payloadText } = {}) {
      const usualHeader = { typ: 'dpop+jwt', alg, jwk, ...header }
      const usualClaims = { jti: `jti-${count++}`, ...REQUEST_CLAIMS, ...claims }
      const input = [
        headerText ?? JSON.stringify(usualHeader),
        payloadText ?? JSON.stringify(usualClaims),
      ]
        .map(encode)
        .join('.')
      return `${input}.${encode(signatureOf(alg, input, privateKey))}`
    },
  }
}

const REQUEST_CLAIMS = {
  htm: 'GET',
  htu: `${ORIGIN}/a`,
  iat: NOW,
  ath: createHash('sha256').update(TOKEN).digest('base64url'),
}

/** The request that proofs are for. */
export function requestWith(proof: unknown, more: Partial<PresentedProof> = {}): PresentedProof {
  return { proof, method: 'GET', target: '/a', token: TOKEN, ...more }
}

export function encode(octets: string | Buffer): string {
  return Buffer.from(octets).toString('base64url')
}

const CURVES: Readonly<Record<Extract<Algorithm, `ES${string}`>, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
}

function keyFor(alg: string): KeyObject {
  for (const [name, namedCurve] of Object.entries(CURVES)) {
    if (name === alg) return generateKeyPairSync('ec', { namedCurve }).privateKey
  }
  if (alg.startsWith('Ed')) return generateKeyPairSync('ed25519').privateKey
  if (/^[RP]S/.test(alg)) return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  throw new TypeError(`proof-maker.ts makes no key for ${alg}`)
}

function signatureOf(alg: string, input: string, key: KeyObject): Buffer {
  const hash = key.asymmetricKeyType === 'ed25519' ? null : `sha${alg.slice(2)}`
  const saltLength = Number(alg.slice(2)) / 8
  const padding = alg.startsWith('PS')
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
    : {}
  return sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363', ...padding })
}
