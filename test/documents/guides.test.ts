import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { TokenClient } from '@portcullis/client'
import {
  authenticateRequest,
  createVerifier,
  type LocalRevocations,
  refusal,
  remoteKeys,
  type Revocations,
  type Verifier,
} from '@portcullis/core'
import { assertChallenge, createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'

import { root } from '../../docs/entries.ts'
import { serve } from '../bound-tokens/serve.ts'
import { fetchWith } from '../bound-tokens/tls-fetch.ts'
import { type Certificate, createCertificate } from '../certificate.ts'
import { writtenExamples } from './examples.ts'
import { identityProvider } from './identity-provider.ts'
import { blocksOf, exampleOf, exampleWithTokenService, tableUnder } from './markdown.ts'

// Code of documents that is no application with routes alone, as it stands.

const read = (path: string) => readFileSync(join(root, 'packages', path), 'utf8')
const examples = writtenExamples('.readme-guides')
const provider = await identityProvider()
vi.stubEnv('AUTH_URL', provider.authUrl)
const keyUrl = `${provider.authUrl}/tokenservice/pubkey.json`

afterAll(async () => {
  vi.unstubAllEnvs()
  await provider[Symbol.asyncDispose]()
  examples.remove()
})

/** What the examples of a document export, run as one file. */
async function example<T>(path: string, places: readonly number[], ending = ''): Promise<T> {
  const code = places.map((place) => exampleOf(read(path), place)).join('\n')
  return await run<T>(`${path}-${places.join('-')}-${ending.length}`, code, ending)
}

async function run<T>(name: string, code: string, ending = ''): Promise<T> {
  return (await examples.run(name, provider.namedIn(code), ending)) as T // or the test fails where it is used
}

const bearerOf = async (jti: string, sub: string) => await provider.bearer({ claims: { jti, sub } })

test('TESTING.md of testing is a file of tests, all of which pass', async () => {
  const [install, ...blocks] = blocksOf(read('testing/TESTING.md'))
  const text = blocks.map(({ code }) => code).join('\n')
  const imported = [...text.matchAll(/from '((?:@portcullis\/|(?!node:))[\w-]+)'/g)]
  expect(install?.code.split(/\s/)).toEqual(
    expect.arrayContaining(imported.map(([, name = '']) => name)),
  )
  const file = examples.write('TESTING.md', text)
  const node = promisify(execFile)(process.execPath, ['--conditions=@portcullis/source', file])
  const { stdout } = await node
  expect(stdout).toContain('pass 7\n')
  expect(stdout).toContain('fail 0\n')
})

test('README.md of core says who a token is for, and throws for one that has expired', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => {
    log.mockRestore()
  })
  vi.stubEnv('TOKEN', await provider.token({ claims: { sub: 'ada' } }))
  await example('core/README.md', [0])
  await run('core-service', exampleWithTokenService(read('core/README.md')))
  expect(log.mock.calls).toEqual([['ada'], ['ada']])
  vi.stubEnv('TOKEN', await provider.token({ expiresIn: -60 }))
  const expired = run('core-expired', exampleOf(read('core/README.md'), 0))
  await expect(expired).rejects.toMatchObject({ reason: 'expired' })
})

async function answerTo(verifier: Verifier, headers: Readonly<Record<string, string>>) {
  const incoming = new Request('http://api.test/', { headers })
  const error: unknown = await authenticateRequest(verifier, incoming).catch(
    (refused: unknown) => refused,
  )
  const { status = 200, headers: names = {}, message } = refusal(error) ?? {}
  return [status, Object.keys(names), message]
}

test('KEYS.md: what clients see when the issuer is down', async () => {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const newProcess = () => {
    const keys = remoteKeys(service.keyUrl, { clock, fetch: service.fetch })
    return createVerifier({ keys, issuer: null, audience: null, clock })
  }
  const known = await issuer.bearer()
  const running = newProcess()
  expect((await answerTo(running, known))[0]).toBe(200)
  issuer.outage(503)
  await issuer.rotate()
  await clock.advance(20)
  const started = newProcess()
  const guide = read('core/KEYS.md')
  const { rows } = tableUnder(guide, 'What clients see when the issuer is down', 'The request has')
  const [, text = ''] = /The text of the 503 is `([^`]*)`/.exec(guide) ?? []
  expect([rows.length, (await answerTo(running, known))[0]]).toEqual([4, 200])
  const unavailable = [503, expect.not.arrayContaining(['WWW-Authenticate']), text]
  for (const [verifier, headers] of [
    [running, await issuer.bearer()],
    [started, known],
  ] as const) {
    const refused = await answerTo(verifier, headers)
    expect(refused).toEqual(unavailable)
    expect(refused[1]).toContain('Retry-After')
  }
  const [status, names] = await answerTo(started, {})
  expect([status, names]).toEqual([401, expect.arrayContaining(['WWW-Authenticate'])])
})

test('MUTUAL-TLS.md: its server takes the token from the client whose certificate it is bound to', async () => {
  const all = [createCertificate(), createCertificate(), createCertificate()] as const
  const [ours, client, thief] = all
  const code = exampleOf(read('core/MUTUAL-TLS.md'), 0)
    .replace("'server.key'", `'${ours.keyFile}'`)
    .replace("'server.crt'", `'${ours.certFile}'`)
    .replace('listen(8443)', "listen(0, '127.0.0.1')")
  const { server } = await run<{ server: Server }>('mutual-tls', code, '\nexport { server }')
  onTestFinished(() => {
    server.close()
    for (const each of all) each[Symbol.dispose]()
  })
  const digest = createHash('sha256').update(new X509Certificate(client.cert).raw)
  const cnf = { 'x5t#S256': digest.digest('base64url') }
  const headers = await provider.bearer({ claims: { sub: 'ada', cnf } })
  const { port } = server.address() as AddressInfo // it listens on a port
  const ask = async (...own: Certificate[]) =>
    await fetchWith(ours, ...own)(`https://127.0.0.1:${port}/v1/accounts`, { headers })
  expect(await (await ask(client)).json()).toEqual({ of: 'ada' })
  for (const refused of [await ask(thief), await ask()])
    assertChallenge(refused, { status: 401, error: 'invalid_token', reason: 'binding' })
})

