import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { parseJson } from '@portcullis/kit/json'
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  type AppleEventOptions,
  type EventMessage,
  receiveAppleEvents,
  receiveEvents,
} from '../src/index.ts'
import { type Claims, clock, issuerOf, now, sampleOf } from './dialects.ts'
import { createStore, NEVER } from './scene.ts'

// Notifications of Sign in with Apple, as its documents and those who have received some show them.

const APPLE = 'https://appleid.apple.com'
const USER = '820417.faa325acbc78e1be1668ba852d492d8a.0219'
const KNOWN = { iss: 'https://login.example.com', sub: 'user-1' }

async function scene(options: Partial<AppleEventOptions> = {}) {
  const { verifierOptions } = await issuerOf(APPLE, 'the issuer')
  const store = createStore()
  const told: EventMessage[] = []
  const receiver = receiveAppleEvents({
    keys: verifierOptions.keys,
    clientId: ['com.example.app', 'com.example.web'],
    algorithms: ['RS256'],
    clock,
    revocations: store.revocations,
    mapSubject: ({ sub }) => (sub === USER ? KNOWN : undefined),
    onEvent: (message) => void told.push(message),
    ...options,
  })
  const send = async (body: unknown, type = 'application/json') => {
    const { status } = await receiver.fetch(
      new Request('https://api.test/apple', {
        method: 'POST',
        headers: { 'content-type': type },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
    return { status, told, entries: store.entries() }
  }
  return { receiver, store, told, send }
}

async function sign(change: Claims = {}, header: Claims = {}, owner = 'the issuer') {
  const issuer = await issuerOf(APPLE, owner)
  const event = { type: 'consent-revoked', sub: USER, event_time: now * 1000 - 1000 }
  const claims = {
    ...sampleOf('apple'),
    exp: now + 86_400,
    events: JSON.stringify(event),
    ...change,
  }
  const omit = Object.keys(claims).filter((name) => Reflect.get(claims, name) === undefined)
  return await issuer.token({ claims, header: { typ: undefined, ...header }, omit })
}

const eventOf = (event: object) => ({ events: JSON.stringify({ sub: USER, ...event }) })

test('the sample of its page ends the tokens of its user', async () => {
  const { send } = await scene()
  expect(JSON.parse(String(sampleOf('apple')['events']))).toMatchObject({ sub: USER })
  const payload = await sign()
  expect(await send({ payload })).toMatchObject({
    status: 200,
    entries: [{ type: 'issued_before', ...KNOWN, time: now }],
    told: [{ outcome: 'recorded', types: ['consent-revoked'], unreadable: [] }],
  })
})

test.each<[what: string, event: object, outcome: string]>([
  ['consent-revoked', { type: 'consent-revoked' }, 'recorded'],
  ['account-delete, as it arrives', { type: 'account-delete' }, 'recorded'],
  ['account-deleted, as it is documented', { type: 'account-deleted' }, 'recorded'],
  ['email-disabled', { type: 'email-disabled', email: 'a@b.test' }, 'ignored'],
  ['email-enabled', { type: 'email-enabled', is_private_email: 'true' }, 'ignored'],
  ['a type that nobody knows', { type: 'consent-granted' }, 'ignored'],
  ['a type of other events', { type: 'toString' }, 'ignored'],
])('%s: 200', async (_what, event, outcome) => {
  const { send, store } = await scene()
  expect(await send({ payload: await sign(eventOf(event)) })).toMatchObject({
    status: 200,
    told: [{ outcome }],
  })
  expect(store.calls).toBe(outcome === 'recorded' ? 1 : 0)
})

test.each<[what: string, event_time: unknown, time: number, unreadable: string[]]>([
  ['milliseconds', (now - 60) * 1000 + 500, now - 59.5, []],
  ['seconds', now - 60, now - 59, []],
  ['none', undefined, now + 1, []],
  ['a text', String(now), now + 1, ['event_time']],
  ['a time to come', (now + 600) * 1000, now + 1, ['event_time']],
  ['a negative one', -1, now + 1, ['event_time']],
  ['null', null, now + 1, ['event_time']],
])('the time of an event, %s', async (_what, event_time, time, unreadable) => {
  const { send } = await scene()
  const payload = await sign({ iat: now, ...eventOf({ type: 'consent-revoked', event_time }) })
  expect(await send({ payload })).toMatchObject({ entries: [{ time }], told: [{ unreadable }] })
})

test('events that are an object, as the documents show them, are read as well', async () => {
  const { send } = await scene()
  const events = { type: 'account-deleted', sub: USER, event_time: now }
  expect(await send({ payload: await sign({ events }) })).toMatchObject({ entries: [KNOWN] })
})

test('a user whom mapSubject does not know: only tokens of Apple itself end', async () => {
  const { send } = await scene()
  const payload = await sign(eventOf({ type: 'consent-revoked', sub: 'other' }))
  expect(await send({ payload })).toMatchObject({
    status: 200,
    entries: [{ iss: APPLE, sub: 'other' }],
  })
})

describe('refused, and nothing is recorded', () => {
  const revoked = { type: 'consent-revoked' }

  test.each<[what: string, change: Claims, header: Claims]>([
    ['an identity token', { sub: USER, events: undefined, nonce: 'n' }, {}],
    ['an identity token with events', { sub: USER }, {}],
    ['one for another client', { aud: 'com.evil.app' }, {}],
    ['one for nobody', { aud: undefined }, {}],
    ['one of another issuer', { iss: 'https://appleid.apple.com/' }, {}],
    ['one that has expired', { exp: now - 60 }, {}],
    ['one without iat', { iat: undefined }, {}],
    ['one without jti', { jti: undefined }, {}],
    ['one without events', { events: undefined }, {}],
    ['one with events of null', { events: null }, {}],
    ['one with an empty text', { events: '' }, {}],
    ['one with text that is no JSON', { events: '{' }, {}],
    ['one with the text of a list', { events: JSON.stringify([revoked]) }, {}],
    ['one with a list', { events: [{ ...revoked, sub: USER }] }, {}],
    [
      'one with a member twice',
      { events: `{"type":"email-disabled","type":"consent-revoked","sub":"${USER}"}` },
      {},
    ],
    ['one without a type', eventOf({}), {}],
    ['one whose type is a list', eventOf({ type: ['consent-revoked'] }), {}],
    ['one without sub', eventOf({ ...revoked, sub: undefined }), {}],
    ['one whose sub is empty', eventOf({ ...revoked, sub: '' }), {}],
    ['one whose sub is a list', eventOf({ ...revoked, sub: [USER] }), {}],
    ['one of the type of a log-out', {}, { typ: 'logout+jwt' }],
    ['one of the type of an access token', {}, { typ: 'at+jwt' }],
  ])('%s: 400', async (_what, change, header) => {
    const { send, store } = await scene()
    expect(await send({ payload: await sign(change, header) })).toMatchObject({ status: 400 })
    expect(store.calls).toBe(0)
  })

  test('one that a stranger has signed', async () => {
    const { send } = await scene()
    const payload = await sign({}, {}, 'a stranger')
    expect(await send({ payload })).toMatchObject({
      status: 400,
      entries: [],
      told: [{ refused: { err: 'invalid_key' } }],
    })
  })

  test.each<[what: string, bodyOf: (token: string) => unknown, type?: string]>([
    ['the token alone', (token) => token],
    ['a list', (token) => [{ payload: token }]],
    ['a payload that is a list', (token) => ({ payload: [token] })],
    ['a payload that is there twice', (token) => `{"payload":"a","payload":"${token}"}`],
    ['another member', (token) => ({ signedPayload: token })],
    ['nothing', () => ''],
    ['a form', (token) => `payload=${token}`, 'application/x-www-form-urlencoded'],
    ['an event of RFC 8935', (token) => token, 'application/secevent+jwt'],
    ['a longer body than any', (token) => ({ payload: token, more: 'x'.repeat(70_000) })],
  ])('a body that is %s', async (_what, bodyOf, type) => {
    const { send } = await scene()
    expect(await send(bodyOf(await sign()), type)).toMatchObject({ status: 400, entries: [] })
  })

  test('receiveEvents takes none of it, whatever its type', async () => {
    const { verifierOptions } = await issuerOf(APPLE, 'the issuer')
    for (const type of ['secevent+jwt', null] as const) {
      const store = createStore()
      const receiver = receiveEvents({
        keys: verifierOptions.keys,
        issuer: APPLE,
        audience: 'com.example.app',
        clock,
        revocations: store.revocations,
        revokes: 'subject',
        authorize: null,
        type,
      })
      const headers = { 'content-type': 'application/secevent+jwt' }
      expect(await receiver.answer({ headers, body: await sign() })).toMatchObject({ status: 400 })
      expect(store.calls).toBe(0)
    }
  })
})

test('a store that is down, and a mapSubject that fails or hangs: 503, and the next try is recorded', async () => {
  const payload = await sign()
  const { send, store } = await scene()
  store.isDown = true
  expect(await send({ payload })).toMatchObject({ status: 503 })
  store.isDown = false
  expect(await send({ payload })).toMatchObject({ status: 200, entries: [KNOWN] })
  const failing = await scene({ mapSubject: () => Promise.reject(new Error('down')) })
  expect(await failing.send({ payload })).toMatchObject({ status: 503, entries: [] })
  const hanging = await scene({ mapSubject: async () => await NEVER })
  const sent = hanging.send({ payload })
  await expect
    .poll(async () => {
      await clock.advance(1)
      return hanging.told.length
    })
    .toBe(1)
  expect(await sent).toMatchObject({ status: 503, entries: [] })
})

test('an event that comes again is acknowledged, and recorded once', async () => {
  const { send, store } = await scene()
  const payload = await sign()
  expect(await send({ payload })).toMatchObject({ status: 200 })
  expect(await send({ payload })).toMatchObject({ status: 200 })
  expect(store.calls).toBe(1)
})

describe('a body', () => {
  test('that nobody has read, over HTTP', async () => {
    const { receiver, store } = await scene()
    const server = createServer((request, response) => void receiver(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo // it listens on a port
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const body = JSON.stringify({ payload: await sign() })
    const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    expect(store.calls).toBe(1)
  })

  test.each<[what: string, parsed: (text: string) => unknown]>([
    ['an object, of a parser of JSON', (text) => parseJson(text)],
    ['a text', (text) => text],
    ['octets', (text) => Buffer.from(text)],
  ])('that is %s', async (_what, parsed) => {
    const { receiver, store } = await scene()
    const headers = { 'content-type': 'application/json' }
    const body = parsed(JSON.stringify({ payload: await sign() }))
    expect(await receiver.answer({ method: 'POST', headers, body })).toMatchObject({ status: 200 })
    expect(store.calls).toBe(1)
  })

  test('of a GET is not looked at: 405', async () => {
    const { receiver } = await scene()
    expect(await receiver.answer({ method: 'GET', headers: {} })).toMatchObject({ status: 405 })
  })
})

test.each<[string, unknown]>([
  ['mapSubject', undefined],
  ['clientId', undefined],
  ['clientId', null],
  ['clientId', []],
  ['keys', undefined],
  ['revocations', undefined],
  ['issuer', APPLE],
  ['revokes', 'subject'],
  ['type', null],
  ['authorize', null],
])('%s: %j is a TypeError', async (name, value) => {
  await expect(scene({ [name]: value })).rejects.toThrow(/^receiveAppleEvents: /)
})
