import { importJWK, type JWTPayload, jwtVerify } from 'jose'

import { urlAsked } from './asked-url.ts'
import type { Backend } from './backend.ts'
import { createAuthentication, credentialsOf, type ServiceClient } from './clients.ts'
import { isHarmlessJws } from './harmless-json.ts'
import { readLoginProof } from './login-proof.ts'

// The grants of the token endpoint: client credentials, and the exchange of a token of this issuer. RFC 6749, RFC 8693

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

export const GRANT_TYPES: readonly string[] = ['client_credentials', EXCHANGE, JWT_BEARER]

export function createGrants(
  backend: Backend,
  clients: Readonly<Record<string, ServiceClient>>,
  dpopNonce: (() => string) | undefined,
): (request: Request, form: URLSearchParams) => Promise<Response> {
  const { clock, keys } = backend
  const authenticate = createAuthentication(clients, clock)

  /** The claims of a sound token of this issuer, which is bound to nothing. */
  async function read(token: string): Promise<JWTPayload | undefined> {
    if (!isHarmlessJws(token)) return undefined
    const { document, signing } = keys.state
    const { algorithm } = signing
    for (const jwk of 'keys' in document ? document.keys : [document]) {
      const verified = await jwtVerify(token, await importJWK({ ...jwk }, algorithm), {
        algorithms: [algorithm],
        currentDate: new Date(clock.now() * 1000),
      }).catch(() => undefined)
      if (verified !== undefined) return 'cnf' in verified.payload ? undefined : verified.payload
    }
    return undefined
  }

  /** Whom the token is for, or the error of RFC 6749 section 5.2 or RFC 8693 section 2.2.2. */
  async function subjectOf(
    clientId: string,
    form: URLSearchParams,
  ): Promise<Readonly<Record<string, unknown>> | string> {
    const type = form.get('grant_type')
    if (type === 'client_credentials') return { sub: clientId }
    if (type === JWT_BEARER) {
      const subject = await read(form.get('assertion') ?? '')
      return subject === undefined ? 'invalid_grant' : { sub: subject.sub }
    }
    if (type !== EXCHANGE) return 'unsupported_grant_type'
    const subject = await readTyped('subject_token', form)
    if (subject === undefined) return 'invalid_request'
    if (!form.has('actor_token')) return { sub: subject.sub }
    const actor = await readTyped('actor_token', form)
    return actor === undefined ? 'invalid_request' : { sub: subject.sub, act: { sub: actor.sub } }
  }

  async function readTyped(name: string, form: URLSearchParams): Promise<JWTPayload | undefined> {
    if (form.get(`${name}_type`) !== ACCESS_TOKEN) return undefined
    return await read(form.get(name) ?? '')
  }

  return async (request, form) => {
    const { origin, href } = urlAsked(request)
    const credentials = credentialsOf(request, form)
    const client = credentials && (await authenticate(credentials, [origin, href]))
    if (credentials === undefined || client === undefined) return refuse('invalid_client', 401)
    const { clientId } = credentials
    const subject = await subjectOf(clientId, form)
    if (typeof subject === 'string') return refuse(subject)
    const targets = [...form.getAll('resource'), ...form.getAll('audience')]
    const scope = form.get('scope')
    if (!isWithin(client.targets, targets)) return refuse('invalid_target')
    if (!isWithin(client.scopes, scope?.split(' ') ?? [])) return refuse('invalid_scope')
    const boundTo = await readLoginProof(request, clock, dpopNonce?.())
    if (boundTo instanceof Response) return boundTo
    const expiresIn = client.lifetime ?? backend.defaults.lifetime
    const token = await backend.token({
      boundTo,
      claims: {
        ...subject,
        client_id: clientId,
        ...(targets.length === 0 ? {} : { aud: targets.length === 1 ? targets[0] : targets }),
        ...(scope === null ? {} : { scope }),
        ...client.claims,
      },
      expiresIn,
    })
    return Response.json(
      {
        access_token: token,
        token_type: boundTo === undefined ? 'Bearer' : 'DPoP',
        expires_in: expiresIn,
        ...(form.get('grant_type') === EXCHANGE ? { issued_token_type: ACCESS_TOKEN } : {}),
        ...(scope === null ? {} : { scope }),
      },
      { headers: { 'cache-control': 'no-store' } },
    )
  }
}

function isWithin(allowed: readonly string[] | undefined, asked: readonly string[]): boolean {
  return allowed === undefined || asked.every((each) => allowed.includes(each))
}

function refuse(error: string, status = 400): Response {
  return Response.json({ error }, { status, headers: { 'cache-control': 'no-store' } })
}
