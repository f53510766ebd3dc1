import { AuthError, createVerifier, localKeys } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import { receiveEvents } from '../src/index.ts'
import { AUDIENCE, clock, eventScene, ISSUER, issuer, NEVER, read, transmitter } from './scene.ts'

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/'
const USER = { format: 'iss_sub', iss: ISSUER, sub: 'ada' }
const SESSION = { format: 'opaque', id: 's-1' }

const bad = {
  session: await transmitter.badEvents({ kind: 'security', revokes: 'session' }),
  subject: await transmitter.badEvents({ kind: 'security', revokes: 'subject' }),
}

describe.each(['session', 'subject'] as const)('revokes: %s', (revokes) => {
  test.each(bad[revokes])(
    'a security event $name is refused with 400, and nothing is recorded',
    async (each) => {
      const { send, store, told } = eventScene({ revokes })
      const { status, headers, body } = await send(each.token)
      expect({ status, body: read(body) }).toEqual({
        status: 400,
        body: { err: each.err, description: expect.any(String) as string },
      })
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-language': 'en' })
      expect(store.calls).toBe(0)
      expect(told).toMatchObject([{ outcome: 'refused', refused: { err: each.err } }])
    },
  )
})

describe('whom an event means', () => {
  const complex = { format: 'complex', user: USER, session: SESSION }

  test.each([
    ['session-revoked', USER, 'subject', { sub: 'ada' }],
    ['session-revoked', SESSION, 'session', { sid: 's-1' }],
    ['session-revoked', complex, 'session', { sid: 's-1' }],
    ['session-revoked', complex, 'subject', { sub: 'ada' }],
    ['account-disabled', USER, 'subject', { sub: 'ada' }],
    ['account-disabled', { format: 'opaque', id: 'ada' }, 'subject', { sub: 'ada' }],
    ['account-disabled', complex, 'subject', { sub: 'ada' }],
    ['account-purged', USER, 'subject', { sub: 'ada' }],
    ['sessions-revoked', USER, 'subject', { sub: 'ada' }],
    ['session-revoked', USER, 'session', { sub: 'ada' }],
    ['session-revoked', { format: 'complex', user: USER }, 'session', { sub: 'ada' }],
    ['account-disabled', USER, 'session', { sub: 'ada' }],
    ['account-disabled', { format: 'opaque', id: 'ada' }, 'session', { sub: 'ada' }],
    ['account-disabled', complex, 'session', { sub: 'ada' }],
    ['account-purged', complex, 'session', { sub: 'ada' }],
    ['sessions-revoked', complex, 'session', { sub: 'ada' }],
  ] as const)('%s of %j, revokes: %s', async (type, subject, revokes, whose) => {
    const { send, store } = eventScene({ revokes })
    const answer = await send(await transmitter.securityEvent({ type, subject }))
    expect(answer).toMatchObject({ status: 202, body: '' })
    expect(store.entries()).toMatchObject([{ type: 'issued_before', iss: ISSUER, ...whose }])
  })

  test.each([
    ['session-revoked', SESSION, 'subject'],
    ['account-disabled', { format: 'complex', session: SESSION }, 'session'],
    ['account-disabled', { format: 'complex', session: SESSION }, 'subject'],
    ['account-disabled', { format: 'jwt_id', iss: ISSUER, jti: 't-1' }, 'session'],
    ['account-purged', { format: 'jwt_id', iss: ISSUER, jti: 't-1' }, 'subject'],
    ['sessions-revoked', { format: 'jwt_id', iss: ISSUER, jti: 't-1' }, 'subject'],
    ['session-revoked', { format: 'complex', session: SESSION }, 'subject'],
    ['session-revoked', { format: 'complex', session: SESSION, user: 'ada' }, 'session'],
    ['session-revoked', { format: 'complex' }, 'session'],
    ['session-revoked', { format: 'aliases', identifiers: [USER] }, 'subject'],
    ['session-revoked', { format: 'toString' }, 'subject'],
  ] as const)('%s of %j, revokes: %s, is not guessed', async (type, subject, revokes) => {
    const { send, store } = eventScene({ revokes })
    const answer = await send(await transmitter.securityEvent({ type, subject }))
    expect(answer).toMatchObject({ status: 400 })
    expect(store.calls).toBe(0)
  })

  test.each([
    'account-disabled',
    'account-purged',
    'sessions-revoked',
    'credential-change',
    'token-claims-change',
    'assurance-level-change',
  ] as const)('an opaque name is that of a user in %s', async (type) => {
    const { send, store } = eventScene({ revokeOn: [type] })
    const subject = { format: 'opaque', id: 'ada' }
    expect(await send(await transmitter.securityEvent({ type, subject }))).toMatchObject({
      status: 202,
    })
    expect(store.entries()).toMatchObject([{ sub: 'ada' }])
  })

  test.each([
    ['an iss_sub', { ...USER, sub: '' }],
    ['an iss_sub', { ...USER, sub: 7 }],
    ['an iss_sub', { ...USER, sub: '\udc00' }],
    ['an iss_sub', { format: 'iss_sub', sub: 'ada' }],
    ['an iss_sub', { ...USER, iss: [ISSUER] }],
    ['an iss_sub', { ...USER, id: 'ada' }],
    ['an iss_sub', { format: 'iss_sub', id: 'ada' }],
    ['an opaque', { format: 'opaque', id: null }],
    ['an opaque', { format: 'opaque', id: 'ada', sub: 'eve' }],
    ['an opaque', { format: 'opaque', sub: 'ada' }],
    ['a jwt_id', { format: 'jwt_id', iss: ISSUER, jti: '' }],
    ['a jwt_id', { format: 'jwt_id', iss: ISSUER, jti: 't-1', sub: 'ada' }],
    ['a complex', { format: 'complex', user: USER, tenant: { format: 'opaque', id: 't' } }],
    ['a complex', { format: 'complex', user: { format: 'complex', user: USER } }],
    ['a complex', { format: 'complex', user: { format: 'account', id: 'ada' } }],
    ['a complex', { format: 'complex', user: { ...USER, iss: 'https://old.test' } }],
    ['a complex', { format: 'complex', user: USER, session: { ...SESSION, iss: ISSUER } }],
    ['a complex', { format: 'complex', user: USER, session: {} }],
    ['a complex', { format: 'complex', user: USER, session: USER }],
    ['a format', { ...USER, format: 'ISS_SUB' }],
    ['a format', { ...USER, format: ['iss_sub'] }],
  ])('%s with an odd member is refused: %j', async (_, subject) => {
    const { send, store } = eventScene()
    const token = await transmitter.securityEvent({ type: 'account-disabled', subject })
    expect(await send(token)).toMatchObject({ status: 400 })
    expect(store.calls).toBe(0)
  })

  test.each(['credential-change', 'token-claims-change', 'assurance-level-change'] as const)(
    '%s of a complex subject ends its session or its user, as stated',
    async (type) => {
      for (const [revokes, whose] of [
        ['session', { sid: 's-1' }],
        ['subject', { sub: 'ada' }],
      ] as const) {
        const { send, store } = eventScene({ revokes, revokeOn: [type] })
        await send(await transmitter.securityEvent({ type, subject: complex }))
        expect(store.entries()).toMatchObject([whose])
      }
    },
  )

  test('one token by its jti, whatever is revoked otherwise', async () => {
    const subject = { format: 'jwt_id', iss: ISSUER, jti: 't-1' }
    for (const revokes of ['session', 'subject'] as const) {
      const { send, store } = eventScene({ revokes, revokeOn: ['token-claims-change'] })
      await send(await transmitter.securityEvent({ type: 'token-claims-change', subject }))
      expect(store.entries()).toEqual([{ type: 'token', iss: ISSUER, jti: 't-1' }])
    }
  })

  test('one token is revoked as long as it can be valid, however long ago the event was', async () => {
    const now = Math.floor(clock.now())
    const subject = { format: 'jwt_id', iss: ISSUER, jti: 't-1' }
    const event = { event_timestamp: now - 7200 }
    const { send, store } = eventScene({ maxTokenLifetime: 3600 })
    await send(await transmitter.securityEvent({ type: 'session-revoked', subject, event }))
    expect(store.entries()).toEqual([
      { type: 'token', iss: ISSUER, jti: 't-1', exp: now + 1 + 3600 },
    ])
    const claims = { iss: ISSUER, jti: 't-1', iat: now, exp: now + 3600 }
    expect(store.local.statusOf(claims, clock.now())).toBe('revoked')
  })

  test('who knows addresses and other issuers can map them', async () => {
    const asked: unknown[] = []
    const { send, store } = eventScene({
      mapSubject(subject, context) {
        asked.push([subject, context])
        return subject['email'] === 'ada@api.test'
          ? { iss: 'https://old.test', sub: '7' }
          : undefined
      },
    })
    const type = 'session-revoked'
    const email = { format: 'email', email: 'ada@api.test' }
    expect(await send(await transmitter.securityEvent({ type, subject: email }))).toMatchObject({
      status: 202,
    })
    expect(store.entries()).toMatchObject([{ iss: 'https://old.test', sub: '7' }])
    expect(asked).toEqual([[email, { iss: ISSUER, types: [`${CAEP}${type}`] }]])
    expect(await send(await transmitter.securityEvent({ type, subject: USER }))).toMatchObject({
      status: 202,
    })
    const other = { format: 'email', email: 'eve@api.test' }
    expect(await send(await transmitter.securityEvent({ type, subject: other }))).toMatchObject({
      status: 400,
    })
  })

  test.each([
    ['nothing', {}],
    ['two', { sub: 'a', sid: 'b' }],
    ['an empty text', { sub: '' }],
    ['a number', { sub: 7 }],
    ['an issuer without a name', { sub: 'ada', iss: '' }],
    ['an issuer that is no text', { sub: 'ada', iss: 7 }],
    ['a misspelt member', { sub: 'ada', issuer: 'https://old.test' }],
    ['a text', 'ada'],
    ['false', false],
  ])('a mapping to %s is not acknowledged, and revokes nothing', async (_, mapped) => {
    const { send, store, told } = eventScene({ mapSubject: () => mapped as { sub: string } })
    const token = await transmitter.securityEvent({ type: 'session-revoked', subject: USER })
    expect(await send(token)).toMatchObject({ status: 503 })
    expect(store.calls).toBe(0)
    expect(told).toMatchObject([
      { outcome: 'unavailable', error: expect.any(TypeError) as unknown, iss: ISSUER, revokes: [] },
    ])
    expect(told[0]?.error).toMatchObject({
      message: expect.stringMatching(/^mapSubject: i/) as string,
    })
  })

  test.each([undefined, null])(
    'a mapping to %s leaves the subject to what it says',
    async (mapped) => {
      const { send, store } = eventScene({ mapSubject: () => mapped as undefined })
      const token = await transmitter.securityEvent({ type: 'session-revoked', subject: USER })
      expect(await send(token)).toMatchObject({ status: 202 })
      expect(store.entries()).toMatchObject([{ sub: 'ada' }])
    },
  )

  test('an event that revokes is not passed over if it is null', async () => {
    const { send, store } = eventScene()
    const events = { [`${CAEP}session-revoked`]: null, 'urn:test:other': {} }
    const token = await transmitter.securityEvent({
      type: 'session-revoked',
      subject: USER,
      claims: { events },
    })
    expect(await send(token)).toMatchObject({ status: 400 })
    expect(store.calls).toBe(0)
  })

  test('a mapping that never answers is given up after 10 s: 503, and the repeat is mapped again', async () => {
    const time = manualClock(clock.now())
    let asked = 0
    const { send, store, told } = eventScene({
      keys: localKeys(issuer.publicJwk),
      clock: time,
      async mapSubject() {
        asked += 1
        return asked === 1 ? await NEVER : { sub: 'ada' }
      },
    })
    const token = await transmitter.securityEvent({ type: 'session-revoked', subject: USER })
    const answer = send(token)
    await vi.waitUntil(() => asked > 0, 60_000)
    await time.advance(10)
    expect(await answer).toMatchObject({ status: 503 })
    expect(told).toMatchObject([{ error: new Error('mapSubject did not answer in 10 s') }])
    expect(await send(token)).toMatchObject({ status: 202 })
    expect([asked, store.calls]).toEqual([2, 1])
  })

  test('a mapping that fails is told with the name of the event, and the repeat is mapped again', async () => {
    let isDown = true
    const fault = new Error('of the directory')
    const { send, store, told } = eventScene({
      async mapSubject() {
        if (isDown) throw fault
        return { sub: 'ada' }
      },
    })
    const claims = { jti: 'j-1' }
    const token = await transmitter.securityEvent({
      type: 'session-revoked',
      subject: USER,
      claims,
    })
    expect(await send(token)).toMatchObject({ status: 503, body: '' })
    expect(told).toEqual([
      {
        outcome: 'unavailable',
        iss: ISSUER,
        jti: 'j-1',
        types: [],
        claims: expect.objectContaining({ sub_id: USER }) as unknown,
        unreadable: [],
        revokes: [],
        refused: undefined,
        error: fault,
      },
    ])
    isDown = false
    expect(await send(token)).toMatchObject({ status: 202 })
    expect(store.calls).toBe(1)
  })
})

