import { hash, type webcrypto, X509Certificate } from 'node:crypto'
import { types } from 'node:util'

import { isJsonObject } from '@portcullis/kit/json'
import { isText, type OptionCheck } from '@portcullis/kit/options'
import { type ClientAuth, modifyAssertion, PrivateKeyJwt } from 'oauth4webapi'

// The private key of this API, and the assertions that it signs: as in `createOAuthClient`.

/** The private key that this API signs its assertions with (RFC 7523). */
export interface ClientKey {
  /** Its algorithm is that of the assertions, such as `{ name: 'ECDSA', namedCurve: 'P-256' }` for ES256. */
  readonly key: webcrypto.CryptoKey
  /** By which the issuer finds the public key, if it has several. */
  readonly kid?: string | undefined
  /**
   * The certificate of this key, as PEM, for issuers that know keys by certificates: its thumbprints are in the header of the
   * assertions.
   * @see RFC 7515 sections 4.1.7 and 4.1.8
   */
  readonly certificate?: string | undefined
}

export const isClientKey: OptionCheck = (value) => {
  const { key, kid, certificate, ...others }: Readonly<Record<string, unknown>> = isJsonObject(
    value,
  )
    ? value
    : {}
  const isName = kid === undefined || isText(kid) === undefined
  const isKnown = certificate === undefined || isCertificate(certificate)
  return types.isCryptoKey(key) &&
    isAssertionKey(key) &&
    isName &&
    isKnown &&
    Object.keys(others).length === 0
    ? undefined
    : 'must be { key, kid?, certificate? }, with a private CryptoKey that signs by ECDSA, Ed25519, ML-DSA, or RSA with 2048 bits and SHA-256 or more, and a certificate as PEM'
}

const CURVES: ReadonlySet<unknown> = new Set(['P-256', 'P-384', 'P-521'])
const HASHES: ReadonlySet<unknown> = new Set(['SHA-256', 'SHA-384', 'SHA-512'])

/** Whether assertions can be signed with it. RFC 7518 section 3.1; RFC 8037; RFC 9964 */
function isAssertionKey({ type, usages, algorithm }: webcrypto.CryptoKey): boolean {
  const {
    name,
    namedCurve,
    hash: digest,
    modulusLength,
  }: Readonly<Record<string, unknown>> = {
    ...algorithm,
  }
  if (type !== 'private' || !usages.includes('sign')) return false
  if (name === 'ECDSA') return CURVES.has(namedCurve)
  if (name === 'RSA-PSS' || name === 'RSASSA-PKCS1-v1_5') {
    return Number(modulusLength) >= 2048 && HASHES.has(Reflect.get(Object(digest), 'name'))
  }
  return /^(?:Ed25519|ML-DSA-(?:44|65|87))$/.test(String(name))
}

function isCertificate(value: unknown): boolean {
  try {
    return typeof value === 'string' && new X509Certificate(value).raw.length > 0
  } catch {
    return false
  }
}

/** How long an assertion can be used. Seconds. */
const ASSERTION_LIFETIME = 60

/**
 * An assertion that is signed for each request.
 *
 * @param now Seconds since 1970-01-01T00:00:00Z.
 * @see RFC 7523 section 3
 */
export function signedAssertion(
  { key, kid, certificate }: ClientKey,
  now: () => number,
): ClientAuth {
  return PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
    [modifyAssertion](header, payload) {
      const iat = Math.floor(now())
      // An issuer whose clock is a little behind would refuse it.
      delete payload['nbf']
      Object.assign(payload, { iat, exp: iat + ASSERTION_LIFETIME })
      if (certificate !== undefined) Object.assign(header, thumbprintsOf(certificate))
    },
  })
}

/** RFC 7515 sections 4.1.7 and 4.1.8 */
function thumbprintsOf(certificate: string): object {
  const { raw } = new X509Certificate(certificate)
  return { x5t: hash('sha1', raw, 'base64url'), 'x5t#S256': hash('sha256', raw, 'base64url') }
}
