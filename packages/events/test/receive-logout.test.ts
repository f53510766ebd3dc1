import { EventEmitter, once } from 'node:events'

import { AuthError, createVerifier, localKeys } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { type LogoutOptions, receiveLogout } from '../src/index.ts'
import { AUDIENCE, clock, ISSUER, issuer, logoutScene, NEVER, read, transmitter } from './scene.ts'

const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'

const bad = {
  session: await transmitter.badEvents({ kind: 'logout', revokes: 'session' }),
  subject: await transmitter.badEvents({ kind: 'logout', revokes: 'subject' }),
}

describe.each(['session', 'subject'] as const)('revokes: %s', (revokes) => {
  test.each(bad[revokes])(
    'a log-out token $name is refused with 400, and nothing is recorded',
    async (each) => {
      const { send, store, told } = logoutScene({ revokes })
      const { status, headers, body } = await send(each.token)
      expect({ status, body: read(body) }).toEqual({
        status: 400,
        body: { error: 'invalid_request', error_description: expect.any(String) as string },
      })
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'application/json',
      })
      expect(store.calls).toBe(0)
      expect(told).toMatchObject([{ outcome: 'refused', refused: { err: each.err }, revokes: [] }])
    },
  )
})

test('a log-out of a session is answered 200 when its session is revoked up to the end of its second', async () => {
  const { send, store, told } = logoutScene()
  const token = await transmitter.logoutToken({ sid: 's-1', sub: 'ada', claims: { jti: 'j-1' } })
  const iat = Math.floor(clock.now())
  expect(await send(token)).toEqual({
    status: 200,
    headers: { 'cache-control': 'no-store', 'content-type': expect.any(String) as string },
    body: '',
  })
  const entry = { type: 'issued_before', iss: ISSUER, sid: 's-1', time: iat + 1 }
  expect(store.entries()).toEqual([entry])
  expect(told).toEqual([
    {
      outcome: 'recorded',
      iss: ISSUER,
      jti: 'j-1',
      types: [LOGOUT],
      claims: {
        iss: ISSUER,
        aud: AUDIENCE,
        iat,
        exp: iat + 120,
        jti: 'j-1',
        sub: 'ada',
        sid: 's-1',
        events: { [LOGOUT]: {} },
      },
      unreadable: [],
      revokes: [entry],
      refused: undefined,
      error: undefined,
    },
  ])
})

test('a log-out of a user revokes all tokens of the user, for as long as one can be valid', async () => {
  const { send, store } = logoutScene({ revokes: 'subject', maxTokenLifetime: 900 })
  await send(await transmitter.logoutToken({ sub: 'ada' }))
  const time = Math.floor(clock.now()) + 1
  expect(store.entries()).toEqual([
    { type: 'issued_before', iss: ISSUER, sub: 'ada', time, until: time + 900 + 600 },
  ])
})

describe('whose tokens a log-out ends', () => {
  test.each([
    ['session', { sid: 's-1', sub: 'ada' }, { sid: 's-1' }],
    ['session', { sid: 's-1' }, { sid: 's-1' }],
    ['session', { sub: 'ada' }, { sub: 'ada' }],
    ['subject', { sid: 's-1', sub: 'ada' }, { sub: 'ada' }],
    ['subject', { sub: 'ada' }, { sub: 'ada' }],
  ] as const)('revokes: %s, of a log-out with %j: %j', async (revokes, named, whose) => {
    const { send, store } = logoutScene({ revokes })
    expect(await send(await transmitter.logoutToken(named))).toMatchObject({ status: 200 })
    const time = Math.floor(clock.now()) + 1
    expect(store.entries()).toEqual([{ type: 'issued_before', iss: ISSUER, ...whose, time }])
  })

  test.each([7, '', ['s-1'], { id: 's-1' }, true, '\ud800'])(
    'a sid that is %j is not none: 400, and no other session of the user ends',
    async (sid) => {
      const { send, store } = logoutScene()
      const token = await transmitter.logoutToken({ sub: 'ada', claims: { sid } })
      expect(await send(token)).toMatchObject({ status: 400 })
      expect(store.calls).toBe(0)
    },
  )

  test('a user who is logged out everywhere is refused on each device, until the next log-in', async () => {
    const { send, store } = logoutScene()
    const verifier = createVerifier({ ...issuer.verifierOptions, revocations: store.local })
    await send(await transmitter.logoutToken({ sub: 'ada' }))
    for (const sid of ['s-1', 's-2']) {
      await expect(verifier.verify(await tokenOf(sid, 0, 'ada'))).rejects.toMatchObject({
        reason: 'revoked',
      })
    }
    await expect(verifier.verify(await tokenOf('s-3', 1, 'ada'))).resolves.toBeDefined()
    await expect(verifier.verify(await tokenOf('s-4', 0, 'eve'))).resolves.toBeDefined()
  })
})

