import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { getRequestListener } from '@hono/node-server'
import { Controller, Get, type INestApplication, Module, Req } from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { TokenClient } from '@portcullis/client'
import {
  type Auth,
  authenticateRequest,
  createVerifier,
  remoteKeys,
  type Verifier,
} from '@portcullis/core'
import * as expressGuard from '@portcullis/express'
import * as fastifyGuard from '@portcullis/fastify'
import * as honoGuard from '@portcullis/hono'
import * as koaGuard from '@portcullis/koa'
import { PortcullisGuard } from '@portcullis/nest'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import express from 'express'
import { fastify, type FastifyInstance } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import Koa from 'koa'
import request from 'supertest'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { wordsOf } from '../../docs/parts.ts'
import { runProgram } from '../../packages/cli/test/run-program.ts'
import { adapter as expressAdapter } from '../frameworks/contract/frameworks/express.ts'
import { adapter as fastifyAdapter } from '../frameworks/contract/frameworks/fastify.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { writtenExamples } from './examples.ts'
import { AUDIENCE, identityProvider, ISSUER } from './identity-provider.ts'
import {
  blocksOf,
  exampleOf,
  exampleWithTokenService,
  linesForTokenService,
  tableUnder,
  whatFollows,
  withTokenService,
} from './markdown.ts'

const { exampleEnding: EXPRESS } = expressAdapter

const GUARDS = 'packages/core/GUARDS.md'
const root = fileURLToPath(new URL('../..', import.meta.url))
const examples = writtenExamples('.readme')

const provider = await identityProvider()
const keyUrl = `${provider.authUrl}/tokenservice/pubkey.json`
vi.stubEnv('AUTH_URL', provider.authUrl)

afterAll(async () => {
  vi.unstubAllEnvs()
  await provider[Symbol.asyncDispose]()
  examples.remove()
})

describe('README.md', async () => {
  const { app } = await example('README.md', EXPRESS)
  const { app: ofTokenService } = await exampleOfTokenService('README.md', EXPRESS)

  test('the example lets in a token with the scope, and nothing else', async () => {
    await expectScopeToOpen(app)
  })

  test('so it does with the lines for the token service', async () => {
    await expectScopeToOpen(ofTokenService)
  })

  test('begins with the two commands', () => {
    const text = read('README.md')
    const [commands = ''] = /```sh\n.*?```/s.exec(text) ?? []
    expect(commands).toBe('```sh\nnpx --yes pnpm@12 start\nnpx --yes pnpm@12 test\n```')
  })

  test('the commands that need no clone are there', async () => {
    const [, block] = blocksOf(read('README.md'))
    const lines = block?.code.trimEnd().split('\n') ?? []
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      const [, name = ''] = /^npx @portcullis\/cli (\w+)/.exec(line) ?? []
      const { exitCode } = await runProgram([name, '--help'])
      expect([line, exitCode]).toEqual([line, 0])
    }
  })
})

test('README.md says in ten rows what is refused on purpose, and what to do instead', () => {
  const { rows } = tableUnder(read('README.md'), 'Does it fit?', 'You want')
  expect(rows).toHaveLength(10)
  expect(rows.filter(([, instead = '']) => instead === '')).toEqual([])
})

const READMES = ['README.md', ...globSync('packages/*/README.md', { cwd: root })]

// A program has no example that imports it.
test.each(READMES.filter((path) => path !== 'packages/cli/README.md'))(
  '%s: right above the first example is how to install what it imports',
  (path) => {
    const [, commands = '', code = ''] =
      /```sh\n((?:npm install [^\n]*\n)+)```\n\n```ts\n(.*?)```/s.exec(read(path)) ?? []
    expect(code).toBe(blocks(path)[0])
    const imported = [...code.matchAll(/from '((?:@[^/']+\/)?[^/']+)[^']*'/g)]
      .map(([, name = '']) => name)
      .filter((name) => !isBuiltin(name))
    expect(imported.length).toBeGreaterThan(0)
    expect(commands.split(/\s/)).toEqual(expect.arrayContaining(imported))
  },
)

test('README.md has less than 850 words by hand', () => {
  const { byHand } = wordsOf(read('README.md'))
  expect(byHand, 'shorten README.md, or move a part of it to a guide').toBeLessThan(850)
})

