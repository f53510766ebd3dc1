import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { fetchEndpoint } from '@portcullis/mcp'

// An endpoint of the Model Context Protocol, for runtimes.ts. Its handler says who is calling, and what.

const resource = 'https://mcp.test/mcp'
const keys = remoteKeys(`${process.env['AUTH_URL']}/tokenservice/pubkey.json`)
const verifier = createVerifier({ keys, issuer: 'https://auth.test', audience: resource })

const judge = fetchEndpoint(
  verifier,
  {
    resource,
    authorizationServers: ['https://auth.test'],
    requirement: scope('tools'),
    tools: { save: scope('files:write') },
    sessions: false,
  },
  (request, { authInfo, parsedBody }) => {
    const { clientId, scopes, extra } = authInfo
    const hasToken = request.headers.has('authorization')
    return Response.json({ user: extra?.['sub'], clientId, scopes, hasToken, parsedBody })
  },
)