test('tokens of the session are refused, those of others and of later log-ins are not', async () => {
  const { send, store } = logoutScene()
  const verifier = createVerifier({ ...issuer.verifierOptions, revocations: store.local })
  await send(await transmitter.logoutToken({ sid: 's-1' }))
  await expect(verifier.verify(await tokenOf('s-1'))).rejects.toMatchObject({ reason: 'revoked' })
  await expect(verifier.verify(await tokenOf('s-2'))).resolves.toBeDefined()
  await expect(verifier.verify(await tokenOf('s-1', 1))).resolves.toBeDefined()
})

test('a log-out that comes late ends no newer log-in', async () => {
  const { send, store } = logoutScene({ revokes: 'subject' })
  const token = await transmitter.logoutToken({ sub: 'ada' })
  const iat = Math.floor(clock.now())
  await clock.advance(100)
  await send(token)
  expect(store.local.statusOf({ iss: ISSUER, sub: 'ada', iat }, clock.now())).toBe('revoked')
  expect(store.local.statusOf({ iss: ISSUER, sub: 'ada', iat: iat + 50 }, clock.now())).toBe(
    'valid',
  )
})

test('the parameter that Keycloak adds to the events is no event', async () => {
  const { send } = logoutScene()
  const events = { [LOGOUT]: {}, revoke_offline_access: true }
  const token = await transmitter.logoutToken({ sid: 's-1', claims: { events } })
  expect(await send(token)).toMatchObject({ status: 200 })
})

test('a second event beside that of the log-out changes nothing', async () => {
  const { send, store, told } = logoutScene()
  const other = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
  const events = { [LOGOUT]: {}, [other]: { subject: { format: 'opaque', id: 's-9' } } }
  const token = await transmitter.logoutToken({ sid: 's-1', claims: { events } })
  expect(await send(token)).toMatchObject({ status: 200 })
  expect(store.entries()).toMatchObject([{ sid: 's-1' }])
  expect(told).toMatchObject([{ outcome: 'recorded', types: [LOGOUT, other] }])
})

describe('a log-out token without exp', () => {
  const keys = localKeys(issuer.publicJwk)
  test('is refused, in words that name the option', async () => {
    const { send, store } = logoutScene()
    const { status, body } = await send(await endless())
    expect([status, body]).toEqual([400, expect.stringContaining('requireExpiry: false')])
    expect(store.calls).toBe(0)
  })

  test.each([
    ['at once', 0, {}, 200],
    ['within a day', 86_400, {}, 200],
    ['after a day, and what clocks may differ in', 86_406, {}, 400],
    ['within the age that is stated', 3600, { maxTokenAge: 3600 }, 200],
    ['later than that', 3606, { maxTokenAge: 3600 }, 400],
  ])('with requireExpiry: false, %s', async (_, later, options, status) => {
    const token = await endless()
    const ours = manualClock(Math.floor(clock.now()) + later)
    const { send, store } = logoutScene({ keys, clock: ours, requireExpiry: false, ...options })
    expect(await send(token)).toMatchObject({ status })
    expect(store.calls).toBe(status === 200 ? 1 : 0)
  })

  test('with requireExpiry: false, one that has an end is still refused behind it', async () => {
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const ours = manualClock(Math.floor(clock.now()) + 126)
    const { send } = logoutScene({ keys, clock: ours, requireExpiry: false })
    expect(await send(token)).toMatchObject({ status: 400 })
  })

  test('whose replay comes a day later ends no newer log-in', async () => {
    const token = await endless()
    const iat = Math.floor(clock.now())
    const { send, store } = logoutScene({
      keys,
      clock: manualClock(iat + 80_000),
      requireExpiry: false,
    })
    await send(token)
    expect(store.entries()).toMatchObject([{ sid: 's-1', time: iat + 1 }])
  })
})

