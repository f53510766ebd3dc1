import { globSync, readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'

import type { Verifier } from '@portcullis/core'
import { systemClock } from '@portcullis/kit/time'
import { dpopClient } from '@portcullis/testing'
import request from 'supertest'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'

import { root } from '../../docs/entries.ts'
import { runProgram } from '../../packages/cli/test/run-program.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { writtenExamples } from './examples.ts'
import { identityProvider, ISSUER } from './identity-provider.ts'
import {
  blocksOf,
  codeSpans,
  exampleOf,
  exampleWithTokenService,
  linesForTokenService,
  tableUnder,
  whatFollows,
  withTokenService,
} from './markdown.ts'

// Applications in the documents, as they stand: what each answers to requests, in their order; and the commands beside them.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const examples = writtenExamples('.readme')
const provider = await identityProvider()
vi.stubEnv('AUTH_URL', provider.authUrl)

afterAll(async () => {
  vi.unstubAllEnvs()
  await provider[Symbol.asyncDispose]()
  examples.remove()
})

type Claims = Readonly<Record<string, unknown>>
/** What is asked; the claims of the token, if there is one; the status; what is in the body or in the challenge; other headers. */
type Call = readonly [
  string,
  Claims | undefined,
  status: number,
  says?: RegExp | undefined,
  headers?: object,
]
type Row = readonly [name: string, code: string, ending: string, ...calls: readonly Call[]]

const code = (path: string, ...places: readonly number[]) =>
  places.map((place) => exampleOf(read(path), place)).join('\n')
const EXPRESS = adapters.find(({ folder }) => folder === 'express')?.exampleEnding ?? ''
const FASTIFY = adapters.find(({ folder }) => folder === 'fastify')?.exampleEnding ?? ''
const APP = '\nexport { app }'
/** A handler of a `Request` as one of `node:http`. */
const ANSWER = `
import { getRequestListener } from '@hono/node-server'
const listener = getRequestListener(answer, { overrideGlobalObjects: false })
export { listener as app }`
const CORE = 'packages/core/README.md'
const COOKIES = 'packages/core/COOKIES.md'

const SAVE = 'POST /v1/clientLocations'
const WRITE = { sub: 'ada', scope: 'locations:write' }
/** What a route answers that has created something. */
const createdBy = (folder: string) => (folder === 'nest' ? 201 : 200)
const byScope = (others: Claims = {}, status = 200): readonly Call[] => [
  [SAVE, { ...WRITE, ...others }, status, /"savedBy":"ada"/],
  [SAVE, undefined, 401, /^Bearer realm="api"$/],
  [SAVE, others, 403],
]
const NO_NAMES = { iss: undefined, aud: undefined }
const cookie = `a=b; __Host-token=${await provider.token({ claims: WRITE })}; c=d`
const from = (site: string) => ({ 'sec-fetch-site': site, cookie })

/** What a table says of a framework, in the place where its application is made, and the recipe above. */
function withCookies(folder: string): string {
  const { rows } = tableUnder(read(COOKIES), 'Tokens in a cookie', 'Framework')
  const lineOf = (name: string) =>
    codeSpans(rows.find(([framework]) => framework?.toLowerCase() === name)?.[1] ?? '')[0] ?? ''
  const line =
    folder === 'nest'
      ? lineOf('express').replace('app.', 'app.getHttpAdapter().getInstance().')
      : lineOf(folder)
  const application = code(`packages/${folder}/README.md`, 0)
  return `${code(COOKIES, folder === 'hono' ? 1 : 0)}\n${application.replace(/^const app = .*\n/m, `$&${line}\n`)}`
}

const now = Math.floor(Date.now() / 1000)
const [PAY, ORDER] = ['POST /v1/payments', 'POST /v1/orders']
const [LOGOUT, EVERYWHERE] = ['POST /v1/logout', 'POST /v1/logout-everywhere']

const ROWS: readonly Row[] = [
  ['README.md', code('README.md', 0), EXPRESS, ...byScope()],
  [
    'README.md with a token service',
    exampleWithTokenService(read('README.md')),
    EXPRESS,
    ...byScope(NO_NAMES),
  ],
  ...adapters.flatMap(({ folder, exampleEnding }): Row[] => {
    const status = createdBy(folder)
    const lines = linesForTokenService(read('packages/core/GUARDS.md'))
    // Of Hono's it replaces `Request`, as `serve` does, or the recipe could not make one.
    const ending = exampleEnding.replace(', { overrideGlobalObjects: false }', '')
    return [
      [
        `packages/${folder}/README.md`,
        code(`packages/${folder}/README.md`, 0),
        exampleEnding,
        ...byScope({}, status),
      ],
      [
        `${folder} with the lines of GUARDS.md for a token service, whose tokens have neither iss nor aud`,
        withTokenService(code(`packages/${folder}/README.md`, 0), lines),
        exampleEnding,
        ...byScope(NO_NAMES, status),
      ],
      [
        `${folder} with the lines of COOKIES.md`,
        withCookies(folder),
        ending,
        [SAVE, undefined, status, /"savedBy":"ada"/, from('same-origin')],
        [SAVE, undefined, 401, undefined, from('cross-site')],
        [SAVE, undefined, 401, undefined, { cookie }],
        [SAVE, { ...WRITE, sub: 'bob' }, status, /"savedBy":"bob"/, from('same-origin')],
      ],
    ]
  }),
  [
    'packages/fastify/PLUGINS.md: an application of Express behind the guard',
    `
import { fastifyExpress } from '@fastify/express'
import { authenticate as authenticateExpress, getAuth } from '@portcullis/express'
import express from 'express'
${code('packages/fastify/README.md', 0).replace(/^await app\.register[^]*/m, '')}
const legacyApplication = express()
legacyApplication.get('/', (request, response) => {
  response.json({ seenBy: getAuth(request).claims.sub })
})
${blocksOf(read('packages/fastify/PLUGINS.md')).find((block) => block.code.includes('fastifyExpress'))?.code}`,
    FASTIFY,
    ['GET /legacy', undefined, 401],
    ['GET /legacy', { sub: 'ada' }, 200, /"seenBy":"ada"/],
  ],
  [
    'packages/core/FRAMEWORKS.md: node:http',
    code('packages/core/FRAMEWORKS.md', 0),
    '\nconst [listener] = app.listeners("request")\nexport { listener as app }',
    ...byScope(),
  ],
  [
    `${CORE}: a Request, as a route handler of Next.js`,
    code(CORE, 2) + whatFollows(read(CORE), 'Next.js'),
    ANSWER,
    ...byScope(),
  ],
  [
    'packages/core/LOGGING-IN-AGAIN.md',
    code('packages/core/LOGGING-IN-AGAIN.md', 0, 1),
    APP,
    [PAY, { sub: 'ada', acr: 'phr', auth_time: now - 30 }, 200, /"paidBy":"ada"/],
    [PAY, { acr: 'phr', auth_time: now - 400 }, 401, /acr_values="phr phrh", max_age="300"$/],
    [ORDER, { scope: 'orders:write', auth_time: now - 30 }, 200],
    [ORDER, { scope: 'orders:write', auth_time: now - 400 }, 401, /n", [^=]*="[^"]*", max_age=/],
    [ORDER, { scope: 'other', auth_time: now - 400 }, 403, /scope="orders:write"$/],
  ],
  [
    'packages/core/OPAQUE-TOKENS.md',
    code('packages/core/OPAQUE-TOKENS.md', 0),
    APP,
    ['GET /v1/account', undefined, 401, /^Bearer realm="api"$/],
    ['GET /v1/account', { sub: 'ada' }, 200, /"user":"ada"/],
  ],
  [
    'packages/core/REVOKING.md: one token, and then all of a user',
    code('packages/core/REVOKING.md', 0, 3),
    APP,
    [LOGOUT, { jti: 'one', sub: 'ada' }, 204],
    [LOGOUT, { jti: 'one', sub: 'ada' }, 401],
    [EVERYWHERE, { jti: 'two', sub: 'ada' }, 204],
    [EVERYWHERE, { jti: 'three', sub: 'ada', iat: now - 30 }, 401],
    [EVERYWHERE, { jti: 'four', sub: 'bob' }, 204],
  ],
  ...['introspection', 'providers'].map((folder): Row => {
    const name = `packages/${folder}/README.md`
    return [name, code(name, 0), ANSWER, ['GET /', undefined, 401]]
  }),
]

async function started(name: string, text: string, ending: string): Promise<RequestListener> {
  const { Request, Response } = globalThis
  onTestFinished(() => {
    Object.assign(globalThis, { Request, Response })
  })
  const file = name.replaceAll(/\W+/g, '-')
  const { app } = (await examples.run(file, provider.namedIn(text), ending)) as {
    app: RequestListener
  }
  return app
}

for (const [name, text, ending, ...calls] of ROWS)
  test(`${name}: its application answers as it says`, async () => {
    const app = await started(name, text, ending)
    for (const [at, [route, claims, status, says = /(?:)/, headers]] of calls.entries()) {
      const [method = '', path = ''] = route.split(' ')
      const call = method === 'GET' ? request(app).get(path) : request(app).post(path)
      const own = claims && (await provider.bearer({ claims }))
      const response = await call.set({ ...headers, ...own })
      const said = [response.headers['www-authenticate'] ?? '', response.text]
      expect([route, at, response.status]).toEqual([route, at, status])
      expect(said.some((each) => says.test(each))).toBe(true)
    }
  })

test.each(adapters)(
  'packages/$folder/README.md: its commands ask for its route, and say why a token is refused',
  async ({ folder }) => {
    const readme = read(`packages/${folder}/README.md`)
    const [, commands] = blocksOf(readme).filter(({ language }) => language === 'sh')
    const [asking, explaining = ''] = commands?.code.trimEnd().split('\n').slice(-2) ?? []
    const [method, path] = SAVE.split(' ')
    expect(asking).toBe(
      `curl -i -X ${method} -H "Authorization: Bearer $TOKEN" localhost:3000${path}`,
    )
    expect(readme).toContain(
      `\`curl\` gets ${createdBy(folder)}, without the header 401, without the scope 403.`,
    )
    const [input, words = ''] = explaining.split(' | npx @portcullis/cli ')
    expect(input).toBe('echo "$TOKEN"')
    const explained = async (claims: Claims) =>
      await runProgram(words.replaceAll(ISSUER, provider.url).split(' '), {
        stdin: `${await provider.token({ claims })}\n`,
        fetch,
        clock: systemClock,
      })
    expect(await explained({ aud: 'https://shop.example.com' })).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^REFUSED {2}audience /) as string,
    })
    expect(await explained(WRITE)).toMatchObject({ exitCode: 0 })
  },
)

