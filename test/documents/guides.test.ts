import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import {
  authenticateRequest,
  createVerifier,
  type LocalRevocations,
  refusal,
  remoteKeys,
  type Revocations,
  type Verifier,
} from '@portcullis/core'
import {
  assertChallenge,
  createTestIssuer,
  dpopClient,
  manualClock,
  tokenService,
} from '@portcullis/testing'
import request from 'supertest'
import { afterAll, describe, expect, test } from 'vitest'

import { fetchWith } from '../bound-tokens/tls-fetch.ts'
import { type Certificate, createCertificate } from '../certificate.ts'
import { writtenExamples } from './examples.ts'
import { identityProvider } from './identity-provider.ts'
import { blocksOf, exampleOf, tablesOf, tableUnder } from './markdown.ts'

// Every piece of code in the guides of core and testing, as it stands. Those of OPERATING.md are compared with examples/operating.

const run = promisify(execFile)
const core = fileURLToPath(new URL('../../packages/core/', import.meta.url))
const examples = writtenExamples('.readme-guides')
const provider = await identityProvider()

afterAll(async () => {
  await provider[Symbol.asyncDispose]()
  examples.remove()
})

interface Example {
  app?: RequestListener
  server?: Server
  verifier?: Verifier
  tenants?: Map<string, { issuer: string; keyUrl: string }>
  revocations?: LocalRevocations
  ofBlockedUsers?: Revocations
  blockedUsers?: Set<unknown>
}

/** Runs examples of a guide as one file. */
async function example(guide: string, places: readonly number[], ending = ''): Promise<Example> {
  const code = provider.namedIn(places.map((place) => exampleOf(read(guide), place)).join('\n'))
  return (await examples.run(
    `${guide}-${places.join('-')}-${ending.length}`,
    code,
    ending,
  )) as Example
}