describe('a claim that is null is absent', () => {
  const named = { sub: 'ada', sid: 's-1' }
  test.each([
    ['sid', 'session', { sid: null }, { sub: 'ada' }],
    ['sub', 'session', { sub: null }, { sid: 's-1' }],
    ['sid', 'subject', { sid: null }, { sub: 'ada' }],
    ['nbf', 'session', { nbf: null }, { sid: 's-1' }],
    ['nonce', 'session', { nonce: null }, { sid: 's-1' }],
    ['an event beside', 'session', { events: { [LOGOUT]: {}, x: null } }, { sid: 's-1' }],
  ] as const)('%s, revokes: %s', async (_, revokes, claims, whose) => {
    const { send, store, told } = logoutScene({ revokes })
    expect(await send(await transmitter.logoutToken({ ...named, claims }))).toMatchObject({
      status: 200,
    })
    expect(store.entries()).toMatchObject([whose])
    expect(JSON.stringify(told[0]?.claims)).not.toContain('null')
  })

  test.each([
    ['exp, which must be there', {}, { exp: null }],
    ['sub, where users are revoked', { revokes: 'subject' }, { sub: null }],
    ['both names', {}, { sub: null, sid: null }],
    ['jti', {}, { jti: null }],
    ['iat', {}, { iat: null }],
    ['iss', {}, { iss: null }],
    ['aud', {}, { aud: null }],
    ['events', {}, { events: null }],
    ['the event', {}, { events: { [LOGOUT]: null } }],
  ] as const)('%s: 400', async (_, options, claims) => {
    const { send, store } = logoutScene(options)
    expect(await send(await transmitter.logoutToken({ ...named, claims }))).toMatchObject({
      status: 400,
    })
    expect(store.calls).toBe(0)
  })

  test('exp, where it need not be there', async () => {
    const { send } = logoutScene({ requireExpiry: false })
    const claims = { exp: null }
    expect(await send(await transmitter.logoutToken({ ...named, claims }))).toMatchObject({
      status: 200,
    })
  })
})

test.each([
  ['among the claims', '"__proto__":{"sid":"s-2"}'],
  ['in an event', `"events":{"${LOGOUT}":{"__proto__":{}}}`],
  ['in place of an event', `"events":{"__proto__":{"${LOGOUT}":{}}}`],
])('a member __proto__ %s is refused, before anybody sees it', async (_, member) => {
  const { send, store, told } = logoutScene()
  const now = Math.floor(clock.now())
  const rest = `"iss":"${ISSUER}","aud":"${AUDIENCE}","iat":${now},"exp":${now + 60},"jti":"j","sid":"s"`
  const payload = `{${rest},${member}}`
  const token = await issuer.token({ payload, header: { typ: 'logout+jwt' } })
  expect(await send(token)).toMatchObject({ status: 400 })
  expect(store.calls).toBe(0)
  expect(told).toMatchObject([{ outcome: 'refused', claims: undefined }])
})

test('a member that is there twice, at whatever depth, is refused', async () => {
  const { send, store } = logoutScene()
  const now = Math.floor(clock.now())
  const rest = `"iss":"${ISSUER}","aud":"${AUDIENCE}","iat":${now},"exp":${now + 60},"jti":"j","sid":"s"`
  const signed = async (events: string) =>
    await issuer.token({ payload: `{${rest},"events":${events}}`, header: { typ: 'logout+jwt' } })
  expect(await send(await signed(`{"${LOGOUT}":{},"${LOGOUT}":{}}`))).toMatchObject({ status: 400 })
  expect(await send(await signed(`{"${LOGOUT}":{"a":1,"a":2}}`))).toMatchObject({
    status: 400,
    body: expect.stringContaining('"The token has a member twice"') as string,
  })
  expect(store.calls).toBe(0)
  expect(await send(await signed(`{"${LOGOUT}":{}}`))).toMatchObject({ status: 200 })
})

test('half of a character as a name is refused, since no store can write it', async () => {
  const { send, store } = logoutScene()
  const token = await transmitter.logoutToken({ claims: { sid: '\ud800' } })
  expect(await send(token)).toMatchObject({ status: 400 })
  expect(store.calls).toBe(0)
})

