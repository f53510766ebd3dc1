import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

import { backgroundClock } from '@portcullis/kit/time'
import { expect, test } from 'vitest'

import { compactStream } from '../../../packages/redis/src/program/commands.ts'
import { openConnection } from '../../../packages/redis/src/store/connection.ts'
import { redisTransport } from '../../../packages/redis/src/store/redis-transport.ts'
import { openStream } from '../../../packages/redis/src/store/stream.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { operate as operateAt, OPERATOR } from './operate.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { append, appendMany, createStream, ISSUER, issue, join, STREAM } from './scene.ts'

const operate = async (server: RedisServer, ...args: readonly string[]) =>
  await operateAt(server.url, ...args)

describeWithRedis('the program of an operator', () => {
  test('makes the stream once, and revokes what every process then refuses', async () => {
    await using server = await startRedis()
    await using member = join(server.url)
    const [one, other, valid] = [await issue(), await issue({ sub: 'somebody' }), await issue()]
    const { jti } = one.claims
    const early = await operate(server, 'revoke', '--iss', ISSUER, '--jti', jti)
    expect(early).toMatchObject({ exitCode: 1, printed: '' })
    expect(await server.command('EXISTS', STREAM)).toBe(0)

    expect(await operate(server, 'create')).toMatchObject({ exitCode: 0, said: '' })
    expect(await operate(server, 'create')).toMatchObject({ exitCode: 1, printed: '' })
    await member.comesTo('accepted', one)
    const revoked = await operate(server, 'revoke', '--iss', ISSUER, '--jti', jti)
    expect(revoked).toMatchObject({ exitCode: 0, said: '' })
    await member.comesTo('revoked', one)
    // Its `iat` is a whole second, and the time has a fraction.
    await operate(server, 'revoke-before', '--iss', ISSUER, '--sub', 'somebody')
    await member.comesTo('revoked', other)
    await member.comesTo('accepted', valid)

    const { printed } = await operate(server, 'status')
    expect(JSON.parse(printed)).toMatchObject({ exists: true, revocations: 2, unreadable: 0 })
    expect(await operate(server, 'compact')).toMatchObject({ exitCode: 0 })
    expect(await member.verdict(one)).toBe('revoked')
  })

  test('whose clock is a day ahead: compact deletes nothing that is needed', async () => {
    await using server = await startRedis()
    await createStream(server)
    await using member = join(server.url)
    const now = Date.now() / 1000
    const [needed, lapsed] = [await issue({ exp: now + 3600 }), await issue({ exp: now - 3600 })]
    await append(server, needed)
    await append(server, lapsed)
    const connection = openConnection(redisTransport({ url: server.url }), backgroundClock)
    const stream = openStream(STREAM, connection, 10)
    expect(await compactStream(stream, now + 86_400)).toEqual({ read: 3, deleted: 1 })
    connection.close()
    await member.comesTo('revoked', needed)
  })

  test('whose output nobody reads any more ends with exit code 1 and one line', async () => {
    await using server = await startRedis()
    await createStream(server)
    await appendMany(server, 20_000)
    const options = ['--conditions=@portcullis/source', OPERATOR, 'export']
    const child = spawn(process.execPath, options, {
      env: { ...process.env, REDIS_URL: server.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = once(child, 'exit') as Promise<[number | null]>
    child.stdout.once('data', () => child.stdout.destroy())
    const said = await text(child.stderr)
    expect((await exited)[0]).toBe(1)
    expect(said).toBe('portcullis-revocations: the output could not be written (EPIPE)\n')
  })

  test('says that there is no server, in one line and without an address', async () => {
    const server = await startRedis()
    await server[Symbol.asyncDispose]()
    const { exitCode, said } = await operate(server, 'status')
    expect(exitCode).toBe(1)
    expect(said.trimEnd().split('\n')).toHaveLength(1)
    expect(said).not.toContain(String(server.port))
  })
})
