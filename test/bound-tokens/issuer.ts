import { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'

import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

import type { Certificate } from '../certificate.ts'
import { serve, type Served } from './serve.ts'

// A foreign issuer, which binds the tokens that it gives out: nothing of ours makes them.

export const API = 'https://api.test'
export const SECRET = 'a secret of this client alone'

/**
 * @param certificates With them it is asked over TLS: its own, and that of the client `certified`, which logs in by it.
 */
export async function startIssuer(certificates?: {
  readonly server: Certificate
  readonly client: Certificate
}): Promise<Served> {
  return await serve(async (url) => {
    const provider = await createProvider(url, certificates?.client)
    const handle = provider.callback()
    return (request, response) => void handle(request, response)
  }, certificates?.server)
}

async function createProvider(
  url: string,
  certificate: Certificate | undefined,
): Promise<Provider> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const usual = {
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    id_token_signed_response_alg: 'ES256' as const,
  }
  const certified = certificate && {
    ...usual,
    client_id: 'certified',
    token_endpoint_auth_method: 'self_signed_tls_client_auth' as const,
    tls_client_certificate_bound_access_tokens: true,
    jwks: { keys: [publicJwkOf(certificate)] },
  }
  return new Provider(url, {
    clients: [
      {
        ...usual,
        client_id: 'proving',
        client_secret: SECRET,
        token_endpoint_auth_method: 'client_secret_post',
        dpop_bound_access_tokens: true,
      },
      ...(certified === undefined ? [] : [certified]),
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    clientAuthMethods: ['client_secret_post', 'self_signed_tls_client_auth'],
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true },
      mTLS: {
        enabled: true,
        certificateBoundAccessTokens: true,
        selfSignedTlsClientAuth: true,
        getCertificate: ({ socket }) => (socket as TLSSocket).getPeerX509Certificate(),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API,
        getResourceServerInfo: () => ({
          scope: 'read',
          audience: API,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  })
}

/** As a client registers it: RFC 8705 section 2.2.2. */
function publicJwkOf({ cert }: Certificate) {
  const certificate = new X509Certificate(cert)
  const { kty, crv, x, y } = certificate.publicKey.export({ format: 'jwk' })
  return { kty, crv, x, y, x5c: [certificate.raw.toString('base64')] }
}
