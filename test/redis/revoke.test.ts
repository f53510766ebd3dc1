import { run, systemClock } from '@portcullis/cli'
import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { createStream, ISSUER, issue, join } from './scene.ts'

/** Runs `portcullis revoke`. */
async function revoke(server: RedisServer, args: readonly string[], token = '') {
  let written = ''
  const write = (text: string) => (written += text)
  const exitCode = await run({
    args: ['revoke', ...args],
    env: { REDIS_URL: server.url },
    cwd: '.',
    stdin: (async function* () {
      yield await Promise.resolve(token)
    })(),
    stdout: { write: () => undefined },
    stderr: { write },
    fetch: globalThis.fetch,
    clock: systemClock,
    signal: new AbortController().signal,
  })
  return { exitCode, written }
}

describeWithRedis('portcullis revoke', () => {
  test('revokes a token, or all of a user, and processes that follow the stream refuse them', async () => {
    await using server = await startRedis()
    await createStream(server)
    await using member = join(server.url)
    const [one, other, valid] = [await issue(), await issue({ sub: 'somebody' }), await issue()]
    await member.comesTo('accepted', one)
    const outcome = await revoke(server, [], one.token)
    expect(outcome).toEqual({ exitCode: 0, written: `revoked: the token ${one.claims.jti}\n` })
    await member.comesTo('revoked', one)
    expect((await revoke(server, ['--iss', ISSUER, '--sub', 'somebody'])).exitCode).toBe(0)
    await member.comesTo('revoked', other)
    await member.comesTo('accepted', valid)
  })

  test('where nobody has made the stream, it says what to run', async () => {
    await using server = await startRedis()
    const { token } = await issue()
    const { exitCode, written } = await revoke(server, [], token)
    expect(exitCode).toBe(3)
    expect(written).toContain('an operator creates it with `portcullis-revocations create`')
  })
})
