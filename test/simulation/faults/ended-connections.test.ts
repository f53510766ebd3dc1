import { setImmediate as nextTurn } from 'node:timers/promises'

import { createTokenClient } from '@portcullis/client'
import { createOAuthClient } from '@portcullis/client/oauth'
import {
  createVerifier,
  discoverKeys,
  type KeySource,
  localRevocations,
  remoteKeys,
} from '@portcullis/core'
import { pollEvents } from '@portcullis/events'
import { introspected } from '@portcullis/introspection'
import { type ManualClock, manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createEndingServer, type Ending, type EndingServer } from './ending-server.ts'
import { newJwk, newToken, oldIssuer, oldJwk, oldToken } from './tokens.ts'

// A server may end a connection that is not in use. Until the client has heard of it, `fetch` takes that connection for the next
// request, which then fails. Nobody who waits for the answer hears of it.

interface World extends AsyncDisposable {
  readonly server: EndingServer
  readonly clock: ManualClock
  /** The server has another key from now on. */
  readonly rotate: () => void
}

/** Somebody who asks a server now and then. */
interface Asker {
  /** Uses a connection, which the server keeps. */
  readonly first: () => Promise<unknown>
  /** Asks again, in a moment in which time stands still: `ok`, or what else came of it. */
  readonly next: () => Promise<unknown>
}

async function startWorld(): Promise<World> {
  let jwk = oldJwk
  const server = await createEndingServer((request, response, body) => {
    const answer = answerTo(request.url ?? '', body, server.url, jwk)
    void Promise.resolve(answer).then((text) => {
      response.setHeader('content-type', 'application/json').end(text)
    })
  })
  return {
    server,
    clock: manualClock(),
    rotate() {
      jwk = newJwk
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
    },
  }
}

function answerTo(path: string, body: string, url: string, jwk: object): string | Promise<string> {
  if (path === '/tokenservice/token/api') return oldToken()
  if (path === '/keys') return JSON.stringify(jwk)
  if (path === '/poll') return JSON.stringify({ sets: {} })
  if (path === '/introspect') {
    const sub = new URLSearchParams(body).get('token')
    return JSON.stringify({ active: true, token_type: 'Bearer', sub })
  }
  if (path === '/token') {
    const access_token = String(Math.random())
    return JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 300 })
  }
  return JSON.stringify({ issuer: url, jwks_uri: `${url}/keys`, token_endpoint: `${url}/token` })
}

async function wordFor(work: Promise<unknown>): Promise<string> {
  return await work.then(() => 'ok', String)
}

function verifying({ clock, rotate }: World, keys: KeySource, pause: number): Asker {
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  return {
    first: async () => await verifier.verify(await oldToken()),
    async next() {
      rotate()
      await clock.advance(pause)
      return await wordFor(verifier.verify(await newToken()))
    },
  }
}

function introspecting(
  { server, clock }: World,
  credentials: Partial<Parameters<typeof introspected>[0]>,
): Asker {
  const verifier = introspected({
    issuer: null,
    audience: null,
    endpoint: `${server.url}/introspect`,
    clientId: 'api',
    clock,
    ...credentials,
  })
  return {
    first: async () => await verifier.verify('token-1'),
    next: async () => await wordFor(verifier.verify('token-2')),
  }
}

function polling({ server, clock }: World): Asker {
  let hasPaused: (() => void) | undefined
  const paused = new Promise<void>((resolve) => {
    hasPaused = resolve
  })
  const INTERVAL = 5
  const poll = pollEvents({
    endpoint: `${server.url}/poll`,
    fetch: async (...asked) => await globalThis.fetch(...asked),
    keys: oldIssuer.verifierOptions.keys,
    issuer: 'https://login.test',
    audience: 'api',
    revocations: localRevocations({ clock }),
    revokes: 'subject',
    interval: INTERVAL,
    clock: {
      ...clock,
      after(seconds, fn) {
        if (seconds === INTERVAL) hasPaused?.()
        return clock.after(seconds, fn)
      },
    },
  })
  return {
    first: async () => await paused,
    async next() {
      const answered = server.nextAnswer()
      await clock.advance(INTERVAL)
      await answered
      const { failures } = poll.status()
      await poll.close()
      return failures === 0 ? 'ok' : failures
    },
  }
}

