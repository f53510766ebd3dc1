import { KeyObject } from 'node:crypto'

import { checkOptions, own } from '@portcullis/kit/options'
import { systemClock } from '@portcullis/kit/time'
import type { JSONWebKeySet, JWK } from 'jose'

import { algorithmNamesOf, isAlgorithmNames } from '../algorithms/accepted-algorithms.ts'
import type { Algorithm } from '../algorithms/algorithms.ts'
import { kindOf } from '../refusal/text.ts'
import { type EntryRules, isIfStated, isKeyUse, statedRulesOf } from './entry-rules.ts'
import { explained, readKeyDocument } from './key-document.ts'
import { type KeySource, keySource, type VerificationKey } from './key-source.ts'

// Keys that the program has already: nothing is fetched, and nothing ages.

/** A public key: a JSON Web Key, or a key object of `node:crypto`. `issuer`: whose tokens it is for, where a template asks for that. */
export type PublicKey = (Readonly<JWK> & { readonly issuer?: string | undefined }) | KeyObject

export interface LocalKeysOptions {
  /**
   * Other names of algorithms that the keys state, such as `{ RSA512: 'RS512' }`.
   */
  algorithmNames?: Readonly<Record<string, Algorithm>> | undefined
  /**
   * What a key must state as `use`: `sig`, or nothing. With `jwt-svid`, as bundles of SPIFFE have it, exactly that.
   * @default 'sig'
   */
  use?: 'sig' | 'jwt-svid' | undefined
  /**
   * What members of a key must be where it states them, such as `{ cloud_instance_name: 'microsoftonline.com' }`: a key that says
   * something else is ignored. A list has several values, any of which is good.
   */
  ifStated?: Readonly<Record<string, string | readonly string[]>> | undefined
}

/**
 * Public keys that you have: one key, a list of keys, or a JWK set. They are used until the process ends.
 *
 * @throws TypeError if no key can be used, with the reasons of the first three; and for a private or secret key object, which a service
 *   that only verifies must not have.
 * @see RFC 7517 sections 4 and 5
 */
export function localKeys(
  keys: PublicKey | readonly PublicKey[] | Readonly<JSONWebKeySet>,
  options: LocalKeysOptions = {},
): KeySource {
  const ring = readKeyDocument(documentOf(keys), entryRulesOf('localKeys', options))
  if (ring === undefined) {
    // Mistake `localKeys: neither a JWK`: Give a JWK, a public `KeyObject`, a list of them or a JWK set. For a PEM text write
    // `createPublicKey(pem)`.
    throw new TypeError(
      `localKeys: neither a JWK, a key object, a list of them nor a JWK set${whatItIs(keys)}`,
    )
  }
  if (ring.keys.length === 0) {
    // Mistake `localKeys: there is no usable public key`: The message says why the first three entries cannot be used, such as a
    // size below 2048 bits.
    throw new TypeError(explained('localKeys: there is no usable public key', ring))
  }
  return keySource({
    // Nothing ages here.
    now: () => ({ wall: systemClock.now(), monotonic: 0 }),
    current: () => ring,
    wait: async () => ring,
    suspect: async () => ({ key: undefined, why: undefined, ring }),
  })
}

/** One entry of a key document. @returns Instead of the key, why it cannot be used: in words. @throws TypeError for a wrong option. */
export function readEntry(
  factory: string,
  entry: unknown,
  options: LocalKeysOptions,
): VerificationKey | string {
  const ring = readKeyDocument({ keys: [entry] }, entryRulesOf(factory, options))
  return ring?.keys[0] ?? ring?.skipped.entries[0]?.reason ?? 'it is no key'
}

function entryRulesOf(factory: string, options: LocalKeysOptions): EntryRules {
  checkOptions(factory, options, {
    algorithmNames: isAlgorithmNames,
    use: isKeyUse,
    ifStated: isIfStated,
  })
  return {
    algorithmNames: algorithmNamesOf(own(options, 'algorithmNames')),
    use: own(options, 'use'),
    ifStated: statedRulesOf(own(options, 'ifStated')),
  }
}

function whatItIs(keys: unknown): string {
  if (typeof keys === 'string') {
    const isPem = keys.trimStart().startsWith('-----BEGIN ')
    return isPem
      ? ': of PEM, pass createPublicKey(pem) of node:crypto'
      : ': of a text, pass JSON.parse(text)'
  }
  return kindOf(keys) === 'a promise' ? ': it is a promise, so an `await` is missing' : ''
}

function documentOf(keys: unknown): unknown {
  return Array.isArray(keys) ? { keys: keys.map(jwkOf) } : jwkOf(keys)
}

function jwkOf(key: unknown): unknown {
  if (!(key instanceof KeyObject)) return key
  if (key.type !== 'public') {
    const advice = key.type === 'private' ? ', pass createPublicKey(key) instead' : ''
    // Mistake `localKeys: the key object is …`: It is private or secret. Keep it out of the service: `createPublicKey(key)` makes
    // the public one.
    throw new TypeError(`localKeys: the key object is ${key.type}${advice}`)
  }
  try {
    return key.export({ format: 'jwk' })
  } catch {
    // Mistake `localKeys: a key of type … cannot be used`: Use RSA, P-256, P-384, P-521 or Ed25519, or from Node 24.6 ML-DSA.
    throw new TypeError(`localKeys: a key of type ${key.asymmetricKeyType} cannot be used`)
  }
}
