import type { webcrypto } from 'node:crypto'
import { types } from 'node:util'

import { isJsonObject, isText, type OptionCheck } from '@portcullis/core/verifier'

// The option `clientKey`: what signs the assertions of this API.

/** The private key that this API signs its assertions with (RFC 7523). */
export interface ClientKey {
  readonly key: webcrypto.CryptoKey
  readonly kid?: string | undefined
}

export const isClientKey: OptionCheck = (value) => {
  const { key, kid, ...others }: Readonly<Record<string, unknown>> = isJsonObject(value)
    ? value
    : {}
  const isKey = types.isCryptoKey(key) && key.type === 'private' && key.usages.includes('sign')
  const isName = kid === undefined || isText(kid) === undefined
  return isKey && isName && Object.keys(others).length === 0
    ? undefined
    : 'must be { key, kid? }, with a private CryptoKey that signs'
}