test('COOKIES.md: behind the guard the cookie comes too late', async () => {
  const late = withCookies('fastify')
  const [line = ''] = /^app\.addHook.*\n/m.exec(late) ?? []
  const moved = late.replace(line, '').replace(/^await app\.register.*\n/m, `$&${line}`)
  const app = await started('late', moved, FASTIFY)
  expect((await request(app).post('/v1/clientLocations').set(from('same-origin'))).status).toBe(401)
})

test('BOUND-TOKENS.md: a bound token needs its key, and a bearer token is taken beside it', async () => {
  const app = await started('bound', code('packages/core/BOUND-TOKENS.md', 0), APP)
  const get = async (headers: object) =>
    await request(app)
      .get('/v1/account')
      .set({ ...headers })
  const client = await dpopClient()
  const token = await provider.token({ claims: { sub: 'ada' }, boundTo: client })
  const url = 'https://api.example.com/v1/account'
  const accepted = await get(await client.headers({ url, token }))
  expect(accepted.body).toEqual({ user: 'ada', key: client.jkt })
  const stolen = await get({ authorization: `Bearer ${token}` })
  expect([stolen.status, stolen.headers['www-authenticate']]).toEqual([
    401,
    expect.stringMatching(/^Bearer .*, DPoP realm="api", algs="ES256/),
  ])
  const bearer = await get(await provider.bearer({ claims: { sub: 'bob' } }))
  expect(bearer.body).toEqual({ user: 'bob' })
})

test.each(globSync('packages/providers/{docs/*,ENTRA-TENANTS}.md', { cwd: root }))(
  '%s: the verifier of "How to test" accepts the token of that section',
  async (path) => {
    const blocks = blocksOf(read(path)).filter(({ language }) => language === 'ts')
    const text = blocks.map((block) => block.code).join('\n')
    const { tested, token } = (await examples.run(path, text)) as {
      tested: Verifier
      token: string
    }
    await expect(tested.verify(token)).resolves.toMatchObject({ token })
  },
)
