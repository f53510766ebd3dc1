import { createHash, randomUUID } from 'node:crypto'

import { calculateJwkThumbprint } from 'jose'

import { claims, createSigner, KID, type Signer } from './inputs.ts'
import type { SignatureKind } from './signature-kinds.ts'

/** Where the clients of benches find the API, wherever it listens. */
export const ORIGIN = 'https://api.test'

/** A client that has a token which is bound to its key. */
export interface BoundClient {
  readonly token: string
  readonly jwk: Signer['jwk']
  /** A new proof for `GET /`, each time. It is good for a minute. */
  proof(): string
}

/** @param kind How proofs are signed. The token is signed as the issuer does. */
export async function createBoundClient(
  issuer: Signer,
  index: number,
  kind: SignatureKind,
): Promise<BoundClient> {
  const signer = createSigner(kind)
  const { jwk } = signer
  const { kid: _, alg, use: _use, ...material } = jwk
  const cnf = { jkt: await calculateJwkThumbprint(material) }
  const tokenHeader = JSON.stringify({ alg: issuer.jwk.alg, typ: 'JWT', kid: KID })
  const token = issuer.sign(tokenHeader, JSON.stringify({ ...claims(index), cnf }))
  const ath = createHash('sha256').update(token).digest('base64url')
  const header = JSON.stringify({ typ: 'dpop+jwt', alg, jwk: material })
  return {
    token,
    jwk,
    proof() {
      const iat = Math.floor(Date.now() / 1000)
      const said = { jti: randomUUID(), htm: 'GET', htu: `${ORIGIN}/`, iat, ath }
      return signer.sign(header, JSON.stringify(said))
    },
  }
}

export function headersOf(client: BoundClient): Readonly<Record<string, string>> {
  return { authorization: `DPoP ${client.token}`, dpop: client.proof() }
}
