import { createTestIssuer, type TestIssuer, tokenService } from '@portcullis/testing'

// What the examples of the documents talk to: an identity provider with metadata, which is a token service as well.

/** What stands in the documents for the identity provider and for the API. */
export const ISSUER = 'https://login.example.com'
export const AUDIENCE = 'https://api.example.com'

type TokenOptions = NonNullable<Parameters<TestIssuer['token']>[0]>

export interface IdentityProvider extends AsyncDisposable {
  readonly url: string
  /** The base URL of the token service. */
  readonly authUrl: string
  /** Code of a document, with this provider in place of the one that it names. */
  readonly namedIn: (code: string) => string
  /** As that of an issuer, of tokens that name the provider and the API. */
  readonly token: (options?: TokenOptions) => Promise<string>
  readonly bearer: (options?: TokenOptions) => Promise<{ authorization: string }>
}

export async function identityProvider(): Promise<IdentityProvider> {
  const issuer = await createTestIssuer()
  const service = await tokenService(issuer).listen({
    routes: ({ url, headers }) => {
      const { pathname } = new URL(url)
      if (pathname !== '/.well-known/openid-configuration') return undefined
      const own = `http://${headers.get('host')}`
      const keys = new URL(service.keyUrl).pathname
      return Response.json({ issuer: own, jwks_uri: `${own}${keys}` })
    },
  })
  const { url, authUrl } = service
  const named = (options: TokenOptions = {}) => ({
    ...options,
    claims: { iss: url, aud: AUDIENCE, ...options.claims },
  })
  return {
    url,
    authUrl,
    namedIn: (code) => code.replaceAll(`'${ISSUER}'`, `'${url}'`),
    token: async (options) => await issuer.token(named(options)),
    bearer: async (options) => await issuer.bearer(named(options)),
    async [Symbol.asyncDispose]() {
      await service.close()
    },
  }
}