test.each([
  ['ends what was issued until then', undefined, 'revoked'],
  ['is not kept longer than a token lives', 3600, 'valid'],
])('an event of years ago is acknowledged, and %s', async (_, maxTokenLifetime, status) => {
  const long = Math.floor(clock.now()) - 315_360_000
  const event = { event_timestamp: long }
  const { send, store } = eventScene({ maxTokenLifetime })
  const token = await transmitter.securityEvent({ type: 'session-revoked', subject: USER, event })
  expect(await send(token)).toMatchObject({ status: 202 })
  const statusOf = (iat: number) =>
    store.local.statusOf({ iss: ISSUER, sub: 'ada', iat }, clock.now())
  expect(statusOf(long + 1)).toBe('valid')
  expect(statusOf(long)).toBe(status)
  expect(store.calls).toBe(1)
})

describe('the time of an event', () => {
  const now = Math.floor(clock.now())
  const type = 'session-revoked'

  test.each([
    ['as it says', { event: { event_timestamp: now - 50 } }, now - 49],
    ['with fractions', { event: { event_timestamp: now - 50.5 } }, now - 50.5],
    ['as its token says in toe', { claims: { toe: now - 40 } }, now - 39],
    ['when its token was issued', {}, now + 1],
    [
      'as it says, whatever toe is',
      { event: { event_timestamp: now - 9 }, claims: { toe: 5 } },
      now - 8,
    ],
    ['a minute ahead at the most', { event: { event_timestamp: now + 60 } }, now + 61],
    ['the beginning of time at the least', { event: { event_timestamp: 0 } }, 1],
  ])('is %s', async (_, options, time) => {
    const { send, store } = eventScene()
    await send(await transmitter.securityEvent({ type, subject: USER, ...options }))
    expect(store.entries()).toMatchObject([{ sub: 'ada', time }])
  })
})

