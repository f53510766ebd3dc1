import { createHmac, createPublicKey, type JsonWebKey, timingSafeEqual } from 'node:crypto'

import { parseJson } from '@portcullis/kit/json'

import { entriesOf, headerMember, memberOf } from '../input/unread-json.ts'

// Recognises one attack, so that `explain` can name it: a MAC that is keyed with the public key.

/**
 * Whether the signature of a token is an HMAC keyed with one of the public keys of a document, in one of the spellings that
 * attacks use. This decides nothing: such a token is refused by its algorithm alone. It only names the attack.
 *
 * @see RFC 8725 section 2.1
 */
export function isKeyedWithPublicKey(token: string, document: string | undefined): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const hash = HASHES.get(headerMember(token, 'alg'))
  if (hash === undefined || document === undefined) return false
  const stated = Buffer.from(signature, 'base64url')
  return secretsOf(document).some((secret) => {
    const mac = createHmac(hash, secret).update(`${header}.${payload}`).digest()
    return mac.length === stated.length && timingSafeEqual(mac, stated)
  })
}

/** By what a header states, which may be of any type. */
const HASHES: ReadonlyMap<unknown, string> = new Map([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
])

/** A public key in the spellings that libraries are given, the document as it came among them. */
export function secretsOf(document: string): readonly (string | Buffer)[] {
  const keys = entriesOf(parseJson(document)).slice(0, 20)
  return [document, document.trim(), ...keys.flatMap(spellingsOf)]
}

function spellingsOf(jwk: unknown): readonly (string | Buffer)[] {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }) // which throws for anything else
    const pem = key.export({ type: 'spki', format: 'pem' }).toString()
    const n = String(memberOf(jwk, 'n'))
    const pkcs1 =
      key.asymmetricKeyType === 'rsa'
        ? [key.export({ type: 'pkcs1', format: 'pem' }).toString()]
        : []
    return [
      ...[pem, ...pkcs1].flatMap((text) => [text, text.trim()]),
      key.export({ type: 'spki', format: 'der' }),
      JSON.stringify(jwk),
      n,
      Buffer.from(n, 'base64url'),
    ]
  } catch {
    // It is no key.
  }
  return []
}
