import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { connect as connect2, createServer as createServer2 } from 'node:http2'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { createVerifier, scope } from '@portcullis/core'
import { expressEndpoint, fetchEndpoint } from '@portcullis/mcp'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { serve } from '../../bound-tokens/serve.ts'
import { sendRaw } from './raw.ts'

// What the guards of all frameworks do with a request is asked of the endpoints of the Model Context Protocol as well, which are no guards
// of routes.

const RESOURCE = 'https://mcp.test/'
const issuer = await createTestIssuer({ issuer: 'https://auth.test', audience: RESOURCE })
const verifier = createVerifier(issuer.verifierOptions)
const good = await issuer.token({ claims: { sub: 'ada', scope: 'tools' } })
const options = {
  resource: RESOURCE,
  authorizationServers: ['https://auth.test'],
  requirement: scope('tools'),
}
const REST =
  'scope="tools", resource_metadata="https://mcp.test/.well-known/oauth-protected-resource"'
const MISSING = `Bearer realm="api", ${REST}`
const INVALID = `Bearer realm="api", error="invalid_token", error_description="The access token is not valid", ${REST}`
const REPEATED: unknown = expect.stringMatching(/^Bearer realm="api", error="invalid_request"/)

const node = expressEndpoint(verifier, options, (_request, response) => {
  response.end('in')
})
const platform = getRequestListener(
  fetchEndpoint(verifier, options, () => new Response('in')),
  { overrideGlobalObjects: false },
)
const FORMS: readonly (readonly [string, RequestListener])[] = [
  [
    'expressEndpoint, without Express',
    (request, response) => {
      node(request, response, (error) => {
        response.writeHead(error === undefined ? 404 : 500).end()
      })
    },
  ],
  ['fetchEndpoint', (request, response) => void platform(request, response)],
]

const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port)

describe.each(FORMS)('%s', (_name, listener) => {
  const start = async () => await serve(() => listener)

  test.each<[string, readonly string[], number, unknown]>([
    ['a good token', [`Authorization: Bearer ${good}`], 200, undefined],
    ['the scheme in capitals, and spaces', [`authorization: BEARER   ${good}`], 200, undefined],
    ['two headers', [`Authorization: Bearer ${good}`, 'Authorization: Bearer a'], 400, REPEATED],
    [
      'two headers that agree',
      [`Authorization: Bearer ${good}`, `AUTHORIZATION: Bearer ${good}`],
      400,
      REPEATED,
    ],
    ['two tokens in one', [`Authorization: Bearer ${good}, Bearer ${good}`], 400, REPEATED],
    ['a word behind the token', [`Authorization: Bearer ${good} a`], 401, INVALID],
    ['no value', ['Authorization:'], 401, INVALID],
    ['a tab for the space', [`Authorization: Bearer\t${good}`], 401, INVALID],
    ['another scheme', ['Authorization: Basic YTpi'], 401, MISSING],
    ['a proxy header', [`Proxy-Authorization: Bearer ${good}`], 401, MISSING],
    ['a cookie', [`Cookie: token=${good}`], 401, MISSING],
    ['no header', [], 401, MISSING],
    ['a preflight', ['Access-Control-Request-Method: POST'], 401, MISSING],
    ['a forged token', ['Authorization: Bearer a.b.c'], 401, INVALID],
    ['15 KiB', [`Authorization: Bearer ${'a'.repeat(15 * 1024)}`], 401, INVALID],
  ])('%s', async (_title, headers, status, challenge) => {
    await using api = await start()
    expect(await sendRaw(portOf(api), headers)).toMatchObject({ status, challenge })
  })

  test('the client reads the same bytes for every token that no signature has proven', async () => {
    await using api = await start()
    const seen = new Set<string>()
    const claims = { sub: 'ada', scope: 'tools' }
    for (const { token, reason } of await issuer.badTokens({ claims })) {
      if (
        !['malformed', 'algorithm', 'critical_header', 'unknown_key', 'signature'].includes(reason)
      ) {
        continue
      }
      const answer = await fetch(api.url, { headers: { authorization: `Bearer ${token}` } })
      seen.add(
        JSON.stringify([
          answer.status,
          answer.headers.get('www-authenticate'),
          await answer.text(),
        ]),
      )
    }
    expect(seen.size).toBe(1)
  })

  test('serves HTTP/2', async () => {
    const server = createServer2((request, response) => {
      listener(
        request as unknown as IncomingMessage,
        response as unknown as ServerResponse & { req: IncomingMessage },
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const statusOf = async (headers: Record<string, string>) => {
      const stream = client.request({ ':path': '/', ...headers })
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
      stream.resume()
      await once(stream, 'close')
      return answer[':status']
    }
    expect(await statusOf({})).toBe(401)
    expect(await statusOf({ authorization: `Bearer ${good}` })).toBe(200)
    client.close()
    server.close()
  })
})
