import { backgroundClock } from '@portcullis/kit/time'
import { createClient } from '@redis/client'
import { expect, onTestFinished, test } from 'vitest'

import {
  checkRedisRevocationsOptions,
  type RedisRevocationsOptions,
} from '../../src/revocations/options.ts'
import { redisRevocations } from '../../src/revocations/redis-revocations.ts'

const url = 'redis://127.0.0.1:6379'

const sentinels = (count: number) => Array.from({ length: count }, () => `${url}/`)

test.each<[string, unknown]>([
  ['options must be an object', undefined],
  ['options must be an object', null],
  ['unknown option "urls", known are url, client, sentinel, stream', { urls: url }],
  ['either url or client must be stated: is an environment variable unset?', {}],
  ['either url or client must be stated: is an environment variable unset?', { url: undefined }],
  ['either url or client must be stated, not both', { url, client: { duplicate() {} } }],
  ['url is not an absolute URL', { url: 'undefined' }],
  ['url is not an absolute URL', { url: 'redis://undefined:6379' }],
  ['url is not an absolute URL', { url: 'redis:6379' }],
  ['url is not an absolute URL', { url: [url] }],
  ['url must begin with redis: or rediss:', { url: 'http://127.0.0.1' }],
  ['url must have no path but the number', { url: `${url}/cache` }],
  [
    'url has a % in its user name or password',
    { url: 'redis://:100%25@127.0.0.1'.replace('%25', '%') },
  ],
  ['client must be what createClient returns', { client: {} }],
  ['client must be what createClient returns', { client: null }],
  ['client must be what createClient returns', { client: url }],
  ['identity must be a string that is not empty', { url, identity: '' }],
  ['acknowledge must be { replicas }', { url, acknowledge: 1 }],
  ['acknowledge must be { replicas }', { url, acknowledge: { replicas: 1, timeout: 1 } }],
  ['acknowledge must be a number of replicas from 1 to 16', { url, acknowledge: {} }],
  ['acknowledge must be a number of replicas', { url, acknowledge: { replicas: 0 } }],
  ['sentinel must be { primary, urls }', { url, sentinel: 'mymaster' }],
  ['sentinel must be { primary, urls }', { url, sentinel: null }],
  ['sentinel has an unknown member name', { url, sentinel: { name: 'main', urls: [url] } }],
  ['sentinel must have the name of the primary', { url, sentinel: { urls: [url] } }],
  ['sentinel must have the name of the primary', { url, sentinel: { primary: '', urls: [url] } }],
  ['sentinel must have `urls`', { url, sentinel: { primary: 'main' } }],
  ['sentinel must have `urls`', { url, sentinel: { primary: 'main', urls: [] } }],
  ['sentinel must have `urls`', { url, sentinel: { primary: 'main', urls: url } }],
  ['sentinel must have `urls`', { url, sentinel: { primary: 'main', urls: sentinels(33) } }],
  ['sentinel has a URL that is not an', { url, sentinel: { primary: 'a', urls: [url, 'host'] } }],
  [
    'sentinel has a URL with a database',
    { url, sentinel: { primary: 'a', urls: [url, `${url}/1`] } },
  ],
  ['either url or client must be stated', { sentinel: { primary: 'main', urls: [url] } }],
  ['stream must be a string', { url, stream: '' }],
  ['stream must be a string', { url, stream: 7 }],
  ['maxStaleness must be a number of seconds from 1 to 3600', { url, maxStaleness: 0.5 }],
  ['maxStaleness must be', { url, maxStaleness: 10_000 }],
  ['maxStaleness must be', { url, maxStaleness: '10' }],
  ['maxStaleness must be', { url, maxStaleness: Number.NaN }],
  ['whenStale must be one of refuse, accept', { url, whenStale: true }],
  ['max must be a number of entries', { url, max: 1.5 }],
  ['max must be a number of entries', { url, max: 0 }],
  ['clock must have the functions now, monotonic and after', { url, clock: Date }],
])('TypeError: %s', (message, options) => {
  expect(() => redisRevocations(options as never)).toThrow(TypeError)
  expect(() => redisRevocations(options as never)).toThrow(`redisRevocations: ${message}`)
})

test.each<RedisRevocationsOptions>([
  { url: 'rediss://127.0.0.1/0', stream: 's', maxStaleness: 1, whenStale: 'refuse', max: 1 },
  { url, maxStaleness: 3600, whenStale: 'accept', max: 10_000_000 },
  { url, sentinel: { primary: 'main', urls: sentinels(32) } },
  { client: Object.assign(() => undefined, { duplicate: () => createClient() }) },
])('may be %j', (options) => {
  const { url: address, client, sentinel, ...others } = options
  const source = client === undefined ? { url: address, sentinel } : { client, sentinel }
  expect(checkRedisRevocationsOptions(options)).toEqual({
    stream: 'portcullis:revocations',
    maxStaleness: 10,
    whenStale: 'refuse',
    max: 1_000_000,
    clock: backgroundClock,
    ...others,
    source,
  })
})

test.each(['redis://user:hunter2@undefined', 'http://:hunter2@127.0.0.1', '://:hunter2@'])(
  'no complaint repeats a password: %s',
  (wrong) => {
    expect(() => redisRevocations({ url: wrong })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') as string }),
    )
  },
)

test('what a polluted prototype has is no option', () => {
  const options = Object.assign(Object.create({ whenStale: 'accept' }) as object, { url })
  expect(checkRedisRevocationsOptions(options)).toMatchObject({ whenStale: 'refuse' })
})

test('the client of a user is taken as it is, and stays unconnected', async () => {
  const client = createClient({ url: 'redis://127.0.0.1:1' })
  const replica = redisRevocations({ client })
  onTestFinished(async () => {
    await replica.close()
  })
  await expect(replica.ready()).rejects.toMatchObject({ reason: 'unreachable' })
  expect(client.isOpen).toBe(false)
})

test('a client that cannot be duplicated is a failure of the store, and not a crash', async () => {
  const client = {
    duplicate() {
      throw new Error('no more sockets')
    },
  }
  const replica = redisRevocations({ client })
  onTestFinished(async () => {
    await replica.close()
  })
  await expect(replica.ready()).rejects.toMatchObject({ reason: 'unreachable' })
})
