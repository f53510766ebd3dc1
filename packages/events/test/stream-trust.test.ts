import { describe, expect, test } from 'vitest'

import type { StreamOptions } from '../src/index.ts'
import { metadataUrl } from '../src/stream-metadata.ts'
import { AUDIENCE, ISSUER } from './scene.ts'
import { POLLED, saying, streamScene } from './stream-scene.ts'
import {
  CONFIGURATION,
  METADATA,
  METADATA_URL,
  POLL,
  STATUS,
  type StreamTransmitterOptions,
  VERIFICATION,
} from './stream-transmitter.ts'

// What a transmitter says is believed within limits: where the token goes, and which answers count.

test.each([
  ['https://tr.example.com', 'https://tr.example.com/.well-known/ssf-configuration'],
  ['https://tr.example.com/', 'https://tr.example.com/.well-known/ssf-configuration'],
  ['https://tr.example.com/one', 'https://tr.example.com/.well-known/ssf-configuration/one'],
  ['https://tr.example.com/one/', 'https://tr.example.com/.well-known/ssf-configuration/one'],
])('the metadata of %s are at %s', (transmitter, url) => {
  expect(metadataUrl(transmitter)).toBe(url)
})

const HTML = () => new Response('<html>')
const REDIRECT = () =>
  new Response(null, { status: 302, headers: { location: 'https://evil.test' } })
const LARGE = () => new Response(`{"a":"${'a'.repeat(1024 * 1024)}"}`)
const FOLLOWED = () => Object.defineProperty(Response.json(METADATA), 'redirected', { value: true })
const LATIN1 = () => new Response(Buffer.from(`"\u00e9"`, 'latin1'))
const metadata = (members: object) => () => Response.json({ ...METADATA, ...members })

describe('metadata', () => {
  test.each<[string, () => Response, string]>([
    ['of another issuer', metadata({ issuer: `${ISSUER}/` }), 'the metadata are of another issuer'],
    ['without an issuer', metadata({ issuer: undefined }), 'the metadata are of another issuer'],
    ['that are no object', () => Response.json([METADATA]), 'the metadata are no JSON object'],
    ['that are HTML', HTML, 'the answer of the metadata URL is not JSON'],
    ['that are too long', LARGE, 'the answer of the metadata URL has more than 1048576 bytes'],
    ['that are elsewhere', REDIRECT, 'the metadata URL answered 302'],
    ['of a fetch that follows redirects', FOLLOWED, 'answered with a redirect'],
    ['that are no UTF-8', LATIN1, 'the answer of the metadata URL is not JSON'],
    [
      'without a configuration_endpoint',
      metadata({ configuration_endpoint: undefined }),
      'no usable configuration_endpoint',
    ],
    [
      'with one that is no URL',
      metadata({ configuration_endpoint: '/ssf' }),
      'no usable configuration_endpoint',
    ],
    [
      'with one of another origin',
      metadata({ configuration_endpoint: 'https://evil.test/ssf' }),
      'configuration_endpoint of another origin',
    ],
    [
      'with one of another port',
      metadata({ configuration_endpoint: `${ISSUER}:8443/ssf` }),
      'configuration_endpoint of another origin',
    ],
    [
      'with one that is http',
      metadata({ configuration_endpoint: 'http://login.test/ssf' }),
      'no usable configuration_endpoint',
    ],
    [
      'with one of this machine',
      metadata({ configuration_endpoint: 'http://127.0.0.1:80/ssf' }),
      'that is not https',
    ],
    [
      'with credentials',
      metadata({ configuration_endpoint: 'https://a:b@login.test/ssf' }),
      'no usable configuration_endpoint',
    ],
    [
      'with a status_endpoint of another origin',
      metadata({ status_endpoint: 'https://evil.test/a' }),
      'status_endpoint of another origin',
    ],
    [
      'with a verification_endpoint of another origin',
      metadata({ verification_endpoint: 'https://evil.test/a' }),
      'verification_endpoint of another origin',
    ],
    [
      'with a verification_endpoint that is no text',
      metadata({ verification_endpoint: 1 }),
      'no usable verification_endpoint',
    ],
    [
      'without the delivery method',
      metadata({ delivery_methods_supported: ['urn:ietf:rfc:8935'] }),
      'does not support the delivery method urn:ietf:rfc:8936',
    ],
  ])('%s: nothing else is asked', async (_name, answer, failure) => {
    const { open, faults, transmitter } = await streamScene()
    faults.set(METADATA_URL, answer)
    const stream = open()
    await expect(stream.ready()).rejects.toThrow(failure)
    expect(stream.status()).toMatchObject({
      state: 'failing',
      streamId: undefined,
      poll: undefined,
    })
    expect(stream.status().lastFailure).not.toContain('evil')
    expect(transmitter.requests).toEqual([])
  })

  test('are read anew after a failure, and not before', async () => {
    const { openAndWait, faults, transmitter, clock } = await streamScene()
    await openAndWait()
    await clock.advance(310)
    expect(transmitter.sent(METADATA_URL)).toHaveLength(1)
    faults.set(CONFIGURATION, () => new Response(null, { status: 404 }))
    await clock.advance(305)
    expect(transmitter.sent(METADATA_URL)).toHaveLength(2)
  })

  test('may name endpoints of the origins that are stated', async () => {
    const asked: string[] = []
    const { open, until } = await streamScene()
    const stream = open({
      origins: ['https://events.test'],
      async fetch(url) {
        asked.push(url)
        return url === METADATA_URL
          ? Response.json({ ...METADATA, configuration_endpoint: 'https://events.test/ssf#a' })
          : Response.json([])
      },
    })
    await until(() => asked.length > 2)
    expect(asked.slice(0, 3)).toEqual([
      METADATA_URL,
      'https://events.test/ssf',
      'https://events.test/ssf',
    ])
    expect(stream.status().streamId).toBeUndefined()
  })
})

