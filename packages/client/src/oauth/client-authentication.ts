import { hash, type webcrypto, X509Certificate } from 'node:crypto'
import { open } from 'node:fs/promises'

import { platformCode } from '@portcullis/kit/http'
import { ClientSecretPost, modifyAssertion, PrivateKeyJwt, TlsClientAuth } from 'oauth4webapi'

import { TokenClientError } from '../answer/errors.ts'
import { type Credential, readCredential } from '../login/login-exchange.ts'

// How the client proves to the authorization server who it is. No type of oauth4webapi leaves this package: they need those of a
// browser.

/** The private key that the client signs its assertions with. */
export interface ClientKey {
  /** Its algorithm is that of the assertions, such as `{ name: 'ECDSA', namedCurve: 'P-256' }` for ES256. */
  readonly key: webcrypto.CryptoKey
  /** By which the server finds the public key, if it has several. */
  readonly kid?: string | undefined
  /**
   * The certificate of this key, as PEM, for servers that know keys by certificates, such as Entra ID: its thumbprints are in the
   * header of the assertions.
   * @see RFC 7515 sections 4.1.7 and 4.1.8
   */
  readonly certificate?: string | undefined
}

/**
 * An assertion of somebody else that this client is who it is: a function that is called for each request, or a file that is
 * read for each, such as the token of a Kubernetes service account.
 */
export type ClientAssertion = (() => string | Promise<string>) | { readonly file: string }

/** Writes who the client is into a request. Ours, since the types of oauth4webapi need those of a browser. */
export type ClientAuth = (
  server: { readonly issuer: string },
  client: { readonly client_id: string },
  body: URLSearchParams,
  headers: Headers,
) => void | Promise<void>

/** One of these. */
export interface ClientCredentials {
  readonly clientSecret: Credential | undefined
  readonly clientAuthentication: 'client_secret_basic' | 'client_secret_post'
  readonly privateKey: ClientKey | undefined
  readonly clientAssertion: ClientAssertion | undefined
}

/**
 * Makes what authenticates one request: an assertion is accepted only once.
 *
 * @param now The time of the server, as far as it is known. Seconds since 1970-01-01T00:00:00Z.
 * @throws TokenClientError if a credential cannot be read.
 */
export async function authenticate(
  { clientSecret, clientAuthentication, privateKey, clientAssertion }: ClientCredentials,
  now: number,
): Promise<ClientAuth> {
  if (privateKey !== undefined) return signed(privateKey, now)
  if (clientAssertion !== undefined) return asserted(await readAssertion(clientAssertion))
  // The certificate of the connection. RFC 8705 section 2
  if (clientSecret === undefined) return TlsClientAuth()
  const secret = await readCredential('clientSecret', clientSecret)
  return clientAuthentication === 'client_secret_post'
    ? ClientSecretPost(secret)
    : secretInHeader(secret)
}

/**
 * Encoded as a form, except for what RFC 3986 calls unreserved: so it works with servers that decode, and with those that do not.
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

/** How long an assertion can be used. Seconds. */
const ASSERTION_LIFETIME = 60

/** An assertion that is signed for this request. RFC 7523 section 3 */
function signed({ key, kid, certificate }: ClientKey, now: number): ClientAuth {
  return PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
    [modifyAssertion](header, payload) {
      const iat = Math.floor(now)
      // A server whose clock is a little behind would refuse it.
      delete payload['nbf']
      Object.assign(payload, { iat, exp: iat + ASSERTION_LIFETIME })
      if (certificate !== undefined) Object.assign(header, thumbprintsOf(certificate))
    },
  })
}

/** RFC 7515 sections 4.1.7 and 4.1.8 */
function thumbprintsOf(certificate: string): object {
  const { raw } = new X509Certificate(certificate)
  return { x5t: hash('sha1', raw, 'base64url'), 'x5t#S256': hash('sha256', raw, 'base64url') }
}

/** Whether a value is a certificate, as PEM. */
export function isCertificate(value: unknown): boolean {
  try {
    return typeof value === 'string' && new X509Certificate(value).raw.length > 0
  } catch {
    return false
  }
}

/** An assertion of somebody else, such as a platform. RFC 7523 section 2.2 */
function asserted(assertion: string): ClientAuth {
  return (_server, client, body) => {
    body.set('client_id', client.client_id)
    body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    body.set('client_assertion', assertion)
  }
}

const CURVES: ReadonlySet<unknown> = new Set(['P-256', 'P-384', 'P-521'])
const HASHES: ReadonlySet<unknown> = new Set(['SHA-256', 'SHA-384', 'SHA-512'])

/** Whether assertions can be signed with it. RFC 7518 section 3.1; RFC 8037; RFC 9964 */
export function isAssertionKey({ type, usages, algorithm }: webcrypto.CryptoKey): boolean {
  const {
    name,
    namedCurve,
    hash: digest,
    modulusLength,
  }: Readonly<Record<string, unknown>> = {
    ...algorithm,
  }
  if (type !== 'private' || !usages.includes('sign')) return false
  if (name === 'ECDSA') return CURVES.has(namedCurve)
  if (name === 'RSA-PSS' || name === 'RSASSA-PKCS1-v1_5') {
    return Number(modulusLength) >= 2048 && HASHES.has(Reflect.get(Object(digest), 'name'))
  }
  return /^(?:Ed25519|ML-DSA-(?:44|65|87))$/.test(String(name))
}

async function readAssertion(assertion: ClientAssertion): Promise<string> {
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
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LARGEST_FILE + 1))
  return bytesRead > LARGEST_FILE ? undefined : buffer.toString('utf8', 0, bytesRead).trim()
}
