import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

import type { JWK } from 'jose'

import { octetsOf } from './inputs.ts'

// Signs what a target reads, with keys that stand here: a seed gives the same token each time.

/** The key of RFC 8037, appendix A.1. */
export const privateKey = privateKeyOf({
  d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
})
/** That of RFC 8032, section 7.1, test 2. */
export const otherPrivateKey = privateKeyOf({
  d: 'TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs',
  x: 'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw',
})

function privateKeyOf(members: { readonly d: string; readonly x: string }): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', ...members }, format: 'jwk' })
}

export function publicJwkOf(key: KeyObject): JWK {
  return createPublicKey(key).export({ format: 'jwk' })
}

/** The compact JWS of a header and a payload, whatever these texts are. */
export function signed(head: string, payload: string, key: KeyObject = privateKey): string {
  const input = [head, payload].map((part) => octetsOf(part).toString('base64url')).join('.')
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
}