test.each(READMES)('%s says what an AUTH_URL is, and has at most 1,650 words', (path) => {
  const code = blocks(path).find((each) => each.includes('AUTH_URL')) ?? ''
  expect(/AUTH_URL.*https:\/\/auth\.example\.com/.test(code)).toBe(code !== '')
  expect(
    wordsOf(read(path)).byHand,
    `shorten ${path}, or move a part of it to a guide beside it`,
  ).toBeLessThanOrEqual(1650)
})

// Who knows one README finds everything in the others. A heading that is not listed is a topic of the package.
const BEFORE_TOPICS = ['What you get', 'Options', 'Why 401?']
const AFTER_TOPICS = ['Refusals', 'Errors', 'Tests', 'What it does not do']
/** The topics of packages with guards, in their order. What only some frameworks have is between them. */
const TOPICS_OF_ADAPTERS = [
  'The module',
  'Behind the guard',
  'Typed claims',
  'Mounted applications',
  'Versions',
]
/** What is the same for all guards stands in GUARDS.md of core. */
const OF_ADAPTERS = new Set(adapters.map(({ folder }) => folder))
/** These verify no token of a caller, so there is no 401 to explain; and of guards that guide does. */
const WITHOUT_401 = new Set(['events', 'metrics', ...OF_ADAPTERS])
const PACKAGES = globSync('*/README.md', { cwd: join(root, 'packages') }).map(
  (path) => path.split('/')[0] ?? '',
)

test.each(PACKAGES)(
  'packages/%s/README.md has its headings in the order that all packages have',
  (folder) => {
    const headings = headingsOf(folder)
    const present = (name: string) => headings.includes(name)
    expect(
      headings,
      'first those of BEFORE_TOPICS, then the topics, then those of AFTER_TOPICS',
    ).toEqual([
      ...BEFORE_TOPICS.filter(present),
      ...headings.filter(isTopic),
      ...AFTER_TOPICS.filter(present),
    ])
    expect(present('Why 401?')).toBe(!WITHOUT_401.has(folder))
    expect(headings).toContain('What it does not do')
    expect(present('Options')).toBe(!OF_ADAPTERS.has(folder))
  },
)

test.each(adapters)(
  'packages/$folder/README.md has the sections of all packages with guards',
  ({ folder }) => {
    const headings = headingsOf(folder)
    const topics = headings.filter(isTopic)
    expect(topics).toEqual(TOPICS_OF_ADAPTERS.filter((name) => topics.includes(name)))
    expect(headings).toEqual(expect.arrayContaining(['Behind the guard', 'Versions', 'Refusals']))
  },
)

test.each(PACKAGES)(
  'packages/%s/README.md says on one screen how to see a first result',
  (folder) => {
    const [head = ''] = sectionsOf(read(`packages/${folder}/README.md`))
    expect(head.trimEnd().split('\n').length).toBeLessThanOrEqual(55)
  },
)

