import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { byIssuer, createVerifier, localRevocations, type Verifier } from '@portcullis/core'
import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { ask, begin, listen, post } from './calls.ts'
import { SERVERS, type ServerKind, startServer } from './servers.ts'

// Streams that stay open: with the answer to a call, with GET, and those of subscriptions. Each ends with the token that has opened it.

async function startWithClock(kind: ServerKind, wrap = (verifier: Verifier) => verifier) {
  const clock = manualClock()
  const revocations = localRevocations({ clock })
  const issuer = await createTestIssuer({ clock, issuer: 'https://auth.test' })
  const server = await startServer(
    kind,
    (audience) =>
      wrap(createVerifier({ ...issuer.verifierOptions, audience, clockTolerance: 0, revocations })),
    { authorizationServers: ['https://auth.test'], clock },
  )
  const tokenFor = async (sub: string, lifetime = 300) =>
    await issuer.token({
      claims: { sub, client_id: 'agent', aud: server.resource, exp: clock.now() + lifetime },
    })
  return {
    clock,
    revocations,
    server,
    tokenFor,
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

/** `open` if nothing has ended it until another answer has come back from the same server. */
async function stateOf(
  ended: Promise<string>,
  { resource }: { resource: string },
): Promise<string> {
  const later = fetch(resource.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'))
  return await Promise.race([ended, later.then(async (answer) => (await answer.text()) && 'open')])
}

describe.each(SERVERS.map((kind) => [kind.name, kind] as const))('%s', (_name, kind) => {
  test('the answer to a call ends when the token expires, and that of another token goes on', async () => {
    await using api = await startWithClock(kind)
    const { clock, server, tokenFor } = api
    const [short, long] = [await tokenFor('ada', 300), await tokenFor('ada', 900)]
    const sessionId = kind.major === 1 ? await begin(server.resource, short) : undefined
    const first = await listen(await post(server.resource, 'endless', { token: short, sessionId }))
    const other = kind.major === 1 ? await begin(server.resource, long) : undefined
    const second = await listen(
      await post(server.resource, 'endless', { token: long, sessionId: other }),
    )
    expect(first.first).toContain('notifications/progress')
    expect(second.first).toContain('notifications/progress')
    await clock.advance(299)
    expect(await stateOf(first.ended, server)).toBe('open')
    await clock.advance(1)
    expect(await first.ended).toMatch(/cut|closed/)
    expect(await stateOf(second.ended, server)).toBe('open')
    await clock.advance(600)
    expect(await second.ended).toMatch(/cut|closed/)
  })

  test('it ends when the token is revoked', async () => {
    await using api = await startWithClock(kind)
    const { revocations, server, tokenFor, clock } = api
    const token = await tokenFor('ada')
    const sessionId = kind.major === 1 ? await begin(server.resource, token) : undefined
    const { ended } = await listen(await post(server.resource, 'endless', { token, sessionId }))
    await clock.advance(1)
    expect(await stateOf(ended, server)).toBe('open')
    await revocations.revokeBefore({ iss: 'https://auth.test', sub: 'ada' })
    expect(await ended).toMatch(/cut|closed/)
    const answer = await post(server.resource, 'whoami', { token, sessionId })
    expect(answer.status).toBe(401)
  })

  test('it ends behind byIssuer as well', async () => {
    await using api = await startWithClock(kind, (verifier) =>
      byIssuer({ 'https://auth.test': verifier }),
    )
    const { clock, server, tokenFor } = api
    const token = await tokenFor('ada')
    const sessionId = kind.major === 1 ? await begin(server.resource, token) : undefined
    const { ended } = await listen(await post(server.resource, 'endless', { token, sessionId }))
    await clock.advance(300)
    expect(await ended).toMatch(/cut|closed/)
  })
})

describe.each(SERVERS.filter(({ major }) => major === 1).map((kind) => [kind.name, kind] as const))(
  '%s',
  (_name, kind) => {
    test('the stream of a session ends with its token, and opens again with a new one', async () => {
      await using api = await startWithClock(kind)
      const { clock, server, tokenFor } = api
      const token = await tokenFor('ada')
      const sessionId = await begin(server.resource, token)
      const stream = await ask(server.resource, 'GET', { token, sessionId })
      expect(stream.headers.get('content-type')).toBe('text/event-stream')
      const ended = stream.text().then(
        () => 'closed',
        () => 'cut',
      )
      await clock.advance(299)
      expect(await stateOf(ended, server)).toBe('open')
      await clock.advance(1)
      expect(await ended).toMatch(/cut|closed/)
      expect((await ask(server.resource, 'GET', { token, sessionId })).status).toBe(401)
      const renewed = await tokenFor('ada')
      const again = await ask(server.resource, 'GET', { token: renewed, sessionId })
      expect(again.status).toBe(200)
      await again.body?.cancel()
    })
  },
)

describe.each(SERVERS.filter(({ major }) => major === 2).map((kind) => [kind.name, kind] as const))(
  '%s',
  (_name, kind) => {
    test('a subscription of the revision 2026-07-28 ends with its token', async () => {
      await using api = await startWithClock(kind)
      const { clock, server, tokenFor } = api
      const token = await tokenFor('ada')
      const client = new Client(
        { name: 'agent', version: '1.0.0' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      const authProvider = { token: async () => await Promise.resolve(token) }
      await client.connect(
        new StreamableHTTPClientTransport(new URL(server.resource), { authProvider }),
      )
      const { closed } = await client.listen({ toolsListChanged: true })
      await clock.advance(299)
      expect(await stateOf(closed, server)).toBe('open')
      await clock.advance(1)
      expect(await closed).toBe('remote')
      await expect(client.callTool({ name: 'whoami' })).rejects.toThrow(/authoriz/i)
      await client.close()
    })
  },
)