describe('a time that is none: the time of the token is the cut, and it is told', () => {
  const now = Math.floor(clock.now())
  test.each([
    ['event_timestamp', 'milliseconds', { event: { event_timestamp: now * 1000 } }],
    ['event_timestamp', 'before the beginning', { event: { event_timestamp: -1 } }],
    ['event_timestamp', 'more than a minute ahead', { event: { event_timestamp: now + 61 } }],
    ['event_timestamp', 'a text', { event: { event_timestamp: String(now) } }],
    ['event_timestamp', 'a date', { event: { event_timestamp: '2026-11-26T19:00:00Z' } }],
    ['event_timestamp', 'a list', { event: { event_timestamp: [1] } }],
    ['event_timestamp', 'an object', { event: { event_timestamp: {} } }],
    [
      'event_timestamp',
      'a text, whatever toe is',
      { event: { event_timestamp: 'x' }, claims: { toe: 5 } },
    ],
    ['toe', 'true', { claims: { toe: true } }],
    ['toe', 'milliseconds', { claims: { toe: now * 1000 } }],
  ])('%s: %s', async (name, _, options) => {
    const { send, store, told } = eventScene()
    const type = 'session-revoked'
    const token = await transmitter.securityEvent({ type, subject: USER, ...options })
    expect(await send(token)).toMatchObject({ status: 202 })
    expect(store.entries()).toMatchObject([{ sub: 'ada', time: now + 1 }])
    expect(told).toMatchObject([{ outcome: 'recorded', unreadable: [name] }])
  })

  test('of one that can be read, nothing is told', async () => {
    const { send, told } = eventScene()
    await send(await sound())
    expect(told).toMatchObject([{ unreadable: [] }])
  })
})

