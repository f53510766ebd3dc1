import type { TestIssuer } from '../issuer.ts'
import { rows } from '../rows.ts'
import {
  type EventTokenOptions,
  LOGOUT_EVENT,
  type LogoutTokenOptions,
  signLogoutToken,
  signSecurityEvent,
  uriOf,
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
  readonly forger: TestIssuer
  readonly audience: string
  readonly now: number
  readonly revokes: 'session' | 'subject'
}

const OF_A_SESSION = 'of a session, where users are revoked'
const REVOKED = uriOf('session-revoked')

/** How to sign an event that is sound but for what is stated. */
type Signing<Options> = (options: Options, signer?: TestIssuer) => () => Promise<string>

export async function createBadLogouts(parts: BadEventParts): Promise<readonly BadEvent[]> {
  const { issuer, forger, audience, now, revokes } = parts
  const signing: Signing<LogoutTokenOptions> =
    (options, signer = issuer) =>
    async () =>
      await signLogoutToken(signer, audience, { sub: 'ada', sid: 's-1', ...options })
  const claims = (changed: Readonly<Record<string, unknown>>) => signing({ claims: changed })
  const idToken = { aud: audience, sub: 'ada', sid: 's-1', nonce: 'n', jti: 'j' }
  return await made([
    ...badForms(parts, signing),
    ['invalid_key', 'forged', signing({}, forger)],
    ...rows<Row>('invalid_request', {
      expired: claims({ iat: now - 300, exp: now - 180 }),
      'without an end': signing({ omit: ['exp'] }),
      'with an end that is null': claims({ exp: null }),
      'with a nonce': claims({ nonce: 'n' }),
      'with another event': claims({ events: { [REVOKED]: {} } }),
      'with events that are null': claims({ events: null }),
      'with an event that is no object': claims({ events: { [LOGOUT_EVENT]: true } }),
      'of nobody': signing({ omit: ['sub', 'sid'] }),
      'of a user that is a number': claims({ sub: 7 }),
      'of a session without a name': claims({ sid: '' }),
      'of a session in a list': claims({ sid: ['s-1'] }),
      // With `revokes: 'session'` a log-out without `sid` means all sessions of its user.
      ...(revokes === 'subject' ? { [OF_A_SESSION]: signing({ omit: ['sub'] }) } : {}),
      'that is an ID token': async () => await issuer.token({ claims: idToken }),
    }),
  ])
}

export async function createBadSecurityEvents(parts: BadEventParts): Promise<readonly BadEvent[]> {
  const { issuer, forger, audience, now, revokes } = parts
  const iss = String(issuer.verifierOptions.issuer)
  const user = { format: 'iss_sub', iss, sub: 'ada' }
  const session = { format: 'opaque', id: 's-1' }
  const device = { format: 'opaque', id: 'd' }
  const usual = { type: 'session-revoked', subject: { format: 'complex', user, session } }
  const signing: Signing<Partial<EventTokenOptions>> =
    (options, signer = issuer) =>
    async () =>
      await signSecurityEvent(signer, audience, { ...usual, ...options })
  const claims = (changed: Readonly<Record<string, unknown>>) => signing({ claims: changed })
  const of = (subject: EventTokenOptions['subject']) => signing({ subject })
  const disabling = (subject: EventTokenOptions['subject']) =>
    signing({ type: 'account-disabled', subject })
  return await made([
    ...badForms(parts, signing),
    ['invalid_key', 'forged', signing({}, forger)],
    ...rows<Row>('invalid_request', {
      'with an end': claims({ exp: now + 300 }),
      'with a sub': claims({ sub: 'ada' }),
      'with an event that is no object': claims({ events: { [REVOKED]: 1 } }),
      'without a subject': signing({ omit: ['sub_id'] }),
      'of a subject without a format': of({ sub: 'ada' }),
      'of a user of another issuer': of({ ...user, iss: `${iss}.test` }),
      'of a user with a member more': of({ ...user, tenant: 't' }),
      'of an address': of({ format: 'email', email: 'ada@api.test' }),
      'of an account': of({ format: 'account', uri: 'acct:ada@api.test' }),
      'of a token of another issuer': of({ format: 'jwt_id', iss: 'x', jti: 'j' }),
      'of a whole account by one of its tokens': disabling({ format: 'jwt_id', iss, jti: 'j' }),
      'of one device of a user': of({ ...usual.subject, device }),
      'of a whole account by one of its sessions': disabling({ format: 'complex', session }),
      ...(revokes === 'subject' ? { [OF_A_SESSION]: of(session) } : {}),
      'that is a log-out token': async () =>
        await signLogoutToken(issuer, audience, { sub: 'ada', sid: 's-1' }),
    }),
  ])
}

function badForms(
  { issuer, audience, now }: BadEventParts,
  signing: Signing<LogoutTokenOptions>,
): readonly Row[] {
  const claims = (changed: Readonly<Record<string, unknown>>) => signing({ claims: changed })
  const otherIssuer = `${String(issuer.verifierOptions.issuer)}.test`
  return [
    ['invalid_issuer', 'of another issuer', claims({ iss: otherIssuer })],
    ['invalid_audience', 'for another audience', claims({ aud: `${audience}.test` })],
    ['invalid_audience', 'for nobody', signing({ omit: ['aud'] })],
    ...rows<Row>('invalid_request', {
      'that is no token': async () => 'not a token',
      'that is an access token': async () => await issuer.token(),
      'of the type of access tokens': signing({ header: { typ: 'at+jwt' } }),
      'of a type that begins alike': signing({ header: { typ: 'logout+jwts' } }),
      'from the future': claims({ iat: now + 3600 }),
      'without a time': signing({ omit: ['iat'] }),
      'without a name': signing({ omit: ['jti'] }),
      'with a name that is a number': claims({ jti: 7 }),
      'without events': signing({ omit: ['events'] }),
      'with no event': claims({ events: {} }),
      'with events in a list': claims({ events: [REVOKED] }),
    }),
  ]
}

async function made(table: readonly Row[]): Promise<readonly BadEvent[]> {
  return await Promise.all(
    table.map(async ([err, name, make]) => ({ name, err, token: await make() })),
  )
}
