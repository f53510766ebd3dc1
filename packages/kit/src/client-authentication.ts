import { hash, type webcrypto, X509Certificate } from 'node:crypto'
import { types } from 'node:util'

import { ClientSecretPost, modifyAssertion, PrivateKeyJwt, TlsClientAuth } from 'oauth4webapi'

import { isJsonObject } from './json.ts'
import { isText, mustBe, type OptionCheck, ownMembers } from './options.ts'

// How a client of an authorization server proves who it is. No type of oauth4webapi leaves this file: they need those of a browser.

/** Writes who the client is into a request, anew for each: a server accepts an assertion only once. */
export type ClientAuth = (
  server: { readonly issuer: string },
  client: { readonly client_id: string },
  body: URLSearchParams,
  headers: Headers,
) => void | Promise<void>

export interface AuthenticatedForm {
  readonly headers: Readonly<Record<string, string>>
  readonly body: URLSearchParams
}

/** Whom a form is for, and who sends it. */
export interface FormClient {
  /** The audience of an assertion. */
  readonly issuer: string
  readonly clientId: string
  readonly authentication: ClientAuth
}

/** The private key that a client signs its assertions with (RFC 7523). */
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

export async function authenticatedForm(
  { issuer, clientId, authentication }: FormClient,
  parameters: Iterable<readonly [string, string]>,
  accept: string,
): Promise<AuthenticatedForm> {
  const body = new URLSearchParams()
  for (const [name, value] of parameters) body.append(name, value)
  const headers = new Headers({
    accept,
    'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
    'user-agent': 'portcullis',
  })
  // The library reads members that are not there: none of them may come from a polluted prototype.
  const [server, client] = [ownMembers({ issuer }), ownMembers({ client_id: clientId })]
  await authentication(server, client, body, headers)
  return { headers: Object.fromEntries(headers), body }
}

/** In the header all is encoded that RFC 3986 does not call unreserved, for servers that decode and for others. RFC 6749 section 2.3.1 */
export function secretAuthentication(
  secret: string,
  method: 'client_secret_basic' | 'client_secret_post',
): ClientAuth {
  if (method === 'client_secret_post') return ClientSecretPost(secret)
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

/** The certificate is that of the connection. RFC 8705 section 2 */
export function certificateAuthentication(): ClientAuth {
  return TlsClientAuth()
}

/** An assertion of somebody else, such as a platform. RFC 7523 section 2.2 */
export function assertionAuthentication(assertion: string): ClientAuth {
  return (_server, { client_id }, body) => {
    body.set('client_id', client_id)
    body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    body.set('client_assertion', assertion)
  }
}

/** How long an assertion can be used. Seconds. */
const ASSERTION_LIFETIME = 60

/** An assertion that is signed for each request (RFC 7523 section 3). @param now Seconds since 1970-01-01T00:00:00Z. */
export function keyAuthentication(clientKey: ClientKey, now: () => number): ClientAuth {
  const { key, kid, certificate } = ownMembers(clientKey)
  // The library would read `kid` of a bare key, and find that of a polluted prototype.
  return PrivateKeyJwt(ownMembers(kid === undefined ? { key } : { key, kid }), {
    [modifyAssertion](header, payload) {
      const iat = Math.floor(now())
      // A server whose clock is a little behind would refuse it.
      delete payload['nbf']
      Object.assign(payload, { iat, exp: iat + ASSERTION_LIFETIME })
      if (certificate !== undefined) Object.assign(header, thumbprintsOf(certificate))
    },
  })
}

/** By its name in JOSE, what an assertion of this key is signed with. @param key From {@link isAssertionKey}. */
export function assertionAlgorithmOf({ key }: Pick<ClientKey, 'key'>): string {
  const {
    name,
    namedCurve,
    hash: digest,
  } = ownMembers<Record<string, unknown>>({
    ...key.algorithm,
  })
  if (name === 'ECDSA') return ES_OF_CURVES.get(namedCurve) ?? ''
  const size = String(Reflect.get(Object(digest), 'name')).slice(-3)
  if (name === 'RSA-PSS') return `PS${size}`
  return name === 'RSASSA-PKCS1-v1_5' ? `RS${size}` : String(name)
}

/** RFC 7515 sections 4.1.7 and 4.1.8 */
function thumbprintsOf(certificate: string): object {
  const { raw } = new X509Certificate(certificate)
  return { x5t: hash('sha1', raw, 'base64url'), 'x5t#S256': hash('sha256', raw, 'base64url') }
}

export const isClientKey: OptionCheck = mustBe(
  '{ key, kid?, certificate? }, with a private CryptoKey that signs by ECDSA, Ed25519, ML-DSA, or RSA with 2048 bits and SHA-256 or more, and a certificate as PEM',
  (value) => {
    if (!isJsonObject(value)) return false
    const { key, kid, certificate, ...others } = ownMembers({ ...value })
    return (
      types.isCryptoKey(key) &&
      isAssertionKey(key) &&
      (kid === undefined || isText(kid) === undefined) &&
      (certificate === undefined || isCertificate(certificate)) &&
      Object.keys(others).length === 0
    )
  },
)

/** RFC 7518 section 3.4 */
const ES_OF_CURVES: ReadonlyMap<unknown, string> = new Map([
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
])
const HASHES: ReadonlySet<unknown> = new Set(['SHA-256', 'SHA-384', 'SHA-512'])

/** Whether assertions can be signed with it. RFC 7518 section 3.1; RFC 8037; RFC 9964 */
export function isAssertionKey({ type, usages, algorithm }: webcrypto.CryptoKey): boolean {
  const {
    name,
    namedCurve,
    hash: digest,
    modulusLength,
  }: Readonly<Record<string, unknown>> = ownMembers({ ...algorithm })
  if (type !== 'private' || !usages.includes('sign')) return false
  if (name === 'ECDSA') return ES_OF_CURVES.has(namedCurve)
  if (name === 'RSA-PSS' || name === 'RSASSA-PKCS1-v1_5') {
    return Number(modulusLength) >= 2048 && HASHES.has(Reflect.get(Object(digest), 'name'))
  }
  return /^(?:Ed25519|ML-DSA-(?:44|65|87))$/.test(String(name))
}

function isCertificate(value: unknown): boolean {
  try {
    return typeof value === 'string' && new X509Certificate(value).raw.length > 0
  } catch {
    return false
  }
}
