import { describe, expect, test } from 'vitest'

import { openStream } from '../src/index.ts'
import { AUDIENCE, ISSUER } from './scene.ts'
import {
  CHANGED,
  DESCRIPTION,
  failureOf,
  POLLED,
  REVOKED,
  saying,
  streamScene,
} from './stream-scene.ts'
import { CONFIGURATION, METADATA_URL, POLL, STATUS } from './stream-transmitter.ts'

const OTHER = { ...POLLED, description: 'another API' }

describe('create or find', () => {
  test('where there is none, a stream is created, and its events are polled and recorded', async () => {
    const { openAndWait, transmitter, calls, store, until } = await streamScene()
    const stream = await openAndWait()
    expect(calls()).toEqual([
      'GET /ssf/stream',
      'POST /ssf/stream',
      'GET /ssf/stream',
      'GET /ssf/status',
    ])
    expect(transmitter.requests.find(({ method }) => method === 'POST')?.body).toEqual(POLLED)
    expect(stream.status()).toMatchObject({
      state: 'open',
      streamId: 'stream-001',
      delivered: [REVOKED],
      missing: [],
      transmission: 'enabled',
      failures: 0,
      lastFailure: undefined,
    })
    const queue = transmitter.streams.get('stream-001')?.queue
    const subject = { format: 'iss_sub', iss: ISSUER, sub: 'ada' }
    const claims = { jti: 'j-1' }
    queue?.publish('j-1', (await queue.securityEvent({ type: REVOKED, subject, claims })) ?? '')
    await until(() => queue?.acknowledged().length === 1)
    expect(store.entries()).toMatchObject([{ sub: 'ada' }])
    expect(stream.status().poll).toMatchObject({ state: 'current' })
  })

  test('a second deployment finds the stream of the first, and changes nothing', async () => {
    const { openAndWait, transmitter } = await streamScene()
    await openAndWait()
    const second = await openAndWait()
    expect(second.status().streamId).toBe('stream-001')
    expect(transmitter.streams.size).toBe(1)
    expect(transmitter.sent(CONFIGURATION)).not.toContain('PATCH')
  })

  test('a stream that has other events is updated, once by each process', async () => {
    const { openAndWait, transmitter, clock } = await streamScene()
    await openAndWait()
    const second = await openAndWait({ events: ['session-revoked', 'credential-change'] })
    expect(second.status().delivered).toEqual([REVOKED, CHANGED])
    await clock.advance(1000)
    expect(transmitter.sent(CONFIGURATION).filter((method) => method === 'PATCH')).toHaveLength(1)
  })

  test('a stream that has more events than are wanted is updated', async () => {
    const { openAndWait, transmitter } = await streamScene()
    transmitter.put('mine', { ...POLLED, events_requested: [REVOKED, CHANGED] })
    const stream = await openAndWait()
    expect(stream.status()).toMatchObject({ streamId: 'mine', delivered: [REVOKED] })
  })

  test("a stream without a description and an endpoint is nobody's: it is not polled", async () => {
    const { openAndWait, faults, calls } = await streamScene()
    const nameless = { stream_id: 'nameless', iss: ISSUER, aud: AUDIENCE, events_delivered: [] }
    faults.set(CONFIGURATION, () => Response.json([nameless]))
    expect((await openAndWait()).status().streamId).toBe('stream-001')
    expect(calls()).not.toContain('PATCH /ssf/stream')
  })

  test('streams with another description are neither used nor changed nor deleted', async () => {
    const { openAndWait, transmitter, clock } = await streamScene()
    transmitter.put('another', OTHER)
    transmitter.put('nameless', { ...POLLED, description: undefined })
    const before = [transmitter.streams.get('another'), transmitter.streams.get('nameless')]
    const stream = await openAndWait()
    await clock.advance(1000)
    expect(stream.status().streamId).toBe('stream-001')
    await stream.delete()
    expect([...transmitter.streams.keys()]).toEqual(['another', 'nameless'])
    expect([transmitter.streams.get('another'), transmitter.streams.get('nameless')]).toEqual(
      before,
    )
  })

  test('409: the only stream that there is is read and updated', async () => {
    const { openAndWait, transmitter } = await streamScene({}, { allowsSeveral: false })
    transmitter.put('only', OTHER)
    const stream = await openAndWait()
    expect(stream.status().streamId).toBe('only')
    expect(transmitter.sent(CONFIGURATION)).toEqual(['GET', 'POST', 'GET', 'PATCH'])
    expect(transmitter.streams.get('only')?.configuration).toMatchObject({
      description: DESCRIPTION,
    })
  })

  test('409 with several streams of others: none of them is touched', async () => {
    const { open, transmitter } = await streamScene({}, { allowsSeveral: false })
    transmitter.put('one', OTHER)
    transmitter.put('two', OTHER)
    await expect(open().ready()).rejects.toThrow('allows no further stream (409)')
    expect(transmitter.sent(CONFIGURATION)).toEqual(['GET', 'POST', 'GET'])
  })

  test('409 whose only stream is for another audience: it is not touched', async () => {
    const keep = saying({ aud: 'another API' })
    const { open, transmitter } = await streamScene({}, { allowsSeveral: false, keep })
    transmitter.put('only', OTHER)
    await expect(open().ready()).rejects.toThrow('for another audience')
    expect(transmitter.sent(CONFIGURATION)).not.toContain('PATCH')
  })

  test('an update that is not yet carried out (202) is asked for again', async () => {
    const { open, transmitter, until, clock } = await streamScene()
    transmitter.put('mine', { ...POLLED, events_requested: [] })
    let isPending = true
    const stream = open({
      async fetch(url, init) {
        if (init.method === 'PATCH' && isPending) return new Response(null, { status: 202 })
        return await transmitter.fetch(url, init)
      },
    })
    await until(() => stream.status().state === 'open')
    expect(stream.status()).toMatchObject({ delivered: [], missing: [REVOKED] })
    isPending = false
    await clock.advance(31)
    expect(stream.status()).toMatchObject({ delivered: [REVOKED], missing: [] })
  })

  test('a transmitter that drops descriptions is not given a stream to poll, which nobody would find again', async () => {
    const keep = saying({ description: undefined })
    const { open, transmitter } = await streamScene({}, { keep })
    await expect(open().ready()).rejects.toThrow('does not keep the description')
    expect(transmitter.streams.size).toBe(0)
  })

  test.each([undefined, null, ''])(
    'where descriptions are %j, a stream that is pushed is found by its endpoint',
    async (description) => {
      const keep = saying({ description })
      const { openAndWait, transmitter } = await streamScene({}, { keep })
      const deliver = { endpoint: 'https://api.test/push', authorization: null }
      await openAndWait({ deliver })
      await openAndWait({ deliver })
      expect(transmitter.streams.size).toBe(1)
      await openAndWait({ deliver: { ...deliver, endpoint: 'https://other.test/push' } })
      expect(transmitter.streams.size).toBe(2)
    },
  )
})

