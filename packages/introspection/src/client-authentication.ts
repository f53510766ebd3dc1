import { ownMembers } from '@portcullis/core/verifier'
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  PrivateKeyJwt,
  TlsClientAuth,
} from 'oauth4webapi'

import type { IntrospectedOptions } from './options.ts'

// How this API proves to the issuer who it is. No type of oauth4webapi leaves this package: they need those of a browser.

type AuthenticationOptions = Pick<
  IntrospectedOptions,
  'clientSecret' | 'clientKey' | 'clientAuthentication'
>

/** @throws TypeError if what the way of authentication needs is not stated, or something else is. */
export function authenticationOf({
  clientSecret,
  clientKey,
  clientAuthentication: method = clientKey === undefined
    ? 'client_secret_basic'
    : 'private_key_jwt',
}: AuthenticationOptions): ClientAuth {
  const wants = {
    clientSecret: method.startsWith('client_secret_'),
    clientKey: method === 'private_key_jwt',
  }
  for (const [name, value] of Object.entries({ clientSecret, clientKey })) {
    const isWanted = wants[name === 'clientKey' ? 'clientKey' : 'clientSecret']
    if (isWanted && value === undefined)
      throw new TypeError(`introspected: ${method} needs ${name}`)
    if (!isWanted && value !== undefined) {
      throw new TypeError(`introspected: ${method} has no use for ${name}`)
    }
  }
  if (clientKey !== undefined) {
    const { key, kid } = ownMembers(clientKey)
    return PrivateKeyJwt(kid === undefined ? key : { key, kid })
  }
  if (clientSecret === undefined) return TlsClientAuth()
  return method === 'client_secret_post'
    ? ClientSecretPost(clientSecret)
    : ClientSecretBasic(clientSecret)
}
