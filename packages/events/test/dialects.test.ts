import { describe, expect, test } from 'vitest'

import { type Claims, type Dialect, now, sampleOf, transmitter } from './dialects.ts'

// Each provider as it documents its events, pushed and polled. What is not as the specifications say is read by their rules, or not at
// all: an opening is an option.

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/'
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/'
const OAUTH = 'https://schemas.openid.net/secevent/oauth/event-type/'

const OKTA = 'https://example.okta.com'
const GOOGLE = 'https://accounts.google.com/'

const okta: Dialect = {
  page: 'okta',
  issuer: OKTA,
  audience: 'https://api.example.com/ssf',
  typ: 'secevent+jwt',
  options: { revokes: 'subject' },
}
const keycloak: Dialect = {
  page: 'keycloak',
  issuer: 'https://kc.example.com/realms/shop',
  audience: 'orders',
  typ: 'secevent+jwt',
  options: { revokes: 'subject' },
}
const google: Dialect = {
  page: 'google',
  issuer: GOOGLE,
  audience: '123456789-abcedfgh.apps.googleusercontent.com',
  typ: 'secevent+jwt',
  options: {
    revokes: 'subject',
    revokeOn: ['sessions-revoked', 'tokens-revoked', 'account-disabled'],
  },
}

/** As Okta tells of a credential. */
const changed = (subject: object) => ({
  events: { [`${CAEP}credential-change`]: { subject, change_type: 'revoke' } },
})
/** With the subject in the event. */
const about = (uri: string, subject: object) => ({ events: { [uri]: { subject } } })
/** With the subject beside the event. */
const of = (type: string, sub_id: object) => ({ sub_id, events: { [type]: {} } })
const ownUser = ({ sub }: Claims) => ({ iss: 'https://login.test', sub: `own-${String(sub)}` })

/** The user whom the sample of the page names, and until when tokens end: whole seconds count to their end. */
const samples: readonly (readonly [dialect: Dialect, user: string, unreadable: string[]])[] = [
  [okta, '00uq8tMo3zV0OfJON0g3', ['event_timestamp']],
  [google, '7375626A656374', []],
  [keycloak, '4b2f0b1e-5a0c-4d5e-9b1a-2f6c1d7e8a90', []],
]

describe.each(samples)('$page', (dialect, user, unreadable) => {
  test('the sample of its page ends the tokens of its user, pushed and polled', async () => {
    const { sign, push, poll } = await transmitter(dialect)
    const token = await sign()
    const whose = { type: 'issued_before', iss: dialect.issuer, sub: user, time: now + 1 }
    const pushed = await push(token)
    expect(pushed).toMatchObject({ status: 202, entries: [whose] })
    expect(pushed.told).toMatchObject([{ outcome: 'recorded', unreadable }])
    const jti = String(sampleOf(dialect.page)['jti'])
    expect(await poll(jti, token)).toMatchObject({ entries: [whose], asked: { ack: [jti] } })
  })

  test.each<[what: string, change: Claims, header: Claims, err: string]>([
    ['for another receiver', { aud: 'https://other.test/ssf' }, {}, 'invalid_audience'],
    ['for nobody', { aud: undefined }, {}, 'invalid_audience'],
    ['of another issuer', { iss: 'https://other.test' }, {}, 'invalid_issuer'],
    ['with sub', { sub: user }, {}, 'invalid_request'],
    ['with exp', { exp: now + 60 }, {}, 'invalid_request'],
    ['without jti', { jti: undefined }, {}, 'invalid_request'],
    ['without events', { events: undefined }, {}, 'invalid_request'],
    ['with the text of events', { events: '{"type":"session-revoked"}' }, {}, 'invalid_request'],
    ['of the type JWT', {}, { typ: 'JWT' }, 'invalid_request'],
    ['without a type', {}, { typ: undefined }, 'invalid_request'],
    ['of the type of a log-out', {}, { typ: 'logout+jwt' }, 'invalid_request'],
  ])('an event %s is refused, and records nothing', async (_what, change, header, err) => {
    const { sign, push, poll } = await transmitter(dialect)
    const token = await sign(change, header)
    expect(await push(token)).toMatchObject({
      status: 400,
      entries: [],
      told: [{ outcome: 'refused', refused: { err } }],
    })
    const polled = await poll('the-name', token)
    expect(polled).toMatchObject({ entries: [], asked: { setErrs: { 'the-name': { err } } } })
  })

  test('of a key of others it is refused', async () => {
    const { push } = await transmitter(dialect)
    const stranger = await transmitter(dialect, 'a stranger')
    expect(await push(await stranger.sign())).toMatchObject({
      status: 400,
      entries: [],
      told: [{ refused: { err: 'invalid_key' } }],
    })
  })
})

