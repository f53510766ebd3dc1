import { createClient } from '@redis/client'
import { expect, test } from 'vitest'

import { createCertificate } from '../../certificate.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { startProxy } from './proxy.ts'
import { startRedis } from './redis-server.ts'
import {
  append,
  appendMany,
  createScene,
  createStream,
  ISSUER,
  issue,
  join,
  shiftedClock,
  STREAM,
} from './scene.ts'
import { until } from './waiting.ts'

/** `REDIS_RECORDS=1000000` for as many as there may be. */
const MANY = Number(process.env['REDIS_RECORDS'] ?? 200_000)
/** Entries that are read without giving others their turn. */
const PAGE = 2000

describeWithRedis('records of others', () => {
  test.concurrent('of a later version: nothing is accepted, since they may revoke anything', async () => {
    await using scene = await createScene()
    const { server, reader, revoked, valid } = scene
    await server.command('XADD', STREAM, '*', 'v', 2, 'type', 'token', 'iss', 'x', 'jti', 'y')
    await reader.comesTo('stale', valid)
    expect(await reader.verdict(revoked)).toBe('revoked')
    const fresh = await issue()
    await append(server, fresh)
    await reader.comesTo('revoked', fresh)
    expect(await reader.verdict(valid)).toBe('stale')
  })

  test.concurrent('that are not ours are passed over', async () => {
    await using scene = await createScene()
    const { server, reader, valid } = scene
    await server.command('XADD', STREAM, '*', 'hello', 'world')
    await server.command('XADD', STREAM, '*', '__proto__', 'x', 'constructor', '')
    const fresh = await issue()
    await append(server, fresh)
    await reader.comesTo('revoked', fresh)
    await reader.comesTo('accepted', valid)
    expect(reader.revocations.status()).toMatchObject({ foreign: 2, unreadable: 0 })
  })

  test.concurrent('names that are hard to write arrive as they are', async () => {
    await using scene = await createScene()
    const { server, reader } = scene
    await using other = join(server.url)
    const names = [
      '\ufeffa',
      'a\u0000b',
      'a\r\nb',
      '*3\r\n',
      '\u2028',
      '🗝️',
      '__proto__',
      'é',
      'e\u0301',
      ' ',
    ]
    names.push('long '.repeat(3000))
    const last = await issue()
    await other.comesTo('accepted', last)
    for (const jti of names) await reader.revocations.revoke({ iss: ISSUER, jti })
    await reader.revocations.revoke(last.claims)
    await other.comesTo('revoked', last)
    const known = names.filter(
      (jti) => other.revocations.statusOf({ iss: ISSUER, jti }, 0) === 'revoked',
    )
    expect(known).toEqual(names)
    // Half of a pair of UTF-16 cannot be written: other processes would read another name.
    await expect(reader.revocations.revoke({ iss: ISSUER, jti: '\ud83d' })).rejects.toThrow('UTF-8')
  })

  test.concurrent('another thing under the name of the stream: nothing is accepted', async () => {
    await using server = await startRedis()
    await server.command('SET', STREAM, 'value')
    await using member = join(server.url)
    const valid = await issue()
    await expect(member.revocations.revoke(valid.claims)).rejects.toThrow('WRONGTYPE')
    expect(await member.verdict(valid)).toBe('stale')
    expect(await server.command('GET', STREAM)).toBe('value')
  })
})

describeWithRedis('many records', () => {
  test(`${MANY}: a process reads them page by page, so that others have their turn between two`, async () => {
    await using server = await startRedis()
    await createStream(server)
    await appendMany(server, MANY)
    const last = await issue()
    await append(server, last)

    await using member = join(server.url, { maxStaleness: 5 })
    await member.comesTo('revoked', last)
    await member.comesTo('accepted', await issue())
    const [, pages] =
      /cmdstat_xrange:calls=(\d+)/.exec(String(await server.command('INFO', 'commandstats'))) ?? []
    expect(Number(pages)).toBeGreaterThanOrEqual(MANY / PAGE)
  })

  test('cut while the first of them are read: they are read again', async () => {
    await using server = await startRedis()
    await createStream(server)
    await appendMany(server, 10_000)
    const last = await issue()
    await append(server, last)
    await using proxy = await startProxy(server.port)
    const cut = proxy.cutNextReply(10_000)
    await using member = join(proxy.url, { maxStaleness: 5 })
    await cut
    await member.comesTo('revoked', last)
    await member.comesTo('accepted', await issue())
    expect(member.revocations.status().entries).toBe(10_001)
  })
})

