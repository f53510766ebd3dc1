import { describe, expect, test } from 'vitest'

import {
  createClient,
  createLoginService,
  failureOf,
  hang,
  type LoginService,
} from './login-service.ts'
import {
  createClient as createOAuthClient,
  createServer,
  ENDPOINT,
  ISSUER,
} from './oauth/server.ts'

// Whatever a client waits for may hang. The wait ends with the deadline, and then the same work is tried again.

/** Hangs the first time that it is called. */
function onceHanging<Result>(result: () => Result | Promise<Result>) {
  let calls = 0
  const call = async (): Promise<Result> => {
    calls += 1
    return calls === 1 ? await hang() : await result()
  }
  return { call, calls: () => calls }
}

interface Scene {
  readonly get: () => Promise<string>
  readonly advance: (seconds: number) => Promise<void>
  readonly calls: () => number
}

function sceneOf(
  client: { get(): Promise<string> },
  { clock }: LoginService,
  calls: () => number,
): Scene {
  return {
    get: async () => await client.get(),
    advance: async (seconds) => {
      await clock.advance(seconds)
    },
    calls,
  }
}

function ofLogin(
  options: (hanging: () => Promise<string>) => Parameters<typeof createClient>[1],
): Scene {
  const service = createLoginService()
  const { call, calls } = onceHanging(() => 'demo')
  const client = createClient(service, options(call))
  return sceneOf(client, service, calls)
}

/** The answer at one URL hangs, or its body. */
function ofServer(
  hangs: (url: string) => boolean,
  what: 'answer' | 'body',
  onBehalf = false,
): Scene {
  const server = createServer()
  const { answer, clock } = server
  let calls = 0
  server.answer = async (request) => {
    if (!hangs(request.url)) return await answer(request)
    calls += 1
    if (calls > 1) return await answer(request)
    return what === 'answer' ? await hang() : new Response(new ReadableStream({ pull: hang }))
  }
  const client = createOAuthClient(server, { tokenEndpoint: undefined, issuer: ISSUER })
  const subject = { token: 'subject', claims: { exp: clock.now() + 600 } }
  return sceneOf(onBehalf ? client.onBehalfOf(subject) : client, server, () => calls)
}

function ofOAuth(
  options: (hanging: () => Promise<string>) => Parameters<typeof createOAuthClient>[1],
): Scene {
  const server = createServer()
  const { call, calls } = onceHanging(() => 'text')
  const client = createOAuthClient(server, options(call))
  return sceneOf(client, server, calls)
}

const isMetadata = (url: string) => url.includes('/.well-known/')
const isToken = (url: string) => url === ENDPOINT

const SCENES: Readonly<Record<string, () => Scene>> = {
  'createTokenClient: the function loginId': () => ofLogin((loginId) => ({ loginId })),
  'createTokenClient: the function password': () => ofLogin((password) => ({ password })),
  'createTokenClient: the verifier': () => ofLogin((verify) => ({ verifier: { verify } })),
  'createOAuthClient: the function clientSecret': () =>
    ofOAuth((clientSecret) => ({ clientSecret })),
  'createOAuthClient: the function clientAssertion': () =>
    ofOAuth((clientAssertion) => ({ clientAssertion })),
  'createOAuthClient: an answer with a token': () => ofServer(isToken, 'answer'),
  'createOAuthClient: its body': () => ofServer(isToken, 'body'),
  'onBehalfOf: an answer with a token': () => ofServer(isToken, 'answer', true),
  'onBehalfOf: its body': () => ofServer(isToken, 'body', true),
}

describe.each(Object.entries(SCENES))('%s hangs once', (_name, create) => {
  test('the wait ends in time, and the next one succeeds', async () => {
    const { get, advance, calls } = create()
    const failure = failureOf(get())
    await advance(10)
    expect(await failure).toMatchObject({ code: 'timeout' })
    expect(calls()).toBe(1)
    await advance(2)
    expect(await get()).toMatch(/./)
    expect(calls()).toBe(2)
  })
})

test.each(['answer', 'body'] as const)(
  'metadata whose %s hangs: the other address is asked within the same wait',
  async (what) => {
    const { get, advance, calls } = ofServer(isMetadata, what)
    const token = get()
    await advance(4)
    expect(calls()).toBe(2)
    // The server of the tests has them at the first address alone, so the wait lasts until its end.
    const failure = failureOf(token)
    await advance(6)
    expect(await failure).toMatchObject({ code: 'timeout' })
    await advance(2)
    expect(await get()).toBe('opaque-0')
  },
)
