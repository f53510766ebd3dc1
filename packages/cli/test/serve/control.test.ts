import { createTokenClient } from '@portcullis/client'
import { createVerifier, remoteKeys } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { partOf } from '../../src/input/unread-json.ts'
import { setUp } from './service-for-test.ts'

const shared = await setUp({ claims: { scope: 'read' } })

/** A verifier that follows the service, with a cache of its own. */
function verifierOf({ service, clock }: typeof shared) {
  const { keyUrl, fetch } = service.tokens
  const keys = remoteKeys(keyUrl, { fetch, clock })
  return createVerifier({ keys, issuer: null, audience: null, clock })
}

const tokenIn = async (response: Response) => ((await response.json()) as { token: string }).token

test('the state has keys, faults and logins, and neither a password nor a private key', async () => {
  const own = await setUp({ logins: new Map([['ada', { password: 'geheim', lifetime: 5 }]]) })
  const text = await (await own.ask('state')).text()
  expect(JSON.parse(text)).toMatchObject({
    lifetime: 300,
    response: 'text',
    faults: [],
    logins: [{ loginId: 'ada', lifetime: 5, claims: {} }],
    keys: [{ published: [{}], signing: [{}] }],
  })
  expect(text).not.toMatch(/geheim|"d":/)
})

describe('mint', () => {
  test('signs claims and times', async () => {
    const token = await tokenIn(
      await shared.post('mint', { claims: { sub: 'ada' }, expiresIn: 60 }),
    )
    const { claims } = await verifierOf(shared).verify(token)
    expect(claims).toMatchObject({ sub: 'ada', scope: 'read' })
    expect(Number(claims.exp) - shared.clock.now()).toBe(60)
  })

  test('makes each kind of bad token by its name, and it is refused for its reason', async () => {
    const verifier = verifierOf(shared)
    const { kinds } = (await (await shared.ask('kinds')).json()) as {
      kinds: { name: string; reason: string }[]
    }
    expect(kinds.length).toBeGreaterThan(30)
    for (const { name, reason } of kinds.filter((_, number) => number % 8 === 0)) {
      const token = await tokenIn(await shared.post('mint', { kind: name }))
      await expect(verifier.verify(token)).rejects.toMatchObject({ reason })
    }
  })

  test('makes one bad token of every kind at once, with the claims that are asked for', async () => {
    const claims = { sub: 'ada' }
    const { tokens } = (await (await shared.post('mint/bad', { claims })).json()) as {
      tokens: { name: string; reason: string; token: string }[]
    }
    const { kinds } = (await (await shared.ask('kinds')).json()) as { kinds: { name: string }[] }
    expect(tokens.map(({ name }) => name)).toEqual(kinds.map(({ name }) => name))
    const { token = '' } = tokens.find(({ name }) => name === 'missing expiry') ?? {}
    expect(partOf(token, 'payload')).toMatchObject({ sub: 'ada', scope: 'read' })
    const verifier = verifierOf(shared)
    for (const each of tokens) {
      await expect(verifier.verify(each.token)).rejects.toMatchObject({ reason: each.reason })
    }
    expect((await shared.post('mint/bad', { header: { alg: 'none' } })).status).toBe(400)
    expect((await shared.post('mint/bad', { expiresIn: 5 })).status).toBe(400)
  })

  test.each<[error: string, body: object]>([
    [
      'there is no such kind of bad token; `portcullis mint --kinds` lists all',
      { kind: 'nonsense' },
    ],
    ['expiresIn does not go with a bad kind', { kind: 'expired', expiresIn: 5 }],
    ['this token cannot be signed: ', { header: { alg: 'HS256' } }],
    ['this token cannot be signed: ', { header: { alg: 'none' } }],
    ['the body: claims must be an object', { claims: [] }],
    ['the body: expiresIn must be a number of seconds', { expiresIn: '60' }],
    ['the body: expiresIn must be a number of seconds', { expiresIn: 1e300 }],
    ['the body: omit must be a list of at most 100', { omit: 'exp' }],
    ['the body: omit: number 1 must be a text', { omit: [{}] }],
    ['the body: there is no "claim", but claims, ', { claim: {} }],
  ])('says what is wrong: %s', async (error, body) => {
    const response = await shared.post('mint', body)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { error: string }).error).toContain(error)
  })
})

