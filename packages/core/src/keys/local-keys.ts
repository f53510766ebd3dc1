import type { JsonObject } from '../json.ts'
import { identifyKeys, readKeyDocument } from './jwk.ts'
import type { KeyRing, KeySource } from './key-source.ts'

/**
 * Public keys already in hand: one JSON Web Key or a JWK set. They are used until the process ends.
 *
 * @throws TypeError if there is no usable key among them.
 * @see RFC 7517 sections 4 and 5
 */
export function localKeys(jwkOrJwks: JsonObject): KeySource {
  const document = readKeyDocument(jwkOrJwks)
  if (document === undefined) throw new TypeError('localKeys: neither a JWK nor a JWK set')
  if (document.entries.length === 0) throw new TypeError('localKeys: there is no usable public key')
  let ring: KeyRing | undefined
  const identified = identifyKeys(document)
  return {
    now: () => ({ wall: 0, monotonic: 0 }),
    current: () => ring ?? identified.then((keys) => (ring ??= { keys, bare: document.bare })),
    suspect: async () => undefined,
  }
}