/** Seconds. */
const MINUTE = 60

describeWithRedis('clocks that differ by a minute', () => {
  test.concurrent.each([MINUTE, -MINUTE])(
    'the reader is %i s ahead: the same verdicts',
    async (shift) => {
      await using scene = await createScene()
      const clock = shiftedClock(shift)
      const { proxy, reader, valid } = scene
      await using other = join(proxy.url, { clock })
      await other.comesTo('accepted', valid)
      const now = Date.now() / 1000
      // By the clock of the other process it expires in half a minute, by ours it may have expired.
      const brief = await issue({ iat: now - 200, exp: now + shift + 30 })
      const fresh = await issue()
      const earlier = await issue({ sub: 'somebody' })
      await reader.revocations.revoke(brief.claims)
      await reader.revocations.revoke(fresh.claims)
      await reader.revocations.revokeBefore({ iss: ISSUER, sub: 'somebody' }, { time: now + 1 })
      await other.comesTo('revoked', earlier)
      expect(await other.verdict(brief)).toBe('revoked')
      expect(await other.verdict(fresh)).toBe('revoked')
      const start = performance.now()
      const elapsed = () => (performance.now() - start) / 1000
      const { revocations } = other
      await until('asked again', () => (revocations.status().age ?? Infinity) < elapsed())
      await other.comesTo('accepted', valid)
    },
  )
})

describeWithRedis('passwords and TLS', () => {
  const password = 'correct horse battery'

  test.concurrent('a wrong password: it is said, and no password is in any message', async () => {
    await using server = await startRedis({ password })
    await createStream(server)
    const wrong = 'wrong-password'
    const url = server.url.replace('//', `//:${wrong}@`)
    await using member = join(url)
    const token = await issue()
    const error: unknown = await member.revocations
      .revoke(token.claims)
      .catch((cause: unknown) => cause)
    expect(String(error)).toContain('WRONGPASS')
    expect(JSON.stringify([error, String(error), member.revocations.status()])).not.toContain(wrong)
    expect(await member.verdict(token)).toBe('stale')
  })

  test.concurrent('through TLS and with a password', async () => {
    using certificate = createCertificate()
    await using server = await startRedis({ certificate, password })
    await createStream(server)
    const client = createClient({
      url: server.url,
      password,
      socket: { tls: true, ca: certificate.cert },
    })
    await using member = join(server.url, { url: undefined, client })
    const token = await issue()
    await member.comesTo('accepted', token)
    await member.revocations.revoke(token.claims)
    await member.comesTo('revoked', token)
    expect(member.revocations.status()).toMatchObject({ state: 'current', lastFailure: undefined })
  })

  test.concurrent('what a client has for connections of its own does not disturb ours', async () => {
    await using server = await startRedis()
    await createStream(server)
    const client = createClient({
      url: server.url,
      pingInterval: 10,
      socket: { socketTimeout: 100, reconnectStrategy: () => 10 },
      commandOptions: { timeout: 100 },
    })
    await using member = join(server.url, { url: undefined, client })
    const token = await issue()
    await member.comesTo('accepted', token)
    // Two heartbeats, between which nothing comes.
    for (let beats = 0; beats < 2; beats += 1) {
      const start = performance.now()
      const elapsed = () => (performance.now() - start) / 1000
      await until('asked again', () => (member.revocations.status().age ?? Infinity) < elapsed())
    }
    expect(member.revocations.status()).toMatchObject({ state: 'current', lastFailure: undefined })
  })

  test.concurrent('with no more permissions than OPERATING.md names', async () => {
    await using server = await startRedis()
    await createStream(server)
    const commands = ['+multi', '+exec', '+xrange', '+xread', '+xinfo', '+xadd']
    const permissions = ['~portcullis:revocations', ...commands]
    await server.command('ACL', 'SETUSER', 'api', 'on', '>secret', ...permissions)
    await using member = join(server.url.replace('//', '//api:secret@'))
    const token = await issue()
    await member.comesTo('accepted', token)
    await member.revocations.revoke(token.claims)
    await member.comesTo('revoked', token)
    expect(member.revocations.status()).toMatchObject({ state: 'current', lastFailure: undefined })
  })

  test.concurrent('a certificate that nobody vouches for: no connection', async () => {
    using certificate = createCertificate()
    await using server = await startRedis({ certificate })
    await createStream(server)
    await using member = join(server.url)
    const token = await issue()
    await expect(member.revocations.revoke(token.claims)).rejects.toThrow('no connection')
    expect(await member.verdict(token)).toBe('stale')
  })
})