describe('while it is open', () => {
  test('a stream that has ended at the transmitter is created anew, and polled', async () => {
    const { openAndWait, transmitter, clock, until } = await streamScene()
    const stream = await openAndWait()
    transmitter.streams.clear()
    await clock.advance(301)
    await until(() => stream.status().streamId === 'stream-002')
    expect(stream.status().poll?.state).toBe('starting')
    expect(transmitter.sent(`${POLL}/stream-002`)).toEqual(['POST'])
  })

  test('it calls more often than its inactivity_timeout, once a second at most, or each 300 s', async () => {
    for (const [inactivity_timeout, looks] of [
      [60, 11],
      [0.001, 311],
      [0, 2],
      [-60, 2],
      ['60', 2],
      [undefined, 2],
    ] as const) {
      const keep = saying({ inactivity_timeout })
      const { openAndWait, transmitter, clock } = await streamScene({}, { keep })
      await openAndWait()
      await clock.advance(310)
      expect(transmitter.sent(STATUS)).toHaveLength(looks)
    }
  })

  test('what another process has left is deleted at the second look, and not at the first', async () => {
    const { openAndWait, transmitter, clock } = await streamScene()
    transmitter.put('b', POLLED)
    transmitter.put('a', POLLED)
    transmitter.put('another', OTHER)
    const stream = await openAndWait()
    expect(stream.status().streamId).toBe('a')
    await clock.advance(29)
    expect(transmitter.streams.has('b')).toBe(true)
    await clock.advance(2)
    expect([...transmitter.streams.keys()]).toEqual(['a', 'another'])
  })

  test('a stream that is listed twice is one stream: it stays', async () => {
    const { openAndWait, transmitter, clock } = await streamScene()
    const stream = await openAndWait({
      async fetch(url, init) {
        const response = await transmitter.fetch(url, init)
        if (url !== CONFIGURATION || init.method !== 'GET') return response
        const list: unknown = await response.json()
        return Response.json([list, list].flat())
      },
    })
    await clock.advance(1000)
    expect(transmitter.sent(CONFIGURATION)).not.toContain('DELETE')
    expect(stream.status()).toMatchObject({ state: 'open', streamId: 'stream-001' })
  })

  test('of many that were left, ten are deleted at each look', async () => {
    const { openAndWait, transmitter, clock } = await streamScene()
    for (let count = 10; count < 40; count++) transmitter.put(`left-${count}`, POLLED)
    await openAndWait()
    const left = async () => {
      await clock.advance(31)
      return transmitter.streams.size
    }
    expect([await left(), await left(), await left(), await left()]).toEqual([20, 10, 1, 1])
    expect([...transmitter.streams.keys()]).toEqual(['left-10'])
  })

  test('once it is closed, nothing is asked any longer', async () => {
    const { open, transmitter, until } = await streamScene({}, { ids: ['a'] })
    const stream = open({
      async fetch(url, init) {
        if (init.method === 'POST' && url === CONFIGURATION) transmitter.put('b', POLLED)
        return await transmitter.fetch(url, init)
      },
    })
    // It waits for the other process to take its stream back.
    await until(() => transmitter.sent(CONFIGURATION).length === 3)
    const { length } = transmitter.requests
    await stream.close()
    expect(transmitter.requests).toHaveLength(length)
  })

  test('ready() tells of the attempt that is under way; it is tried again later and later', async () => {
    const { open, faults, clock, until } = await streamScene()
    faults.set(
      METADATA_URL,
      () => new Response(null, { status: 503, headers: { 'retry-after': '20' } }),
    )
    const stream = open()
    expect(stream.status()).toMatchObject({ state: 'opening', delivered: [], missing: [] })
    await expect(stream.ready()).rejects.toThrow('the metadata URL answered 503')
    expect(stream.status()).toMatchObject({ state: 'failing', failures: 1 })
    await clock.advance(19)
    expect(stream.status().state).toBe('failing')
    const ready = stream.ready()
    await until(() => stream.status().state === 'open')
    await ready
    await stream.ready()
  })

  test('what hangs is given up after 20 s, and closing does not wait for it', async () => {
    const { open, faults, clock } = await streamScene()
    faults.set(METADATA_URL, async () => await new Promise(() => undefined))
    const stream = open()
    const failure = failureOf(stream.ready())
    await clock.advance(21)
    expect(await failure).toBe('the metadata URL: no answer in 20 s')
    faults.set(METADATA_URL, async () => await new Promise(() => undefined))
    await clock.advance(2)
    await stream.close()
    expect(stream.status().state).toBe('closed')
    await expect(stream.ready()).rejects.toThrow('closed')
    await expect(stream.verify()).rejects.toThrow('closed')
  })

  test('delete() deletes the stream, and tells if it could not', async () => {
    const { openAndWait, transmitter, faults } = await streamScene()
    const stream = await openAndWait()
    faults.set(CONFIGURATION, () => new Response(null, { status: 500 }))
    await expect(stream.delete()).rejects.toThrow('the configuration_endpoint answered 500')
    await stream.delete()
    expect(transmitter.streams.size).toBe(0)
    expect(stream.status().state).toBe('closed')
  })
})

