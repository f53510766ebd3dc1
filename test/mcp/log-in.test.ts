import { createVerifier, discoverKeys, scope } from '@portcullis/core'
import { afterAll, describe, expect, test } from 'vitest'

import { createAgent, type Major } from './agent.ts'
import { AGENT, startAuthorizationServer } from './authorization-server.ts'
import { SERVERS, startServer } from './servers.ts'

// From the first 401 to a tool that knows its user: the client of the SDK, an authorization server of others, and our endpoint.

const authorization = await startAuthorizationServer()
afterAll(async () => {
  await authorization[Symbol.asyncDispose]()
})

const createJwtVerifier = (audience: string) =>
  createVerifier({ keys: discoverKeys(authorization.url), issuer: authorization.url, audience })

const options = {
  authorizationServers: [authorization.url],
  requirement: scope('tools'),
  tools: { write: scope('files:write') },
}

const CASES = SERVERS.flatMap((kind) =>
  ([1, 2] as const).map((client: Major): [string, typeof kind, Major] => [
    `${kind.name}, called by SDK ${client}`,
    kind,
    client,
  ]),
)

describe.each(CASES)('%s', (_title, kind, client) => {
  test('a tool knows the user who has logged in, and gets no header with the token', async () => {
    await using server = await startServer(kind, createJwtVerifier, options)
    authorization.user = { name: 'ada', agreesTo: 'all' }
    const connection = await createAgent(client, authorization.url).connect(server.resource)
    expect(JSON.parse(await connection.call('whoami'))).toEqual({
      user: 'ada',
      clientId: AGENT,
      scopes: ['tools'],
      resource: server.resource,
      hasToken: true,
      headers: [],
    })
    const asked = authorization.asked.at(-1)
    expect(asked?.get('scope')).toBe('tools') // from the challenge
    expect(asked?.getAll('resource')).toEqual([server.resource]) // from the metadata: RFC 8707
    await connection.client.close()
  })

  test('a client that has kept a token of another server, with characters that ours have not, logs in again', async () => {
    await using server = await startServer(kind, createJwtVerifier, options)
    authorization.user = { name: 'ada', agreesTo: 'all' }
    const agent = createAgent(client, authorization.url)
    agent.kept.tokens = { access_token: 'user:grant:secret', token_type: 'Bearer' }
    const connection = await agent.connect(server.resource)
    expect(await connection.call('whoami')).toContain('ada')
    await connection.client.close()
  })

  test('a client that nobody knows registers itself first', async () => {
    await using server = await startServer(kind, createJwtVerifier, options)
    const agent = createAgent(client)
    const connection = await agent.connect(server.resource)
    const { clientId } = JSON.parse(await connection.call('whoami')) as { clientId: string }
    expect(clientId).toBe(agent.kept.registered?.client_id)
    expect(clientId).not.toBe(AGENT)
    await connection.client.close()
  })

  test('a tool that needs more sends the user to agree to more, and to keep what was agreed', async () => {
    await using server = await startServer(kind, createJwtVerifier, options)
    const agent = createAgent(client, authorization.url)
    const connection = await agent.connect(server.resource)
    await expect(connection.call('write')).rejects.toThrow(/Unauthorized|authoriz/i)
    await agent.logIn(connection)
    expect(authorization.asked.at(-1)?.get('scope')?.split(' ').toSorted()).toEqual([
      'files:write',
      'tools',
    ])
    expect(await connection.call('write')).toBe('"written"')
    expect(JSON.parse(await connection.call('whoami'))).toMatchObject({ user: 'ada' })
    await connection.client.close()
  })

  test('a token for another resource of the same authorization server is refused', async () => {
    await using server = await startServer(kind, createJwtVerifier, options)
    await using other = await startServer(kind, createJwtVerifier, options)
    const agent = createAgent(client, authorization.url)
    const connection = await agent.connect(other.resource)
    expect(await connection.call('whoami')).toContain('ada')
    await connection.client.close()
    const answer = await fetch(server.resource, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.kept.tokens?.access_token}` },
      body: '{}',
    })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
  })
})
