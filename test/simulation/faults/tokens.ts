import {
  constants,
  createHash,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
} from 'node:crypto'

import { createTestIssuer, manualClock, type TestIssuer } from '@portcullis/testing'

/** The moment at which every test begins; its tokens outlive it. */
const start = manualClock()
const LIFETIME = 86_400

const [oldIssuer, newIssuer, stranger] = await Promise.all([newKey(), newKey(), newKey()])

export { newIssuer, oldIssuer, stranger }
export const oldJwk: JsonWebKey = oldIssuer.publicJwk
export const newJwk: JsonWebKey = newIssuer.publicJwk

async function newKey(): Promise<TestIssuer> {
  return await createTestIssuer({ clock: start, lifetime: LIFETIME })
}

/** A token that no other equals, with the issuer's own `kid`, another, or `null` for none. */
export async function tokenOf(
  issuer: TestIssuer,
  kid: string | null | undefined = issuer.publicJwk.kid,
): Promise<string> {
  return await issuer.token({
    claims: { jti: randomUUID() },
    ...(kid === null ? { omit: ['kid'] } : { header: { kid } }),
  })
}

export const oldToken = async () => await tokenOf(oldIssuer)
export const newToken = async () => await tokenOf(newIssuer)
/** A stranger's, in the name of the old key. */
export const forgedToken = async () => await tokenOf(stranger, oldIssuer.publicJwk.kid)

/** A key of any size, quickly: nobody knows its private part. */
export function rsaJwk(bits: number, e = 'AQAB'): JsonWebKey {
  const n = randomBytes(bits / 8)
  n.writeUInt8(n.readUInt8(0) | 0x80, 0)
  n.writeUInt8(n.readUInt8(n.length - 1) | 1, n.length - 1)
  return { kty: 'RSA', n: n.toString('base64url'), e, kid: `${bits} bits, e ${e}`, alg: 'RS512' }
}

/** A key pair of any size, both halves in one JWK, and a token that it signed. */
export function keyPair(bits: number): { privateJwk: JsonWebKey; token: string } {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const privateJwk = { ...privateKey.export({ format: 'jwk' }), kid: `a pair of ${bits} bits` }
  return { privateJwk, token: signed(privateKey, privateJwk.kid) }
}

function signed(key: KeyObject, kid: string): string {
  const input = signingInput(kid)
  const signature = sign('sha512', Buffer.from(input), {
    key,
    padding: constants.RSA_PKCS1_PADDING,
  })
  return `${input}.${signature.toString('base64url')}`
}

/**
 * What anybody can sign for a key with e = 1: the padded digest is its own signature.
 *
 * @see RFC 8017 section 9.2
 */
export function tokenWithExponentOne({ n = '', kid }: JsonWebKey): string {
  const input = signingInput(String(kid))
  const digestInfo = Buffer.concat([
    Buffer.from('3051300d060960864801650304020305000440', 'hex'),
    createHash('sha512').update(input).digest(),
  ])
  const padding = Buffer.alloc(Buffer.from(n, 'base64url').length - digestInfo.length - 3, 0xff)
  const signature = Buffer.concat([Buffer.of(0, 1), padding, Buffer.of(0), digestInfo])
  return `${input}.${signature.toString('base64url')}`
}

function signingInput(kid: string): string {
  const claims = { jti: randomUUID(), exp: start.now() + LIFETIME }
  return [{ alg: 'RS512', kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
}

/** @see RFC 7638 section 3 */
export function thumbprintOf({ kty, n, e }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url')
}
