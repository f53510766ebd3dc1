import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { INestApplication, Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createVerifier, localRevocations } from '@portcullis/core'
import { describeRoutes as routesOfExpress } from '@portcullis/express/routes'
import { describeRoutes as routesOfFastify } from '@portcullis/fastify/routes'
import { describeRoutes as routesOfHono } from '@portcullis/hono/routes'
import { describeRoutes as routesOfKoa } from '@portcullis/koa/routes'
import { describeRoutes as routesOfNest } from '@portcullis/nest/routes'
import {
  assertGuarded,
  type AssertGuardedOptions,
  assertRefuses,
  createTestIssuer,
  type RouteList,
  tokenService,
} from '@portcullis/testing'
import { afterAll, expect, test, vi } from 'vitest'

import { notingRoutes } from '../noting-routes.ts'

// Every example that has routes: which of them are open, and that strangers are refused at the others.

const root = fileURLToPath(new URL('../../examples', import.meta.url))
const issuer = await createTestIssuer()
const service = await tokenService(issuer).listen()
vi.stubEnv('AUTH_URL', service.authUrl)
vi.stubEnv('PORT', '0')
const verifier = createVerifier(issuer.verifierOptions)

afterAll(async () => {
  vi.unstubAllEnvs()
  await service.close()
})

/** Of a source that listens when it is loaded. */
interface Listening<App = object> {
  readonly app: App
  readonly server: Server
}

interface Example {
  readonly list: RouteList
  readonly server: Server
}

interface Row extends AssertGuardedOptions {
  readonly source: string
  readonly load: () => Promise<Example>
  /** Those that are asked. */
  readonly required: readonly string[]
}

const SAVE = 'POST /v1/clientLocations'
const HEALTH = 'GET /health'

const rows: readonly Row[] = [
  {
    source: 'express/src/server.ts',
    load: async () => listed(await load<Listening>('express/src/server.ts'), routesOfExpress),
    required: [SAVE],
    open: [HEALTH],
  },
  {
    source: 'koa/src/server.ts',
    load: async () => listed(await load<Listening>('koa/src/server.ts'), routesOfKoa),
    required: [SAVE],
    open: [HEALTH],
  },
  {
    source: 'hono/src/server.ts',
    load: async () => listed(await load<Listening>('hono/src/server.ts'), routesOfHono),
    required: [SAVE],
    open: [HEALTH],
  },
  {
    source: 'fastify/src/server.ts',
    load: async () =>
      listed(
        await notingRoutes(async () => await load<Listening>('fastify/src/server.ts')),
        routesOfFastify,
      ),
    required: [SAVE],
    open: [HEALTH],
  },
  {
    // `server.ts` beside it compiles this one and listens.
    source: 'nest/src/app.ts',
    async load() {
      const { AppModule } = await load<{ AppModule: Type }>('nest/src/app.ts')
      const app: INestApplication = await NestFactory.create(AppModule, { logger: false })
      const list = await routesOfNest(app)
      return { list, server: (await app.listen(0, '127.0.0.1')) as Server }
    },
    required: [SAVE],
    open: [HEALTH],
    // Of Nest itself.
    before: ['jsonParser', 'urlencodedParser'],
  },
  {
    source: 'many-issuers/src/api.ts',
    async load() {
      type Source = typeof import('../../examples/many-issuers/src/api.ts')
      const { createApi } = await load<Source>('many-issuers/src/api.ts')
      return await served(createApi(async () => await Promise.resolve(undefined)))
    },
    required: ['GET /notes', 'POST /notes'],
  },
  {
    source: 'callers/src/server-sent-events.ts',
    async load() {
      type Source = typeof import('../../examples/callers/src/server-sent-events.ts')
      const { createApi, server } = await load<Source>('callers/src/server-sent-events.ts')
      server.close()
      return await served(createApi(verifier, localRevocations()))
    },
    required: ['GET /events', 'POST /events', 'POST /logout'],
  },
  {
    source: 'graphql/src/server.ts',
    async load() {
      interface Source extends Pick<Listening, 'server'> {
        readonly createApi: (given: typeof verifier) => RequestListener
      }
      const { createApi, server } = await load<Source>('graphql/src/server.ts')
      server.close()
      return await served(createApi(verifier))
    },
    // A function that is no route is listed only where strangers reach it. examples/graphql/test asks it.
    required: [],
  },
  {
    // Its guard is one function with all that stands behind it, of a package that no list knows: examples/mcp/test asks it.
    source: 'mcp/src/server.ts',
    async load() {
      type Source = typeof import('../../examples/mcp/src/server.ts')
      const { createApp, server } = await load<Source>('mcp/src/server.ts')
      server.close()
      const [resource, iss] = ['https://mcp.test/mcp', 'https://auth.test']
      const options = { ...issuer.verifierOptions, audience: resource }
      return await served(createApp(createVerifier(options), resource, iss))
    },
    required: [],
    open: ['ALL /*'],
  },
  {
    // Two for an orchestrator, and two for the inside.
    source: 'operating/src/server.ts',
    load: async () => listed(await load<Listening>('operating/src/server.ts'), routesOfExpress),
    required: [SAVE],
    open: ['GET /livez', 'GET /readyz', 'GET /metrics', 'GET /status'],
  },
  {
    // Has no guard: it obtains tokens, and says so beside the route.
    source: 'service-to-service/src/server.ts',
    load: async () =>
      listed(await load<Listening>('service-to-service/src/server.ts'), routesOfExpress),
    required: [],
    open: [HEALTH, 'POST /orders'],
  },
]

test('every example with routes has a row', () => {
  const sources = globSync('*/src/*.ts', { cwd: root }).filter((path) =>
    / from '(?:express|koa|hono|fastify|@nestjs\/common)'/.test(
      readFileSync(join(root, path), 'utf8'),
    ),
  )
  expect(rows.map(({ source }) => source).toSorted()).toEqual(sources.toSorted())
})

test.each(rows)('$source: what is open is named, and the rest refuses', async (row) => {
  const { list, server } = await row.load()
  try {
    expect(list.isComplete).toBe(true)
    expect(namesOf(list, 'required')).toEqual(row.required)
    assertGuarded(list, { open: row.open, before: row.before })
    if (row.required.length > 0) await assertRefuses(await asking(server), list)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

// No literal path: the sources of graphql are compiled with the types of browsers.
async function load<Source>(path: string): Promise<Source> {
  return (await import(`../../examples/${path}`)) as Source
}

function listed<App>({ app, server }: Listening<App>, describe: (app: App) => RouteList): Example {
  return { list: describe(app), server }
}

async function served(app: RequestListener): Promise<Example> {
  return { list: routesOfExpress(app), server: createServer(app).listen(0, '127.0.0.1') }
}

async function asking(server: Server): Promise<(request: Request) => Promise<Response>> {
  if (!server.listening) await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return async ({ method, url, headers }) =>
    await fetch(url.replace('localhost', `127.0.0.1:${port}`), { method, headers })
}

function namesOf({ routes }: RouteList, state: string): readonly string[] {
  return routes
    .filter((each) => each.state === state)
    .map(({ method, path }) => `${method} ${path}`)
}