describe('the type', () => {
  test.each([
    ['logout+jwt', 200, 200],
    ['application/LOGOUT+JWT', 200, 200],
    ['JWT', 400, 200],
    ['jwt', 400, 200],
    [undefined, 400, 200],
    ['at+jwt', 400, 400],
    ['secevent+jwt', 400, 400],
  ] as const)('%s: %i, and with type: null %i', async (typ, required, optional) => {
    const header = typ === undefined ? {} : { typ }
    const omit = typ === undefined ? ['typ'] : []
    const token = await transmitter.logoutToken({ sid: 's-1', header, omit })
    expect(await logoutScene().send(token)).toMatchObject({ status: required })
    expect(await logoutScene({ type: null }).send(token)).toMatchObject({ status: optional })
  })

  test.each([7, null, ['logout+jwt'], {}])('%j, which is no text, is refused', async (typ) => {
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ })).toString('base64url')
    const token = `${header}.e30.AAAA`
    expect(await logoutScene().send(token)).toMatchObject({ status: 400 })
    expect(await logoutScene({ type: null }).send(token)).toMatchObject({ status: 400 })
  })

  test('with type: null, access tokens and ID tokens are still refused', async () => {
    const { send, store } = logoutScene({ type: null })
    const idToken = { aud: AUDIENCE, sub: 'ada', sid: 's-1', nonce: 'n', jti: 'j' }
    for (const claims of [idToken, { ...idToken, nonce: undefined }, { sid: 's-1', jti: 'j' }]) {
      expect(await send(await issuer.token({ claims }))).toMatchObject({ status: 400 })
    }
    expect(store.calls).toBe(0)
  })
})

test('a log-out token is no access token, not even for an API that is named as the client is', async () => {
  const verifier = createVerifier({ ...issuer.verifierOptions, audience: AUDIENCE })
  const named = { sub: 'ada', sid: 's-1' }
  for (const changes of [{}, { omit: ['typ'] }, { header: { typ: 'JWT' } }]) {
    const token = await transmitter.logoutToken({ ...named, ...changes })
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'type' })
  }
})

test.each([
  [{ sub: 'ada', sid: null }, { sub: 'ada' }],
  [{ sub: 'ada', nonce: null }, { sub: 'ada' }],
])('what is null is absent: %j', async (said, revoked) => {
  const { send, store } = logoutScene({ revokes: 'subject' })
  const token = await transmitter.logoutToken({ sub: 'ada', claims: said })
  expect(await send(token)).toMatchObject({ status: 200 })
  expect(store.entries()).toMatchObject([revoked])
})

