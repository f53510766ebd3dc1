import { type Auth, grantedScopes } from '@portcullis/core'
import { signedClaims } from '@portcullis/core/adapter'
import { isJsonObject } from '@portcullis/kit/json'
import { ownMembers } from '@portcullis/kit/options'

// What tools see of an accepted token: the `AuthInfo` that both majors of the SDK hand on. Nothing in it is a header.

/**
 * What a token proves, in the words of the SDK: its own types accept it where they say `AuthInfo`.
 *
 * `token` is not enumerable: a tool that returns, copies or logs the whole object gives no token away.
 */
export interface AuthInfo {
  /**
   * The access token. It is for this server alone: do NOT send it to another API. `createOAuthClient().onBehalfOf()` of
   * `@portcullis/client/oauth` exchanges it for one that is for that API.
   */
  readonly token: string
  /** The client that the claims of the option `clientIdClaims` name; empty if none does. */
  clientId: string
  scopes: string[]
  /** The claim `exp`: seconds since 1970-01-01T00:00:00Z. It is left out for a token without one. */
  expiresAt?: number
  /** The resource identifier of this server. RFC 8707 section 2. */
  resource: URL
  /** For challenges that the SDK makes itself, such as that of its `requireScopes`. RFC 9728 section 5.1. */
  resourceMetadataUrl: string
  /** The claims. With a schema, what the schema has made of them. It inherits nothing, so only what a token has is there. */
  extra: Record<string, unknown>
}

/** A new object for each request: tools may change it. @param client Never `sub`: a user may have the name of a client. */
export function authInfoOf(
  auth: Auth<unknown>,
  client: string | undefined,
  parts: { readonly resource: string; readonly metadataUrl: string },
): AuthInfo {
  const { claims, token } = auth
  const signed = signedClaims(auth)
  const { exp } = ownMembers(signed)
  const extra = ownMembers(isJsonObject(claims) ? claims : {})
  // Whoever copies it into another object would set the prototype of that one. Claims of ours never have it, but a schema may make one.
  Reflect.deleteProperty(extra, '__proto__')
  const info = ownMembers({
    clientId: client ?? '',
    scopes: [...grantedScopes(auth)],
    ...(typeof exp === 'number' ? { expiresAt: exp } : {}),
    resource: new URL(parts.resource),
    resourceMetadataUrl: parts.metadataUrl,
    extra,
  })
  return Object.defineProperty(info, 'token', ownMembers({ value: token })) as AuthInfo // which it is now
}