describe('subjects as drafts of RISC and SSF write them', () => {
  const GOOGLE = { subject_type: 'iss-sub', iss: ISSUER, sub: 'ada' }
  const OKTA = { user: USER, session: SESSION }

  test.each([
    ['account-disabled', GOOGLE, 'subject', { sub: 'ada' }],
    ['account-disabled', GOOGLE, 'session', { sub: 'ada' }],
    ['account-purged', { ...GOOGLE, subject_type: 'iss_sub' }, 'subject', { sub: 'ada' }],
    ['session-revoked', { user: USER }, 'subject', { sub: 'ada' }],
    ['session-revoked', OKTA, 'subject', { sub: 'ada' }],
    ['session-revoked', OKTA, 'session', { sid: 's-1' }],
    ['session-revoked', { user: GOOGLE, session: SESSION }, 'subject', { sub: 'ada' }],
    ['session-revoked', { ...OKTA, subject_type: 'complex' }, 'session', { sid: 's-1' }],
    ['session-revoked', USER, 'subject', { sub: 'ada' }],
  ] as const)('%s of %j in the event, revokes: %s', async (type, subject, revokes, whose) => {
    const { send, store } = eventScene({ revokes })
    const token = await transmitter.securityEvent({ type, event: { subject } })
    expect(await send(token)).toMatchObject({ status: 202 })
    expect(store.entries()).toMatchObject([{ iss: ISSUER, ...whose }])
  })

  test('and as sub_id', async () => {
    const { send, store } = eventScene()
    await send(await transmitter.securityEvent({ type: 'account-disabled', subject: GOOGLE }))
    expect(store.entries()).toMatchObject([{ sub: 'ada' }])
  })

  test.each([
    ['of another issuer', { ...GOOGLE, iss: 'https://old.test' }],
    ['with two formats', { ...GOOGLE, format: 'iss_sub' }],
    ['with a member more', { ...GOOGLE, email: 'ada@api.test' }],
    ['of a type that is no text', { ...GOOGLE, subject_type: 7 }],
    ['of an address', { subject_type: 'email', email: 'ada@api.test' }],
    ['of a tenant as well', { ...OKTA, tenant: { format: 'opaque', id: 't' } }],
    ['of a tenant alone', { tenant: { format: 'opaque', id: 't' } }],
    ['of nobody', {}],
    ['that is a text', 'ada'],
  ])('a subject %s is refused', async (_, subject) => {
    const { send, store } = eventScene()
    const token = await transmitter.securityEvent({ type: 'session-revoked', event: { subject } })
    expect(await send(token)).toMatchObject({ status: 400 })
    expect(store.calls).toBe(0)
  })

  test('sub_id wins over a subject in the event', async () => {
    const { send, store } = eventScene()
    const event = { subject: { ...USER, sub: 'eve' } }
    await send(await transmitter.securityEvent({ type: 'session-revoked', subject: USER, event }))
    expect(store.entries()).toMatchObject([{ sub: 'ada' }])
  })

  test('each reaches mapSubject before it is refused, with the types that it is of', async () => {
    const asked: unknown[] = []
    const { send, store } = eventScene({
      revokeOn: ['session-revoked', 'credential-change'],
      mapSubject(subject, { types }) {
        asked.push([subject, types])
        return { sub: `user-${asked.length}` }
      },
    })
    const tenant = { user: USER, tenant: { format: 'opaque', id: 't' } }
    const email = { subject_type: 'email', email: 'ada@api.test' }
    const [revoked, changed] = [`${CAEP}session-revoked`, `${CAEP}credential-change`]
    const events = {
      [revoked]: { subject: tenant, event_timestamp: 'now' },
      [changed]: { subject: email },
    }
    const token = await transmitter.securityEvent({ type: 'x:y', claims: { events } })
    expect(await send(token)).toMatchObject({ status: 202 })
    expect(asked).toEqual([
      [tenant, [revoked]],
      [email, [changed]],
    ])
    expect(store.entries()).toMatchObject([{ sub: 'user-1' }, { sub: 'user-2' }])
  })

  test('whom several events of one sub_id mean is asked once', async () => {
    let asked = 0
    const { send, store } = eventScene({
      mapSubject() {
        asked += 1
        return { sub: 'ada' }
      },
    })
    const events = {
      [`${CAEP}session-revoked`]: {},
      'https://schemas.openid.net/secevent/risc/event-type/account-disabled': {},
    }
    const claims = { events }
    await send(await transmitter.securityEvent({ type: 'x:y', subject: USER, claims }))
    expect([asked, store.calls]).toEqual([1, 2])
  })
})