describe('once, and never lost', () => {
  test('a repeat is acknowledged as the first was, and changes nothing', async () => {
    const { send, store, told } = logoutScene()
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const answers = [await send(token), await send(token), await send(token)]
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(store.calls).toBe(1)
    expect(told.map(({ outcome }) => outcome)).toEqual(['recorded', 'repeated', 'repeated'])
  })

  test('what could not be recorded is answered 503, and its repeat is recorded', async () => {
    const { send, store, told } = logoutScene()
    const token = await transmitter.logoutToken({ sid: 's-1' })
    store.isDown = true
    expect(await send(token)).toEqual({
      status: 503,
      headers: { 'cache-control': 'no-store', 'content-type': expect.any(String) as string },
      body: '',
    })
    const about = { iss: ISSUER, jti: expect.any(String) as string, types: [LOGOUT] }
    const revokes = [{ type: 'issued_before', sid: 's-1' }]
    expect(told).toMatchObject([
      { outcome: 'unavailable', error: new Error('down'), ...about, revokes },
    ])
    store.isDown = false
    expect(await send(token)).toMatchObject({ status: 200 })
    expect(store.entries()).toHaveLength(1)
  })

  test('what was recorded though its answer was lost is recorded again, and told as the first', async () => {
    const { send, store, told } = logoutScene()
    const token = await transmitter.logoutToken({ sid: 's-1' })
    store.losesAnswers = true
    expect(await send(token)).toMatchObject({ status: 503 })
    store.losesAnswers = false
    expect(await send(token)).toMatchObject({ status: 200 })
    expect(await send(token)).toMatchObject({ status: 200 })
    expect([store.calls, store.entries().length]).toEqual([2, 1])
    expect(told.map(({ outcome }) => outcome)).toEqual(['unavailable', 'recorded', 'repeated'])
  })

  test('two log-outs of one session are two, by their jti', async () => {
    const { send, told } = logoutScene()
    await send(await transmitter.logoutToken({ sid: 's-1', claims: { jti: 'a' } }))
    await send(await transmitter.logoutToken({ sid: 's-1', claims: { jti: 'b' } }))
    expect(told.map(({ outcome, jti }) => [outcome, jti])).toEqual([
      ['recorded', 'a'],
      ['recorded', 'b'],
    ])
  })

  test('a slow store keeps only its own event waiting', async () => {
    const { send, store } = logoutScene()
    const held = new EventEmitter()
    store.pause = once(held, 'over').then(() => undefined)
    const slow = send(await transmitter.logoutToken({ sid: 's-1' }))
    while (store.calls === 0) await nextTurn()
    store.pause = undefined
    expect(await send(await transmitter.logoutToken({ sid: 's-2' }))).toMatchObject({ status: 200 })
    expect(store.entries()).toMatchObject([{ sid: 's-2' }])
    held.emit('over')
    expect(await slow).toMatchObject({ status: 200 })
  })

  test('nothing is answered before it is recorded, not even what came at the same time', async () => {
    const { send, store, told } = logoutScene()
    const held = new EventEmitter()
    store.pause = once(held, 'over').then(() => undefined)
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const answered: number[] = []
    const all = [send(token), send(token)].map(async (each) => answered.push((await each).status))
    while (store.calls === 0) await nextTurn()
    for (let round = 0; round < 20; round++) await nextTurn()
    expect([answered, told]).toEqual([[], []])
    held.emit('over')
    await Promise.all(all)
    expect(answered).toEqual([200, 200])
    expect(store.calls).toBe(1)
    expect(told.map(({ outcome }) => outcome)).toEqual(['recorded', 'repeated'])
  })

  test('both of two that come at the same time are answered 503 when the store is down', async () => {
    const { send, store } = logoutScene()
    store.isDown = true
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const answers = await Promise.all([send(token), send(token)])
    expect(answers.map(({ status }) => status)).toEqual([503, 503])
  })

  test('of an issuer that gives two log-outs one jti, both are recorded', async () => {
    const { send, store } = logoutScene()
    await send(await transmitter.logoutToken({ sid: 's-1', claims: { jti: 'j' } }))
    await send(await transmitter.logoutToken({ sid: 's-2', claims: { jti: 'j' } }))
    expect(store.entries()).toHaveLength(2)
  })

  test('without keys it is answered 503, with the pause of the keys', async () => {
    const time = manualClock()
    const other = await createTestIssuer({ clock: time, issuer: ISSUER, algorithm: 'ES256' })
    const outage = other.outage(503)
    const { send, store } = logoutScene({ keys: other.verifierOptions.keys })
    const token = await eventTransmitter(other, { audience: AUDIENCE }).logoutToken({ sid: 's' })
    const refused = await send(token)
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.any(String) as string },
    })
    expect(store.calls).toBe(0)
    outage.restore()
    await time.advance(60)
    const later = await eventTransmitter(other, { audience: AUDIENCE }).logoutToken({ sid: 's' })
    expect(await send(later)).toMatchObject({ status: 200 })
  })
})

describe('a store that hangs', () => {
  test('is given up after 10 s: 503, and the repeat is recorded', async () => {
    const { send, store, told, time } = hangingScene()
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const answer = send(token)
    await untilCalled(store, 1)
    await time.advance(9.9)
    expect(told).toEqual([])
    await time.advance(0.1)
    expect(await answer).toMatchObject({ status: 503 })
    const error = new Error('revocations did not answer in 10 s')
    expect(told).toMatchObject([{ outcome: 'unavailable', error }])
    store.pause = undefined
    expect(await send(token)).toMatchObject({ status: 200 })
    expect([store.calls, store.entries().length, told.at(-1)?.outcome]).toEqual([2, 1, 'recorded'])
  })

  test('after the time that is stated', async () => {
    const { send, store, time } = hangingScene({ recordTimeout: 3 })
    const answer = send(await transmitter.logoutToken({ sid: 's-1' }))
    await untilCalled(store, 1)
    await time.advance(3)
    expect(await answer).toMatchObject({ status: 503 })
  })

  test('has 100 calls at the most: other log-outs are 503 without a call, and recorded later', async () => {
    const { send, store, time } = hangingScene()
    const tokens = await Promise.all(
      Array.from(
        { length: 130 },
        async (_, at) => await transmitter.logoutToken({ sid: `s-${at}` }),
      ),
    )
    const answered: number[] = []
    const answers = tokens.map(async (token) => answered.push((await send(token)).status))
    // One that is checked when the calls have been given up would make the next one, and wait for it.
    while (answered.length < 30) await nextTurn()
    expect([new Set(answered), store.calls]).toEqual([new Set([503]), 100])
    await time.advance(10)
    await Promise.all(answers)
    expect([answered.length, new Set(answered)]).toEqual([130, new Set([503])])
    expect(store.calls).toBe(100)
    store.pause = undefined
    await time.advance(10)
    for (const token of tokens) expect(await send(token)).toMatchObject({ status: 200 })
    expect(store.entries()).toHaveLength(130)
  })

  test('and that takes the log-out after all, when it was given up, changes nothing', async () => {
    const { send, store, time } = hangingScene()
    const held = new EventEmitter()
    store.pause = once(held, 'over').then(() => undefined)
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const answer = send(token)
    await untilCalled(store, 1)
    await time.advance(10)
    expect(await answer).toMatchObject({ status: 503 })
    held.emit('over')
    await nextTurn()
    expect(store.entries()).toHaveLength(1)
    store.pause = undefined
    expect(await send(token)).toMatchObject({ status: 200 })
    expect(store.entries()).toHaveLength(1)
  })
})

