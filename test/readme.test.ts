import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { TokenClient } from '@portcullis/client'
import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import request from 'supertest'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { express } from './contract/frameworks/express.ts'
import { adapters } from './contract/frameworks/index.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
// Beside this file, so that the examples find the packages that they import.
const written = join(root, 'test', '.readme')
mkdirSync(written, { recursive: true })

const issuer = await createTestIssuer()
const service = await tokenService(issuer).listen()
vi.stubEnv('AUTH_URL', service.authUrl)

afterAll(async () => {
  vi.unstubAllEnvs()
  await service.close()
  rmSync(written, { recursive: true, force: true })
})

describe('README.md', async () => {
  const { app } = await example('README.md', express.exampleEnding)

  test('the example lets in a token with the scope, and nothing else', async () => {
    await expectScopeToOpen(app)
  })

  test('the loop over bad tokens holds as it stands', async () => {
    await expect(example('README.md', '', 1)).resolves.toBeDefined()
  })

  test('has under 150 lines and begins with the two commands', () => {
    const text = read('README.md')
    expect(text.split('\n').length).toBeLessThan(150)
    const [commands = ''] = /```sh\n.*?```/s.exec(text) ?? []
    expect(commands).toMatch(/^npx --yes pnpm@12 start .*\nnpx --yes pnpm@12 test /m)
  })
})

describe('packages/core/README.md', async () => {
  const { whoIs } = await example('packages/core/README.md')

  test('the example says who a token is for', async () => {
    await expect(whoIs?.(await issuer.token({ claims: { sub: 'ada' } }))).resolves.toBe('ada')
    await expect(whoIs?.('a.b.c')).rejects.toMatchObject({ code: 'invalid_token' })
  })
})

describe.each(adapters)('packages/$folder/README.md', async ({ folder, exampleEnding }) => {
  const { app } = await example(`packages/${folder}/README.md`, exampleEnding)

  test('the example lets in a token with the scope, and nothing else', async () => {
    await expectScopeToOpen(app)
  })
})

describe('packages/client/README.md', async () => {
  const verifier = createVerifier({
    keys: remoteKeys(service.keyUrl),
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
    expect(tokens?.describe()).toMatchObject({ token: 'fresh' })
  })
})

describe('packages/testing/README.md', async () => {
  await example('packages/testing/README.md') // is a test itself
})

interface Example {
  app?: RequestListener
  whoIs?: (token: string) => Promise<unknown>
  tokens?: TokenClient
  response?: Response
}

/** Runs an example of a README, the first by default, as it stands, except that it takes no port. */
async function example(path: string, ending = '', place = 0): Promise<Example> {
  const [, code] = [...read(path).matchAll(/```ts\n(.*?)```/gs)][place] ?? []
  if (code === undefined) throw new Error(`${path} has no example`)
  const file = join(written, `${path.replaceAll('/', '-')}-${place}.ts`)
  writeFileSync(file, code.replace(/^(?:await )?app\.listen\(.*\n/m, '') + ending)
  return (await import(file)) as Example
}

async function expectScopeToOpen(app: RequestListener | undefined): Promise<void> {
  if (app === undefined) throw new Error('the example has no app')
  const call = () => request(app).post('/v1/clientLocations')
  const allowed = await issuer.bearer({ claims: { sub: 'ada', scope: 'locations:write' } })
  const answer = await call().set(allowed)
  expect(answer.body).toEqual({ savedBy: 'ada' })
  await call().expect(401)
  await call()
    .set(await issuer.bearer())
    .expect(403)
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
