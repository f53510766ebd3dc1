import { globSync, readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'

import type { Verifier } from '@portcullis/core'
import { dpopClient } from '@portcullis/testing'
import request from 'supertest'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { root } from '../../docs/entries.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { writtenExamples } from './examples.ts'
import { identityProvider } from './identity-provider.ts'
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

// Applications in the documents, as they stand: what each answers to requests, in their order.

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
/** The claims of the token, if there is one; the status; the body, or what is in it or in the challenge; other headers. */
type Call = readonly [
  Claims | undefined,
  status: number,
  answer?: object | RegExp | undefined,
  headers?: object,
]

interface Row {
  readonly name: string
  readonly code: string
  /** What exports the listener. */
  readonly ending: string
  readonly calls: Readonly<Record<string, readonly Call[]>>
}

const now = () => Math.floor(Date.now() / 1000)
const WRITE = { sub: 'ada', scope: 'locations:write' }
const NO_NAMES = { iss: undefined, aud: undefined }
const scopeOpens = (others: Claims = {}, status = 200): Row['calls'] => ({
  'POST /v1/clientLocations': [
    [{ ...WRITE, ...others }, status, { savedBy: 'ada' }],
    [undefined, 401, /^Bearer realm="api"$/],
    [others, 403],
  ],
})
const elsewhere = 'https://another.example'
const otherNames: readonly Call[] = [
  [{ ...WRITE, iss: elsewhere }, 401],
  [{ ...WRITE, aud: elsewhere }, 401],
]
const code = (path: string, ...places: readonly number[]) =>
  places.map((place) => exampleOf(read(path), place)).join('\n')
const [EXPRESS = '', FASTIFY = ''] = ['express', 'fastify'].map(
  (name) => adapters.find(({ folder }) => folder === name)?.exampleEnding,
)
const [GUARDS, CORE, COOKIES] = ['GUARDS', 'README', 'COOKIES'].map(
  (name) => `packages/core/${name}.md`,
) as [string, string, string]
const OF_SERVER = '\nconst [listener] = app.listeners("request")\nexport { listener as app }'
/** A handler of a `Request` as one of `node:http`. */
const ofFetch = (name: string) => `
import { getRequestListener } from '@hono/node-server'
const listener = getRequestListener(${name}, { overrideGlobalObjects: false })
export { listener as app }`

const cookie = async (sub: string) =>
  `a=b; __Host-token=${await provider.token({ claims: { ...WRITE, sub } })}; c=d`
const cookies = { own: await cookie('ada'), other: 'x__Host-token=a' }
const site = (name: string | undefined, text = cookies.own) => ({
  ...(name !== undefined && { 'sec-fetch-site': name }),
  cookie: text,
})
/** What a table says of a framework, in the place where its application is made, and the recipe above. */
function withCookies(folder: string): string {
  const rows = tableUnder(read(COOKIES), 'Tokens in a cookie', 'Framework').rows
  const lineOf = (name: string) =>
    codeSpans(rows.find(([framework]) => framework?.toLowerCase() === name)?.[1] ?? '')[0] ?? ''
  const line =
    folder === 'nest'
      ? lineOf('express').replace('app.', 'app.getHttpAdapter().getInstance().')
      : lineOf(folder)
  const application = code(`packages/${folder}/README.md`, 0)
  return `${code(COOKIES, folder === 'hono' ? 1 : 0)}\n${application.replace(/^const app = .*\n/m, `$&${line}\n`)}`
}
const lastOf = (claims: object) => ({ ...claims, auth_time: now() - 30 })

const account = { user: 'ada' }
const LOGIN = /error="insufficient_user_authentication", error_description="[^"]*", max_age="300"$/
const STRONG = /error="insufficient_user_authentication", .*, acr_values="phr phrh", max_age="300"$/
const LACKS_SCOPE = /error="insufficient_scope", .*, scope="orders:write"$/
const strong = { sub: 'ada', acr: 'phr' }
const session = (jti: string, sub: string) => ({ jti, sub })
const mounted = blocksOf(read('packages/fastify/PLUGINS.md')).find((block) =>
  block.code.includes('fastifyExpress'),
)