describe('rotate', () => {
  test.each([
    { publish: 'now', pending: undefined },
    { publish: 'first', pending: 'sign' },
    { publish: 'later', pending: 'publish' },
    { publish: 'both', pending: 'withdraw' },
  ])('publish $publish: what is left to do is $pending', async ({ publish, pending }) => {
    const own = await setUp()
    expect((await own.post('rotate', { publish })).status).toBe(200)
    expect((await own.state())['pending']).toBe(pending)
    expect((await own.post('complete')).status).toBe(pending === undefined ? 400 : 200)
    expect((await own.state())['pending']).toBeUndefined()
    const token = await tokenIn(await own.post('mint'))
    await expect(verifierOf(own).verify(token)).resolves.toBeDefined()
  })

  test.each(['rotate', 'rollback', 'complete'])(
    'and %s meanwhile: the second is refused with 409, and only one key is new',
    async (operation) => {
      const own = await setUp()
      const responses = await Promise.all([own.post('rotate'), own.post(operation)])
      expect(responses.map(({ status }) => status)).toEqual([200, 409])
      expect((await own.state())['keys']).toHaveLength(2)
      expect((await own.post('rotate')).status).toBe(200)
    },
  )

  test('and rolled back: the first key signs again, until there is nothing to undo', async () => {
    const own = await setUp()
    const token = await tokenIn(await own.post('mint'))
    const verifier = verifierOf(own)
    await own.post('rotate', { publish: 'first' })
    await own.post('rollback')
    expect((await own.state())['pending']).toBeUndefined()
    await expect(verifier.verify(token)).resolves.toBeDefined()
    expect((await own.post('rollback')).status).toBe(400)
    expect((await own.post('complete')).status).toBe(400)
  })
})

describe('fault', () => {
  test('begins, is shown, and is cleared by endpoint or altogether', async () => {
    const own = await setUp()
    const { fetch, keyUrl } = own.service.tokens
    await own.post('fault', { endpoint: 'keys', kind: 503, times: 2 })
    await own.post('fault', { endpoint: 'token', kind: 'hang', seconds: 60 })
    expect((await fetch(keyUrl)).status).toBe(503)
    expect((await own.state())['faults']).toMatchObject([
      { kind: 503, endpoints: ['keys'], timesLeft: 1 },
      { kind: 'hang', endpoints: ['token'], secondsLeft: 60 },
    ])
    expect(await (await own.post('fault/clear', { endpoint: 'token' })).json()).toEqual({
      cleared: 1,
    })
    expect(await (await own.post('fault/clear')).json()).toEqual({ cleared: 1 })
    expect((await fetch(keyUrl)).status).toBe(200)
  })

  test.each(['keys', 'token', 'introspection', 'metadata'])('of %s begins', async (endpoint) => {
    const own = await setUp()
    expect((await own.post('fault', { endpoint, kind: 503 })).status).toBe(200)
    expect((await own.state())['faults']).toMatchObject([{ kind: 503, endpoints: [endpoint] }])
  })

  test.each<[error: string, body: object]>([
    ['the body: endpoint must be stated', { kind: 503 }],
    ['the body: kind must be stated', { endpoint: 'keys' }],
    ['the body: endpoint must be one of keys, token', { endpoint: 'other', kind: 503 }],
    ['the kind must be a status from 200 to 599, or one of hang', { endpoint: 'keys', kind: 99 }],
    ['or one of hang', { endpoint: 'keys', kind: 'toString' }],
    ['endpoint must be one of keys', { endpoint: 'token', kind: 'key-set' }],
    ['delay is for the kind slow', { endpoint: 'keys', kind: 500, delay: 1 }],
    ['no key is stale before', { endpoint: 'keys', kind: 'stale-key' }],
    ['times must be a whole number', { endpoint: 'keys', kind: 500, times: 0 }],
  ])('says what is wrong: %s', async (error, body) => {
    const response = await shared.post('fault', body)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { error: string }).error).toContain(error)
  })

  test('for a time is over by the clock of the service', async () => {
    const own = await setUp()
    const { fetch, keyUrl } = own.service.tokens
    await own.post('fault', { endpoint: 'keys', kind: 503, seconds: 60 })
    await own.clock.advance(59)
    expect((await fetch(keyUrl)).status).toBe(503)
    await own.clock.advance(1)
    expect((await fetch(keyUrl)).status).toBe(200)
    expect((await own.state())['faults']).toEqual([])
  })

  test('of more than a hundred at once is refused', async () => {
    const own = await setUp()
    const fault = { endpoint: 'keys', kind: 503 }
    for (let number = 0; number < 100; number++) await own.post('fault', fault)
    expect((await own.post('fault', fault)).status).toBe(400)
    expect((await own.state())['faults']).toHaveLength(100)
  })
})

