import { decodeJwt, decodeProtectedHeader, importJWK, type JWK, jwtVerify } from 'jose'

import type { Clock } from '../clock.ts'
import { isHarmlessJws } from './harmless-json.ts'

// The clients of OAuth that a service knows, and how each proves who it is. Assertions are checked by jose, not by core.

/** A client of OAuth. One without `secret` and `publicJwk` is whoever says so, as one with a certificate does. */
export interface ServiceClient {
  /** For `client_secret_basic` and `client_secret_post`. */
  readonly secret?: string | undefined
  /** The public key of its assertions, for `private_key_jwt`. */
  readonly publicJwk?: Readonly<JWK> | undefined
  /** Claims that are added to its tokens. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  /** Seconds from `iat` to `exp` in its tokens; by default the issuer's. */
  readonly lifetime?: number | undefined
  /** The values of `resource` and `audience` that it gets tokens for. By default all. */
  readonly targets?: readonly string[] | undefined
  /** The scopes that it can get. By default all. */
  readonly scopes?: readonly string[] | undefined
}

/** The names of RFC 7591 section 2. */
export const METHODS: readonly string[] = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
]

export interface Credentials {
  readonly clientId: string
  readonly secret?: string
  readonly assertion?: string
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** How many assertions are remembered, so that each is accepted once. */
const MAX_ASSERTIONS = 10_000

/** `undefined` without a client, and for more than one way of authentication. RFC 6749 section 2.3; RFC 7523 section 2.2 */
export function credentialsOf(request: Request, form: URLSearchParams): Credentials | undefined {
  const found = [basicOf(request), postedOf(form), assertedOf(form)].filter(
    (each) => each !== undefined,
  )
  const clientId = form.get('client_id')
  if (found.length === 0 && clientId !== null) return { clientId }
  return found.length === 1 ? found[0] : undefined
}

function basicOf(request: Request): Credentials | undefined {
  const [, encoded] = /^basic ([\w+/]+=*)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString()
  const [clientId, secret] = text.split(/:(.*)/s, 2).map((part) => formDecoded(part))
  return clientId === undefined || secret === undefined ? undefined : { clientId, secret }
}

/** RFC 6749 section 2.3.1: both are encoded as in a form before they are joined. */
function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function postedOf(form: URLSearchParams): Credentials | undefined {
  const clientId = form.get('client_id')
  const secret = form.get('client_secret')
  return clientId === null || secret === null ? undefined : { clientId, secret }
}

function assertedOf(form: URLSearchParams): Credentials | undefined {
  const assertion = form.get('client_assertion')
  const isTyped = form.get('client_assertion_type') === ASSERTION_TYPE
  // Before jose parses it.
  if (assertion === null || !isTyped || !isHarmlessJws(assertion)) return undefined
  try {
    const { sub } = decodeJwt(assertion)
    return sub === undefined ? undefined : { clientId: sub, assertion }
  } catch {
    return undefined
  }
}

/** @returns A function that finds the client of credentials for that audience; `undefined` if it is not proven. */
export function createAuthentication<Client extends Pick<ServiceClient, 'secret' | 'publicJwk'>>(
  clients: Readonly<Record<string, Client>>,
  clock: Clock,
): (credentials: Credentials, audience: readonly string[]) => Promise<Client | undefined> {
  const known = new Map(Object.entries(clients))
  const used = new Set<string>()

  async function isAsserted(
    clientId: string,
    jwk: Readonly<JWK>,
    assertion: string,
    audience: readonly string[],
  ): Promise<boolean> {
    const { alg } = decodeProtectedHeader(assertion)
    const { payload } = await jwtVerify(assertion, await importJWK(jwk, alg), {
      issuer: clientId,
      subject: clientId,
      audience: [...audience],
      requiredClaims: ['exp', 'jti'],
      currentDate: new Date(clock.now() * 1000),
    })
    const id = `${clientId} ${payload.jti ?? ''}`
    if (used.has(id)) return false
    if (used.size >= MAX_ASSERTIONS) used.clear()
    used.add(id)
    return true
  }

  return async ({ clientId, secret, assertion }, audience) => {
    const client = known.get(clientId)
    if (client === undefined) return undefined
    const { publicJwk } = client
    if (assertion === undefined) {
      return publicJwk === undefined && client.secret === secret ? client : undefined
    }
    if (publicJwk === undefined) return undefined
    const isProven = await isAsserted(clientId, publicJwk, assertion, audience).catch(() => false)
    return isProven ? client : undefined
  }
}