const ROWS: readonly Row[] = [
  { name: 'README.md', code: code('README.md', 0), ending: EXPRESS, calls: scopeOpens() },
  {
    name: 'README.md with a token service',
    code: exampleWithTokenService(read('README.md')),
    ending: EXPRESS,
    calls: scopeOpens(NO_NAMES),
  },
  ...adapters.flatMap(({ folder, exampleEnding: ending }) => {
    const name = `packages/${folder}/README.md`
    const { 'POST /v1/clientLocations': calls = [] } = scopeOpens({}, folder === 'nest' ? 201 : 200)
    const [accepted] = calls
    return [
      {
        name,
        code: code(name, 0),
        ending,
        calls: { 'POST /v1/clientLocations': [...calls, ...otherNames] },
      },
      {
        name: `${name} with the lines of GUARDS.md for a token service, whose tokens have neither iss nor aud`,
        code: withTokenService(code(name, 0), linesForTokenService(read(GUARDS))),
        ending,
        calls: scopeOpens(NO_NAMES, accepted?.[1]),
      },
      {
        name: `${name} with the lines of COOKIES.md`,
        code: withCookies(folder),
        // Of Hono's it replaces `Request`, as `serve` does, or the recipe could not make one.
        ending: ending.replace(', { overrideGlobalObjects: false }', ''),
        calls: {
          'POST /v1/clientLocations': [
            [undefined, accepted?.[1] ?? 0, { savedBy: 'ada' }, site('same-origin')],
            ...['cross-site', 'same-site', 'none', undefined].map((from): Call => [
              undefined,
              401,
              undefined,
              site(from),
            ]),
            [undefined, 401, undefined, site('same-origin', cookies.other)],
            [{ ...WRITE, sub: 'bob' }, accepted?.[1] ?? 0, { savedBy: 'bob' }, site('same-origin')],
          ],
        } satisfies Row['calls'],
      },
    ]
  }),
  {
    name: 'GUARDS.md with a log',
    code: code('packages/express/README.md', 0)
      .replace('authenticate(verifier)', 'guard')
      .replace(
        /^const verifier = .*\n/m,
        `$&
const lines: unknown[] = []
const log = { info: (...line: unknown[]) => lines.push(...line) }
${exampleOf(read(GUARDS), 0)}`,
      )
      .replace(
        /^const app = .*\n/m,
        "$&app.get('/log', (_request, response) => void response.json(lines[0]))\n",
      ),
    ending: EXPRESS,
    calls: {
      'POST /v1/clientLocations': [[undefined, 401]],
      'GET /log': [
        [undefined, 200, /"ip".*127\.0\.0\.1.*"missing_token".*"missing_header".*no Authorization/],
      ],
    },
  },
  {
    name: 'packages/fastify/PLUGINS.md: an application of Express behind the guard',
    code: `
      import { fastifyExpress } from '@fastify/express'
      import { authenticate as authenticateExpress, getAuth } from '@portcullis/express'
      import express from 'express'
      ${code('packages/fastify/README.md', 0).replace(/^await app\.register[^]*/m, '')}
      const legacyApplication = express()
      legacyApplication.get('/', (request, response) => {
        response.json({ seenBy: getAuth(request).claims.sub })
      })
      ${mounted?.code}`,
    ending: FASTIFY,
    calls: {
      'GET /legacy': [
        [undefined, 401],
        [{ sub: 'ada' }, 200, { seenBy: 'ada' }],
      ],
    },
  },
  {
    name: 'packages/core/FRAMEWORKS.md: node:http',
    code: code('packages/core/FRAMEWORKS.md', 0),
    ending: OF_SERVER,
    calls: scopeOpens(),
  },
  {
    name: `${CORE}: a Request, as a route handler of Next.js`,
    code: code(CORE, 2) + whatFollows(read(CORE), 'Next.js'),
    ending: ofFetch('answer'),
    calls: scopeOpens(),
  },
  {
    name: 'packages/core/LOGGING-IN-AGAIN.md',
    code: code('packages/core/LOGGING-IN-AGAIN.md', 0, 1),
    ending: '\nexport { app }',
    calls: {
      'POST /v1/payments': [
        [lastOf(strong), 200, { paidBy: 'ada' }],
        [lastOf({ ...strong, acr: 'pwd' }), 401, STRONG],
        [{ ...strong, auth_time: now() - 400 }, 401, STRONG],
        [{ ...strong, auth_time: null }, 401, STRONG],
      ],
      // What lacks both is refused for what no log-in mends.
      'POST /v1/orders': [
        [lastOf({ sub: 'ada', scope: 'orders:write' }), 200],
        [lastOf({ sub: 'ada', scope: 'other' }), 403, LACKS_SCOPE],
        [{ scope: 'orders:write', auth_time: now() - 400 }, 401, LOGIN],
        [{ scope: 'other', auth_time: now() - 400 }, 403, LACKS_SCOPE],
      ],
    },
  },
  {
    name: 'packages/core/OPAQUE-TOKENS.md',
    code: code('packages/core/OPAQUE-TOKENS.md', 0),
    ending: '\nexport { app }',
    calls: {
      'GET /v1/account': [
        [undefined, 401, /^Bearer realm="api"$/],
        [{ sub: 'ada' }, 200, account],
      ],
    },
  },
  {
    name: 'packages/core/REVOKING.md: one token, and then all of a user',
    code: code('packages/core/REVOKING.md', 0, 3),
    ending: '\nexport { app }',
    calls: {
      'POST /v1/logout': [
        [session('one', 'ada'), 204],
        [session('one', 'ada'), 401],
        [session('two', 'ada'), 204],
      ],
      'POST /v1/logout-everywhere': [
        [session('three', 'eve'), 204],
        [session('four', 'eve'), 401],
        [session('five', 'bob'), 204],
      ],
    },
  },
  ...['introspection', 'providers'].map((folder) => ({
    name: `packages/${folder}/README.md`,
    code: code(`packages/${folder}/README.md`, 0),
    ending: ofFetch('answer'),
    calls: { 'GET /': [[undefined, 401] as const] },
  })),
]

