import { createHash, randomUUID } from 'node:crypto'

import { type Case, cases } from '../../packages/providers/test/cases.ts'
import { tokenOf } from '../../packages/providers/test/world.ts'

// Identity providers as authorization servers, as each documents itself: where its metadata are, what it makes of `resource`, which scopes
// it refuses, and the tokens that it writes, which are those of the sample of its page.

/** What the pages call the server. */
export const RESOURCE = 'https://mcp.example.com/mcp'

/** What a client asks a token for. */
interface Asked {
  readonly clientId: string
  /** Without those of OpenID Connect. */
  readonly scopes: readonly string[]
  readonly resource: string | null
  /** The scopes that the client has registered itself for. */
  readonly registered: readonly string[] | undefined
}

export interface Played {
  readonly page: string
  readonly issuer: string
  /** Where the metadata are. */
  readonly metadata: readonly string[]
  /** Its endpoints begin with this. */
  readonly endpoints: string
  /** A client that it knows. Without one, clients register themselves. */
  readonly clientId?: string
  /** The error for what it does not issue. */
  refuses(this: void, asked: Asked): string | undefined
  /** In which claims a token differs from the sample. */
  claims(this: void, asked: Asked): Readonly<Record<string, unknown>>
}

const OPENID = '/.well-known/openid-configuration'
const TENANT = 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555'
const POOL = 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI'
const AUTH0 = 'https://tenant.eu.auth0.com'
const KEYCLOAK = 'https://kc.example.com'

const withoutResource = (scope: string) => scope.slice(RESOURCE.length + 1)

function cognito(name: string, binds: boolean): readonly [string, Played] {
  const played: Played = {
    page: 'cognito',
    issuer: POOL,
    metadata: [`${POOL}${OPENID}`],
    endpoints: 'https://example.auth.eu-west-1.amazoncognito.com/oauth2',
    clientId: 'app1',
    refuses: ({ scopes }) =>
      scopes.every((each) => each === 'places/read') ? undefined : 'invalid_scope',
    claims: ({ clientId, scopes, resource }) => ({
      client_id: clientId,
      scope: scopes.join(' '),
      aud: binds ? resource : undefined,
    }),
  }
  return [name, played]
}

export const PLAYED: readonly (readonly [name: string, Played])[] = [
  [
    'entra',
    {
      page: 'entra',
      issuer: `${TENANT}/v2.0`,
      metadata: [`${TENANT}/v2.0${OPENID}`],
      endpoints: `${TENANT}/oauth2/v2.0`,
      clientId: '75dbe77f-10a3-4e59-85fd-8c127544f17c',
      // A scope without the name of a resource is one of Microsoft Graph.
      refuses: ({ scopes, resource }) =>
        resource === RESOURCE && scopes.every((each) => each.startsWith(`${RESOURCE}/`))
          ? undefined
          : 'invalid_target',
      claims: ({ clientId, scopes }) => ({
        azp: clientId,
        scp: scopes.map(withoutResource).join(' '),
      }),
    },
  ],
  cognito('cognito', false),
  cognito('cognito, which binds tokens to the resource', true),
  [
    'auth0',
    {
      page: 'auth0',
      issuer: `${AUTH0}/`,
      metadata: [`${AUTH0}${OPENID}`, `${AUTH0}/.well-known/oauth-authorization-server`],
      endpoints: AUTH0,
      refuses: ({ resource }) => (resource === RESOURCE ? undefined : 'access_denied'),
      claims: ({ clientId, scopes, resource }) => ({
        azp: clientId,
        aud: [resource, `${AUTH0}/userinfo`],
        scope: ['openid', ...scopes].join(' '),
      }),
    },
  ],
  [
    'keycloak',
    {
      page: 'keycloak',
      issuer: `${KEYCLOAK}/realms/shop`,
      metadata: [
        `${KEYCLOAK}/realms/shop${OPENID}`,
        `${KEYCLOAK}/.well-known/oauth-authorization-server/realms/shop`,
      ],
      endpoints: `${KEYCLOAK}/realms/shop/protocol/openid-connect`,
      refuses: ({ scopes, registered = [] }) =>
        scopes.every((each) => registered.includes(each)) ? undefined : 'invalid_scope',
      claims: ({ clientId, scopes }) => ({
        azp: clientId,
        aud: scopes.includes('tools') ? ['orders', 'account'] : 'account',
        scope: ['openid', ...scopes].join(' '),
      }),
    },
  ],
]

