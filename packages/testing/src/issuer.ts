import {
  calculateJwkThumbprint,
  CompactSign,
  type CompactJWSHeaderParameters,
  exportJWK,
  generateKeyPair,
  type JWK,
} from 'jose'

export interface TestIssuerOptions {
  /** Where `iat` and `exp` come from. */
  clock?: { now(): number } | undefined
  /** The claim `iss`. Left out by default, since the service documents none. */
  issuer?: string | undefined
  /** The claim `aud`. Left out by default. */
  audience?: string | readonly string[] | undefined
  /**
   * A signature algorithm of RFC 7518 or RFC 8037.
   * @default 'RS512'
   */
  algorithm?: string | undefined
  /**
   * Seconds from `iat` to `exp`.
   * @default 300
   */
  lifetime?: number | undefined
}

export interface TokenOptions {
  /** Claims to add, or to put in place of the usual ones. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /** Seconds from now to `exp`; negative for a token that has expired. */
  expiresIn?: number | undefined
  /** Seconds from now to `nbf`. */
  notBefore?: number | undefined
  /** Header members to add, or to put in place of the usual ones. */
  header?: Readonly<Record<string, unknown>> | undefined
  /** Claims and header members to leave out. */
  omit?: readonly string[] | undefined
  /** The text to sign in place of any claims, for a payload that is not what it should be. */
  payload?: string | undefined
}

/** An issuer with a key pair of its own. */
export interface TestIssuer {
  /** The public key as the service publishes it: one bare JSON Web Key. */
  readonly publicJwk: Readonly<JWK>
  /** Seconds from `iat` to `exp` in its tokens. */
  readonly lifetime: number
  /** Signs a token. */
  token(options?: TokenOptions): Promise<string>
  /** The header that carries a token, for supertest, inject and fetch. */
  bearer(options?: TokenOptions): Promise<{ authorization: string }>
}

/**
 * Creates an issuer with a fresh key. It signs any claims, sound or not, with its own algorithm alone: for tests.
 */
export async function createTestIssuer({
  clock = { now: () => Date.now() / 1000 },
  issuer,
  audience,
  algorithm = 'RS512',
  lifetime = 300,
}: TestIssuerOptions = {}): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { modulusLength: 2048 })
  const material = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(material)
  const publicJwk: JWK = { ...material, kid, alg: algorithm, use: 'sig' }

  async function token(options: TokenOptions = {}): Promise<string> {
    const { claims, expiresIn = lifetime, notBefore, header, omit = [] } = options
    const now = Math.floor(clock.now())
    const usual = {
      ...(issuer === undefined ? {} : { iss: issuer }),
      ...(audience === undefined ? {} : { aud: audience }),
      iat: now,
      exp: now + expiresIn,
      ...(notBefore === undefined ? {} : { nbf: now + notBefore }),
    }
    const { payload = JSON.stringify(without({ ...usual, ...claims }, omit)) } = options
    const protectedHeader = { alg: algorithm, kid, typ: 'JWT', ...header }
    return await new CompactSign(new TextEncoder().encode(payload))
      // jose checks at run time what this type says
      .setProtectedHeader(without(protectedHeader, omit) as unknown as CompactJWSHeaderParameters)
      .sign(privateKey)
  }

  return {
    publicJwk,
    lifetime,
    token,
    bearer: async (options) => ({ authorization: `Bearer ${await token(options)}` }),
  }
}

function without(
  members: Readonly<Record<string, unknown>>,
  omit: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !omit.includes(name)))
}