test.each(ROWS)(
  '$name: its application answers as it says',
  async ({ name, code: text, ending, calls }) => {
    const { Request, Response } = globalThis
    onTestFinished(() => {
      Object.assign(globalThis, { Request, Response })
    })
    const file = name.replaceAll(/\W+/g, '-')
    const { app } = (await examples.run(file, provider.namedIn(text), ending)) as {
      app: RequestListener
    }
    for (const [route, all] of Object.entries(calls)) {
      const [method = '', path = ''] = route.split(' ')
      for (const [at, [claims, status, answer, headers]] of all.entries()) {
        const own = claims && (await provider.bearer({ claims }))
        const call = method === 'GET' ? request(app).get(path) : request(app).post(path)
        const response = await call.set({ ...headers, ...own })
        const said = [response.headers['www-authenticate'] ?? '', response.text]
        const isMatched = answer instanceof RegExp
        const shown: unknown = isMatched ? said.some((each) => answer.test(each)) : response.body
        const wanted = isMatched || (answer ?? shown)
        expect([route, at, response.status, shown]).toEqual([route, at, status, wanted])
      }
    }
  },
)

test('COOKIES.md: behind the guard the cookie comes too late', async () => {
  const late = withCookies('fastify')
  const [line = ''] = /^app\.addHook.*\n/m.exec(late) ?? []
  const moved = late.replace(line, '').replace(/^await app\.register.*\n/m, `$&${line}`)
  const { app } = (await examples.run('late', provider.namedIn(moved), FASTIFY)) as {
    app: RequestListener
  }
  expect((await request(app).post('/v1/clientLocations').set(site('same-origin'))).status).toBe(401)
})

describe('packages/core/BOUND-TOKENS.md', () => {
  test('a bound token needs its key, and a bearer token is taken beside it', async () => {
    const text = provider.namedIn(code('packages/core/BOUND-TOKENS.md', 0))
    const { app } = (await examples.run('bound', text, '\nexport { app }')) as {
      app: RequestListener
    }
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
    expect(stolen.status).toBe(401)
    expect(stolen.headers['www-authenticate']).toMatch(/^Bearer .*, DPoP realm="api", algs="ES256/)
    const bearer = await get(await provider.bearer({ claims: { sub: 'bob' } }))
    expect(bearer.body).toEqual({ user: 'bob' })
  })
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