test('MANY-ISSUERS.md: the object refuses another issuer without a request, the function finds a tenant', async () => {
  const { verifier: listed } = await example<{ verifier: Verifier }>('core/MANY-ISSUERS.md', [0])
  const { verifier: found, tenants } = await example<{
    verifier: Verifier
    tenants: Map<string, { issuer: string; keyUrl: string }>
  }>('core/MANY-ISSUERS.md', [1], '\nexport { tenants }')
  const iss = 'https://acme.example'
  const tenant = await createTestIssuer({ issuer: iss, audience: 'https://api.example.com' })
  const unknown = listed.verify(await tenant.token())
  await expect(unknown).rejects.toMatchObject({ reason: 'unknown_key' })
  expect(tenant.requests()).toEqual([])
  await using published = await tokenService(tenant).listen()
  tenants.set(iss, { issuer: iss, keyUrl: published.keyUrl })
  await expect(found.verify(await tenant.token())).resolves.toMatchObject({ claims: { iss } })
})

test('OPAQUE-TOKENS.md: a verifier of tokens that something else proves, and tests that pass', async () => {
  const { verifier } = await example<{ verifier: Verifier }>('core/OPAQUE-TOKENS.md', [1])
  const auth = await verifier.verify('key_3f9c')
  expect(auth).toMatchObject({ claims: { sub: 'billing' }, header: { alg: 'api-key' } })
  await expect(verifier.verify('other')).rejects.toMatchObject({ reason: 'inactive' })
  await expect(verifier.ready()).resolves.toBeUndefined()
  await example('core/OPAQUE-TOKENS.md', [2])
})

test('REVOKING.md: logging out ends the stream of events of this token', async () => {
  const { app } = await example<{ app: RequestListener }>(
    'core/REVOKING.md',
    [0, 3],
    '\nexport { app }',
  )
  await using served = await serve(() => app)
  const headers = await bearerOf('stream', 'ada')
  const stream = await fetch(`${served.url}/v1/events`, { headers })
  expect(stream.status).toBe(200)
  await fetch(`${served.url}/v1/logout`, { method: 'POST', headers })
  expect(await stream.text()).toBe('') // it has ended
})

test('REVOKING.md: what was revoked is saved, and is there after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-'))
  const code = exampleOf(read('core/REVOKING.md'), 1).replace(
    "'revocations.json'",
    `'${folder}/saved.json'`,
  )
  const first = await run<{ revocations: LocalRevocations }>('saving-1', code)
  await first.revocations.revoke({ jti: 'six' })
  const second = await run<{ revocations: LocalRevocations }>('saving-2', code)
  expect(second.revocations.toSnapshot().entries).toEqual([{ type: 'token', jti: 'six' }])
  rmSync(folder, { recursive: true })
})

test('REVOKING.md: revocations of your own answer by a word', async () => {
  const { ofBlockedUsers, blockedUsers } = await example<{
    ofBlockedUsers: Revocations
    blockedUsers: Set<unknown>
  }>('core/REVOKING.md', [2], '\nexport { blockedUsers }')
  expect(ofBlockedUsers.statusOf({ sub: 'ada' }, 0, '')).toBe('valid')
  blockedUsers.add('ada')
  expect(ofBlockedUsers.statusOf({ sub: 'ada' }, 0, '')).toBe('revoked')
})

test('SERVE.md: an API with its one line reports verdicts to `portcullis serve`', async () => {
  let report: ((body: unknown) => void) | undefined
  const reported = new Promise<unknown>((resolve) => {
    report = resolve
  })
  await using console = await tokenService(await createTestIssuer({ algorithm: 'ES256' })).listen({
    routes: async (incoming) => {
      if (!incoming.url.includes('/control/')) return undefined
      report?.(await incoming.json())
      return Response.json({})
    },
  })
  const code = exampleOf(read('cli/SERVE.md'), 0).replace('http://127.0.0.1:4010', console.authUrl)
  const { reports } = await run<{ reports: AsyncDisposable & { close(): Promise<void> } }>(
    'cli',
    code,
    '\nexport { reports }',
  )
  const verifier = createVerifier({ keys: remoteKeys(keyUrl), issuer: null, audience: null })
  await authenticateRequest(
    verifier,
    new Request('http://api.test/', { headers: await provider.bearer() }),
  )
  expect(JSON.stringify(await reported)).toContain('orders')
  await reports.close()
})

test('README.md of client calls the API with a token of its own', async () => {
  const verifier = createVerifier({ keys: remoteKeys(keyUrl), issuer: null, audience: null })
  await using api = await serve(() => (incoming, answer) => {
    const [, token = ''] = incoming.headers.authorization?.split(' ') ?? []
    verifier.verify(token).then(
      ({ claims }) => answer.end(claims.sub),
      () => answer.writeHead(401).end(),
    )
  })
  vi.stubEnv('API_URL', api.url)
  const { tokens, response } = await example<{ tokens: TokenClient; response: Response }>(
    'client/README.md',
    [0],
  )
  expect(response.status).toBe(200)
  expect(tokens.status()).toMatchObject({ freshness: 'fresh' })
})
