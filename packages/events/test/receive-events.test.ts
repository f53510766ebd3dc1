import { createVerifier } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { receiveEvents } from '../src/index.ts'
import { AUDIENCE, clock, eventScene, ISSUER, issuer, transmitter, read } from './scene.ts'

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
    ['account-purged', USER, 'subject', { sub: 'ada' }],
    ['sessions-revoked', USER, 'subject', { sub: 'ada' }],
  ] as const)('%s of %j, revokes: %s', async (type, subject, revokes, whose) => {
    const { send, store } = eventScene({ revokes })
    const answer = await send(await transmitter.securityEvent({ type, subject }))
    expect(answer).toMatchObject({ status: 202, body: '' })
    expect(store.entries()).toMatchObject([{ type: 'issued_before', iss: ISSUER, ...whose }])
  })

  test.each([
    ['session-revoked', SESSION, 'subject'],
    ['account-disabled', { format: 'opaque', id: 'ada' }, 'session'],
    ['account-disabled', USER, 'session'],
    ['session-revoked', { format: 'complex', user: USER }, 'session'],
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
  ])('a mapping to %s is not acknowledged, and revokes nothing', async (_, mapped) => {
    const { send, store, told } = eventScene({ mapSubject: () => mapped as { sub: string } })
    const token = await transmitter.securityEvent({ type: 'session-revoked', subject: USER })
    expect(await send(token)).toMatchObject({ status: 503 })
    expect(store.calls).toBe(0)
    expect(told).toMatchObject([
      { outcome: 'unavailable', error: expect.any(TypeError) as unknown, iss: ISSUER, revokes: [] },
    ])
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

describe('the time of an event', () => {
  const now = Math.floor(clock.now())
  const type = 'session-revoked'

  test.each([
    ['as it says', { event: { event_timestamp: now - 50 } }, now - 49],
    ['with fractions', { event: { event_timestamp: now - 50.5 } }, now - 50.5],
    ['as its token says in toe', { claims: { toe: now - 40 } }, now - 39],
    ['when its token was issued', {}, now + 1],
  ])('is %s', async (_, options, time) => {
    const { send, store } = eventScene()
    await send(await transmitter.securityEvent({ type, subject: USER, ...options }))
    expect(store.entries()).toMatchObject([{ sub: 'ada', time }])
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

  test('a verifier that fails is answered 503, and warned of', async () => {
    const warned = new Promise((resolve) => process.once('warning', resolve))
    const fault = new Error('of the verifier')
    const { send, store } = eventScene({
      authorize: { verify: async () => await Promise.reject(fault), ready: async () => undefined },
    })
    const token = await transmitter.securityEvent({ type, subject: USER })
    expect(await send(token, 'Bearer x')).toMatchObject({ status: 503 })
    expect([await warned, store.calls]).toEqual([fault, 0])
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