test('a flood of forged log-outs asks for keys as often as one of forged access tokens, and keeps no sound one waiting', async () => {
  const time = manualClock()
  const other = await createTestIssuer({ clock: time, issuer: ISSUER, algorithm: 'ES256' })
  const forger = await createTestIssuer({ clock: time, issuer: ISSUER, algorithm: 'ES256' })
  const { send, store } = logoutScene({ keys: other.verifierOptions.keys })
  const forgery = eventTransmitter(forger, { audience: AUDIENCE })
  const forged = await Promise.all(
    Array.from({ length: 200 }, async () => await forgery.logoutToken({ sid: 's-1' })),
  )
  const sound = eventTransmitter(other, { audience: AUDIENCE })
  expect(await send(await sound.logoutToken({ sid: 's-2' }))).toMatchObject({ status: 200 })
  const during = await sound.logoutToken({ sid: 's-3' })
  const answers = Promise.all(forged.map(async (token) => (await send(token)).status))
  expect(await send(during)).toMatchObject({ status: 200 })
  const isOver = answers.then(() => true)
  while (!(await Promise.race([isOver, nextTurn()]))) await time.advance(0.1)
  expect(new Set(await answers)).toEqual(new Set([400]))
  expect(other.requests().length).toBeLessThanOrEqual(5)
  expect(store.entries()).toMatchObject([{ sid: 's-2' }, { sid: 's-3' }])
})

describe('what is told of an event that is refused', () => {
  test('of one that nobody has proven, nothing but why', async () => {
    const { send, told } = logoutScene()
    const forger = await createTestIssuer({ clock, issuer: ISSUER, algorithm: 'ES256' })
    const forgery = eventTransmitter(forger, { audience: AUDIENCE })
    await send(await forgery.logoutToken({ sid: 's-1' }))
    expect(told).toEqual([
      {
        outcome: 'refused',
        iss: undefined,
        jti: undefined,
        types: [],
        claims: undefined,
        unreadable: [],
        revokes: [],
        refused: { err: 'invalid_key', description: expect.any(String) as string },
        error: expect.any(AuthError) as unknown,
      },
    ])
  })

  test('of one that is proven, its issuer and its name', async () => {
    const { send, told } = logoutScene()
    await send(await transmitter.logoutToken({ claims: { jti: 'j-1' } }))
    expect(told).toMatchObject([{ outcome: 'refused', iss: ISSUER, jti: 'j-1', error: undefined }])
  })
})