const configuration = {
  ...POLLED,
  stream_id: 'one',
  iss: ISSUER,
  aud: AUDIENCE,
  delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: `${POLL}/one` },
  events_delivered: [],
}

describe('a list of streams', () => {
  test.each<[string, () => Response, string]>([
    ['that is HTML', HTML, 'is not JSON'],
    ['that is too long', LARGE, 'more than 1048576 bytes'],
    ['that is elsewhere', REDIRECT, 'answered 302'],
    ['that has a text', () => Response.json(['one']), 'without a usable stream_id'],
    ['that is null', () => Response.json(null), 'without a usable stream_id'],
    [
      'with a stream without a name',
      () => Response.json([{ ...configuration, stream_id: '' }]),
      'without a usable stream_id',
    ],
    [
      'with a name that is too long',
      () => Response.json([{ stream_id: 'a'.repeat(1025) }]),
      'without a usable stream_id',
    ],
    [
      'with ours of another issuer',
      () => Response.json([{ ...configuration, iss: 'https://evil.test' }]),
      'the stream is of another issuer',
    ],
    [
      'with ours for another audience',
      () => Response.json([{ ...configuration, aud: ['a', 'b'] }]),
      'the stream is for another audience',
    ],
    [
      'with ours without events_delivered',
      () => Response.json([{ ...configuration, events_delivered: 'all' }]),
      'no list events_delivered',
    ],
    [
      'with ours polled elsewhere',
      () =>
        Response.json([
          {
            ...configuration,
            delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: 'https://evil.test/poll' },
          },
        ]),
      'endpoint_url of another origin',
    ],
    [
      'with ours polled at nothing',
      () => Response.json([{ ...configuration, delivery: { method: 'urn:ietf:rfc:8936' } }]),
      'no usable endpoint_url',
    ],
  ])('%s: nothing is created or polled', async (_name, answer, failure) => {
    const { open, faults, calls, transmitter } = await streamScene()
    faults.set(CONFIGURATION, answer)
    const stream = open()
    await expect(stream.ready()).rejects.toThrow(failure)
    expect(calls()).toEqual([])
    expect(transmitter.sent(POLL)).toEqual([])
    expect(stream.status().lastFailure).not.toContain('evil')
  })

  test('may be one stream without a list, as drafts have it', async () => {
    const { openAndWait, faults, calls, transmitter } = await streamScene()
    transmitter.put('one', POLLED)
    faults.set(CONFIGURATION, () => Response.json(configuration))
    const stream = await openAndWait()
    expect(stream.status().streamId).toBe('one')
    expect(calls()).toEqual(['GET /ssf/status'])
  })
})

