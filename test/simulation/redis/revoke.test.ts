import { writeFile } from 'node:fs/promises'
import { join as joinPath } from 'node:path'

import { systemClock } from '@portcullis/kit/time'
import { expect, test } from 'vitest'

import { run } from '../../../packages/cli/src/program/program.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { createStream, ISSUER, issue, type Issued, join, KEY } from './scene.ts'

const revoke = async (server: RedisServer, args: readonly string[], token = '') =>
  await portcullis(server, ['revoke', ...args], token)

async function portcullis(server: RedisServer, args: readonly string[], token = '') {
  let printed = ''
  let written = ''
  const write = (text: string) => (written += text)
  const exitCode = await run({
    args,
    env: { REDIS_URL: server.url },
    cwd: '.',
    stdin: (async function* () {
      yield await Promise.resolve(token)
    })(),
    stdout: { write: (text) => (printed += text) },
    stderr: { write },
    fetch: globalThis.fetch,
    clock: systemClock,
    signal: new AbortController().signal,
  })
  return { exitCode, printed, written }
}

describeWithRedis('portcullis revoke', () => {
  test('revokes a token, or all of a user, and processes that follow the stream refuse them', async () => {
    await using server = await startRedis()
    await createStream(server)
    await using member = join(server.url)
    const [one, other, valid] = [await issue(), await issue({ sub: 'somebody' }), await issue()]
    await member.comesTo('accepted', one)
    const outcome = await revoke(server, [], one.token)
    expect(outcome).toMatchObject({
      exitCode: 0,
      written: `revoked: the token ${one.claims.jti}\n`,
    })
    await member.comesTo('revoked', one)
    expect((await revoke(server, ['--iss', ISSUER, '--sub', 'somebody'])).exitCode).toBe(0)
    await member.comesTo('revoked', other)
    await member.comesTo('accepted', valid)
    const file = joinPath(temporaryFolder(), 'key.json')
    await writeFile(file, KEY)
    const explain = async ({ token }: Issued) => {
      const args = ['explain', '--revocations', '--keys-file', file, '--algorithm', 'ES256']
      const { printed } = await portcullis(server, args, token)
      return printed
    }
    expect(await explain(one)).toMatch(/^REFUSED {2}revoked[^]*FAIL {2}revocations/)
    expect(await explain(valid)).toMatch(/^ACCEPTED[^]*ok {4}revocations {1,2}not revoked/)
  })

  test('a token whose exp is in milliseconds: nothing is recorded, and it says why', async () => {
    await using server = await startRedis()
    await createStream(server)
    const { token } = await issue({ exp: Date.now() })
    const { exitCode, written } = await revoke(server, [], token)
    expect(exitCode).toBe(2)
    expect(written).toContain('revoke: exp must be in seconds')
  })

  test('where nobody has made the stream, it says what to run', async () => {
    await using server = await startRedis()
    const { token } = await issue()
    const { exitCode, written } = await revoke(server, [], token)
    expect(exitCode).toBe(3)
    expect(written).toContain('an operator creates it with `portcullis-revocations create`')
  })
})