describe('the clock', () => {
  const keys = localKeys(issuer.publicJwk)

  test.each([
    ['a log-out that has just expired', 120 + 59, 60, 200],
    ['one that expired before', 120 + 60, 60, 400],
    ['one that is told by a clock that is ahead', -60, undefined, 200],
    ['one that is told by a clock that is far ahead', -62, undefined, 400],
  ])('%s', async (_, later, clockTolerance, status) => {
    const token = await transmitter.logoutToken({ sid: 's-1' })
    const ours = manualClock(Math.floor(clock.now()) + later)
    const { send } = logoutScene({ keys, clock: ours, clockTolerance })
    expect(await send(token)).toMatchObject({ status })
  })

  test('that is set forward and back again forgets no log-out', async () => {
    const ours = manualClock(clock.now())
    const { send, store } = logoutScene({ keys, clock: ours })
    const token = await transmitter.logoutToken({ sid: 's-1' })
    expect(await send(token)).toMatchObject({ status: 200 })
    ours.set(clock.now() + 86_400)
    expect(await send(token)).toMatchObject({ status: 400 })
    ours.set(clock.now() - 30)
    expect(await send(token)).toMatchObject({ status: 200 })
    expect([store.calls, store.entries().length]).toEqual([1, 1])
  })
})

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('of the listener')
    },
  ],
  ['rejects', async () => await Promise.reject(new Error('of the listener'))],
])('a listener that %s changes no answer, and is warned of', async (_, onEvent) => {
  const { send } = logoutScene({ onEvent: () => onEvent() })
  const warned = new Promise((resolve) => process.once('warning', resolve))
  expect(await send(await transmitter.logoutToken({ sid: 's-1' }))).toMatchObject({ status: 200 })
  expect(await warned).toMatchObject({ message: 'of the listener' })
})

test('a listener that fails with nothing is warned of as well; one that is not there is not', async () => {
  const warnings: string[] = []
  const listen = ({ message }: Error) => {
    if (message.includes('onEvent')) warnings.push(message)
  }
  process.on('warning', listen)
  const nothing = AbortSignal.abort(null)
  for (const onEvent of [undefined, () => nothing.throwIfAborted()]) {
    const { send } = logoutScene({ onEvent })
    await send(await transmitter.logoutToken({ sid: 's-1' }))
    await nextTurn()
  }
  process.off('warning', listen)
  expect(warnings).toEqual(['onEvent failed'])
})

describe('options', () => {
  const { keys } = issuer.verifierOptions
  const { revocations } = logoutScene().store
  const sound = {
    keys,
    issuer: ISSUER,
    clientId: AUDIENCE,
    revocations,
    revokes: 'session',
  } as const

  test.each(['keys', 'issuer', 'clientId', 'revocations', 'revokes'])('%s is required', (name) => {
    expect(() => receiveLogout({ ...sound, [name]: undefined })).toThrow(
      new TypeError(`receiveLogout: ${name} must be stated`),
    )
  })

  test('what is inherited is not stated', () => {
    expect(() => receiveLogout(Object.create(sound) as typeof sound)).toThrow(
      new TypeError('receiveLogout: keys must be stated'),
    )
  })

  test.each([
    ['issuer', null],
    ['issuer', 7],
    ['clientId', null],
    ['clientId', []],
    ['clientId', ['app', null]],
    ['revokes', 'token'],
    ['type', 'JWT'],
    ['keys', {}],
    ['revocations', { revoke() {} }],
    ['maxTokenLifetime', 0],
    ['onEvent', 'log'],
    ['clockTolerance', 601],
    ['clock', {}],
    ['requireExpiry', 'no'],
    ['recordTimeout', 0],
    ['recordTimeout', 601],
    ['maxTokenAge', 0],
    ['audience', 'api'],
  ])('%s: %j is a TypeError that says so', (name, value) => {
    const create = () => receiveLogout({ ...sound, [name]: value })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(
      new RegExp(`^receiveLogout: (unknown option "${name}",|${name} must (be|have) )`),
    )
  })

  test('the usual type may be stated', () => {
    expect(() => receiveLogout({ ...sound, type: 'logout+jwt' })).not.toThrow()
  })
})

async function nextTurn(): Promise<false> {
  return await new Promise((resolve) => setImmediate(() => resolve(false)))
}

async function tokenOf(sid: string, later = 0, sub = 'bob'): Promise<string> {
  return await issuer.token({ claims: { sid, sub, iat: Math.floor(clock.now()) + later } })
}

async function endless(): Promise<string> {
  return await transmitter.logoutToken({ sid: 's-1', omit: ['exp'] })
}

async function untilCalled(store: { readonly calls: number }, times: number): Promise<void> {
  while (store.calls < times) await nextTurn()
}

/** Its time is its own, and no keys are waited for. */
function hangingScene(options: Partial<LogoutOptions> = {}) {
  const time = manualClock(clock.now())
  const scene = logoutScene({ keys: localKeys(issuer.publicJwk), clock: time, ...options })
  scene.store.pause = NEVER
  return { ...scene, time }
}
