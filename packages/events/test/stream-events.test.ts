import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'

import { describe, expect, onTestFinished, test } from 'vitest'

import { type EventReport, openStream, type PushedEventStream } from '../src/index.ts'
import { newState } from '../src/stream-events.ts'
import { eventScene, ISSUER, read, transmitter as strangers } from './scene.ts'
import { DESCRIPTION, failureOf, saying, streamScene } from './stream-scene.ts'
import { CONFIGURATION, VERIFICATION } from './stream-transmitter.ts'

const ENDPOINT = 'https://api.test/push'
const SECRET = 'Bearer 6Zs1hbpnUbKkJpQ9zWq0yQ'

type Scene = Awaited<ReturnType<typeof streamScene>>

/** A stream whose events are pushed, which is open. */
async function pushed(scene: Scene, authorization: string | null = SECRET) {
  const deliver = { endpoint: ENDPOINT, authorization }
  const stream: PushedEventStream = scene.opened(openStream({ ...scene.settings, deliver }))
  await scene.until(() => stream.status().state === 'open')
  return stream
}

/** What a transmitter pushes about its stream. */
async function push(
  { transmitter }: Scene,
  { receiver }: PushedEventStream,
  event: object,
  { id = 'stream-001', type = 'verification', authorization = SECRET, subject = {} } = {},
) {
  const [held] = transmitter.streams.values()
  const token = await held?.queue.securityEvent({
    type,
    subject: { format: 'opaque', id, ...subject },
    event: { ...event },
  })
  const headers = { 'content-type': 'application/secevent+jwt', authorization }
  const request = new Request(ENDPOINT, { method: 'POST', headers, body: token ?? '' })
  const response = await receiver.fetch(request)
  return { status: response.status, body: read((await response.text()) || 'null') }
}

const silent = () => new Response(null, { status: 204 })

const stateIn = ({ transmitter }: Scene): string =>
  String(transmitter.requests.findLast(({ url }) => url === VERIFICATION)?.body?.['state'])

