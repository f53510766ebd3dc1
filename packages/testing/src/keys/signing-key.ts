import type { Algorithm } from '@portcullis/core'
import {
  calculateJwkThumbprint,
  CompactSign,
  type CompactJWSHeaderParameters,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type GenerateKeyPairResult,
  importJWK,
  type JWK,
} from 'jose'

import { octetsOf } from '../octets.ts'
import { isMlDsa } from './ml-dsa.ts'

// A key pair as an issuer uses it: signs anything, and shows its public half as issuers publish it.

/** Members of a JWK that are optional (RFC 7517 section 4). */
export const OPTIONAL_MEMBERS = ['kid', 'alg', 'use'] as const
export type OptionalMember = (typeof OPTIONAL_MEMBERS)[number]

/** Those that a key for an algorithm can do without: one of ML-DSA has to say what it is for. RFC 9964 section 3. */
export function optionalMembersOf(algorithm: Algorithm): readonly OptionalMember[] {
  return OPTIONAL_MEMBERS.filter((member) => member !== 'alg' || !isMlDsa(algorithm))
}

export interface SigningKey {
  readonly algorithm: Algorithm
  /** RFC 7638, whatever the `kid`. */
  readonly thumbprint: string
  /** As a service publishes it. Without a `kid` if the key has none. */
  readonly publicJwk: Readonly<JWK>
  publicPem(): Promise<string>
  privateJwk(): Promise<JWK>
  /** @param header It may name another algorithm that fits the key, and extensions in `crit`. */
  sign(header: Readonly<Record<string, unknown>>, payload: Uint8Array): Promise<string>
}

export type KeyPair = GenerateKeyPairResult

/** @param omit Members that the public key does not have. @param kid By default the thumbprint; `null` for none. */
export async function createSigningKey(
  algorithm: Algorithm,
  omit: readonly OptionalMember[] = [],
  kid?: string | null,
  given?: KeyPair,
): Promise<SigningKey> {
  const pair =
    given ?? (await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true }))
  const material = await exportJWK(pair.publicKey)
  const thumbprint = await calculateJwkThumbprint(material)
  const name = kid === undefined ? thumbprint : kid
  const publicJwk: JWK = {
    ...material,
    ...(name === null ? {} : { kid: name }),
    alg: algorithm,
    use: 'sig',
  }
  for (const member of omit) delete publicJwk[member]

  async function sign(
    header: Readonly<Record<string, unknown>>,
    payload: Uint8Array,
  ): Promise<string> {
    const { alg, crit } = header
    const key =
      alg === algorithm || typeof alg !== 'string'
        ? pair.privateKey
        : await importJWK(await exportJWK(pair.privateKey), alg)
    const extensions = Array.isArray(crit) ? crit.map((each: unknown) => [each, true]) : []
    return await new CompactSign(octetsOf(payload))
      // jose checks at run time that it has the members of this type.
      .setProtectedHeader(header as unknown as CompactJWSHeaderParameters)
      .sign(key, { crit: Object.fromEntries(extensions) as Record<string, boolean> })
  }

  return {
    algorithm,
    thumbprint,
    publicJwk,
    publicPem: async () => await exportSPKI(pair.publicKey),
    async privateJwk() {
      const named = name === null ? {} : { kid: name }
      return { ...(await exportJWK(pair.privateKey)), ...named, alg: algorithm }
    },
    sign,
  }
}