/** What is before the first heading of level 2, and the sections that have these headings. */
function sectionsOf(text: string, ...headings: readonly string[]): readonly string[] {
  const [head = '', ...sections] = text.split(/^(?=## )/m)
  return [
    head,
    ...headings.map((name) => sections.find((each) => each.startsWith(`## ${name}\n`)) ?? ''),
  ]
}

function isTopic(heading: string): boolean {
  return ![...BEFORE_TOPICS, ...AFTER_TOPICS].includes(heading)
}

function headingsOf(folder: string): readonly string[] {
  const text = read(`packages/${folder}/README.md`).replaceAll(/^```.*?^```$/gms, '')
  return [...text.matchAll(/^## (.*)$/gm)].map(([, name = '']) => name)
}

test('packages/testing/README.md: how to install what its examples import is right above the first', () => {
  const text = read('packages/testing/README.md')
  const [, commands = ''] = /```sh\n(.*?)```/s.exec(text) ?? []
  const imported = [...text.matchAll(/^import .* from '([^']+)'$/gm)].map(([, name = '']) => name)
  expect(commands.split(/\s/)).toEqual(expect.arrayContaining(imported))
})

test('GUARDS.md shows the line of a refusal that test/frameworks/contract/debug-lines.test.ts expects', () => {
  const line = '401 invalid_token audience: aud is "shop"; expected "api"'
  expect(read('test/frameworks/contract/debug-lines.test.ts')).toContain(line)
  expect(read(GUARDS)).toContain(`refused: express GET /v1/places: ${line}`)
})

test.each(adapters)(
  'packages/$folder/README.md has from 400 to 600 words, and leads to GUARDS.md of core',
  ({ folder }) => {
    const text = read(`packages/${folder}/README.md`)
    const { byHand } = wordsOf(text)
    expect(byHand, 'what is true of all guards stands in GUARDS.md').toBeLessThanOrEqual(600)
    expect(byHand).toBeGreaterThanOrEqual(400)
    expect(text).toContain('`GUARDS.md` of `@portcullis/core`')
  },
)

/** What is between the blocks of a README. */
const TEXT = /[^`]*(?:`[^`\n]+`[^`]*)*?/.source

const CALL = `curl -i -X POST -H "Authorization: Bearer $TOKEN" localhost:3000/v1/clientLocations`

test.each(adapters)(
  'packages/$folder/README.md says how to try its example with a provider',
  ({ folder }) => {
    const [head = ''] = sectionsOf(read(`packages/${folder}/README.md`))
    const [, code = '', named, called = ''] =
      new RegExp(
        `\`\`\`ts\n(.*?)\`\`\`\n\nSave it as \`(app\\.m[jt]s)\`${TEXT}\n\n\`\`\`sh\n(.*?)\`\`\``,
        's',
      ).exec(head) ?? []
    expect(named).toBe(folder === 'nest' ? 'app.mts' : 'app.mjs')
    expect(code).toContain("scope('locations:write')")
    expect(code).toMatch(/\b(?:listen\(|port: )3000\b/)
    expect(called.replace(/^.*\nnpx tsc app\.mts .*\n/, '')).toBe(`\
node app.mjs
${CALL}
echo "$TOKEN" | npx @portcullis/cli explain --discover ${ISSUER} --audience ${AUDIENCE}
`)
    const status = folder === 'nest' ? 201 : 200
    expect(head).toContain(
      `\`curl\` gets ${status}, without the header 401, without the scope 403.`,
    )
  },
)

test('GUARDS.md says how to try it with a token service on this machine', () => {
  const [, section = ''] = sectionsOf(read(GUARDS), 'A token service with one key')
  const tried = blocksOf(section).find(({ language }) => language === 'sh')?.code
  expect(linesForTokenService(section)).toContain('remoteKeys(')
  expect(tried).toBe(`\
npx @portcullis/cli serve --claim scope=locations:write
AUTH_URL=http://127.0.0.1:4010 node app.mjs
TOKEN=$(npx @portcullis/cli mint --claim sub=ada)
${CALL}
echo "$TOKEN" | npx @portcullis/cli explain --auth-url http://127.0.0.1:4010
`)
})

test('GUARDS.md lets pages read the headers of a refusal, by the word of each package for CORS', () => {
  // That they can is tested in test/frameworks/drop-in.
  const guide = read(GUARDS)
  expect(guide).toContain("exposedHeaders: ['WWW-Authenticate', 'Retry-After']")
  expect(guide).toMatch(
    /`cors`, `@fastify\/cors` .* `exposedHeaders`, and Hono and `@koa\/cors` .* `exposeHeaders`/,
  )
})

test.each(adapters)(
  '$folder: MUTUAL-TLS.md of core or its README says where the options of TLS go',
  ({ folder, frameworks: [newest] }) => {
    const guide = read('packages/core/MUTUAL-TLS.md')
    const rows = tableUnder(guide, 'Mutual TLS', 'Framework').rows.map(([name = '']) => name)
    const isInGuide =
      guide.includes(`from '@portcullis/${folder}'`) ||
      rows.some((name) => name.startsWith(newest?.name.split(' ')[0] ?? ' '))
    const isInReadme = read(`packages/${folder}/README.md`).includes(
      'With `mutualTls`, the options of TLS go to `',
    )
    expect(
      isInGuide || isInReadme,
      'let its README say, under Options: With `mutualTls`, the options of TLS go to `...`',
    ).toBe(true)
  },
)

test('GUARDS.md: the line that onRefusal logs', async () => {
  const [guard = ''] = blocks(GUARDS)
  const code = exampleOf(read('packages/express/README.md'), 0)
    .replace('authenticate(verifier)', 'guard')
    .replace(
      /^const verifier = .*\n/m,
      `$&
export const lines: string[] = []
const log = { info: (...line: unknown[]) => lines.push(JSON.stringify(line)) }
${guard}`,
    )
  const { app, lines = [] } = await run('guards-log', code, EXPRESS)
  if (app === undefined) throw new Error('the example has no app')
  await request(app).post('/v1/clientLocations').expect(401)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(
    /"ip".*127\.0\.0\.1.*"missing_token".*"missing_header".*no Authorization.*"refused"/,
  )
})

describe('COOKIES.md of core', async () => {
  const { tokenFromCookie } = await example('packages/core/COOKIES.md')
  const { cookieToHeader } = await example('packages/core/COOKIES.md', '', 1)
  if (tokenFromCookie === undefined || cookieToHeader === undefined) {
    throw new Error('a recipe has another name')
  }
  const verifier = createVerifier({
    keys: remoteKeys(keyUrl),
    issuer: null,
    audience: null,
  })
  const own = { 'sec-fetch-site': 'same-origin' }

  test.each<[string, () => Promise<{ listener: RequestListener }>]>([
    [
      'Express',
      async () => {
        const app = express().set('env', 'test')
        app.use((incoming, _response, next) => {
          tokenFromCookie(incoming)
          next()
        })
        app.use(expressGuard.authenticate(verifier))
        app.use((incoming, response) => {
          response.json(expressGuard.getAuth(incoming).claims.sub)
        })
        return await Promise.resolve({ listener: app })
      },
    ],
    [
      'Koa',
      async () => {
        const app = new Koa<koaGuard.AuthState>()
        app.use(async (ctx, next) => {
          tokenFromCookie(ctx.req)
          await next()
        })
        app.use(koaGuard.authenticate(verifier))
        app.use((ctx) => {
          ctx.body = JSON.stringify(ctx.state.auth.claims.sub)
        })
        const callback = app.callback()
        return await Promise.resolve({
          listener: (incoming: IncomingMessage, answer: ServerResponse) => {
            void callback(incoming, answer)
          },
        })
      },
    ],
    [
      'Fastify',
      async () => {
        const app = fastify()
        app.addHook('onRequest', async (incoming) => {
          tokenFromCookie(incoming.raw)
        })
        await app.register(fastifyGuard.authenticate(verifier))
        app.get('/', (incoming, reply) => reply.send(JSON.stringify(incoming.auth.claims.sub)))
        await app.ready()
        return {
          listener: (incoming, answer) => {
            app.routing(incoming, answer)
          },
        }
      },
    ],
    [
      'Nest on Express',
      async () => {
        const app = await nest(new ExpressAdapter())
        app.use((incoming: IncomingMessage, _response: unknown, next: () => void) => {
          tokenFromCookie(incoming)
          next()
        })
        await app.init()
        return { listener: app.getHttpAdapter().getInstance() as RequestListener }
      },
    ],
    [
      'Nest on Fastify',
      async () => {
        const app = await nest(new FastifyAdapter())
        const instance = app.getHttpAdapter().getInstance() as FastifyInstance
        instance.addHook('onRequest', async (incoming) => {
          tokenFromCookie(incoming.raw)
        })
        await app.init()
        await instance.ready()
        return {
          listener: (incoming, answer) => {
            instance.routing(incoming, answer)
          },
        }
      },
    ],
    [
      'Hono',
      async () => {
        const app = new Hono<{ Variables: honoGuard.AuthVariables }>()
        app.use(cookieToHeader)
        app.use(honoGuard.authenticate(verifier))
        app.get('/', (c) => c.json(c.var.auth.claims.sub))
        // It replaces both, as `serve` does, or the recipe could not make a `Request`.
        const { Request, Response } = globalThis
        onTestFinished(() => {
          Object.assign(globalThis, { Request, Response })
        })
        return await Promise.resolve({ listener: getRequestListener(app.fetch) })
      },
    ],
  ])('%s: before the guard, the cookie counts for requests of our own pages', async (_, create) => {
    const { listener } = await create()
    const get = async (headers: Record<string, string>) =>
      await request(listener).get('/').set(headers)
    const cookie = `a=b; __Host-token=${await tokenOf('ada')}; c=d`
    const accepted = await get({ ...own, cookie })
    expect(JSON.parse(accepted.text)).toBe('ada')
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await get({ 'sec-fetch-site': site, cookie })).status).toBe(401)
    }
    expect((await get({ cookie })).status).toBe(401)
    expect((await get({ ...own, cookie: 'x__Host-token=a' })).status).toBe(401)
    const both = { ...own, cookie, authorization: `Bearer ${await tokenOf('bob')}` }
    expect(JSON.parse((await get(both)).text)).toBe('bob')
  })

  /** One route behind one guard. */
  async function nest(platform: AbstractHttpAdapter): Promise<INestApplication> {
    @Controller()
    class Root {
      @Get()
      who(@Req() incoming: { auth: Auth }): unknown {
        return JSON.stringify(incoming.auth.claims.sub)
      }
    }
    @Module({ controllers: [Root] })
    class App {}
    const app = await NestFactory.create(App, platform, { logger: false })
    app.useGlobalGuards(new PortcullisGuard({ verifier }))
    return app
  }

  test('behind the guard it comes too late', async () => {
    const late = fastify()
    await late.register(fastifyGuard.authenticate(verifier))
    late.addHook('onRequest', async (incoming) => {
      tokenFromCookie(incoming.raw)
    })
    late.get('/', () => 'open')
    const cookie = `__Host-token=${await tokenOf('ada')}`
    expect((await late.inject({ url: '/', headers: { ...own, cookie } })).statusCode).toBe(401)
  })
})

const CORE = 'packages/core/README.md'

describe('packages/core/README.md', () => {
  test('the example says who a token is for, and throws for one that has expired', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue()
    onTestFinished(() => {
      log.mockRestore()
    })
    vi.stubEnv('TOKEN', await provider.token({ claims: { sub: 'ada' } }))
    await example(CORE)
    await exampleOfTokenService(CORE, '')
    expect(log.mock.calls).toEqual([['ada'], ['ada']])
    vi.stubEnv('TOKEN', await provider.token({ expiresIn: -60 }))
    await expect(run('core-expired', exampleOf(read(CORE), 0), '')).rejects.toMatchObject({
      reason: 'expired',
    })
  })

  test('the example of a `Request` lets in a token with the scope, as a route handler of Next.js', async () => {
    const { POST } = await example(CORE, `\n${whatFollows(read(CORE), 'Next.js')}`, 2)
    const call = async (headers: Readonly<Record<string, string>>) => {
      const url = 'http://api.test/v1/clientLocations'
      return await POST?.(new Request(url, { method: 'POST', headers }))
    }
    const allowed = { sub: 'ada', scope: 'locations:write' }
    const answer = await call(await provider.bearer({ claims: allowed }))
    expect(await answer?.json()).toEqual({ savedBy: 'ada' })
    expect((await call({}))?.headers.get('www-authenticate')).toBe('Bearer realm="api"')
    expect((await call(await provider.bearer()))?.status).toBe(403)
  })
})

describe.each(adapters)('packages/$folder/README.md', async ({ folder, exampleEnding }) => {
  const path = `packages/${folder}/README.md`
  const { app } = await example(path, exampleEnding)
  const { app: ofTokenService } = await run(
    `${path}-token-service`,
    withTokenService(exampleOf(read(path), 0), linesForTokenService(read(GUARDS))),
    exampleEnding,
  )

  test('the example lets in a token with the scope, and nothing else', async () => {
    await expectScopeToOpen(app)
  })

  test('so it does with the lines of GUARDS.md for the token service, whose tokens have neither iss nor aud', async () => {
    await expectScopeToOpen(ofTokenService, { iss: undefined, aud: undefined })
  })

  test('the example refuses a token of another issuer and one for another API', async () => {
    if (app === undefined) throw new Error('the example has no app')
    for (const [name, claims] of [
      ['iss', { iss: 'https://another.example' }],
      ['aud', { aud: 'https://another.example' }],
    ] as const) {
      const headers = await provider.bearer({ claims: { scope: 'locations:write', ...claims } })
      const answer = await request(app).post('/v1/clientLocations').set(headers)
      expect([name, answer.status]).toEqual([name, 401])
    }
  })
})

test('packages/fastify/PLUGINS.md: an application of Express that is mounted behind the guard wants a token', async () => {
  const mounting = blocks('packages/fastify/PLUGINS.md', 'js').find((code) =>
    code.includes('fastifyExpress'),
  )
  const code = `
    import { fastifyExpress } from '@fastify/express'
    import { createVerifier, remoteKeys } from '@portcullis/core'
    import { authenticate as authenticateExpress, getAuth } from '@portcullis/express'
    import { authenticate } from '@portcullis/fastify'
    import express from 'express'
    import { fastify } from 'fastify'

    const keys = remoteKeys(\`\${process.env['AUTH_URL']}/tokenservice/pubkey.json\`)
    const verifier = createVerifier({ keys, issuer: null, audience: null })
    const legacyApplication = express()
    legacyApplication.get('/', (request, response) => {
      response.json({ seenBy: getAuth(request).claims.sub })
    })
    const app = fastify()
    ${mounting}`
  const { app } = await run('fastify-mounting', code, fastifyAdapter.exampleEnding)
  if (app === undefined) throw new Error('the example has no app')
  await request(app).get('/legacy').expect(401)
  const answer = await request(app)
    .get('/legacy')
    .set(await provider.bearer({ claims: { sub: 'ada' } }))
  expect(answer.body).toEqual({ seenBy: 'ada' })
})

test('packages/cli/SERVE.md: an API with its one line reports verdicts to `portcullis serve`', async () => {
  let report: ((body: unknown) => void) | undefined
  const reported = new Promise<unknown>((resolve) => {
    report = resolve
  })
  await using console = await withRoutes(async (incoming) => {
    if (!incoming.url.includes('/control/')) return undefined
    report?.(await incoming.json())
    return Response.json({})
  })
  const [first = ''] = blocks('packages/cli/SERVE.md')
  const code = first.replace('http://127.0.0.1:4010', console.authUrl)
  const { reports } = await run('cli', code, '\nexport { reports }')
  await authenticateRequest(
    createVerifier({ keys: remoteKeys(keyUrl), issuer: null, audience: null }),
    new Request('http://api.test/', { headers: await provider.bearer() }),
  )
  expect(JSON.stringify(await reported)).toContain('orders')
  await reports?.close()
})

async function withRoutes(routes: (request: Request) => Promise<Response | undefined>) {
  return await tokenService(await createTestIssuer({ algorithm: 'ES256' })).listen({ routes })
}

describe('packages/client/README.md', async () => {
  const verifier = createVerifier({
    keys: remoteKeys(keyUrl),
    issuer: null,
    audience: null,
  })
  await using api = createServer((incoming, answer) => {
    const [, token = ''] = incoming.headers.authorization?.split(' ') ?? []
    verifier.verify(token).then(
      ({ claims }) => answer.end(claims.sub),
      () => answer.writeHead(401).end(),
    )
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const address = api.address()
  vi.stubEnv('API_URL', `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)
  const { tokens, response } = await example('packages/client/README.md')

  test('the example calls the API with a token of its own', async () => {
    expect(response?.status).toBe(200)
    expect(tokens?.status()).toMatchObject({ freshness: 'fresh' })
  })
})

describe('packages/testing/README.md', async () => {
  await example('packages/testing/README.md') // is a test itself
})

interface Example {
  app?: RequestListener
  POST?: (request: Request) => Promise<Response>
  tokens?: TokenClient
  response?: Response
  lines?: readonly string[]
  strict?: Verifier
  reports?: { close(): Promise<void> }
  logOut?: (request: Request) => Promise<void>
  tokenFromCookie?: (request: IncomingMessage) => void
  cookieToHeader?: MiddlewareHandler
}

/** Runs examples of a README as one file, the first by default, as they stand, except that they take no port. */
async function example(path: string, ending = '', ...places: readonly number[]): Promise<Example> {
  const [first = 0, ...others] = places
  const code = [first, ...others].map((place) => exampleOf(read(path), place)).join('\n')
  return await run(`${path}-${places.join('-')}`, code, ending)
}

/** The first example with the lines for the token service. */
async function exampleOfTokenService(path: string, ending: string): Promise<Example> {
  return await run(`${path}-token-service`, exampleWithTokenService(read(path)), ending)
}

async function run(name: string, code: string, ending: string): Promise<Example> {
  return (await examples.run(name, provider.namedIn(code), ending)) as Example
}

function blocks(path: string, language = 'ts'): readonly string[] {
  return blocksOf(read(path))
    .filter((block) => block.language === language)
    .map(({ code }) => code)
}

async function tokenOf(sub: string): Promise<string> {
  return await provider.token({ claims: { sub } })
}

async function expectScopeToOpen(
  app: RequestListener | undefined,
  others: Readonly<Record<string, undefined>> = {},
): Promise<void> {
  if (app === undefined) throw new Error('the example has no app')
  const call = () => request(app).post('/v1/clientLocations')
  const allowed = await provider.bearer({
    claims: { sub: 'ada', scope: 'locations:write', ...others },
  })
  const answer = await call().set(allowed)
  expect(answer.body).toEqual({ savedBy: 'ada' })
  await call().expect(401)
  await call()
    .set(await provider.bearer({ claims: others }))
    .expect(403)
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
