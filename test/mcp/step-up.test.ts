import { createVerifier, discoverKeys, scope } from '@portcullis/core'
import { decodeJwt } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'

import { createAgent, type Major } from './agent.ts'
import { AGENT, REDIRECT, startAuthorizationServer } from './authorization-server.ts'
import { visit } from './browser.ts'
import { post } from './calls.ts'
import { SERVERS, startServer } from './servers.ts'

// Authorization servers that do not do as the Model Context Protocol would have it: tokens name another audience than the resource, or
// clients that have registered themselves get no more scopes than they have registered for.

const AUDIENCE = 'urn:example:files'
const other = await startAuthorizationServer({ audience: AUDIENCE })
const usual = await startAuthorizationServer()
afterAll(async () => {
  await Promise.all([other, usual].map(async (each) => await each[Symbol.asyncDispose]()))
})

const acceptingOther = (audience: string | readonly string[]) =>
  createVerifier({ keys: discoverKeys(other.url), issuer: other.url, audience })
const acceptingUsual = (audience: string | readonly string[]) =>
  createVerifier({ keys: discoverKeys(usual.url), issuer: usual.url, audience })

const NEEDED = { requirement: scope('tools'), tools: { write: scope('files:write') } }

const CASES = SERVERS.flatMap((kind) =>
  ([1, 2] as const).map((client: Major): [string, typeof kind, Major] => [
    `${kind.name}, called by SDK ${client}`,
    kind,
    client,
  ]),
)

describe.each(CASES)('%s', (_title, kind, client) => {
  test('tokens whose audience is not the resource: from the first 401 to a tool that needs more', async () => {
    const options = { authorizationServers: [other.url], audience: AUDIENCE, ...NEEDED }
    await using server = await startServer(kind, () => acceptingOther(AUDIENCE), options)
    const agent = createAgent(client, other.url)
    const connection = await agent.connect(server.resource)
    expect(JSON.parse(await connection.call('whoami'))).toMatchObject({
      user: 'ada',
      clientId: AGENT,
      scopes: ['tools'],
      resource: server.resource,
    })
    const audience = () => decodeJwt(agent.kept.tokens?.access_token ?? '').aud
    expect(audience()).toBe(AUDIENCE)
    expect(other.asked.at(-1)?.getAll('resource')).toEqual([server.resource])
    await expect(connection.call('write')).rejects.toThrow(/Unauthorized|authoriz/i)
    await agent.logIn(connection)
    expect(await connection.call('write')).toBe('"written"')
    expect(audience()).toBe(AUDIENCE)
    await connection.client.close()
  })

  test('the same tokens are refused where the audience is not stated, and a token for the resource where another one is', async () => {
    const agent = createAgent(client, other.url)
    const stated = { authorizationServers: [other.url], requirement: scope('tools') }
    const both = (resource: string) => acceptingOther([AUDIENCE, resource])
    await using silent = await startServer(kind, both, stated)
    await expect(agent.connect(silent.resource)).rejects.toThrow(/401|Unauthorized|authoriz/i)
    const token = agent.kept.tokens?.access_token ?? ''
    expect(decodeJwt(token).aud).toBe(AUDIENCE)
    expect((await post(silent.resource, 'initialize', { token })).status).toBe(401)

    const forResource = (resource: string) => acceptingUsual([resource, AUDIENCE])
    const options = { ...stated, authorizationServers: [usual.url], audience: AUDIENCE }
    await using server = await startServer(kind, forResource, options)
    const another = createAgent(client, usual.url)
    await expect(another.connect(server.resource)).rejects.toThrow(/401|Unauthorized|authoriz/i)
    expect(decodeJwt(another.kept.tokens?.access_token ?? '').aud).toBe(server.resource)
  })

  test('a client that has registered itself for what the first challenge asks for gets no more later', async () => {
    const options = { authorizationServers: [usual.url], ...NEEDED }
    await using server = await startServer(kind, acceptingUsual, options)
    const agent = createAgent(client)
    const connection = await agent.connect(server.resource)
    expect(agent.kept.registered).toMatchObject({ scope: 'tools' })
    await expect(connection.call('write')).rejects.toThrow(/Unauthorized|authoriz/i)
    const page = agent.kept.page ?? new URL('none:')
    expect((await visit(page, REDIRECT)).get('error')).toBe('invalid_scope')
    await connection.client.close()
  })

  test('with all scopes in the first challenge it registers itself for all, and calls every tool after one log-in', async () => {
    const options = { authorizationServers: [usual.url], ...NEEDED, scope: 'tools files:write' }
    await using server = await startServer(kind, acceptingUsual, options)
    const agent = createAgent(client)
    usual.user = { name: 'ada', agreesTo: 'all' }
    const connection = await agent.connect(server.resource)
    const asked = usual.asked.length
    expect(agent.kept.registered).toMatchObject({ scope: 'tools files:write' })
    expect(await connection.call('write')).toBe('"written"')
    expect(usual.asked).toHaveLength(asked)
    await connection.client.close()
  })

  test('a user who has agreed to less is asked again for the tool that needs more', async () => {
    const options = { authorizationServers: [usual.url], ...NEEDED, scope: 'tools files:write' }
    await using server = await startServer(kind, acceptingUsual, options)
    const agent = createAgent(client)
    usual.user = { name: 'ada', agreesTo: ['tools'] }
    const connection = await agent.connect(server.resource)
    expect(JSON.parse(await connection.call('whoami'))).toMatchObject({ scopes: ['tools'] })
    usual.user = { name: 'ada', agreesTo: 'all' }
    await expect(connection.call('write')).rejects.toThrow(/Unauthorized|authoriz/i)
    await agent.logIn(connection)
    expect(await connection.call('write')).toBe('"written"')
    await connection.client.close()
  })
})
