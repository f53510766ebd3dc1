import {
  type KeyObject,
  verify,
  type VerifyJsonWebKeyInput,
  type VerifyKeyObjectInput,
} from 'node:crypto'

import { ownMembers } from '@portcullis/kit/options'

import type { PublicJwk } from './key-material.ts'

// Only for Cloudflare Workers: what `verify` is given there in place of a key object.

let areKeyObjectsTaken: boolean | undefined

/** For `createVerify`, where `verify` takes no key object with options (Cloudflare Workers): the JWK, which is read anew each time. */
export function jwkInput(
  { key, ...options }: VerifyKeyObjectInput & { readonly key: KeyObject },
  jwk: PublicJwk,
  isTaken: boolean = (areKeyObjectsTaken ??= takesKeyObject(key)),
): VerifyJsonWebKeyInput | undefined {
  if (isTaken) return undefined
  return ownMembers<VerifyJsonWebKeyInput>({ ...options, key: ownMembers(jwk), format: 'jwk' })
}

function takesKeyObject(key: KeyObject): boolean {
  const octets = new Uint8Array(64)
  // The others have a hash of their own.
  const hash = ['rsa', 'ec'].includes(String(key.asymmetricKeyType)) ? 'sha256' : null
  try {
    verify(hash, octets, ownMembers({ key }), octets)
    return true
  } catch {
    return false
  }
}
