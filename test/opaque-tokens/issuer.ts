import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

import { serve, type Served } from '../bound-tokens/serve.ts'

// A foreign issuer, whose tokens nobody else can read: nothing of ours makes them, or says what they are.

export const API = 'https://api.test'
export const SECRET = 'a secret of this client alone'

/** What the issuer calls the API, which may ask about tokens. */
export const API_CLIENT = 'orders'

export interface Issuer extends Served {
  /** A new refresh token of a user. */
  readonly refreshToken: () => Promise<string>
}

export async function startIssuer(): Promise<Issuer> {
  const made: { provider?: Provider } = {}
  const served = await serve(async (url) => {
    const provider = await createProvider(url)
    made.provider = provider
    const handle = provider.callback()
    return (request, response) => void handle(request, response)
  })
  return {
    url: served.url,
    refreshToken: async () => await refreshTokenOf(made.provider),
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
    },
  }
}

/** As its own endpoint makes one when a user has logged in. */
async function refreshTokenOf(provider: Provider | undefined): Promise<string> {
  const client = await provider?.Client.find('plain')
  if (provider === undefined || client === undefined) throw new Error('there is no such client')
  const grant = new provider.Grant({ accountId: 'ada', clientId: client.clientId })
  grant.addResourceScope(API, 'read')
  const grantId = await grant.save()
  const token = new provider.RefreshToken({
    accountId: 'ada',
    client,
    grantId,
    gty: 'authorization_code',
    resource: API,
    scope: 'read',
  })
  return await token.save()
}

async function createProvider(url: string): Promise<Provider> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const usual = {
    client_secret: SECRET,
    redirect_uris: [],
    response_types: [],
    id_token_signed_response_alg: 'ES256' as const,
    introspection_signed_response_alg: 'ES256' as const,
  }
  const asking = {
    ...usual,
    grant_types: [],
    token_endpoint_auth_method: 'client_secret_basic' as const,
  }
  const logsIn = {
    ...usual,
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_post' as const,
  }
  return new Provider(url, {
    clients: [
      { ...logsIn, client_id: 'plain' },
      { ...logsIn, client_id: 'proving', dpop_bound_access_tokens: true },
      { ...asking, client_id: API_CLIENT },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    clientAuthMethods: ['client_secret_post', 'client_secret_basic'],
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      jwtIntrospection: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API,
        getResourceServerInfo: () => ({
          scope: 'read',
          audience: API,
          accessTokenFormat: 'opaque',
        }),
      },
    },
  })
}