describe('the verification of a stream that is polled', () => {
  test('resolves when the event with its state has come, which is acknowledged', async () => {
    const scene = await streamScene()
    const stream = await scene.openAndWait()
    const verified = stream.verify()
    const queue = scene.transmitter.streams.get('stream-001')?.queue
    await scene.until(() => queue?.acknowledged().length === 1)
    await verified
    expect(scene.told).toMatchObject([
      { outcome: 'ignored', claims: { sub_id: { id: 'stream-001' } } },
    ])
  })

  test('names an event with another state (invalid_state), and goes on waiting for its own', async () => {
    const scene = await streamScene()
    const stream = await scene.openAndWait()
    const { transmitter } = scene
    scene.faults.set(VERIFICATION, () => new Response(null, { status: 204 }))
    const verified = stream.verify()
    const queue = transmitter.streams.get('stream-001')?.queue
    const wrong = await transmitter.publish('stream-001', 'verification', { state: 'made up' })
    await scene.until(() => queue?.errors().size === 1)
    expect(queue?.errors().get(wrong)).toMatchObject({ err: 'invalid_state' })
    await scene.clock.advance(0)
    const failure = failureOf(verified)
    await scene.clock.advance(60)
    expect(await failure).toBe('no verification event came in 60 s')
  })

  test('comes behind events that wait, of which each is recorded', async () => {
    const scene = await streamScene()
    const stream = await scene.openAndWait()
    const queue = scene.transmitter.streams.get('stream-001')?.queue
    for (const name of ['a', 'b']) {
      const subject = { format: 'iss_sub', iss: ISSUER, sub: name }
      const event = { type: 'session-revoked', subject, claims: { jti: name } }
      queue?.publish(name, (await queue.securityEvent(event)) ?? '')
    }
    const verified = stream.verify()
    await scene.until(() => queue?.acknowledged().length === 3)
    await verified
    expect(scene.store.entries()).toHaveLength(2)
  })

  test('ends with its signal, with the stream, and with what the transmitter answers', async () => {
    const scene = await streamScene()
    const stream = await scene.openAndWait()
    scene.faults.set(VERIFICATION, silent)
    const reason = new Error('enough')
    await expect(stream.verify({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    scene.faults.set(VERIFICATION, () => new Response(null, { status: 429 }))
    await expect(stream.verify()).rejects.toThrow('the verification_endpoint answered 429')
    scene.faults.set(VERIFICATION, silent)
    const failure = failureOf(stream.verify())
    await scene.clock.advance(0)
    await stream.close()
    expect(await failure).toBe('the stream is closed')
  })

  test('needs an endpoint', async () => {
    const metadata = saying({ verification_endpoint: undefined })
    const stream = await (await streamScene({}, { metadata })).openAndWait()
    await expect(stream.verify()).rejects.toThrow('the transmitter has no verification_endpoint')
  })
})

describe('the verification of a stream that is pushed', () => {
  test('resolves when the event with its state has come, which is answered 202', async () => {
    const scene = await streamScene()
    const stream = await pushed(scene)
    const verified = stream.verify()
    await scene.until(() => scene.transmitter.sent(VERIFICATION).length === 1)
    expect(await push(scene, stream, { state: stateIn(scene) })).toMatchObject({ status: 202 })
    await verified
  })

  test('a verification that the transmitter begins has no state, and is accepted at any time', async () => {
    const scene = await streamScene()
    const stream = await pushed(scene)
    expect(await push(scene, stream, {})).toMatchObject({ status: 202 })
  })

  test('one that comes before the stream was answered is accepted', async () => {
    const scene = await streamScene()
    let isAccepted: unknown
    const deliver = { endpoint: ENDPOINT, authorization: SECRET }
    const stream: PushedEventStream = scene.opened(
      openStream({
        ...scene.settings,
        deliver,
        async fetch(url, init) {
          const answer = await scene.transmitter.fetch(url, init)
          const isCreated = answer.status === 201
          if (isCreated) isAccepted = (await push(scene, stream, {})).status
          return answer
        },
      }),
    )
    await scene.until(() => stream.status().state === 'open')
    expect(isAccepted).toBe(202)
  })

  test('one that another process has asked for is accepted, and changes nothing here', async () => {
    const scene = await streamScene()
    const stream = await pushed(scene)
    const state = newState(DESCRIPTION, 'stream-001')
    expect(await push(scene, stream, { state })).toMatchObject({ status: 202 })
  })

  test.each<[string, (state: string) => unknown]>([
    ['made up', () => 'made up'],
    ['longer', (state) => `${state}a`],
    ['shorter', (state) => state.slice(0, -1)],
    ['with a third part', (state) => `${state}.a`],
    ['empty', () => ''],
    ['no text', () => 1],
    ['of another stream', () => newState(DESCRIPTION, 'stream-002')],
    ['of another application', () => newState('another API', 'stream-001')],
  ])('a state that is %s is refused: invalid_state', async (_name, change) => {
    const scene = await streamScene()
    const stream = await pushed(scene)
    const state = change(newState(DESCRIPTION, 'stream-001'))
    const answer = await push(scene, stream, { state })
    expect(answer).toMatchObject({ status: 400, body: { err: 'invalid_state' } })
  })

  test.each([
    ['another stream', { id: 'stream-002' }],
    ['a user', { subject: { format: 'iss_sub', iss: ISSUER, sub: 'stream-001' } }],
    ['nobody', { subject: { id: '' } }],
  ])('an event about %s is refused', async (_name, about) => {
    const scene = await streamScene()
    const stream = await pushed(scene)
    for (const type of ['verification', 'stream-updated']) {
      const answer = await push(scene, stream, { status: 'paused' }, { ...about, type })
      expect(answer).toMatchObject({ status: 400, body: { err: 'invalid_request' } })
    }
    expect(stream.status().transmission).toBe('enabled')
  })
})

test('stream-updated changes what is known of the stream, and nothing else can', async () => {
  const scene = await streamScene()
  const stream = await pushed(scene)
  const type = 'stream-updated'
  expect(await push(scene, stream, { status: 'paused' }, { type })).toMatchObject({ status: 202 })
  expect(stream.status().transmission).toBe('paused')
  const wrong = await push(scene, stream, { status: 'on' }, { type })
  expect(wrong).toMatchObject({ status: 400, body: { err: 'invalid_request' } })
  expect(stream.status().transmission).toBe('paused')
})

test('a receiver without a stream acknowledges both, as before', async () => {
  const { send } = eventScene()
  const subject = { format: 'opaque', id: 'a' }
  const event = { type: 'verification', subject, event: { state: 'any' } }
  expect((await send(await strangers.securityEvent(event))).status).toBe(202)
})

const headers = ({ transmitter }: Scene) =>
  transmitter.requests
    .map(({ body }) => body?.['delivery'])
    .filter((delivery) => delivery !== undefined)

describe('the secret of a push', () => {
  test('is given to the transmitter, also with an update, and asked of whoever pushes', async () => {
    const scene = await streamScene()
    const delivery = {
      method: 'urn:ietf:rfc:8935',
      endpoint_url: ENDPOINT,
      authorization_header: SECRET,
    }
    const first = await pushed(scene)
    await pushed(scene)
    // The transmitter does not repeat it, so it may have another one.
    expect(scene.transmitter.sent(CONFIGURATION)).toEqual(['GET', 'POST', 'GET', 'GET', 'PATCH'])
    expect(headers(scene)).toEqual([delivery, delivery])
    for (const authorization of ['Bearer x', `${SECRET}a`, SECRET.toLowerCase()]) {
      expect(await push(scene, first, {}, { authorization })).toMatchObject({ status: 401 })
    }
  })

  test('is made at each start if it is null: 256 bits', async () => {
    const scene = await streamScene()
    await pushed(scene, null)
    await pushed(scene, null)
    const secrets = headers(scene).map((each) =>
      String(Reflect.get(Object(each), 'authorization_header')),
    )
    expect(new Set(secrets).size).toBe(2)
    for (const secret of secrets) expect(secret).toMatch(/^Bearer [\w-]{43}$/)
  })

  test('is in nothing that is shown: object, status, failures, events and diagnostics', async () => {
    const scene = await streamScene()
    const reports: unknown[] = []
    const hear = (report: unknown) => void reports.push(report)
    subscribe('portcullis:events', hear)
    onTestFinished(() => void unsubscribe('portcullis:events', hear))
    const stream = await pushed(scene)
    const failures: unknown[] = []
    const fail = () => {
      scene.faults.set(CONFIGURATION, fail).set(VERIFICATION, fail)
      throw new Error(`${SECRET} was sent`)
    }
    await push(scene, stream, {})
    await push(scene, stream, {}, { authorization: 'Bearer x' })
    scene.faults.set(CONFIGURATION, fail).set(VERIFICATION, fail)
    await stream.verify().catch((error: unknown) => failures.push(error))
    await stream.delete().catch((error: unknown) => failures.push(error))
    expect(failures).toHaveLength(2)
    const shown = [stream, stream.status(), stream.receiver, failures, scene.told, reports]
    const text = shown.map(
      (each) => `${inspect(each, { depth: 9, showHidden: true })}${JSON.stringify(each)}`,
    )
    expect(reports).not.toHaveLength(0)
    expect(text.join('')).not.toContain(SECRET.slice('Bearer '.length))
  })
})

test('reports name the stream as their source', async () => {
  const scene = await streamScene()
  const reports: EventReport[] = []
  const hear = (report: unknown) => void reports.push(report as EventReport)
  subscribe('portcullis:events', hear)
  onTestFinished(() => void unsubscribe('portcullis:events', hear))
  const stream = await pushed(scene)
  await push(scene, stream, {})
  expect(reports.map(({ source }) => source)).toEqual([stream])
})
