import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client'
import {
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import { createVerifier, grantedScopes, refusal, scope } from '@portcullis/core'
import { fetchEndpoint } from '@portcullis/mcp'
import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

// The endpoint beside what the SDK itself has for the same: what its tests want of its gate and of its metadata, they get from ours. Where
// the two differ, the standard says so.

const RESOURCE = 'https://mcp.test/tenant/mcp'
const ISSUER = 'https://auth.test'
const issuer = await createTestIssuer({ issuer: ISSUER, audience: RESOURCE })
const verifier = createVerifier(issuer.verifierOptions)
const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(RESOURCE))

const ours = fetchEndpoint(
  verifier,
  { resource: RESOURCE, authorizationServers: [ISSUER], requirement: scope('tools') },
  (_request, { authInfo }) =>
    Response.json([authInfo.clientId, authInfo.scopes, authInfo.expiresAt]),
)
const gate = requireBearerAuth({
  verifier: {
    async verifyAccessToken(token) {
      try {
        const auth = await verifier.verify(token)
        const { client_id: clientId, exp = 0 } = auth.claims
        const scopes = [...grantedScopes(auth)]
        const resource = new URL(RESOURCE)
        return { token, clientId: clientId as string, scopes, expiresAt: exp, resource }
      } catch (error) {
        if (refusal(error)?.status !== 401) throw error
        throw new OAuthError(OAuthErrorCode.InvalidToken, 'The access token is not valid')
      }
    },
  },
  requiredScopes: ['tools'],
  expectedResource: new URL(RESOURCE),
  resourceMetadataUrl,
})
const theirs = async (request: Request) => {
  const answer = await gate(request)
  return answer instanceof Response
    ? answer
    : Response.json([answer.clientId, answer.scopes, answer.expiresAt])
}

const claims = { sub: 'ada', client_id: 'robot', scope: 'tools more' }
const good = await issuer.token({ claims })

async function answersTo(authorization: string | undefined) {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
  const asked = [ours, theirs].map(async (each) => {
    const answer = await each(new Request(RESOURCE, { headers }))
    // As the client of the SDK reads a challenge.
    const { error, scope: wanted, resourceMetadataUrl: url } = extractWWWAuthenticateParams(answer)
    return { status: answer.status, error, wanted, url: url?.href, body: await answer.text() }
  })
  return await Promise.all(asked)
}

test.each<[string, string | undefined]>([
  ['no token', undefined],
  ['another scheme', 'Basic YTpi'],
  ['a forged token', 'Bearer a.b.c'],
  ['an expired token', `Bearer ${await issuer.token({ claims: { ...claims, exp: 1 } })}`],
  [
    'a token for another resource',
    `Bearer ${await issuer.token({ claims: { ...claims, aud: 'other' } })}`,
  ],
  [
    'a token without the scope',
    `Bearer ${await issuer.token({ claims: { ...claims, scope: 'more' } })}`,
  ],
])('%s: the client reads the same status, scope and metadata', async (_title, authorization) => {
  const [one, other] = await answersTo(authorization)
  expect([one?.status, one?.wanted, one?.url]).toEqual([other?.status, other?.wanted, other?.url])
  expect(one?.url).toBe(resourceMetadataUrl)
})

test('a good token is let in by both, with the same AuthInfo', async () => {
  const [one, other] = await answersTo(`bearer ${good}`)
  expect(one).toEqual(other)
  expect(one?.status).toBe(200)
})

test('the gate calls a missing token invalid; RFC 6750 section 3 wants no error there', async () => {
  const [one, other] = await answersTo(undefined)
  expect([one?.error, other?.error]).toEqual([undefined, 'invalid_token'])
})

test.each([`Bearer ${good} a`, 'Bearer', 'Bearer user:grant:secret'])(
  'a malformed token is an invalid one, so that a client logs in again: %s',
  async (authorization) => {
    const [one] = await answersTo(authorization)
    expect(one).toMatchObject({ status: 401, error: 'invalid_token' })
  },
)

const facts = (answer: Response | undefined) => [
  answer?.status,
  answer?.headers.get('access-control-allow-origin'),
]

const members = (text: string) => {
  const {
    resource,
    authorization_servers: servers,
    scopes_supported: scopes,
  } = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>
  return [resource, servers, scopes]
}

test.each(['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE'])(
  'the metadata answer %s as those of the SDK do',
  async (method) => {
    const request = () => new Request(resourceMetadataUrl, { method })
    const one = await ours(request())
    const other = oauthMetadataResponse(request(), {
      oauthMetadata: {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/auth`,
        token_endpoint: `${ISSUER}/token`,
        response_types_supported: ['code'],
      },
      resourceServerUrl: new URL(RESOURCE),
      scopesSupported: ['tools'],
    })
    expect(facts(one)).toEqual(facts(other))
    const [our, their] = [await one.text(), (await other?.text()) ?? '']
    expect(method === 'GET' ? members(our) : []).toEqual(method === 'GET' ? members(their) : [])
  },
)
