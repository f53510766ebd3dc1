import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

import { serve, type Served } from '../bound-tokens/serve.ts'

// A foreign issuer, whose tokens nobody else can read: nothing of ours makes them, or says what they are.

export const API = 'https://api.test'
export const SECRET = 'a secret of this client alone'

/** What the issuer calls the API, which may ask about tokens. */
export const API_CLIENT = 'orders'

export async function startIssuer(): Promise<Served> {
  return await serve(async (url) => {
    const provider = await createProvider(url)
    const handle = provider.callback()
    return (request, response) => void handle(request, response)
  })
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