const showing = (members: object): StreamTransmitterOptions => ({ show: saying(members) })

describe('a stream that was created', () => {
  test.each<[string, StreamTransmitterOptions, string]>([
    ['of another issuer', showing({ iss: `${ISSUER}/other` }), 'of another issuer'],
    ['for another audience', showing({ aud: 'other' }), 'for another audience'],
    [
      'without events_delivered',
      showing({ events_delivered: undefined }),
      'no list events_delivered',
    ],
    [
      'polled elsewhere',
      showing({ delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: 'https://evil.test' } }),
      'endpoint_url of another origin',
    ],
  ])('%s is not used, and deleted', async (_name, options, failure) => {
    const { open, transmitter, calls } = await streamScene({}, options)
    const stream = open()
    await expect(stream.ready()).rejects.toThrow(failure)
    expect(calls()).toEqual(['GET /ssf/stream', 'POST /ssf/stream', 'DELETE /ssf/stream'])
    expect(transmitter.streams.size).toBe(0)
    await expect(stream.verify()).rejects.toThrow('not open yet')
  })
})

test('a stream of another application, in place of one that was created, is neither used nor deleted', async () => {
  const { open, transmitter } = await streamScene()
  transmitter.put('another', { ...POLLED, description: 'another API' })
  const stream = open({
    async fetch(url, init) {
      const isCreation = init.method === 'POST' && url === CONFIGURATION
      const existing = { ...configuration, stream_id: 'another', description: 'another API' }
      return isCreation ? Response.json(existing) : await transmitter.fetch(url, init)
    },
  })
  await expect(stream.ready()).rejects.toThrow('answered with one that there was before')
  expect(transmitter.sent(CONFIGURATION)).toEqual(['GET'])
  expect([...transmitter.streams.keys()]).toEqual(['another'])
})

test('an update that is answered with another stream is not used', async () => {
  const show = saying({ stream_id: 'mine' })
  const { open, transmitter } = await streamScene({}, { show })
  transmitter.put('other', { ...POLLED, events_requested: [] })
  await expect(open().ready()).rejects.toThrow('answered 404')
})

test('requests follow no redirect, send no cookies, are not cached, and end with the stream', async () => {
  const inits: RequestInit[] = []
  const { open, transmitter, until } = await streamScene()
  const fetch: StreamOptions['fetch'] = async (url, init) => {
    inits.push(init)
    return await transmitter.fetch(url, init)
  }
  const stream = open({ fetch })
  await until(() => stream.status().state === 'open')
  await stream.close()
  const settings = { redirect: 'manual', credentials: 'omit', cache: 'no-store' }
  for (const init of inits) expect(init).toMatchObject(settings)
  expect(inits.every(({ signal }) => signal?.aborted)).toBe(true)
})

test('a stream id becomes no part of a path, and no other parameter', async () => {
  const { openAndWait, transmitter } = await streamScene({}, { ids: ['../a?b=c&d'] })
  await openAndWait()
  expect(transmitter.requests.find(({ url }) => url.startsWith(STATUS))?.url).toBe(
    `${STATUS}?stream_id=..%2Fa%3Fb%3Dc%26d`,
  )
})

test('a request that creates is not sent again when its connection ends', async () => {
  const { open, transmitter, until } = await streamScene()
  let ends = 0
  const stream = open({
    async fetch(url, init) {
      if (init.method !== 'POST' || url !== CONFIGURATION || ends > 0)
        return await transmitter.fetch(url, init)
      ends += 1
      // It has arrived all the same.
      await transmitter.fetch(url, init)
      throw new TypeError('fetch failed')
    },
  })
  await until(() => stream.status().state === 'open')
  expect(transmitter.streams.size).toBe(1)
  expect(transmitter.sent(CONFIGURATION)).toEqual(['GET', 'POST', 'GET'])
  expect(transmitter.sent(VERIFICATION)).toEqual([])
})