describe('events that revoke nothing are acknowledged and told', () => {
  test.each([
    ['verification', { state: 'x' }],
    ['stream-updated', { status: 'paused' }],
    ['credential-change', {}],
    ['token-claims-change', {}],
    ['assurance-level-change', {}],
    ['account-enabled', {}],
    ['https://others.test/event', { any: 'thing' }],
  ])('%s', async (type, event) => {
    const { send, store, told } = eventScene()
    const subject = { format: 'opaque', id: 'stream-1' }
    const token = await transmitter.securityEvent({ type, event, subject })
    expect(await send(token)).toMatchObject({ status: 202 })
    expect(store.calls).toBe(0)
    expect(told).toMatchObject([
      { outcome: 'ignored', types: [expect.stringContaining(type) as string] },
    ])
    const events = Object.values(told[0]?.claims?.['events'] ?? {})
    expect([events, Object.isFrozen(events[0])]).toEqual([[event], true])
  })

  test('and each that CAEP and RISC know revokes if it is stated', async () => {
    const all = ['credential-change', 'token-claims-change', 'assurance-level-change'] as const
    for (const type of all) {
      const { send, store } = eventScene({ revokeOn: [type] })
      await send(await transmitter.securityEvent({ type, subject: USER }))
      expect(store.entries()).toHaveLength(1)
    }
  })
})

test('of a token with several events, each that revokes is recorded', async () => {
  const { send, store } = eventScene()
  const now = Math.floor(clock.now())
  const events = {
    [`${CAEP}session-revoked`]: { event_timestamp: now - 10 },
    [`${CAEP}credential-change`]: {},
    'https://schemas.openid.net/secevent/risc/event-type/account-disabled': {},
  }
  const token = await transmitter.securityEvent({ type: 'x:y', subject: USER, claims: { events } })
  expect(await send(token)).toMatchObject({ status: 202 })
  expect(store.calls).toBe(2)
  expect(store.entries()).toMatchObject([{ sub: 'ada', time: now + 1 }])
})

test('beside an event that revokes, another one may be anything', async () => {
  const { send, store } = eventScene()
  const events = { [`${CAEP}session-revoked`]: {}, 'https://others.test/event': 'text' }
  const token = await transmitter.securityEvent({ type: 'x:y', subject: USER, claims: { events } })
  expect(await send(token)).toMatchObject({ status: 202 })
  expect(store.entries()).toMatchObject([{ sub: 'ada' }])
})

