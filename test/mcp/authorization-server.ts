import type { RequestListener } from 'node:http'

import { exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { errors, Provider } from 'oidc-provider'

import { serve, type Served } from '../bound-tokens/serve.ts'

// A foreign authorization server with users who log in: nothing of ours makes its tokens. Clients register themselves there, as those of
// the Model Context Protocol do.

/** A client that is known there; others may register themselves. */
export const AGENT = 'agent'
/** Where the browser of the user comes back to the client. Nothing listens there. */
export const REDIRECT = 'http://127.0.0.1:1/callback'
/** The MCP server as a client: it may ask about tokens, and exchange them. */
export const SERVER = { clientId: 'server', clientSecret: 'a secret of this server alone' }

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** Who logs in next, and what that user agrees to. */
interface User {
  readonly name: string
  /** `all`: whatever the client asks for. */
  readonly agreesTo: 'all' | readonly string[]
}

export interface AuthorizationServer extends Served {
  /** What clients have asked for at the page to log in. */
  readonly asked: readonly URLSearchParams[]
  user: User
}

interface Issued {
  readonly form: 'jwt' | 'opaque'
  readonly ttl: number
  /** What its access tokens name, whatever resource a client has asked for. By default that resource. */
  readonly audience: string | undefined
}

/** @param tokens The form of its access tokens. Their scopes are whatever a client asks for. */
export async function startAuthorizationServer({
  tokens = 'jwt',
  ttl = 600,
  audience,
}: {
  readonly tokens?: Issued['form']
  readonly ttl?: Issued['ttl']
  readonly audience?: Issued['audience']
} = {}): Promise<AuthorizationServer> {
  const asked: URLSearchParams[] = []
  const state = { user: { name: 'ada', agreesTo: 'all' } as User }
  const served = await serve(async (url) => {
    const provider = await createProvider(url, { form: tokens, ttl, audience })
    return listenerOf(provider, asked, () => state.user)
  })
  return Object.assign(state, {
    ...served,
    asked,
    [Symbol.asyncDispose]: served[Symbol.asyncDispose],
  })
}

const SCOPES = 'tools files:write'

async function createProvider(url: string, { form, ttl, audience }: Issued): Promise<Provider> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const provider = new Provider(url, {
    clients: [
      {
        client_id: AGENT,
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        redirect_uris: [REDIRECT],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
      {
        client_id: SERVER.clientId,
        client_secret: SERVER.clientSecret,
        redirect_uris: [],
        response_types: [],
        grant_types: [EXCHANGE],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: ['a key of this test'] },
    scopes: ['openid', ...SCOPES.split(' ')],
    ttl: { AccessToken: ttl, ClientCredentials: ttl, Grant: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    interactions: { url: (_context, { uid }) => `/log-in/${uid}` },
    extraTokenClaims: (_context, { extra }) => extra,
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => ({
          scope: SCOPES,
          audience: audience ?? resource,
          accessTokenFormat: form,
          ...(form === 'jwt' ? { jwt: { sign: { alg: 'ES256' as const } } } : {}),
        }),
      },
    },
  })
  addExchange(provider, async (token) => (await jwtVerify(token, publicKey)).payload.sub)
  return provider
}

/** Exchanges a token of the server for one that is for another API, and names the same user: RFC 8693. */
function addExchange(
  provider: Provider,
  userOf: (token: string) => Promise<string | undefined>,
): void {
  const { ClientCredentials, ResourceServer } = provider
  provider.registerGrantType(
    EXCHANGE,
    async (context) => {
      const { params, client } = context.oidc
      const user = await userOf(String(params?.['subject_token']))
      if (user === undefined || client === undefined) throw new errors.InvalidRequest('no user')
      const audience = String(params?.['resource'])
      const token = new ClientCredentials({ client })
      token.resourceServer = new ResourceServer(audience, {
        audience,
        scope: 'orders:read',
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      })
      token.extra = { user }
      context.body = {
        access_token: await token.save(),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: token.expiration,
      }
    },
    ['subject_token', 'subject_token_type', 'resource'],
  )
}

/** Whoever comes to the page to log in is logged in at once, and agrees. */
function listenerOf(
  provider: Provider,
  asked: URLSearchParams[],
  userOf: () => User,
): RequestListener {
  const handle = provider.callback()
  return (request, response) => {
    if (request.url?.startsWith('/log-in/') === true) {
      void logIn(provider, userOf(), request, response)
      return
    }
    if (request.url?.startsWith('/auth?') === true) {
      asked.push(new URL(request.url, 'http://any.test').searchParams)
    }
    void handle(request, response)
  }
}

async function logIn(
  provider: Provider,
  { name, agreesTo }: User,
  ...[request, response]: Parameters<RequestListener>
): Promise<void> {
  const { prompt, params, grantId } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: name } })
    return
  }
  const grant =
    grantId === undefined
      ? new provider.Grant({ accountId: name, clientId: String(params['client_id']) })
      : ((await provider.Grant.find(grantId)) ?? new provider.Grant())
  const { scope, resource: resources } = params as Record<string, string | string[] | undefined>
  const wanted = [scope ?? []].flat().join(' ').split(' ')
  const granted = wanted.filter((each) => agreesTo === 'all' || agreesTo.includes(each))
  const rejected = wanted.filter((each) => !granted.includes(each)).join(' ')
  grant.addOIDCScope(granted.join(' '))
  grant.rejectOIDCScope(rejected)
  for (const resource of [resources ?? []].flat()) {
    grant.addResourceScope(resource, granted.join(' '))
    grant.rejectResourceScope(resource, rejected)
  }
  await provider.interactionFinished(request, response, {
    consent: { grantId: await grant.save() },
  })
}
