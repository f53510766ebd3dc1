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

import { createEndingServer, type EndingServer } from './ending-server.ts'
import { newJwk, newToken, oldIssuer, oldJwk, oldToken } from './tokens.ts'

// Everybody of ours who sends requests by itself, and a server for all of them.

export interface World extends AsyncDisposable {
  readonly server: EndingServer
  /** The platform's own. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** What it was called with, in the order of the calls. */
  readonly asked: readonly RequestInit[]
  readonly clock: ManualClock
  /** The server has another key from now on. */
  readonly rotate: () => void
}

/** Somebody who asks a server now and then. */
export interface Asker {
  /** Uses a connection, which the server keeps. */
  readonly first: () => Promise<unknown>
  /** Asks again, in a moment in which time stands still: `ok`, or what else came of it. */
  readonly next: () => Promise<unknown>
}

export async function startWorld(): Promise<World> {
  let jwk = oldJwk
  const server = await createEndingServer((request, response, body) => {
    const answer = answerTo(request.url ?? '', body, server.url, jwk)
    void Promise.resolve(answer).then((text) => {
      response.setHeader('content-type', 'application/json').end(text)
    })
  })
  const asked: RequestInit[] = []
  return {
    server,
    asked,
    async fetch(url, init) {
      asked.push(init)
      return await globalThis.fetch(url, init)
    },
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

export function verifying({ clock, rotate }: World, keys: KeySource, pause: number): Asker {
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
  { server, clock, fetch }: World,
  credentials: Partial<Parameters<typeof introspected>[0]>,
): Asker {
  const verifier = introspected({
    issuer: null,
    audience: null,
    endpoint: `${server.url}/introspect`,
    clientId: 'api',
    clock,
    fetch,
    ...credentials,
  })
  return {
    first: async () => await verifier.verify('token-1'),
    next: async () => await wordFor(verifier.verify('token-2')),
  }
}

function polling({ server, clock, fetch }: World): Asker {
  let hasPaused: (() => void) | undefined
  const paused = new Promise<void>((resolve) => {
    hasPaused = resolve
  })
  const INTERVAL = 5
  const poll = pollEvents({
    endpoint: `${server.url}/poll`,
    fetch,
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

export const askers: readonly (readonly [string, (world: World) => Asker])[] = [
  [
    'keys',
    (world) =>
      verifying(
        world,
        remoteKeys(`${world.server.url}/keys`, { clock: world.clock, fetch: world.fetch }),
        30,
      ),
  ],
  [
    'the keys that an issuer names',
    (world) =>
      verifying(
        world,
        discoverKeys(world.server.url, { clock: world.clock, fetch: world.fetch }),
        30,
      ),
  ],
  [
    'the metadata of an issuer',
    (world) =>
      verifying(
        world,
        discoverKeys(world.server.url, { clock: world.clock, fetch: world.fetch }),
        DAY,
      ),
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
          fetch: world.fetch,
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
          fetch: world.fetch,
        }),
      ),
  ],
]