describe('Okta', () => {
  test('a credential that has changed names the user itself, and revokes where that is stated', async () => {
    const { sign, push } = await transmitter(okta)
    const token = await sign(changed({ format: 'iss_sub', iss: OKTA, sub: 'user-1' }))
    expect(await push(token)).toMatchObject({ entries: [], told: [{ outcome: 'ignored' }] })
    expect(await push(token, { revokeOn: ['credential-change'] })).toMatchObject({
      entries: [{ iss: OKTA, sub: 'user-1' }],
    })
  })

  test('mapSubject is handed both forms, and names the user of the authorization server', async () => {
    const { sign, push } = await transmitter(okta)
    const seen: unknown[] = []
    const mapSubject = (subject: Claims) => {
      seen.push(subject)
      return { iss: `${OKTA}/oauth2/default`, sub: 'ada@example.com' }
    }
    const user = { format: 'iss_sub', iss: OKTA, sub: '00uq8tMo3zV0OfJON0g3' }
    const entries = [{ iss: `${OKTA}/oauth2/default`, sub: 'ada@example.com' }]
    expect(await push(await sign(), { mapSubject })).toMatchObject({ entries })
    const revokeOn = ['credential-change'] as const
    expect(await push(await sign(changed(user)), { mapSubject, revokeOn })).toMatchObject({
      entries,
    })
    expect(seen).toEqual([{ user }, user])
  })

  test('an organization speaks of its own users alone', async () => {
    const { sign, push } = await transmitter(okta)
    const user = { format: 'iss_sub', iss: 'https://other.okta.com', sub: 'ada' }
    const events = { [`${CAEP}session-revoked`]: { subject: { user } } }
    expect(await push(await sign({ events }))).toMatchObject({ status: 400, entries: [] })
  })
})

describe('Google', () => {
  const user = { subject_type: 'iss-sub', iss: GOOGLE, sub: 'ada' }

  test.each([
    [`${RISC}sessions-revoked`, 'recorded'],
    [`${OAUTH}tokens-revoked`, 'recorded'],
    [`${OAUTH}token-revoked`, 'ignored'],
    [`${RISC}account-enabled`, 'ignored'],
    [`${RISC}account-credential-change-required`, 'ignored'],
    [`${RISC}verification`, 'ignored'],
  ])('%s is %s', async (uri, outcome) => {
    const { sign, push } = await transmitter(google)
    expect(await push(await sign(about(uri, user)))).toMatchObject({
      status: 202,
      told: [{ outcome }],
    })
  })

  test('tokens-revoked revokes only where it is stated', async () => {
    const { sign, push } = await transmitter(google)
    const token = await sign(about(`${OAUTH}tokens-revoked`, user))
    expect(await push(token, { revokeOn: undefined })).toMatchObject({
      status: 202,
      entries: [],
      told: [{ outcome: 'ignored' }],
    })
  })

  test('claims of an ID token as a subject are for mapSubject', async () => {
    const { sign, push } = await transmitter(google)
    const subject = { ...user, subject_type: 'id_token_claims', email: 'ada@example.com' }
    const token = await sign(about(`${RISC}account-disabled`, subject))
    expect(await push(token)).toMatchObject({ status: 400, entries: [] })
    expect(await push(token, { mapSubject: ownUser })).toMatchObject({
      status: 202,
      entries: [{ iss: 'https://login.test', sub: 'own-ada' }],
    })
  })

  test('iss is compared with its slash', async () => {
    const { sign, push } = await transmitter(google)
    expect(await push(await sign({ iss: 'https://accounts.google.com' }))).toMatchObject({
      status: 400,
      told: [{ refused: { err: 'invalid_issuer' } }],
    })
  })
})