export function caseOf({ page }: Played): Case {
  const found = cases.find((each) => each.page === page && each.differs === undefined)
  if (found === undefined) throw new Error(`there is no case of ${page}`)
  return found
}

const OF_OPENID: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'offline_access'])

const scopesIn = (text: string | null) =>
  (text ?? '').split(' ').filter((each) => each !== '' && !OF_OPENID.has(each))

/**
 * The provider as a function from a request to its answer. Its user agrees to everything.
 *
 * @returns Also what clients have asked for at the page to log in.
 */
export function play(played: Played) {
  const { issuer, metadata, endpoints } = played
  const clients = new Map<string, readonly string[]>()
  const codes = new Map<string, URLSearchParams>()
  const asked: URLSearchParams[] = []
  const document = {
    issuer,
    authorization_endpoint: `${endpoints}/authorize`,
    token_endpoint: `${endpoints}/token`,
    registration_endpoint: played.clientId === undefined ? `${endpoints}/register` : undefined,
    jwks_uri: caseOf(played).keyUrl,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    scopes_supported: [...OF_OPENID],
  }

  const askedIn = (query: URLSearchParams): Asked => {
    const clientId = query.get('client_id') ?? ''
    const registered = clients.get(clientId)
    const scopes = scopesIn(query.get('scope'))
    return { clientId, scopes, resource: query.get('resource'), registered }
  }

  function authorize(query: URLSearchParams): Response {
    asked.push(query)
    const request = askedIn(query)
    const isKnown = request.clientId === played.clientId || request.registered !== undefined
    if (!isKnown) return new Response('no such client', { status: 400 })
    const back = new URL(query.get('redirect_uri') ?? '')
    const error = played.refuses(request)
    const code = randomUUID()
    if (error === undefined) codes.set(code, query)
    back.searchParams.set(error === undefined ? 'code' : 'error', error ?? code)
    const state = query.get('state')
    if (state !== null) back.searchParams.set('state', state)
    return Response.redirect(back, 302)
  }

  async function token(form: URLSearchParams): Promise<Response> {
    const code = form.get('code') ?? ''
    const query = codes.get(code)
    codes.delete(code)
    const digest = createHash('sha256').update(form.get('code_verifier') ?? '')
    if (query?.get('code_challenge') !== digest.digest('base64url')) {
      return Response.json({ error: 'invalid_grant' }, { status: 400 })
    }
    const claims = played.claims(askedIn(query))
    return Response.json({
      access_token: await tokenOf(caseOf(played), { claims }),
      token_type: 'Bearer',
      expires_in: 300,
    })
  }

  async function register(request: Request): Promise<Response> {
    const wanted = (await request.json()) as { readonly scope?: string }
    const clientId = randomUUID()
    clients.set(clientId, scopesIn(wanted.scope ?? null))
    return Response.json({ ...wanted, client_id: clientId }, { status: 201 })
  }

  async function answer(request: Request): Promise<Response> {
    const { origin, pathname, searchParams } = new URL(request.url)
    const url = `${origin}${pathname}`
    if (metadata.includes(url)) return Response.json(document)
    if (url === document.authorization_endpoint) return authorize(searchParams)
    if (url === document.token_endpoint)
      return await token(new URLSearchParams(await request.text()))
    if (url === document.registration_endpoint) return await register(request)
    return new Response(null, { status: 404 })
  }

  return { answer, asked }
}
