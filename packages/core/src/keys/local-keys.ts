import type { JSONWebKeySet, JWK } from 'jose'

import { readKeyDocument } from './jwk.ts'
import type { KeySource } from './key-source.ts'

/**
 * Public keys already in hand: one JSON Web Key or a JWK set. They are used until the process ends.
 *
 * @throws TypeError if there is no usable key among them.
 * @see RFC 7517 sections 4 and 5
 */
export function localKeys(jwkOrJwks: Readonly<JWK> | Readonly<JSONWebKeySet>): KeySource {
  const ring = readKeyDocument(jwkOrJwks)
  if (ring === undefined) throw new TypeError('localKeys: neither a JWK nor a JWK set')
  if (ring.keys.length === 0) throw new TypeError('localKeys: there is no usable public key')
  return {
    now: () => ({ wall: 0, monotonic: 0 }),
    current: () => ring,
    suspect: async () => undefined,
  }
}
