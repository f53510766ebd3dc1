import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

import type { Auth, Verifier } from '@portcullis/core'
import type { RedisReplays, RedisRevocations } from '@portcullis/redis'
import { createTestIssuer, dpopClient, tokenService } from '@portcullis/testing'
import request from 'supertest'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'

import { run } from '../../../packages/redis/src/program/program.ts'
import { redisTransport } from '../../../packages/redis/src/store/redis-transport.ts'
import { writtenExamples } from '../../documents/examples.ts'
import { identityProvider } from '../../documents/identity-provider.ts'
import { codeSpans, exampleOf, tableUnder } from '../../documents/markdown.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { STREAM } from './scene.ts'

// What packages/redis/README.md, REPLAYS.md and OPERATING.md show, as it stands, with a real server.

const [readme, guide, operating] = ['README.md', 'REPLAYS.md', 'OPERATING.md'].map((name) =>
  readFileSync(fileURLToPath(new URL(`../../../packages/redis/${name}`, import.meta.url)), 'utf8'),
) as [string, string, string]
const examples = writtenExamples('.readme-redis')

interface Example {
  readonly revocations: RedisRevocations
  readonly verifier: Verifier
  readonly logOut: (auth: Auth) => Promise<void>
  readonly logOutEverywhere: (auth: Auth) => Promise<void>
}

interface GuardedApi {
  readonly app: RequestListener
  readonly replays: RedisReplays
}

/** Runs `portcullis-revocations`, and answers with what it prints. */
async function operate(command: string, input: readonly string[] = []): Promise<string> {
  const printed: string[] = []
  const said: string[] = []
  const code = await run(command.split(' '), {
    environment: process.env,
    connect: (source) => redisTransport(source),
    input: Readable.from(input),
    print: (line) => printed.push(line),
    say: (line) => said.push(line),
  })
  expect({ command, code, said }).toEqual({ command, code: 0, said: [] })
  return printed.join('\n')
}

describeWithRedis('the documents of packages/redis', () => {
  let server: RedisServer
  const issuer = createTestIssuer({ issuer: 'https://auth.test' })
  const issue = async (jti: string) =>
    await (await issuer).token({ claims: { iss: 'https://auth.test', sub: 'ann', jti } })

  beforeAll(async () => {
    server = await startRedis()
    const service = await tokenService(await issuer).listen()
    vi.stubEnv('AUTH_URL', service.authUrl)
    vi.stubEnv('REDIS_URL', server.url)
    return async () => {
      await service.close()
    }
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    examples.remove()
    await server[Symbol.asyncDispose]()
  })

  test('the first command makes the stream, and the examples of the README revoke a token and all of a user', async () => {
    const [, command = ''] = /`REDIS_URL=\S+ npx portcullis-revocations (.*?)`/.exec(readme) ?? []
    await operate(command)
    const code = [0, 1].map((place) => exampleOf(readme, place)).join('\n')
    const example = (await examples.run('README', code)) as Example
    const { verifier, logOut, logOutEverywhere } = example
    await using _ = example.revocations
    const [one, other] = await Promise.all([issue('a'), issue('b')])
    const isRevoked = expect.objectContaining({ reason: 'revoked' }) as unknown
    await logOut(await verifier.verify(one))
    await expect(verifier.verify(one)).rejects.toEqual(isRevoked)
    await logOutEverywhere(await verifier.verify(other))
    await expect(verifier.verify(other)).rejects.toEqual(isRevoked)
  })

  test('the commands to try the example: the line that they need shows a token, until it is revoked', async () => {
    const [, line = ''] = /add the line `(console\.log\(.*?)` to its end/.exec(readme) ?? []
    const [, create = '', jti = '', revoke = ''] =
      /npx portcullis-revocations (.+)\n.* mint --claim jti=(.+)\)\n.*\nnpx portcullis-revocations (.+)\n/.exec(
        readme,
      ) ?? []
    await server.command('DEL', STREAM)
    await operate(create)
    const anonymous = await createTestIssuer()
    await using service = await tokenService(anonymous).listen()
    const log = vi.spyOn(console, 'log').mockReturnValue()
    onTestFinished(() => {
      log.mockRestore()
      vi.stubEnv('AUTH_URL', authUrl)
    })
    const { AUTH_URL: authUrl = '' } = process.env
    vi.stubEnv('AUTH_URL', service.authUrl)
    vi.stubEnv('TOKEN', await anonymous.token({ claims: { jti } }))
    const code = `${exampleOf(readme, 0)}${line}\n`
    const { revocations } = (await examples.run('README-try', code)) as Example
    await revocations.close()
    expect(log.mock.calls).toEqual([[expect.objectContaining({ jti })]])
    await operate(revoke)
    await expect(examples.run('README-try-again', code)).rejects.toMatchObject({
      reason: 'revoked',
    })
  })

  test('the example of REPLAYS.md takes each proof once, at whichever process', async () => {
    await using provider = await identityProvider()
    const code = provider.namedIn(exampleOf(guide, 0))
    const start = async (name: string) =>
      (await examples.run(name, code, '\nexport { app, replays }')) as GuardedApi
    const [one, other] = await Promise.all([start('REPLAYS-1'), start('REPLAYS-2')])
    onTestFinished(async () => {
      await Promise.all([one.replays.close(), other.replays.close()])
    })
    const client = await dpopClient()
    const token = await provider.token({ claims: { sub: 'ann' }, boundTo: client })
    const url = 'https://api.example.com/v1/me'
    const headers = await client.headers({ url, method: 'GET', token })
    const accepted = await request(one.app)
      .get('/v1/me')
      .set({ ...headers })
    expect([accepted.status, accepted.body]).toEqual([200, { me: 'ann' }])
    for (const { app } of [one, other]) {
      const replayed = await request(app)
        .get('/v1/me')
        .set({ ...headers })
      expect(replayed.status).toBe(401)
      expect(replayed.headers['www-authenticate']).toContain('has been used before')
    }
    const anew = await client.headers({ url, method: 'GET', token })
    expect(
      (
        await request(other.app)
          .get('/v1/me')
          .set({ ...anew })
      ).status,
    ).toBe(200)
  })

  test('have no code but these examples', () => {
    expect(readme.match(/^```\w+$/gm)).toEqual(['```sh', '```ts', '```sh', '```ts'])
    expect(guide.match(/^```\w+$/gm)).toEqual(['```ts'])
    expect(operating).not.toContain('```')
  })

  test('each command of the table does something', async () => {
    const { rows } = tableUnder(operating, 'The program', 'Command')
    const commands = rows.flatMap(([cell = '']) => codeSpans(cell)).map(filledIn)
    expect(commands.length).toBeGreaterThan(6)
    let exported = ''
    let identity = ''
    for (const command of commands) {
      if (/^create(?: --replaces|$)/.test(command)) await server.command('DEL', STREAM)
      const stated = command.replace('--identity ID', `--identity ${identity}`)
      const printed = await operate(stated, exported.split('\n'))
      if (command.startsWith('create')) identity = (JSON.parse(printed) as { id: string }).id
      if (command === 'export') exported = printed
    }
    expect(exported).toContain('"type":"end"')
    expect(JSON.parse(await operate('status'))).toMatchObject({ exists: true, revocations: 6 })
  })
})

/** Without what is optional, and with values for names. */
function filledIn(command: string): string {
  return command
    .replaceAll(/ \[[^\]]*\](?:\.\.\.)?/g, '')
    .replace('ID...', 'ID')
    .replace('--jti ID', '--jti a')
    .replace(/^revoke-before$/, 'revoke-before --sub ann')
    .trim()
}