test('a token of whose revocation nothing is known is not acknowledged', async () => {
  const { send, store } = eventScene()
  store.isDown = true
  const subject = { format: 'jwt_id', iss: ISSUER, jti: 't-1' }
  const token = await transmitter.securityEvent({ type: 'session-revoked', subject })
  expect(await send(token)).toMatchObject({ status: 503 })
  store.isDown = false
  expect(await send(token)).toMatchObject({ status: 202 })
  expect(store.entries()).toHaveLength(1)
})

test('of two events the second of which could not be recorded, both are recorded again', async () => {
  const { send, store, told } = eventScene()
  const now = Math.floor(clock.now())
  const events = {
    [`${CAEP}session-revoked`]: { event_timestamp: now - 10 },
    'https://schemas.openid.net/secevent/risc/event-type/account-disabled': {},
  }
  const token = await transmitter.securityEvent({ type: 'x:y', subject: USER, claims: { events } })
  store.failsAt = 2
  expect(await send(token)).toMatchObject({ status: 503 })
  expect(await send(token)).toMatchObject({ status: 202 })
  expect(store.calls).toBe(4)
  expect(store.entries()).toMatchObject([{ sub: 'ada', time: now + 1 }])
  expect(told.map(({ outcome }) => outcome)).toEqual(['unavailable', 'recorded'])
})

describe('a member that is null is absent', () => {
  const type = 'session-revoked'
  test.each([
    ['exp', { claims: { exp: null } }],
    ['sub', { claims: { sub: null } }],
    ['toe', { claims: { toe: null } }],
    ['event_timestamp', { event: { event_timestamp: null } }],
    ['a member of a subject', { subject: { ...USER, email: null } }],
    ['a part of a subject', { subject: { format: 'complex', user: USER, session: null } }],
    ['another format of a subject', { subject: { ...USER, subject_type: null } }],
    ['sub_id, where the event has a subject', { subject: null, event: { subject: USER } }],
    ['another event', { claims: { events: { [`${CAEP}${type}`]: {}, 'urn:x': null } } }],
  ])('%s', async (_, { subject = USER, claims, event }: Changes) => {
    const { send, store, told } = eventScene()
    const token = await transmitter.securityEvent({
      type,
      event,
      claims: { sub_id: subject, ...claims },
    })
    expect(await send(token)).toMatchObject({ status: 202 })
    expect(store.entries()).toMatchObject([{ sub: 'ada', time: Math.floor(clock.now()) + 1 }])
    expect(told).toMatchObject([{ unreadable: [] }])
  })

  test('and mapSubject does not see it', async () => {
    const asked: unknown[] = []
    const { send } = eventScene({ mapSubject: (subject) => void asked.push(subject) })
    const subject = { ...USER, email: null, list: [null, { a: null }] }
    await send(await transmitter.securityEvent({ type, subject }))
    expect(asked).toEqual([{ ...USER, list: [null, {}] }])
  })

  test('an event that is null revokes nothing', async () => {
    const { send, store } = eventScene()
    const claims = { events: { [`${CAEP}${type}`]: null } }
    expect(
      await send(await transmitter.securityEvent({ type, subject: USER, claims })),
    ).toMatchObject({ status: 400 })
    expect(store.calls).toBe(0)
  })
})

interface Changes {
  readonly subject?: object | null
  readonly claims?: object
  readonly event?: Readonly<Record<string, unknown>>
}

test.each([
  '{"__proto__":{"format":"opaque","id":"eve"}}',
  '{"format":"opaque","id":"ada","__proto__":{}}',
])('a subject %s is refused before mapSubject sees it', async (subject) => {
  const { send, store } = eventScene({
    mapSubject() {
      throw new Error('it is asked')
    },
  })
  const claims = `"iss":"${ISSUER}","aud":"${AUDIENCE}","iat":${Math.floor(clock.now())},"jti":"j"`
  const payload = `{${claims},"sub_id":${subject},"events":{"${CAEP}session-revoked":{}}}`
  const token = await issuer.token({ payload, header: { typ: 'secevent+jwt' } })
  expect(await send(token)).toMatchObject({ status: 400 })
  expect(store.calls).toBe(0)
})

test.each([
  ['none', {}, ['typ']],
  ['JWT', { typ: 'JWT' }, []],
  ['logout+jwt', { typ: 'logout+jwt' }, []],
])('a security event of the type %s is refused', async (_, header, omit) => {
  const { send, store } = eventScene()
  const type = 'session-revoked'
  const token = await transmitter.securityEvent({ type, subject: USER, header, omit })
  expect(await send(token)).toMatchObject({ status: 400 })
  expect(store.calls).toBe(0)
})

test('nobody is asked whom an event means that revokes nothing, which may have no subject', async () => {
  const { send } = eventScene({
    mapSubject() {
      throw new Error('it is asked')
    },
  })
  const token = await transmitter.securityEvent({ type: 'verification', event: { state: 'x' } })
  expect(await send(token)).toMatchObject({ status: 202 })
})