describe('the log', () => {
  test('has what happened, without passwords and tokens', async () => {
    const own = await setUp()
    const { fetch, authUrl, keyUrl } = own.service.tokens
    const url = `${authUrl}/tokenservice/token/api`
    await fetch(keyUrl)
    const body = new URLSearchParams({ loginId: 'demo', password: 'geheim' })
    await fetch(url, { method: 'POST', body })
    const token = await tokenIn(await own.post('mint', { claims: { sub: 'ada' } }))
    await own.post('rotate')
    await own.post('fault', { endpoint: 'keys', kind: 503 })
    await own.post('fault/clear')
    const text = await (await own.ask('log')).text()
    expect(JSON.parse(text)).toMatchObject({
      events: [
        { id: 1, type: 'request', endpoint: 'keys', status: 200 },
        { id: 2, type: 'request', endpoint: 'token', status: 401, loginId: 'demo' },
        { id: 3, type: 'minted' },
        { id: 4, type: 'rotated', publish: 'now' },
        { id: 5, type: 'fault', kind: 503 },
        { id: 6, type: 'faults cleared', cleared: 1 },
      ],
    })
    for (const secret of ['geheim', 'ada', ...token.split('.')]) expect(text).not.toContain(secret)
  })

  test('keeps the newest thousand of a flood', async () => {
    const own = await setUp()
    const { fetch, authUrl } = own.service.tokens
    for (let number = 0; number < 2500; number++) await fetch(`${authUrl}/x`)
    const { events } = (await (await own.ask('log')).json()) as { events: { id: number }[] }
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, at) => 1501 + at))
  })

  test('can be asked from an event on', async () => {
    const own = await setUp()
    await own.post('rotate')
    await own.post('rollback')
    for (const ask of [
      own.ask('log?after=1'),
      own.ask('log', { headers: { 'last-event-id': '1' } }),
    ]) {
      expect(await (await ask).json()).toMatchObject({ events: [{ id: 2 }] })
    }
    expect(await (await own.ask('log?after=-1')).json()).toMatchObject({ events: [{}, {}] })
  })
})

test('verdicts of an API are events, in the log and in the stream', async () => {
  const own = await setUp()
  const refused = { code: 'invalid_token', reason: 'expired', detail: 'exp was 5 s ago' }
  const body = {
    api: 'orders',
    verdicts: [{ ...refused, duration: 0.001 }, { count: 3 }],
    dropped: 2,
  }
  const reader = readerOf(await own.ask('stream'))
  expect(await (await own.post('verdicts', body)).json()).toEqual({ logged: 2 })
  expect(await (await own.ask('log')).json()).toMatchObject({
    events: [
      { id: 1, type: 'verdict', api: 'orders', ...refused, remembered: false, count: 1 },
      { id: 2, type: 'verdict', api: 'orders', remembered: false, count: 3 },
      { id: 3, type: 'verdicts dropped', api: 'orders', count: 2 },
    ],
  })
  expect(await nextOf(reader)).toMatch(/^id: 1\ndata: \{.*"reason":"expired"/)
  await reader.cancel()
})

describe('the stream', () => {
  test('begins with the events after one, and goes on with each new one', async () => {
    const own = await setUp()
    await own.post('rotate')
    await own.post('rollback')
    const response = await own.ask('stream?after=1')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = readerOf(response)
    expect(await nextOf(reader)).toMatch(/^id: 2\ndata: \{.*"rolled back".*\}\n\n$/)
    await own.post('mint')
    expect(await nextOf(reader)).toMatch(/^id: 3\ndata: /)
    await reader.cancel()
  })

  test('is for fifty at once; who leaves makes room', async () => {
    const own = await setUp()
    const from = async (client: number) =>
      await own.ask('stream', { address: `192.0.2.${client % 6}` })
    const responses = await Promise.all(Array.from({ length: 51 }, (_, client) => from(client)))
    expect(responses.map(({ status }) => status).filter((status) => status === 503)).toHaveLength(1)
    await responses[0]?.body?.cancel()
    expect((await from(0)).status).toBe(200)
    expect((await from(1)).status).toBe(503)
    own.end.abort()
  })

  test('is for ten at once from one address, so that nobody holds all of them', async () => {
    const own = await setUp()
    const first = await own.ask('stream')
    for (let number = 1; number < 10; number++) {
      expect((await own.ask('stream')).status).toBe(200)
    }
    expect((await own.ask('stream')).status).toBe(503)
    expect((await own.ask('stream', { address: '::1' })).status).toBe(200)
    await first.body?.cancel()
    expect((await own.ask('stream')).status).toBe(200)
    expect((await own.ask('stream')).status).toBe(503)
    own.end.abort()
  })

  test('ends for a reader that does not keep up, so that nothing grows', async () => {
    const own = await setUp()
    const reader = readerOf(await own.ask('stream'))
    const { fetch, authUrl } = own.service.tokens
    for (let number = 0; number < 1500; number++) await fetch(`${authUrl}/x`)
    let received = 0
    for (;;) {
      const { done } = await reader.read()
      if (done) break
      received++
    }
    expect(received).toBe(1001)
  })
})

function readerOf({ body }: Response) {
  if (body === null) throw new Error('no body')
  return body.getReader() as ReadableStreamDefaultReader<Uint8Array>
}

async function nextOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  return new TextDecoder().decode((await reader.read()).value)
}

test('a login with a DPoP proof gives a token that is bound to its key', async () => {
  const { clock, service } = await setUp()
  const { authUrl, fetch } = service.tokens
  const account = { authUrl, loginId: 'demo', password: 'demo', origins: [] }
  await using client = createTokenClient({ ...account, fetch, clock, dpop: true })
  const [, payload = ''] = (await client.get()).split('.')
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  expect(claims).toMatchObject({ cnf: { jkt: expect.stringMatching(/^[\w-]{43}$/) as unknown } })
})
