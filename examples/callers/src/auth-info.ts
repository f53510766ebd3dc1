import {
  type AuthInfo,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokenVerifier,
} from '@modelcontextprotocol/server'
import { type Auth, grantedScopes, refusal, type Verifier } from '@portcullis/core'

/** What the tools of a Model Context Protocol server see of a token that was accepted for this resource. */
export function authInfo(auth: Auth, resource: string): AuthInfo {
  const { client_id: clientId, azp, sub, exp } = auth.claims
  return {
    token: auth.token,
    // RFC 9068 has `client_id`, OpenID Connect `azp`. Never `sub`: a user may have the name of a client.
    clientId: [clientId, azp].find((each) => typeof each === 'string') ?? '',
    scopes: [...grantedScopes(auth)],
    ...(exp === undefined ? {} : { expiresAt: exp }),
    resource: new URL(resource),
    extra: { sub },
  }
}

/** For `requireBearerAuth` of the SDK. It answers an outage with 500: our guard in front, as in mcp.ts, with 503. */
export function oauthTokenVerifier(verifier: Verifier, resource: string): OAuthTokenVerifier {
  return {
    async verifyAccessToken(token) {
      try {
        return authInfo(await verifier.verify(token), resource)
      } catch (error) {
        if (refusal(error)?.code !== 'invalid_token') throw error
        throw new OAuthError(OAuthErrorCode.InvalidToken, 'The access token is not valid')
      }
    },
  }
}