test('who maps subjects is asked before everything else', async () => {
  const { send, store } = eventScene({ mapSubject: () => ({ sid: 's-7' }) })
  await send(await transmitter.securityEvent({ type: 'session-revoked', subject: USER }))
  expect(store.entries()).toMatchObject([{ iss: ISSUER, sid: 's-7' }])
})

async function sound(): Promise<string> {
  return await transmitter.securityEvent({ type: 'session-revoked', subject: USER })
}

describe('the options of a verifier hold for events', () => {
  const keys = localKeys(issuer.publicJwk)
  test('clock', async () => {
    const behind = manualClock(clock.now() - 3600)
    const { send } = eventScene({ keys, clock: behind })
    const answer = await send(await sound())
    expect([answer.status, read(answer.body)]).toMatchObject([400, { err: 'invalid_request' }])
  })

  test('algorithms', async () => {
    const { send } = eventScene({ keys, clock, algorithms: ['RS256'] })
    const answer = await send(await sound())
    expect([answer.status, read(answer.body)]).toMatchObject([400, { err: 'invalid_key' }])
  })

  test('several issuers, whose events of one name are not one', async () => {
    const OTHER = 'https://other.test'
    const { send, store, told } = eventScene({ issuer: [ISSUER, OTHER] })
    const type = 'account-disabled'
    const subject = { format: 'opaque', id: 'ada' }
    for (const iss of [ISSUER, OTHER]) {
      const claims = { iss, jti: 'j' }
      await send(await transmitter.securityEvent({ type, subject, claims }))
    }
    expect(store.entries()).toMatchObject([{ iss: ISSUER }, { iss: OTHER }])
    const claims = { iss: OTHER }
    const foreign = await transmitter.securityEvent({ type, subject: USER, claims })
    expect(await send(foreign)).toMatchObject({ status: 400 })
    expect(told.map(({ outcome }) => outcome)).toEqual(['recorded', 'recorded', 'refused'])
  })
})

