import { constants, open } from 'node:fs/promises'

import {
  assertionAuthentication,
  certificateAuthentication,
  type ClientAuth,
  type ClientKey,
  keyAuthentication,
  secretAuthentication,
} from '@portcullis/kit/client-authentication'
import { platformCode } from '@portcullis/kit/http'

import { TokenClientError } from '../answer/errors.ts'
import { type Credential, readCredential } from '../login/login-exchange.ts'

// What the client proves with to the authorization server who it is: read for each request, since a secret or an assertion may change.

/** One of these. */
export interface ClientCredentials {
  readonly clientSecret: Credential | undefined
  readonly clientAuthentication: 'client_secret_basic' | 'client_secret_post'
  readonly privateKey: ClientKey | undefined
  readonly clientAssertion: (() => string | Promise<string>) | { readonly file: string } | undefined
}

/** An assertion is accepted only once. @param now The time of the server, as far as it is known. @throws TokenClientError */
export async function authenticate(
  { clientSecret, clientAuthentication, privateKey, clientAssertion }: ClientCredentials,
  now: number,
): Promise<ClientAuth> {
  if (privateKey !== undefined) return keyAuthentication(privateKey, () => now)
  if (clientAssertion !== undefined) {
    return assertionAuthentication(await readAssertion(clientAssertion))
  }
  if (clientSecret === undefined) return certificateAuthentication()
  const secret = await readCredential('clientSecret', clientSecret)
  return secretAuthentication(secret, clientAuthentication)
}

async function readAssertion(assertion: NonNullable<ClientCredentials['clientAssertion']>) {
  if (typeof assertion === 'function') return await readCredential('clientAssertion', assertion)
  let text: string | undefined
  try {
    text = await readText(assertion.file)
  } catch (error) {
    const code = platformCode(error)
    throw unusable(`cannot be read${code === undefined ? '' : ` (${code})`}`)
  }
  if (text === undefined) throw unusable('is too large')
  if (text === '') throw unusable('is empty')
  return text
}

/** Without its path, which is nobody's business. */
function unusable(complaint: string): TokenClientError {
  return new TokenClientError('service_unavailable', `the file of clientAssertion ${complaint}`)
}

/** Octets. */
const LARGEST_FILE = 65_536

/** Reads the file anew: a platform replaces the token in it before it expires. `undefined` if it is too large. */
async function readText(path: string): Promise<string | undefined> {
  // A pipe would be waited for in a thread, which nothing ends: the process could not exit.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LARGEST_FILE + 1))
  return bytesRead > LARGEST_FILE ? undefined : buffer.toString('utf8', 0, bytesRead).trim()
}