describe('status', () => {
  test('setStatus asks the transmitter, and says what it has said', async () => {
    const { openAndWait, transmitter } = await streamScene()
    const stream = await openAndWait()
    await stream.setStatus('paused', 'maintenance')
    const body = { stream_id: 'stream-001', status: 'paused', reason: 'maintenance' }
    expect(transmitter.requests.at(-1)).toEqual({ method: 'POST', url: STATUS, body })
    expect(stream.status().transmission).toBe('paused')
  })

  test('a status that is only taken in (202) is not yet that of the stream', async () => {
    const { openAndWait, faults } = await streamScene()
    const stream = await openAndWait()
    faults.set(STATUS, () => new Response(null, { status: 202 }))
    await stream.setStatus('disabled')
    expect(stream.status().transmission).toBe('enabled')
  })

  test('a transmitter without the endpoint has a stream all the same', async () => {
    const metadata = saying({ status_endpoint: undefined })
    const { openAndWait } = await streamScene({}, { metadata })
    const stream = await openAndWait()
    expect(stream.status().transmission).toBeUndefined()
    await expect(stream.setStatus('paused')).rejects.toThrow('has no status_endpoint')
  })
})

test('wrong options are told at start-up', async () => {
  const { settings } = await streamScene()
  const wrong = (options: object) => () => openStream({ ...settings, ...options })
  expect(wrong({ transmitter: 'http://login.test' })).toThrow(
    'openStream: transmitter must begin with https:',
  )
  expect(wrong({ transmitter: `${ISSUER}/?a` })).toThrow('neither a query nor a fragment')
  expect(wrong({ issuer: ISSUER })).toThrow('openStream: ')
  expect(wrong({ events: [] })).toThrow('openStream: events must be a list')
  expect(wrong({ events: ['session revoked'] })).toThrow('openStream: events must be a list')
  expect(wrong({ description: ' ' })).toThrow('openStream: description must be a text')
  expect(wrong({ description: 'a'.repeat(201) })).toThrow('openStream: description must be a text')
  expect(wrong({ description: undefined })).toThrow('openStream: description must be stated')
  expect(wrong({ origins: ['login.test'] })).toThrow('openStream: origins must be a list')
  expect(wrong({ deliver: 'push' })).toThrow("openStream: deliver must be 'poll' or {")
  const endpoint = 'https://api.test/push'
  const push = (delivery: object) =>
    wrong({ deliver: { endpoint, authorization: null, ...delivery } })
  expect(push({ endpoint: 'http://api.test/push' })).toThrow(
    'openStream: deliver .endpoint must begin',
  )
  expect(push({ header: 'a' })).toThrow('openStream: deliver has no member header')
  for (const authorization of [
    undefined,
    '',
    'Bearer short',
    'a'.repeat(40),
    `Bearer ${'0123456789abcdef'.repeat(2).slice(1)}`,
  ]) {
    expect(push({ authorization })).toThrow('a random secret of 128 bits')
  }
  await using stream = openStream({ ...settings, audience: [AUDIENCE] })
  await expect(stream.verify({ signal: 1 } as never)).rejects.toThrow('verify: signal must be')
  await expect(stream.setStatus('on' as never)).rejects.toThrow(
    'setStatus: the status must be one of',
  )
  await expect(stream.setStatus('paused', '')).rejects.toThrow('setStatus: the reason')
})