function loggingIn(
  { clock }: World,
  client: { get(): Promise<string>; invalidate(token: string): void },
): Asker {
  const token = client.get()
  return {
    first: async () => await token,
    async next() {
      await clock.advance(30)
      client.invalidate(await token)
      return await wordFor(client.get())
    },
  }
}

const { privateKey } = await crypto.subtle.generateKey(
  { name: 'ECDSA', namedCurve: 'P-256' },
  true,
  ['sign', 'verify'],
)
const DAY = 86_400

const askers: readonly (readonly [string, (world: World) => Asker])[] = [
  [
    'keys',
    (world) => verifying(world, remoteKeys(`${world.server.url}/keys`, { clock: world.clock }), 30),
  ],
  [
    'the keys that an issuer names',
    (world) => verifying(world, discoverKeys(world.server.url, { clock: world.clock }), 30),
  ],
  [
    'the metadata of an issuer',
    (world) => verifying(world, discoverKeys(world.server.url, { clock: world.clock }), DAY),
  ],
  ['an opaque token', (world) => introspecting(world, { clientSecret: 'secret' })],
  [
    'an opaque token, with a key of the client',
    (world) => introspecting(world, { clientKey: { key: privateKey } }),
  ],
  ['events', polling],
  [
    'a log-in',
    (world) =>
      loggingIn(
        world,
        createTokenClient({
          authUrl: world.server.url,
          loginId: 'demo',
          password: 'secret',
          origins: [],
          clock: world.clock,
        }),
      ),
  ],
  [
    'a token of OAuth',
    (world) =>
      loggingIn(
        world,
        createOAuthClient({
          issuer: world.server.url,
          clientId: 'shop',
          privateKey: { key: privateKey },
          origins: [],
          clock: world.clock,
        }),
      ),
  ],
]

const table = askers.flatMap(([what, start]) =>
  (['RST', 'FIN'] as const).map((ending): [string, Ending, (world: World) => Asker] => [
    what,
    ending,
    start,
  ]),
)

test.each(table)(
  'whoever asks for %s gets it at once where the idle connection has ended by %s',
  async (_what, ending, start) => {
    await using world = await startWorld()
    const { server } = world
    const { first, next } = start(world)
    await first()
    await untilIdle()
    const before = server.answered.length
    const connections = server.endConnections(ending)
    expect(await next()).toBe('ok')
    expect(server.lost.length).toBeGreaterThanOrEqual(1)
    expect(server.lost.length).toBeLessThanOrEqual(connections)
    expect(server.answered.length).toBeGreaterThan(before)
    expect(assertionIn(server.lost[0])).not.toBe(assertionIn(server.answered.at(-1)) ?? 'none')
  },
)

/** `fetch` takes a connection for another request when the event loop has turned. */
async function untilIdle(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

function assertionIn(form = ''): string | null {
  return new URLSearchParams(form).get('client_assertion')
}

test.each<Ending>(['RST', 'FIN'])(
  'where each connection ends by %s, an attempt is two requests, and the token stays unproven',
  async (ending) => {
    await using world = await startWorld()
    const { server, clock } = world
    const keys = remoteKeys(`${server.url}/keys`, { clock })
    const { first, next } = verifying(world, keys, 30)
    await first()
    await untilIdle()
    server.endConnections(ending, true)
    expect(await next()).toBe('AuthError: Access tokens cannot be verified at the moment')
    expect(server.lost).toHaveLength(2)
    expect(keys.status().lastFailure?.reason).toBe('unreachable')
  },
)

test('before any exchange has succeeded, an attempt is one request', async () => {
  await using world = await startWorld()
  const { server, clock } = world
  server.endConnections('RST', true)
  const keys = remoteKeys(`${server.url}/keys`, { clock })
  await expect(keys.refresh()).rejects.toMatchObject({ reason: 'unreachable' })
  expect(server.lost).toHaveLength(1)
})