describe('Keycloak', () => {
  const user = { format: 'iss_sub', iss: keycloak.issuer, sub: 'ada' }
  const session = { format: 'opaque', id: 's-1' }
  const tenant = { format: 'opaque', id: 'acme' }

  test.each([
    [`${CAEP}session-revoked`, { format: 'complex', user, session }, 'session', { sid: 's-1' }],
    [`${CAEP}session-revoked`, { format: 'complex', user, session }, 'subject', { sub: 'ada' }],
    [`${RISC}account-disabled`, user, 'session', { sub: 'ada' }],
    [`${RISC}account-purged`, user, 'subject', { sub: 'ada' }],
  ] as const)('%s of %j, revokes: %3$s', async (type, subject, revokes, whose) => {
    const { sign, push } = await transmitter(keycloak)
    expect(await push(await sign(of(type, subject)), { revokes })).toMatchObject({
      status: 202,
      entries: [{ iss: keycloak.issuer, ...whose }],
    })
  })

  test.each([
    ['of a tenant', { format: 'complex', user, session, tenant }],
    ['with an address', { format: 'email', email: 'ada@example.com' }],
    [
      'of a tenant, with an address',
      { format: 'complex', user: { format: 'email', email: 'ada@example.com' }, tenant },
    ],
  ])('a subject %s is for mapSubject', async (_what, subject) => {
    const { sign, push } = await transmitter(keycloak)
    const token = await sign(of(`${CAEP}session-revoked`, subject))
    expect(await push(token)).toMatchObject({ status: 400, entries: [] })
    expect(await push(token, { mapSubject: () => ({ sub: 'ada' }) })).toMatchObject({
      status: 202,
      entries: [{ iss: keycloak.issuer, sub: 'ada' }],
    })
  })

  test.each(['verification', 'stream-updated'])(
    '%s of the stream is acknowledged',
    async (type) => {
      const { sign, push, poll } = await transmitter(keycloak)
      const uri = `https://schemas.openid.net/secevent/ssf/event-type/${type}`
      const token = await sign({ ...of(uri, { format: 'opaque', id: 'stream-1' }), jti: 'v-1' })
      expect(await push(token)).toMatchObject({ status: 202, told: [{ outcome: 'ignored' }] })
      expect(await poll('v-1', token)).toMatchObject({ asked: { ack: ['v-1'] }, entries: [] })
    },
  )
})

describe('type: null', () => {
  test.each<[typ: string | undefined, status: number]>([
    ['secevent+jwt', 202],
    ['application/secevent+jwt', 202],
    ['JWT', 202],
    [undefined, 202],
    ['logout+jwt', 400],
    ['at+jwt', 400],
    ['dpop+jwt', 400],
    ['', 400],
  ])('an event whose typ is %j: %d', async (typ, status) => {
    const { sign, push } = await transmitter(google)
    expect(await push(await sign({}, { typ }), { type: null })).toMatchObject({ status })
  })

  test.each<[what: string, change: Claims]>([
    ['an ID token', { sub: 'ada', exp: now + 60, events: undefined, nonce: 'n' }],
    ['an access token', { sub: 'ada', exp: now + 60, events: undefined, client_id: 'a' }],
    ['an event that expires', { exp: now + 60 }],
    ['an event with a subject of tokens', { sub: 'ada' }],
    ['no event', { events: {} }],
    ['a list of events', { events: [`${RISC}account-disabled`] }],
  ])('%s is still refused, pushed and polled', async (_what, change) => {
    const { sign, push, poll } = await transmitter(google)
    const token = await sign(change, { typ: 'JWT' })
    expect(await push(token, { type: null })).toMatchObject({ status: 400, entries: [] })
    expect(await poll('the-name', token, { type: null })).toMatchObject({
      entries: [],
      asked: { setErrs: { 'the-name': { err: 'invalid_request' } } },
    })
  })

  test('is an opening only where it is written', async () => {
    const { push, sign } = await transmitter(google)
    const token = await sign({}, { typ: 'JWT' })
    expect(await push(token, { type: undefined })).toMatchObject({ status: 400 })
  })

  test.each(['JWT', 'jwt', '', 1])('%j in its place is a TypeError', async (type) => {
    const { push, sign } = await transmitter(google)
    const stated = { type: type as never }
    await expect(push(await sign(), stated)).rejects.toThrow("type must be 'secevent+jwt' or null")
  })
})
