import {
  certificateAuthentication,
  type ClientAuth,
  keyAuthentication,
  secretAuthentication,
} from '@portcullis/kit/client-authentication'
import { systemClock } from '@portcullis/kit/time'

import type { IntrospectedOptions } from './options.ts'

// How this API proves to the issuer who it is: what its options say.

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
      // Mistake `introspected: … needs …`: This way of proving who the API is needs the secret or key that the message names.
      throw new TypeError(`introspected: ${method} needs ${name}`)
    if (!isWanted && value !== undefined) {
      // Mistake `introspected: … has no use for …`: Leave the secret or key out, or state another `clientAuthentication`.
      throw new TypeError(`introspected: ${method} has no use for ${name}`)
    }
  }
  if (clientKey !== undefined) return keyAuthentication(clientKey, () => clock.now())
  if (clientSecret === undefined) return certificateAuthentication()
  const form = method === 'client_secret_post' ? method : 'client_secret_basic'
  return secretAuthentication(clientSecret, form)
}
