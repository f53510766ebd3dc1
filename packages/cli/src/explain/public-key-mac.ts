import {
  createHmac,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'

import { parseJson } from '@portcullis/kit/json'

import { entriesOf, memberOf, partOf } from '../input/unread-json.ts'

// Recognises one attack, so that `explain` can name it: a MAC that is keyed with the public key.

/** Decides nothing: such a token is refused by its algorithm alone. It only names the attack of RFC 8725 section 2.1. */
export function isKeyedWithPublicKey(token: string, document: string | undefined): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const hash = HASHES.get(memberOf(partOf(token, 'header'), 'alg'))
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

/** The public keys of a document as it came, the first twenty. What is no key is left out. */
export function publicKeysIn(document: string) {
  return entriesOf(parseJson(document))
    .slice(0, 20)
    .flatMap((jwk) => {
      try {
        // It throws for what is no key.
        return [{ jwk, key: createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }) }]
      } catch {
        return []
      }
    })
}

export function secretsOf(document: string): readonly (string | Buffer)[] {
  const ofKeys = publicKeysIn(document).flatMap(({ jwk, key }) => {
    const spki = key.export({ type: 'spki', format: 'pem' }).toString()
    const pems = key.asymmetricKeyType === 'rsa' ? [spki, pkcs1Of(key)] : [spki]
    const n = String(memberOf(jwk, 'n'))
    const der = key.export({ type: 'spki', format: 'der' })
    const trimmed = pems.map((pem) => pem.trim())
    return [pems, trimmed, der, JSON.stringify(jwk), n, Buffer.from(n, 'base64url')].flat()
  })
  return [document, document.trim(), ...ofKeys]
}

function pkcs1Of(key: KeyObject): string {
  return key.export({ type: 'pkcs1', format: 'pem' }).toString()
}
