import type { Auth, Clock, GuardOptions, ProtectedResource, Requirement } from '@portcullis/core'

// The options of an endpoint, as its user states them.

/** How many sessions are known at a time. */
export interface SessionOptions {
  /**
   * Of all users together. The session that was not used for the longest time is forgotten first.
   * @default 10_000
   */
  max?: number | undefined
  /**
   * Of one user, with all clients together. Sessions of tokens that do not name a user count for their client.
   * @default 100
   */
  maxPerUser?: number | undefined
}

/** Options of an endpoint of the Model Context Protocol. */
export interface EndpointOptions<Subject = object> extends Pick<
  GuardOptions<Subject>,
  'dpop' | 'mutualTls' | 'onRefusal' | 'profile' | 'realm'
> {
  /**
   * The resource identifier: the URL that clients know this server by: https, or this machine, without a fragment. With a query, requests
   * must have that very query.
   * @see RFC 9728 section 1.2
   */
  resource: string
  /**
   * What tokens for this server name in `aud`, whatever else their verifier accepts: one of these texts, letter by letter. If it is the
   * id of a client, ID tokens have it as well: their verifier must tell them apart, as the presets of `@portcullis/providers` do. For an
   * issuer that writes no `aud` (Cognito): `{ clientIds: ['app1'], scope: 'files/read' }`. Then a token without `aud` must be of one
   * of these clients **and** have this scope, which no other resource may have: all challenges ask for it. Never where clients can
   * register themselves. With a verifier of several issuers state which of them has these clients, as `issuer` beside `clientIds`.
   * @default the resource; at the root of an origin with and without the slash
   * @see RFC 8707 section 2
   */
  audience?:
    | string
    | readonly string[]
    | { clientIds: readonly string[]; scope: string; issuer?: string | undefined }
    | undefined
  /** Issuer identifiers of the authorization servers where clients get tokens for this server. */
  authorizationServers: readonly string[]
  /** What every request needs, such as `scope('tools')`. Its scope is in the challenge. */
  requirement?: Requirement | undefined
  /**
   * What calls of single tools need in addition, by the name of the tool: `{ write: scope('files:write') }`. A token that lacks it gets 403 with all scopes that the call
   * needs, before the SDK sees the request.
   */
  tools?: Readonly<Record<string, Requirement>> | undefined
  /**
   * What the first challenge asks for, so that a client asks its user for all of it at once: a space-separated list.
   * @default the scope of `requirement`
   */
  scope?: string | undefined
  /**
   * The scopes that the metadata names.
   * @default `scope`
   */
  scopes?: readonly string[] | undefined
  /** The name of this server in the metadata, for people. */
  name?: string | undefined
  /** URL of documentation for developers, for the metadata. */
  documentation?: string | undefined
  /** Further members of the metadata, as in `protectedResourceMetadata`: `{ dpop_bound_access_tokens_required: true }`. */
  members?: ProtectedResource['members']
  /** Signs the metadata, as in `protectedResourceMetadata`: returns a JWT of these members, which becomes `signed_metadata`. */
  sign?: ProtectedResource['sign']
  /**
   * The path of the endpoint in this process, where a proxy changes paths.
   * @default the path of `resource`
   */
  path?: string | undefined
  /**
   * The claims that may say which client a token was issued to; the first that a token has counts. With Okta `['cid']`.
   * @default ['client_id', 'azp']
   */
  clientIdClaims?: readonly string[] | undefined
  /**
   * How many sessions are known. `false` for a server that has none, such as that of `createMcpHandler`: then the ids that clients
   * send mean nothing, and an answer that begins a session is an error.
   * @default { max: 10_000, maxPerUser: 100 }
   */
  sessions?: SessionOptions | false | undefined
  /**
   * Says whose the sessions of a token are, where that is not the user in `sub` with the client: one text for all tokens of an owner,
   * who is told from those of other issuers. If it throws, or returns anything else than a text that is not empty, the process emits
   * a warning, and the sessions are those of this very token.
   */
  owner?: ((auth: Auth<unknown>) => string) | undefined
  /**
   * Called when somebody sends the id of another user's session, for logs and alarms. If it throws, the process emits a warning, and
   * the answer is the same.
   */
  onForeignSession?: ((auth: Auth<unknown>, subject: Subject) => unknown) | undefined
  /**
   * Called with the id of a session that the endpoint has forgotten, so that the server forgets it as well: the SDK's own map keeps its
   * transport. `deleted`: the client has ended it; `max` and `maxPerUser`: there were too many. With this function the endpoint keeps the
   * ids of all sessions that it knows, otherwise their digests alone. If it throws, the process emits a warning.
   */
  onSessionEnd?: ((id: string, why: 'deleted' | 'max' | 'maxPerUser') => unknown) | undefined
  /**
   * The longest body that is read for `tools`. Bytes, at most 64 MiB.
   * @default 4_194_304
   */
  maxBodySize?: number | undefined
  /** Where the time of open streams comes from, for tests. By default the system's. */
  clock?: Clock | undefined
}
