import type { Algorithm } from '@portcullis/core'
import { checkOptions, isClock, isText, mustBe, oneOf } from '@portcullis/kit/options'
import type { JWK } from 'jose'

import type { Clock } from './clock.ts'
import type { PrivateKeys } from './keys/private-keys.ts'
import { OPTIONAL_MEMBERS, type OptionalMember, optionalMembersOf } from './keys/signing-key.ts'
import { isCount, isDuration, isObject, isSeconds, isTextOrTexts, listOf } from './options.ts'

// The options of `createTestIssuer`: their types and checks.

export interface TestIssuerOptions {
  /** The clock of the issuer, its services, and the verifiers and clients that use its options. By default the system's. */
  clock?: Clock | undefined
  /** The claim `iss`. Left out by default, since the service documents none. */
  issuer?: string | undefined
  /** The claim `aud`. Left out by default. */
  audience?: string | readonly string[] | undefined
  /**
   * The algorithm of the signatures. ML-DSA needs a platform whose WebCrypto has it, such as Node 24.7 or later.
   * @default 'RS512'
   */
  algorithm?: Algorithm | undefined
  /**
   * How long tokens are valid: seconds from `iat` to `exp`.
   * @default 300
   */
  lifetime?: number | undefined
  /**
   * The `typ` in the header, such as `at+jwt`, which its verifiers then require. By default `JWT`, which they do not require.
   * Of a list its tokens have the first, and its verifiers accept each.
   */
  type?: string | readonly string[] | undefined
  /** How long after `iat` its verifiers accept a token, in seconds. By default until it expires. */
  maxTokenAge?: number | undefined
  /**
   * Members that its public keys do not have, since the service documents none of `kid`, `alg` and `use`. Without `kid` the
   * tokens have none either. A key of ML-DSA has to have its `alg`.
   * @default []
   */
  omitFromKey?: readonly ('kid' | 'alg' | 'use')[] | undefined
  /**
   * The private key to start with, as PEM or as a JWK, whose `kid` is kept. Or what `privateKeys()` returned in an earlier
   * run. By default a new key.
   */
  key?: string | Readonly<JWK> | PrivateKeys | undefined
  /**
   * How many requests `requests()` remembers; the newest are kept.
   * @default 10_000
   */
  maxRequests?: number | undefined
}

/** What a key of this package can sign with. */
export const ALGORITHMS: readonly Algorithm[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'ML-DSA-44',
  'ML-DSA-65',
  'ML-DSA-87',
]

/** @throws TypeError for a wrong or misspelt option. */
export function checkIssuerOptions(options: TestIssuerOptions): void {
  checkOptions('createTestIssuer', options, {
    clock: isClock,
    issuer: isText,
    audience: isTextOrTexts,
    type: isTextOrTexts,
    algorithm: oneOf(...ALGORITHMS),
    lifetime: isSeconds,
    maxTokenAge: isDuration,
    omitFromKey: listOf(...OPTIONAL_MEMBERS),
    maxRequests: isCount,
    key: mustBe(
      'PEM, a JWK, or what privateKeys() returned',
      (value) => isText(value) === undefined || isObject(value) === undefined,
    ),
  })
  const { algorithm = 'RS512', omitFromKey = [] } = options
  const isNeeded = (member: OptionalMember) => !optionalMembersOf(algorithm).includes(member)
  if (omitFromKey.some(isNeeded)) {
    throw new TypeError(
      `createTestIssuer: omitFromKey must not have alg with algorithm ${JSON.stringify(algorithm)}, whose keys have to say what they are for`,
    )
  }
}
