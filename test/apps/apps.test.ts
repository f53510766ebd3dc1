import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { NestFactory } from '@nestjs/core'
import { createVerifier } from '@portcullis/core'
import { assertChallenge, createTestIssuer, manualClock } from '@portcullis/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { adapters } from '../contract/frameworks/index.ts'
import { createApp as createExpress } from './express.ts'
import { createApp as createFastify } from './fastify.ts'
import { createApp as createHono } from './hono.ts'
import { createApp as createKoa } from './koa.ts'
import { AppModule } from './nest.ts'

// Applications as a new user writes them, from the READMEs alone: with scopes, an optional route and an error handler. They
// have no cast, and `check` compiles them with the types that are published.

const issuer = await createTestIssuer({ clock: manualClock(), issuer: 'https://auth.test' })
const verifier = createVerifier(issuer.verifierOptions)
const badTokens = await issuer.badTokens()
const reader = await issuer.bearer({ claims: { sub: 'ada', scope: 'places:read' } })
const writer = await issuer.bearer({ claims: { sub: 'ada', scope: 'places:write' } })

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

const applications: Readonly<Record<string, () => Promise<Listener>>> = {
  express: async () => createExpress(verifier),
  koa: async () => createKoa(verifier).callback(),
  fastify: async () => {
    const app = createFastify(verifier)
    await app.ready()
    return (request, response) => {
      app.routing(request, response)
    }
  },
  hono: async () => getRequestListener(createHono(verifier).fetch),
  nest: async () => {
    const app = await NestFactory.create(AppModule.forVerifier(verifier), { logger: false })
    await app.init()
    return app.getHttpAdapter().getInstance() as Listener // an application of Express
  },
}

test.each(adapters)(
  '$folder: what its README says of errors and optional routes is in it',
  ({ folder }) => {
    const application = linesOf(`${folder}.ts`)
    const recipes = [
      ...linesOf(`../../packages/${folder}/README.md`)
        .join('\n')
        .matchAll(/```[jt]s\n([^`]*(?:refusal\(|optional: true \}\),)[^]*?)```/g),
    ]
    const lines = recipes
      .flatMap(([, code = '']) => code.split('\n'))
      .filter((line) => !line.startsWith('import '))
    expect(lines.length).toBeGreaterThan(4)
    expect(application).toEqual(expect.arrayContaining(lines))
  },
)

test('there is one for every adapter', () => {
  expect(Object.keys(applications).toSorted()).toEqual(
    adapters.map(({ folder }) => folder).toSorted(),
  )
})

describe.each(Object.entries(applications))('an application of %s', (_, createApp) => {
  const server = createServer()
  let url = ''

  beforeAll(async () => {
    const listener = await createApp()
    server.on('request', (request, response) => void listener(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  afterAll(() => {
    server.close()
  })

  async function call(path: string, headers: Record<string, string> = {}, method = 'GET') {
    return await fetch(`${url}${path}`, { method, headers })
  }

  test('greets everybody on the optional route, by name with a token', async () => {
    expect(await (await call('/hello')).json()).toEqual({ hello: 'stranger' })
    expect(await (await call('/hello', reader)).json()).toEqual({ hello: 'ada' })
  })

  test('reads with any token, and writes with the scope', async () => {
    expect(await (await call('/places', reader)).json()).toEqual({ readBy: 'ada' })
    const written = await call('/places', writer, 'POST')
    expect(written.status).toBe(201)
    expect(await written.json()).toEqual({ savedBy: 'ada' })
  })

  test('its error handler answers what is refused, with the challenge of the guard', async () => {
    const missing = await call('/places')
    assertChallenge(missing, { status: 401 })
    expect(await missing.json()).toEqual({ code: 'missing_token' })
    const lacking = await call('/places', reader, 'POST')
    assertChallenge(lacking, { status: 403, error: 'insufficient_scope', scope: 'places:write' })
    expect(await lacking.json()).toEqual({ code: 'insufficient_scope' })
  })

  test.each(['/hello', '/places'])('refuses every bad token at %s', async (path) => {
    for (const { token, code, reason } of badTokens) {
      if (reason === 'too_large') continue // Node itself answers such a header, with 431
      const response = await call(path, { authorization: `Bearer ${token}` })
      assertChallenge(response, { status: 401, error: code, reason })
      expect(await response.json()).toEqual({ code })
    }
  })
})

/** Without white space and comments at their ends. */
function linesOf(path: string): readonly string[] {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.replace(/ \/\/ .*/, '').trim())
}
