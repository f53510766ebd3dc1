import { ownMembers } from '@portcullis/kit/options'
import { systemClock } from '@portcullis/kit/time'
import { type ClientAuth, ClientSecretPost, TlsClientAuth } from 'oauth4webapi'

import { signedAssertion } from './client-key.ts'
import type { IntrospectedOptions } from './options.ts'

// How this API proves to the issuer who it is. No type of oauth4webapi leaves this package: they need those of a browser.

type AuthenticationOptions = Pick<
  IntrospectedOptions,
  'clientSecret' | 'clientKey' | 'clientAuthentication' | 'clock'
>

/** @throws TypeError if what the way of authentication needs is not stated, or something else is. */
export function authenticationOf({
  clientSecret,
  clientKey,
  clientAuthentication: method = clientKey === undefined
    ? 'client_secret_basic'
    : 'private_key_jwt',
  clock = systemClock,
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
  if (clientKey !== undefined) return signedAssertion(ownMembers(clientKey), () => clock.now())
  if (clientSecret === undefined) return TlsClientAuth()
  return method === 'client_secret_post'
    ? ClientSecretPost(clientSecret)
    : secretInHeader(clientSecret)
}

/**
 * Encoded as a form, except for what RFC 3986 calls unreserved: so it works with issuers that decode, and with those that do not. So
 * does `createOAuthClient`.
 *
 * @see RFC 6749 section 2.3.1
 */
function secretInHeader(secret: string): ClientAuth {
  return (_server, { client_id }, _body, headers) => {
    const pair = `${formEncoded(client_id)}:${formEncoded(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  }
}

function formEncoded(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}