describe('who may send', () => {
  const type = 'session-revoked'

  test('those with an access token that the verifier accepts', async () => {
    const authorize = createVerifier(issuer.verifierOptions)
    const { send, store, told } = eventScene({ authorize })
    const token = await transmitter.securityEvent({ type, subject: USER })
    for (const header of [undefined, 'Bearer x', `Bearer ${token}`]) {
      const answer = await send(token, header)
      expect(answer).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': expect.stringMatching(/^Bearer/) as string },
      })
      expect(read(answer.body)).toEqual({
        err: 'authentication_failed',
        description: expect.any(String) as string,
      })
    }
    expect([store.calls, told.length]).toEqual([0, 0])
    expect(await send(token, `Bearer ${await issuer.token()}`)).toMatchObject({ status: 202 })
  })

  test('those with the text that was agreed upon', async () => {
    const { send, store } = eventScene({ authorize: 'Bearer 0123456789abcdef' })
    const token = await transmitter.securityEvent({ type, subject: USER })
    for (const header of [undefined, 'Bearer 0123456789abcdee', 'Bearer 0123456789abcdef0']) {
      expect(await send(token, header)).toMatchObject({ status: 401 })
    }
    expect(store.calls).toBe(0)
    expect(await send(token, 'Bearer 0123456789abcdef')).toMatchObject({ status: 202 })
  })

  test.each([
    ['may not do that', new AuthError('insufficient_scope', 'scope'), 403, 'access_denied'],
    ['is not known', new AuthError('invalid_token', 'expired'), 401, 'authentication_failed'],
  ])('who %s is told so', async (_, error, status, err) => {
    const authorize = {
      verify: async () => await Promise.reject(error),
      ready: async () => undefined,
    }
    const { send, store, told } = eventScene({ authorize })
    const answer = await send('whatever it is', 'Bearer x')
    expect(answer).toMatchObject({ status, headers: { 'cache-control': 'no-store' } })
    expect(read(answer.body)).toEqual({ err, description: error.message })
    expect(store.calls).toBe(0)
    expect(told).toEqual([])
  })

  test('without the keys of its access token a sender is asked to come again, and nothing is said of it', async () => {
    const error = new AuthError('keys_unavailable', 'timeout', { retryAfter: 7 })
    const authorize = {
      verify: async () => await Promise.reject(error),
      ready: async () => undefined,
    }
    const { send } = eventScene({ authorize })
    expect(await send('whatever it is', 'Bearer x')).toMatchObject({
      status: 503,
      body: '',
      headers: { 'retry-after': '7', 'cache-control': 'no-store' },
    })
  })

  test('strangers are refused before their body is read', async () => {
    const { receiver } = eventScene({ authorize: 'Bearer 0123456789abcdef' })
    let isRead = false
    const body = {
      [Symbol.asyncIterator]() {
        isRead = true
        return { next: async () => ({ done: true, value: undefined }) }
      },
    }
    const headers = { 'content-type': 'application/secevent+jwt' }
    expect(await receiver.answer({ headers, body })).toMatchObject({ status: 401 })
    expect(isRead).toBe(false)
  })

  test.each([
    ['an error', new Error('of the verifier'), 'of the verifier'],
    ['nothing', null, 'authorize failed'],
  ])('a verifier that fails with %s is answered 503, and warned of', async (_, fault, message) => {
    const warned = new Promise((resolve) => process.once('warning', resolve))
    const { send, store } = eventScene({
      authorize: {
        async verify() {
          AbortSignal.abort(fault).throwIfAborted()
          throw new Error('not reached')
        },
        ready: async () => undefined,
      },
    })
    const token = await transmitter.securityEvent({ type, subject: USER })
    expect(await send(token, 'Bearer x')).toMatchObject({ status: 503 })
    expect(await warned).toMatchObject({ message })
    expect(store.calls).toBe(0)
  })

  test('a verifier that never answers is given up after 10 s: 503', async () => {
    const time = manualClock(clock.now())
    const warned = new Promise((resolve) => process.once('warning', resolve))
    let asked = 0
    const { send } = eventScene({
      clock: time,
      authorize: {
        async verify() {
          asked += 1
          return await NEVER
        },
        ready: async () => undefined,
      },
    })
    const answer = send('whatever it is', 'Bearer x')
    await vi.waitUntil(() => asked > 0, 60_000)
    await time.advance(10)
    expect(await answer).toMatchObject({ status: 503 })
    expect(await warned).toMatchObject({ message: 'authorize did not answer in 10 s' })
  })

  test.each([
    ['Basic dHJhbnNtaXR0ZXI6c2VjcmV0', 'Basic realm="api"'],
    ['basic dTpw-not-base64', 'Basic realm="api"'],
    ['Token 0123456789abcdef', 'Token realm="api"'],
    ['ApiKey 0123456789abcdef==', 'ApiKey realm="api"'],
    ['Bearer 0123456789abcdef', 'Bearer realm="api"'],
    ['0123456789abcdef', 'Bearer realm="api"'],
    ['correct horse battery staple', 'Bearer realm="api"'],
    ['swordfish another-word', 'Bearer realm="api"'],
  ])('authorize: %j challenges %s', async (authorize, challenge) => {
    const { send, store } = eventScene({ authorize })
    const token = await transmitter.securityEvent({ type, subject: USER })
    const [none, wrong] = [await send(token), await send(token, 'Basic eDp5')]
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, challenge])
    expect([wrong.status, wrong.headers['www-authenticate']?.startsWith(challenge)]).toEqual([
      401,
      true,
    ])
    expect(store.calls).toBe(0)
    expect(await send(token, authorize)).toMatchObject({ status: 202 })
  })

  test('the text has 16 characters or more, and is one that a header can have', async () => {
    const { send } = eventScene({ authorize: '0123456789abcdef' })
    const token = await transmitter.securityEvent({ type, subject: USER })
    expect(await send(token, '0123456789abcdef')).toMatchObject({ status: 202 })
    for (const authorize of [
      '0123456789abcde',
      'from a file, with its end\n',
      ' 0123456789abcdef',
      'schlüssel-0123456',
    ]) {
      expect(() => eventScene({ authorize })).toThrow(
        'receiveEvents: authorize must be a verifier, null, or a text of 16 characters or more as a header can have it',
      )
    }
  })

  test.each([
    ['audience', null],
    ['audience', undefined],
    ['revokeOn', ['session-revoked', 'verification']],
    ['revokeOn', 'session-revoked'],
    ['mapSubject', {}],
    ['clockTolerance', 601],
    ['clientId', AUDIENCE],
  ])('%s: %j is a TypeError that says so', (name, value) => {
    const create = () => eventScene({ [name]: value })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(
      new RegExp(`^receiveEvents: (unknown option "${name}",|${name} must be )`),
    )
  })

  test('a wrong name of an event is answered with those that are known', () => {
    expect(() => eventScene({ revokeOn: ['verification' as never] })).toThrow(
      'must be a list of session-revoked, credential-change, token-claims-change, assurance-level-change, account-disabled, account-purged, sessions-revoked',
    )
  })

  test.each([[undefined], [''], ['too short'], [{}], [true]])(
    'authorize: %j is a TypeError',
    (authorize) => {
      const { keys } = issuer.verifierOptions
      const { revocations } = eventScene().store
      const options = { keys, issuer: ISSUER, audience: AUDIENCE, revocations, authorize }
      expect(() => receiveEvents({ ...options, revokes: 'subject' } as never)).toThrow(TypeError)
    },
  )
})
