import type { Algorithm } from '@portcullis/core'
import {
  calculateJwkThumbprint,
  CompactSign,
  type CompactJWSHeaderParameters,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose'

/** Members of a JWK that are optional (RFC 7517 section 4). */
export const OPTIONAL_MEMBERS = ['kid', 'alg', 'use'] as const
export type OptionalMember = (typeof OPTIONAL_MEMBERS)[number]

/** A key pair that signs any header and payload. */
export interface SigningKey {
  readonly algorithm: Algorithm
  /** As a service publishes it. Without a `kid` if the key has none. */
  readonly publicJwk: Readonly<JWK>
  /** The same as PEM (SubjectPublicKeyInfo). */
  publicPem(): Promise<string>
  /**
   * Signs octets. The header may name another algorithm that fits the key, and extensions in `crit`.
   *
   * @returns Compact JWS.
   */
  sign(header: Readonly<Record<string, unknown>>, payload: Uint8Array): Promise<string>
}

/**
 * @param omit Members that the public key does not have.
 * @param kid By default the key's RFC 7638 thumbprint; `null` for none.
 */
export async function createSigningKey(
  algorithm: Algorithm,
  omit: readonly OptionalMember[] = [],
  kid?: string | null,
): Promise<SigningKey> {
  const pair = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true })
  const material = await exportJWK(pair.publicKey)
  const name = kid === undefined ? await calculateJwkThumbprint(material) : kid
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
    return await new CompactSign(payload)
      // jose checks at run time that it has the members of this type.
      .setProtectedHeader(header as unknown as CompactJWSHeaderParameters)
      .sign(key, { crit: Object.fromEntries(extensions) as Record<string, boolean> })
  }

  return { algorithm, publicJwk, publicPem: async () => await exportSPKI(pair.publicKey), sign }
}