test.each([
  ['BOUND-TOKENS.md', 1],
  ['ERRORS.md', 0],
  ['FRAMEWORKS.md', 2],
  ['KEYS.md', 0],
  ['LOGGING-IN-AGAIN.md', 2],
  ['MANY-ISSUERS.md', 2],
  ['MISTAKES.md', 0],
  ['MUTUAL-TLS.md', 1],
  ['OPAQUE-TOKENS.md', 3],
  ['REVOKING.md', 4],
  ['THREATS.md', 0],
])(
  '%s has %i pieces of code, which are run here or as test/documents/blocks.test.ts says',
  (guide, count) => {
    const fences = [...read(guide).matchAll(/^```(\w+)$/gm)].map(([, kind = '']) => kind)
    // Of commands and settings, that test says what compares them.
    const code = fences.filter((kind) => !['sh', 'json'].includes(kind))
    expect(code).toEqual(Array<string>(count).fill('ts'))
  },
)

test('no other guide has code that is not run', () => {
  expect(globSync('*.md', { cwd: core, exclude: ['CHANGELOG.md', 'SKILL.md'] }).toSorted()).toEqual(
    [
      'BOUND-TOKENS.md',
      'COOKIES.md',
      'ERRORS.md',
      'FRAMEWORKS.md',
      'GUARDS.md',
      'KEYS.md',
      'LOGGING-IN-AGAIN.md',
      'MANY-ISSUERS.md',
      'MISTAKES.md',
      'MUTUAL-TLS.md',
      'OPAQUE-TOKENS.md',
      'OPERATING.md',
      'README.md',
      'REVOKING.md',
      'THREATS.md',
    ],
  )
})

test.each([
  ['THREATS.md', 'Tries'],
  ['../../SECURITY.md', ''],
])('%s names tests that are there, and each of its rows names one', (guide, column) => {
  const text = read(guide)
  const named = text.match(/`(?:test|packages)(?:\/[\w-]+)+(?:\.[\w.]+)?`/g) ?? []
  expect(named.length).toBeGreaterThan(10)
  const rows = tablesOf(text)
    .filter(({ columns }) => columns[0] === column && columns.at(-1) === 'Shown by')
    .flatMap((table) => table.rows)
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter((row) => !/`(?:test|packages)\//.test(row.at(-1) ?? ''))).toEqual([])
  const root = join(core, '..', '..')
  expect(named.filter((path) => !existsSync(join(root, path.replaceAll('`', ''))))).toEqual([])
})

test('TESTING.md of testing is a file of tests, all of which pass', async () => {
  const guide = readFileSync(join(core, '../testing/TESTING.md'), 'utf8')
  const [install, ...blocks] = blocksOf(guide)
  expect(blocks.filter(({ language }) => language !== 'ts')).toEqual([])
  const text = blocks.map(({ code }) => code).join('\n')
  const imported = [...text.matchAll(/from '((?:@portcullis\/|(?!node:))[\w-]+)'/g)]
  expect(install?.code.split(/\s/)).toEqual(
    expect.arrayContaining(imported.map(([, name = '']) => name)),
  )
  const file = examples.write('TESTING.md', text)
  const { stdout } = await run(process.execPath, ['--conditions=@portcullis/source', file])
  expect(stdout).toContain('pass 7\n')
  expect(stdout).toContain('fail 0\n')
})

describe('BOUND-TOKENS.md', async () => {
  const { app: account } = await example('BOUND-TOKENS.md', [0], '\nexport { app }')

  async function get(headers: object) {
    return await request(listening(account))
      .get('/v1/account')
      .set({ ...headers })
  }

  test('a bound token needs its key, and a bearer token is taken beside it', async () => {
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

describe('LOGGING-IN-AGAIN.md', async () => {
  const { app } = await example('LOGGING-IN-AGAIN.md', [0, 1], '\nexport { app }')

  test('the route wants a user who has just logged in, in one of two ways', async () => {
    const path = '/v1/payments'
    const now = Math.floor(Date.now() / 1000)
    const claims = { sub: 'ada', acr: 'phr', auth_time: now - 30 }
    const accepted = await post(app, path, await provider.bearer({ claims }))
    expect(accepted.body).toEqual({ paidBy: 'ada' })
    for (const worse of [{ acr: 'pwd' }, { auth_time: now - 400 }, { auth_time: null }]) {
      const refused = await post(
        app,
        path,
        await provider.bearer({ claims: { ...claims, ...worse } }),
      )
      expect(refused.status).toBe(401)
      expect(refused.headers['www-authenticate']).toMatch(
        /error="insufficient_user_authentication", .*, acr_values="phr phrh", max_age="300"$/,
      )
    }
  })

  const lacksScope = /error="insufficient_scope", .*, scope="orders:write"$/
  const lacksLogin =
    /error="insufficient_user_authentication", error_description="[^"]*", max_age="300"$/

  test.each([
    { lacks: 'nothing', scope: 'orders:write', ago: 30, status: 200, challenge: /^none$/ },
    { lacks: 'the scope', scope: 'other', ago: 30, status: 403, challenge: lacksScope },
    { lacks: 'a log-in', scope: 'orders:write', ago: 400, status: 401, challenge: lacksLogin },
    { lacks: 'both', scope: 'other', ago: 400, status: 403, challenge: lacksScope },
  ])('beside a scope, a token that lacks $lacks: $status', async ({ scope, ago, ...wanted }) => {
    const claims = { sub: 'ada', scope, auth_time: Math.floor(Date.now() / 1000) - ago }
    const { status, headers } = await post(app, '/v1/orders', await provider.bearer({ claims }))
    expect(status).toBe(wanted.status)
    expect(headers['www-authenticate'] ?? 'none').toMatch(wanted.challenge)
  })
})

describe('KEYS.md', () => {
  const clients = 'What clients see when the issuer is down'

  test('what clients see when the issuer is down', async () => {
    const clock = manualClock()
    const issuer = await createTestIssuer({ clock })
    const service = tokenService(issuer)
    let isDown = false
    const newProcess = () =>
      createVerifier({
        keys: remoteKeys(service.keyUrl, {
          clock,
          fetch: async (...args) =>
            isDown ? new Response(null, { status: 503 }) : await service.fetch(...args),
        }),
        issuer: null,
        audience: null,
        clock,
      })
    const known = await issuer.bearer()
    const running = newProcess()
    expect((await answerTo(running, known))[0]).toBe(200)
    isDown = true
    await issuer.rotate()
    await clock.advance(20)
    const started = newProcess()
    const { rows } = tableUnder(read('KEYS.md'), clients, 'The request has')
    const [, text = ''] = /The text of the 503 is `([^`]*)`/.exec(read('KEYS.md')) ?? []
    const unavailable = [503, expect.not.arrayContaining(['WWW-Authenticate']), text]
    expect([rows.length, (await answerTo(running, known))[0]]).toEqual([4, 200])
    for (const answer of [
      await answerTo(running, await issuer.bearer()),
      await answerTo(started, known),
    ]) {
      expect(answer).toEqual(unavailable)
      expect(answer[1]).toContain('Retry-After')
    }
    const [status, names] = await answerTo(started, {})
    expect([status, names]).toEqual([401, expect.arrayContaining(['WWW-Authenticate'])])
  })
})

describe('MUTUAL-TLS.md', async () => {
  const [ours, client, thief] = [createCertificate(), createCertificate(), createCertificate()]
  const code = provider
    .namedIn(exampleOf(read('MUTUAL-TLS.md'), 0))
    .replace("'server.key'", `'${ours.keyFile}'`)
    .replace("'server.crt'", `'${ours.certFile}'`)
    .replace('listen(8443)', "listen(0, '127.0.0.1')")
  const { server } = (await examples.run('mutual-tls', code, '\nexport { server }')) as Example
  afterAll(() => {
    server?.close()
    for (const each of [ours, client, thief]) each[Symbol.dispose]()
  })

  test('the server takes the token from the client whose certificate it is bound to', async () => {
    const digest = createHash('sha256').update(new X509Certificate(client.cert).raw)
    const cnf = { 'x5t#S256': digest.digest('base64url') }
    const headers = await provider.bearer({ claims: { sub: 'ada', cnf } })
    const address = server?.address()
    const port = typeof address === 'object' ? address?.port : 0
    const ask = async (...own: Certificate[]) =>
      await fetchWith(ours, ...own)(`https://127.0.0.1:${port}/v1/accounts`, { headers })
    expect(await (await ask(client)).json()).toEqual({ of: 'ada' })
    for (const refused of [await ask(thief), await ask()]) {
      assertChallenge(refused, { status: 401, error: 'invalid_token', reason: 'binding' })
    }
  })
})

describe('FRAMEWORKS.md', async () => {
  const ending = '\nconst [listener] = app.listeners("request")\nexport { listener as app }'
  const { app } = await example('FRAMEWORKS.md', [0], ending)

  test('the server of node:http lets in a token with the scope, and nothing else', async () => {
    const path = '/v1/clientLocations'
    const claims = { sub: 'ada', scope: 'locations:write' }
    const accepted = await post(app, path, await provider.bearer({ claims }))
    expect(accepted.body).toEqual({ savedBy: 'ada' })
    expect((await post(app, path)).status).toBe(401)
    expect((await post(app, path, await provider.bearer())).status).toBe(403)
  })
})

describe('MANY-ISSUERS.md', async () => {
  const { verifier: listed } = await example('MANY-ISSUERS.md', [0])
  const { verifier: found, tenants } = await example('MANY-ISSUERS.md', [1], '\nexport { tenants }')
  const tenant = await createTestIssuer({
    issuer: 'https://acme.example',
    audience: 'https://api.example.com',
  })

  test('the object refuses a token of another issuer, without a request', async () => {
    await expect(listed?.verify(await tenant.token())).rejects.toMatchObject({
      reason: 'unknown_key',
    })
  })

  test('the function finds the verifier of a tenant', async () => {
    await using published = await tokenService(tenant).listen()
    tenants?.set('https://acme.example', {
      issuer: 'https://acme.example',
      keyUrl: published.keyUrl,
    })
    await expect(found?.verify(await tenant.token())).resolves.toMatchObject({
      claims: { iss: 'https://acme.example' },
    })
  })
})

describe('OPAQUE-TOKENS.md', () => {
  test('a verifier of tokens that something else proves', async () => {
    const { verifier } = await example('OPAQUE-TOKENS.md', [1])
    const auth = await verifier?.verify('key_3f9c')
    expect(auth).toMatchObject({ claims: { sub: 'billing' }, header: { alg: 'api-key' } })
    await expect(verifier?.verify('other')).rejects.toMatchObject({ reason: 'inactive' })
    await expect(verifier?.ready()).resolves.toBeUndefined()
  })

  test('its API wants a token', async () => {
    const { app } = await example('OPAQUE-TOKENS.md', [0], '\nexport { app }')
    const { status, headers } = await request(listening(app)).get('/v1/account')
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="api"'])
  })

  test('its tests pass', async () => {
    await expect(example('OPAQUE-TOKENS.md', [2])).resolves.toBeDefined()
  })
})

describe('REVOKING.md', async () => {
  const { app } = await example('REVOKING.md', [0, 3], '\nexport { app }')

  test('logging out ends this token and its stream of events, but no other token of the user', async () => {
    const [one, other] = await Promise.all([bearerOf('one', 'ada'), bearerOf('two', 'ada')])
    await using server = createServer(listening(app)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const stream = await fetch(`http://127.0.0.1:${port}/v1/events`, { headers: one })
    expect(stream.status).toBe(200)
    expect((await post(app, '/v1/logout', one)).status).toBe(204)
    expect(await stream.text()).toBe('') // it has ended
    expect((await post(app, '/v1/logout', one)).status).toBe(401)
    expect((await post(app, '/v1/logout', other)).status).toBe(204)
  })

  test('logging out everywhere ends all tokens of the user, and of nobody else', async () => {
    const [one, other, bob] = await Promise.all([
      bearerOf('three', 'eve'),
      bearerOf('four', 'eve'),
      bearerOf('five', 'bob'),
    ])
    expect((await post(app, '/v1/logout-everywhere', one)).status).toBe(204)
    expect((await post(app, '/v1/logout', other)).status).toBe(401)
    expect((await post(app, '/v1/logout', bob)).status).toBe(204)
  })

  test('what was revoked is saved, and is there after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-'))
    const saveThere = (code: string) => code.replace("'revocations.json'", `'${folder}/saved.json'`)
    const code = saveThere(exampleOf(read('REVOKING.md'), 1))
    const first = (await examples.run('saving-1', code)) as Example
    await first.revocations?.revoke({ jti: 'six' })
    const second = (await examples.run('saving-2', code)) as Example
    const { entries } = second.revocations?.toSnapshot() ?? {}
    expect(entries).toEqual([{ type: 'token', jti: 'six' }])
    rmSync(folder, { recursive: true })
  })

  test('revocations of your own answer by a word', async () => {
    const { ofBlockedUsers, blockedUsers } = await example(
      'REVOKING.md',
      [2],
      '\nexport { blockedUsers }',
    )
    expect(ofBlockedUsers?.statusOf({ sub: 'ada' }, 0, '')).toBe('valid')
    blockedUsers?.add('ada')
    expect(ofBlockedUsers?.statusOf({ sub: 'ada' }, 0, '')).toBe('revoked')
  })
})

async function answerTo(verifier: Verifier, headers: Readonly<Record<string, string>>) {
  const incoming = new Request('http://api.test/', { headers })
  const error: unknown = await authenticateRequest(verifier, incoming).then(
    () => undefined,
    (refused: unknown) => refused,
  )
  const refused = refusal(error)
  return [refused?.status ?? 200, Object.keys(refused?.headers ?? {}), refused?.message]
}

async function bearerOf(jti: string, sub: string) {
  return await provider.bearer({ claims: { jti, sub } })
}

async function post(app: RequestListener | undefined, path: string, headers = {}) {
  return await request(listening(app)).post(path).set(headers)
}

function listening(app: RequestListener | undefined): RequestListener {
  if (app === undefined) throw new Error('the example has no app')
  return app
}

function read(guide: string): string {
  return readFileSync(core + guide, 'utf8')
}
