import { parseJson } from '@portcullis/kit/json'
import { describe, expect, test } from 'vitest'

import { createTestIssuer, eventTransmitter, manualClock } from '../../src/index.ts'

const clock = manualClock()
const issuer = await createTestIssuer({ clock, issuer: 'https://login.test', algorithm: 'ES256' })

interface Sent {
  readonly url: string
  readonly init: RequestInit
}

function transmitterThatKeeps(sent: Sent[]) {
  return eventTransmitter(issuer, {
    audience: 'me',
    async fetch(url, init) {
      sent.push({ url, init })
      return new Response(null, { status: 202 })
    },
  })
}

const transmitter = transmitterThatKeeps([])
const poll = async (body: object) => {
  const init = { method: 'POST', body: JSON.stringify(body) }
  return (await transmitter.pollFetch('https://login.test/poll', init)).text()
}

test('a log-out token and a security event have what their specifications want', async () => {
  const logout = partsOf(await transmitter.logoutToken({ sub: 'ada', sid: 's' }))
  expect(logout.header).toMatchObject({ typ: 'logout+jwt', alg: 'ES256' })
  const iat = Math.floor(clock.now())
  expect(logout.claims).toEqual({
    iss: 'https://login.test',
    aud: 'me',
    iat,
    exp: iat + 120,
    jti: expect.any(String) as string,
    sub: 'ada',
    sid: 's',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  })
  const subject = { format: 'opaque', id: 'x' }
  const event = partsOf(await transmitter.securityEvent({ type: 'account-disabled', subject }))
  expect(event.header).toMatchObject({ typ: 'secevent+jwt' })
  expect(event.claims).toEqual({
    iss: 'https://login.test',
    aud: 'me',
    iat,
    jti: expect.any(String) as string,
    sub_id: subject,
    events: { 'https://schemas.openid.net/secevent/risc/event-type/account-disabled': {} },
  })
})

test('they are sent as their protocols say', async () => {
  const sent: Sent[] = []
  const sender = transmitterThatKeeps(sent)
  await sender.sendLogout('https://api.test/logout', 'a.b.c')
  await sender.push('https://api.test/push', 'a.b.c', 'Bearer x')
  expect(sent).toEqual([
    {
      url: 'https://api.test/logout',
      init: {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'logout_token=a.b.c',
      },
    },
    {
      url: 'https://api.test/push',
      init: {
        method: 'POST',
        headers: { 'content-type': 'application/secevent+jwt', authorization: 'Bearer x' },
        body: 'a.b.c',
      },
    },
  ])
})

describe('the poll endpoint', () => {
  test('gives each event until it was acknowledged or refused, and says if there are more', async () => {
    transmitter.publish('one', 'a.b.c')
    transmitter.publish('two', 'd.e.f')
    expect(await poll({ maxEvents: 1 })).toBe('{"sets":{"one":"a.b.c"},"moreAvailable":true}')
    expect(await poll({ maxEvents: 0, ack: ['one'] })).toBe('{"sets":{},"moreAvailable":true}')
    const setErrs = { two: { err: 'invalid_request', description: 'no' } }
    expect(await poll({ returnImmediately: true, setErrs })).toBe('{"sets":{}}')
    expect(transmitter.acknowledged()).toEqual(['one'])
    expect(transmitter.errors()).toEqual(new Map(Object.entries(setErrs)))
    expect(transmitter.waiting()).toEqual([])
  })

  test('waits for the next event, until the caller gives up', async () => {
    const answer = poll({})
    transmitter.publish('three', 'g.h.i')
    expect(await answer).toBe('{"sets":{"three":"g.h.i"}}')
    await poll({ ack: ['three'], returnImmediately: true })
    const given = new AbortController()
    const init = { method: 'POST', body: '{}', signal: given.signal }
    const waiting = transmitter.pollFetch('https://login.test/poll', init)
    setImmediate(() => given.abort(new Error('over')))
    await expect(waiting).rejects.toThrow('over')
  })

  test('ends a poll whose signal aborts before the request is read', async () => {
    const given = new AbortController()
    const init = { method: 'POST', body: '{}', signal: given.signal }
    const waiting = transmitter.pollFetch('https://login.test/poll', init)
    given.abort(new Error('over'))
    await expect(waiting).rejects.toThrow('over')
  })

  test('answers 400 to what is no object', async () => {
    const init = { method: 'POST', body: '['.repeat(100_000) }
    expect((await transmitter.pollFetch('https://login.test/poll', init)).status).toBe(400)
  })
})

test('bad events have different names and a text each, and are new each time', async () => {
  for (const kind of ['logout', 'security'] as const) {
    const rows = await transmitter.badEvents({ kind, revokes: 'session' })
    expect(rows.length).toBeGreaterThan(20)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    expect(rows.filter(({ name }) => name === '')).toEqual([])
    expect(rows.filter(({ token }) => typeof token !== 'string')).toEqual([])
    const again = await transmitter.badEvents({ kind, revokes: 'session' })
    expect(again.map(({ name }) => name)).toEqual(rows.map(({ name }) => name))
    const tokens = new Set(rows.map(({ token }) => token))
    expect(again.filter(({ token }) => !tokens.has(token)).length).toBeGreaterThan(20)
  }
})

describe('mistakes', () => {
  test.each([
    ['no audience', () => eventTransmitter(issuer, {} as never)],
    ['a misspelt option', () => eventTransmitter(issuer, { audience: 'a', aud: 'b' } as never)],
  ])('%s: a TypeError', (_, call) => {
    expect(call).toThrow(TypeError)
  })

  test('an issuer without a name: a TypeError', async () => {
    const nameless = await createTestIssuer({ algorithm: 'ES256' })
    expect(() => eventTransmitter(nameless, { audience: 'a' })).toThrow(/option issuer/)
  })

  test('an event without a type, and bad events of no kind: a TypeError', async () => {
    await expect(transmitter.securityEvent({} as never)).rejects.toThrow(TypeError)
    await expect(transmitter.badEvents({ kind: 'logout' } as never)).rejects.toThrow(
      new TypeError('badEvents: kind and revokes must be stated'),
    )
  })
})

function partsOf(token: string) {
  const [header, claims] = token
    .split('.', 2)
    .map((part) => parseJson(Buffer.from(part, 'base64url').toString()))
  return { header, claims }
}
