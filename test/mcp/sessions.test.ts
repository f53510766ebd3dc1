import { createVerifier } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { ask, begin, post } from './calls.ts'
import { SERVERS, type ServerKind, startServer } from './servers.ts'

// Sessions of servers with the first major of the SDK, which know a session by its id alone: another user must not get at it.

async function startWithSessions(kind: ServerKind, options = {}) {
  const issuer = await createTestIssuer({ issuer: 'https://auth.test' })
  const foreign: unknown[] = []
  const server = await startServer(
    kind,
    (audience) => createVerifier({ ...issuer.verifierOptions, audience }),
    {
      authorizationServers: ['https://auth.test'],
      onForeignSession: ({ claims }) => foreign.push((claims as { sub?: string }).sub),
      ...options,
    },
  )
  const tokenOf = async (claims: Record<string, unknown>) =>
    await issuer.token({ claims: { client_id: 'agent', aud: server.resource, ...claims } })
  return { foreign, server, tokenOf, [Symbol.asyncDispose]: server[Symbol.asyncDispose] }
}

const NOT_FOUND = {
  jsonrpc: '2.0',
  error: { code: -32_001, message: 'Session not found' },
  id: null,
}

describe.each(SERVERS.filter(({ major }) => major === 1).map((kind) => [kind.name, kind] as const))(
  '%s',
  (_name, kind) => {
    test('the user who has begun a session goes on with another token', async () => {
      await using api = await startWithSessions(kind)
      const url = api.server.resource
      const sessionId = await begin(url, await api.tokenOf({ sub: 'ada' }))
      const token = await api.tokenOf({ sub: 'ada', jti: 'another' })
      const answer = await post(url, 'whoami', { token, sessionId })
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('ada')])
      expect(api.foreign).toEqual([])
    })

    test.each([
      ['another user', { sub: 'eve' }],
      ['another client of the user', { sub: 'ada', client_id: 'other' }],
      ['a token without a user', {}],
    ])('the session is not there for %s, however it is asked for', async (_who, claims) => {
      await using api = await startWithSessions(kind)
      const url = api.server.resource
      const owner = await api.tokenOf({ sub: 'ada' })
      const sessionId = await begin(url, owner)
      const token = await api.tokenOf(claims)
      const invented = await post(url, 'whoami', { token, sessionId: 'invented' })
      for (const answer of [
        invented,
        await post(url, 'whoami', { token, sessionId }),
        await post(url, 'initialize', { token, sessionId }),
        await ask(url, 'GET', { token, sessionId }),
        await ask(url, 'DELETE', { token, sessionId }),
      ]) {
        // An id that exists is answered as one that does not.
        expect([answer.status, await answer.json()]).toEqual([404, NOT_FOUND])
      }
      expect(api.foreign).toHaveLength(4)
      const still = await post(url, 'whoami', { token: owner, sessionId })
      expect([still.status, await still.text()]).toEqual([200, expect.stringContaining('ada')])
    })

    test('a session without a token is refused as everything else is', async () => {
      await using api = await startWithSessions(kind)
      const url = api.server.resource
      const sessionId = await begin(url, await api.tokenOf({ sub: 'ada' }))
      const answer = await fetch(url, { headers: { 'mcp-session-id': sessionId } })
      expect(answer.status).toBe(401)
    })

    test('a session that was ended is not there any more', async () => {
      await using api = await startWithSessions(kind)
      const url = api.server.resource
      const token = await api.tokenOf({ sub: 'ada' })
      const sessionId = await begin(url, token)
      expect((await ask(url, 'DELETE', { token, sessionId })).status).toBe(200)
      expect((await post(url, 'whoami', { token, sessionId })).status).toBe(404)
    })

    test('a user who begins sessions without end loses the oldest, and nobody else does', async () => {
      await using api = await startWithSessions(kind, { sessions: { max: 10, maxPerUser: 3 } })
      const url = api.server.resource
      const [ada, eve] = [await api.tokenOf({ sub: 'ada' }), await api.tokenOf({ sub: 'eve' })]
      const sessionId = await begin(url, ada)
      const begun: string[] = []
      for (let each = 0; each < 20; each++) begun.push(await begin(url, eve))
      const statuses = []
      for (const each of begun) {
        statuses.push((await post(url, 'whoami', { token: eve, sessionId: each })).status)
      }
      expect(statuses).toEqual([...Array.from({ length: 17 }, () => 404), 200, 200, 200])
      expect((await post(url, 'whoami', { token: ada, sessionId })).status).toBe(200)
    })

    test('whoever keeps transports is told of each session that is forgotten, by its id', async () => {
      const ended: unknown[] = []
      const onSessionEnd = (...end: unknown[]) => ended.push(end)
      const sessions = { maxPerUser: 1 }
      await using api = await startWithSessions(kind, { sessions, onSessionEnd })
      const url = api.server.resource
      const token = await api.tokenOf({ sub: 'ada' })
      const [first, second] = [await begin(url, token), await begin(url, token)]
      await ask(url, 'DELETE', { token, sessionId: second })
      expect(ended).toEqual([
        [first, 'maxPerUser'],
        [second, 'deleted'],
      ])
    })

    test('users whom their tokens name by numbers, or not at all, do not share a session', async () => {
      await using api = await startWithSessions(kind)
      const url = api.server.resource
      for (const [owner, other] of [
        [{ sub: 1001 }, { sub: 1002 }],
        [{ username: 'ada' }, { username: 'eve' }],
        [{ uid: 'ada' }, { uid: 'eve' }],
      ] as const) {
        const sessionId = await begin(url, await api.tokenOf(owner))
        const token = await api.tokenOf(other)
        expect((await post(url, 'whoami', { token, sessionId })).status).toBe(404)
        expect((await ask(url, 'GET', { token, sessionId })).status).toBe(404)
        expect((await ask(url, 'DELETE', { token, sessionId })).status).toBe(404)
      }
    })

    test('a server that has said to have no sessions begins none', async () => {
      await using api = await startWithSessions(kind, { sessions: false })
      const answer = await post(api.server.resource, 'initialize', {
        token: await api.tokenOf({ sub: 'ada' }),
      })
      expect(answer.headers.get('mcp-session-id')).toBeNull()
      expect(answer.status).toBe(500)
    })
  },
)

describe.each(SERVERS.filter(({ major }) => major === 2).map((kind) => [kind.name, kind] as const))(
  '%s',
  (_name, kind) => {
    test('where there are no sessions, ids that clients send mean nothing', async () => {
      await using api = await startWithSessions(kind, { sessions: false })
      const token = await api.tokenOf({ sub: 'ada' })
      const answer = await post(api.server.resource, 'whoami', { token, sessionId: 'of old' })
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('ada')])
    })

    test('where there may be some, an id that nobody knows is refused', async () => {
      await using api = await startWithSessions(kind)
      const token = await api.tokenOf({ sub: 'ada' })
      const answer = await post(api.server.resource, 'whoami', { token, sessionId: 'of old' })
      expect([answer.status, await answer.json()]).toEqual([404, NOT_FOUND])
    })
  },
)
