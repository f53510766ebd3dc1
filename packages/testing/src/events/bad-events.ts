import type { TestIssuer } from '../issuer.ts'
import {
  type LogoutTokenOptions,
  type EventTokenOptions,
  signLogoutToken,
  signSecurityEvent,
} from './event-token.ts'

// Events of every kind that a receiver must refuse.

/** An event that must be refused, with the code that its sender is told (RFC 8935 section 2.4). */
export interface BadEvent {
  readonly name: string
  readonly err: 'invalid_request' | 'invalid_key' | 'invalid_issuer' | 'invalid_audience'
  readonly token: string
}

type Row = readonly [err: BadEvent['err'], name: string, make: () => Promise<string>]

export interface BadEventParts {
  readonly issuer: TestIssuer
  /** Of the same name, with another key. */
  readonly forger: TestIssuer
  readonly audience: string
  readonly now: number
  readonly revokes: 'session' | 'subject'
}

const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'
const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'

export async function createBadLogouts(parts: BadEventParts): Promise<readonly BadEvent[]> {
  const { issuer, forger, audience, now, revokes } = parts
  const sign = async (options: LogoutTokenOptions = {}, signer = issuer) =>
    await signLogoutToken(signer, audience, { sub: 'ada', sid: 's-1', ...options })
  const claims = (changed: Readonly<Record<string, unknown>>) => async () =>
    await sign({ claims: changed })
  const without =
    (...omit: readonly string[]) =>
    async () =>
      await sign({ omit })
  return await made([
    ...badForms(parts, sign),
    ['invalid_key', 'forged', async () => await sign({}, forger)],
    ['invalid_request', 'expired', claims({ iat: now - 300, exp: now - 180 })],
    ['invalid_request', 'without an end', without('exp')],
    ['invalid_request', 'with an end that is null', claims({ exp: null })],
    ['invalid_request', 'with a nonce', claims({ nonce: 'n' })],
    ['invalid_request', 'with another event', claims({ events: { [REVOKED]: {} } })],
    ['invalid_request', 'with events that are null', claims({ events: null })],
    ['invalid_request', 'with an event that is no object', claims({ events: { [LOGOUT]: true } })],
    ['invalid_request', 'of nobody', without('sub', 'sid')],
    ['invalid_request', 'of a user that is a number', claims({ sub: 7 })],
    ['invalid_request', 'of a session without a name', claims({ sid: '' })],
    ['invalid_request', 'of a session in a list', claims({ sid: ['s-1'] })],
    // With `revokes: 'session'` a log-out without `sid` means all sessions of its user.
    ...only(revokes === 'subject', [
      'invalid_request',
      'of a session, where users are revoked',
      without('sub'),
    ]),
    ['invalid_request', 'that is an ID token', idToken(parts)],
  ])
}

export async function createBadSecurityEvents(parts: BadEventParts): Promise<readonly BadEvent[]> {
  const { issuer, forger, audience, now, revokes } = parts
  const iss = String(issuer.verifierOptions.issuer)
  const user = { format: 'iss_sub', iss, sub: 'ada' }
  const session = { format: 'opaque', id: 's-1' }
  const usual = { type: 'session-revoked', subject: { format: 'complex', user, session } }
  const sign = async (options: Partial<EventTokenOptions> = {}, signer = issuer) =>
    await signSecurityEvent(signer, audience, { ...usual, ...options })
  const claims = (changed: Readonly<Record<string, unknown>>) => async () =>
    await sign({ claims: changed })
  const of = (subject: EventTokenOptions['subject']) => async () => await sign({ subject })
  return await made([
    ...badForms(parts, sign),
    ['invalid_key', 'forged', async () => await sign({}, forger)],
    ['invalid_request', 'with an end', claims({ exp: now + 300 })],
    ['invalid_request', 'with a sub', claims({ sub: 'ada' })],
    ['invalid_request', 'with an event that is no object', claims({ events: { [REVOKED]: 1 } })],
    ['invalid_request', 'without a subject', async () => await sign({ omit: ['sub_id'] })],
    ['invalid_request', 'of a subject without a format', of({ sub: 'ada' })],
    ['invalid_request', 'of a user of another issuer', of({ ...user, iss: `${iss}.test` })],
    ['invalid_request', 'of a user with a member more', of({ ...user, tenant: 't' })],
    ['invalid_request', 'of an address', of({ format: 'email', email: 'ada@api.test' })],
    ['invalid_request', 'of an account', of({ format: 'account', uri: 'acct:ada@api.test' })],
    [
      'invalid_request',
      'of a token of another issuer',
      of({ format: 'jwt_id', iss: 'x', jti: 'j' }),
    ],
    [
      'invalid_request',
      'of a whole account by one of its tokens',
      async () =>
        await sign({ type: 'account-disabled', subject: { format: 'jwt_id', iss, jti: 'j' } }),
    ],
    [
      'invalid_request',
      'of one device of a user',
      of({ ...usual.subject, device: { format: 'opaque', id: 'd' } }),
    ],
    [
      'invalid_request',
      'of a whole account by one of its sessions',
      async () => await sign({ type: 'account-disabled', subject: { format: 'complex', session } }),
    ],
    ...only(revokes === 'subject', [
      'invalid_request',
      'of a session, where users are revoked',
      of(session),
    ]),
    [
      'invalid_request',
      'that is a log-out token',
      async () => await signLogoutToken(issuer, audience, { sub: 'ada', sid: 's-1' }),
    ],
  ])
}

/** What is wrong with both kinds in the same way. */
function badForms(
  { issuer, audience, now }: BadEventParts,
  sign: (options: LogoutTokenOptions) => Promise<string>,
): readonly Row[] {
  const claims = (changed: Readonly<Record<string, unknown>>) => async () =>
    await sign({ claims: changed })
  const typed = (typ: string) => async () => await sign({ header: { typ } })
  return [
    ['invalid_request', 'that is no token', async () => 'not a token'],
    ['invalid_request', 'that is an access token', async () => await issuer.token()],
    ['invalid_request', 'of the type of access tokens', typed('at+jwt')],
    ['invalid_request', 'of a type that begins alike', typed('logout+jwts')],
    [
      'invalid_issuer',
      'of another issuer',
      claims({ iss: `${String(issuer.verifierOptions.issuer)}.test` }),
    ],
    ['invalid_audience', 'for another audience', claims({ aud: `${audience}.test` })],
    ['invalid_audience', 'for nobody', async () => await sign({ omit: ['aud'] })],
    ['invalid_request', 'from the future', claims({ iat: now + 3600 })],
    ['invalid_request', 'without a time', async () => await sign({ omit: ['iat'] })],
    ['invalid_request', 'without a name', async () => await sign({ omit: ['jti'] })],
    ['invalid_request', 'with a name that is a number', claims({ jti: 7 })],
    ['invalid_request', 'without events', async () => await sign({ omit: ['events'] })],
    ['invalid_request', 'with no event', claims({ events: {} })],
    ['invalid_request', 'with events in a list', claims({ events: [REVOKED] })],
  ]
}

function only(condition: boolean, row: Row): readonly Row[] {
  return condition ? [row] : []
}

function idToken({ issuer, audience }: BadEventParts): () => Promise<string> {
  return async () =>
    await issuer.token({ claims: { aud: audience, sub: 'ada', sid: 's-1', nonce: 'n', jti: 'j' } })
}

async function made(rows: readonly Row[]): Promise<readonly BadEvent[]> {
  return await Promise.all(
    rows.map(async ([err, name, make]) => ({ name, err, token: await make() })),
  )
}
