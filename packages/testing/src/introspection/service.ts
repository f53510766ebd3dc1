import { checkOptions, isText } from '@portcullis/kit/options'

import { isObject } from '../options.ts'
import { urlAsked } from '../service/asked-url.ts'
import type { Backend } from '../service/backend.ts'
import {
  createAuthentication,
  type Credentials,
  credentialsOf,
  METHODS,
  type ServiceClient,
} from '../service/clients.ts'
import {
  checkServiceOptions,
  DISCOVERED,
  isPublicJwk,
  PATHS as TOKEN_SERVICE_PATHS,
  respondAsTokenService,
  type TokenServiceOptions,
} from '../service/endpoints.ts'
import { readForm, refuse } from '../service/form.ts'
import type { Respond } from '../service/recorded.ts'
import { type Endpoint, MAX_TEXT } from '../service/request-log.ts'
import { answerWith, issuerAt, NOT_ACTIVE, SIGNED_TYPE } from './answers.ts'
import type { OpaqueTokens } from './opaque-tokens.ts'

// What a service of opaque tokens answers: its metadata, and questions about tokens. The rest is the token service's.

export interface IntrospectionServiceOptions extends Omit<
  TokenServiceOptions,
  'clients' | 'metadata'
> {
  /**
   * Who may ask about tokens, by `client_id`.
   * @default { api: { secret: 'secret' } }
   */
  clients?: Readonly<Record<string, Pick<ServiceClient, 'secret' | 'publicJwk'>>> | undefined
}

export const INTROSPECTION_PATH = '/introspect'

export const PATHS: Readonly<Record<Endpoint, string | readonly string[]>> = {
  ...DISCOVERED,
  token: TOKEN_SERVICE_PATHS.token,
  introspection: INTROSPECTION_PATH,
}

export function checkIntrospectionOptions(options: IntrospectionServiceOptions): void {
  checkServiceOptions('introspectionService', options, { clients: isObject })
  for (const [clientId, client] of Object.entries(options.clients ?? {})) {
    const where = `introspectionService: the client ${JSON.stringify(clientId)}`
    checkOptions(where, client, { secret: isText, publicJwk: isPublicJwk })
  }
}

function wantsSigned({ headers }: Request): boolean {
  const accepted = (headers.get('accept') ?? '')
    .split(',')
    .map((each) => each.split(';')[0]?.trim())
  return accepted.includes(`application/${SIGNED_TYPE}`)
}

export function respondAsIntrospection(
  backend: Backend,
  tokens: OpaqueTokens,
  options: IntrospectionServiceOptions,
): Respond {
  const { clock, outages, defaults } = backend
  const { clients = { api: { secret: 'secret' } } } = options
  const authenticate = createAuthentication(clients, clock)
  const respondOtherwise = respondAsTokenService(backend, withoutClients(options))

  function describe(request: Request): Response {
    if (request.method !== 'GET') return refuse(405, 'GET')
    const { origin } = urlAsked(request)
    return Response.json({
      issuer: issuerAt(defaults, origin),
      jwks_uri: `${origin}${TOKEN_SERVICE_PATHS.keySet}`,
      introspection_endpoint: `${origin}${INTROSPECTION_PATH}`,
      introspection_endpoint_auth_methods_supported: METHODS,
    })
  }

  async function introspect(
    request: Request,
    form: URLSearchParams,
    credentials: Credentials | undefined,
  ): Promise<Response> {
    const { origin } = urlAsked(request)
    const audience = [issuerAt(defaults, origin), origin, `${origin}${INTROSPECTION_PATH}`]
    const client = credentials && (await authenticate(credentials, audience))
    if (credentials === undefined || client === undefined) {
      const headers = { 'www-authenticate': 'Basic realm="introspection"' }
      return Response.json({ error: 'invalid_client' }, { status: 401, headers })
    }
    const token = form.get('token')
    if (token === null) return Response.json({ error: 'invalid_request' }, { status: 400 })
    const { clientId } = credentials
    const question = { clientId, origin, isSigned: wantsSigned(request) }
    const answer = tokens.find(token)
    return await (answer?.(question) ?? answerWith(defaults, question, NOT_ACTIVE))
  }

  return async (request, entry, signal) => {
    const { endpoint } = entry
    if (endpoint !== 'introspection' && endpoint !== 'metadata') {
      return await respondOtherwise(request, entry, signal)
    }
    const pass = async (answer: () => Response | Promise<Response>) =>
      await outages.answer(endpoint, { signal, answer })
    if (endpoint === 'metadata') return await pass(() => describe(request))
    const form = await readForm(request)
    if (form instanceof Response) return await pass(() => form)
    const credentials = credentialsOf(request, form)
    entry.clientId = credentials?.clientId.slice(0, MAX_TEXT)
    return await pass(async () => await introspect(request, form, credentials))
  }
}

/** Its clients ask about tokens, and get none. */
function withoutClients({ logins, response, dpopNonce }: IntrospectionServiceOptions) {
  return { logins, response, dpopNonce }
}
