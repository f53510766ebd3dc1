import { localKeys, localRevocations } from '@portcullis/core'
import {
  type EventMessage,
  type EventOptions,
  type EventReceiver,
  receiveEvents,
  receiveLogout,
} from '@portcullis/events'
import { isJsonObject, type JsonObject } from '@portcullis/kit/json'
import fc from 'fast-check'

import { jsonText, mostly, nearlyAll, parseJson } from '../inputs.ts'
import { privateKey, publicJwkOf, signed } from '../signed.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600
const ISSUER = 'https://issuer.example'
const OTHER = 'https://other.example'
const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'
const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
const PURGED = 'https://schemas.openid.net/secevent/risc/event-type/account-purged'

const clock = { now: () => NOW, monotonic: () => 0, after: () => () => undefined }
const keys = localKeys(publicJwkOf(privateKey))

const opaque = fc.record({ format: fc.constant('opaque'), id: fc.constantFrom('ada', 's1') })
const user = mostly(
  fc.record({
    format: fc.constant('iss_sub'),
    iss: fc.constantFrom(ISSUER, ISSUER, OTHER),
    sub: fc.constant('ada'),
  }),
  opaque,
)
const subject = fc.oneof(
  user,
  opaque,
  nearlyAll({ format: fc.constant('complex'), user, session: opaque }),
  nearlyAll({ format: fc.constant('jwt_id'), iss: fc.constant(ISSUER), jti: fc.constant('t1') }),
)
const time = mostly(fc.integer({ min: NOW - 4000, max: NOW + 5 }), fc.double())
const common = {
  iss: mostly(fc.constant(ISSUER), fc.constant(OTHER)),
  aud: fc.constantFrom('client', ['other', 'client'], 'client', 'other'),
  jti: fc.constantFrom('e1', 'e2'),
  iat: time,
}
const logout = fc.tuple(
  jsonText(nearlyAll({ alg: fc.constant('Ed25519'), typ: fc.constantFrom('logout+jwt', 'JWT') })),
  jsonText(
    nearlyAll({
      ...common,
      exp: mostly(fc.constant(NOW + 60), time),
      sub: fc.constantFrom('ada', undefined),
      sid: fc.constantFrom('s1', undefined),
      events: mostly(fc.constant({ [LOGOUT]: {} }), fc.constant({ [LOGOUT]: {}, other: {} })),
      nonce: mostly(fc.constant(undefined), fc.constant('n')),
    }),
  ),
)
const event = nearlyAll({ event_timestamp: fc.oneof(time, fc.constant(undefined)) })
const pushed = fc.tuple(
  jsonText(nearlyAll({ alg: fc.constant('Ed25519'), typ: fc.constant('secevent+jwt') })),
  jsonText(
    nearlyAll({
      ...common,
      sub_id: subject,
      events: fc.oneof(
        event.map((each) => ({ [REVOKED]: each })),
        event.map((each) => ({ [PURGED]: each, other: {} })),
      ),
    }),
  ),
)

/** Header and payload, one a line, which are then signed. They come as a log-out, and as a pushed event. */
export const securityEvent: FuzzTarget = {
  inputs: fc.oneof(logout, pushed).map((lines) => lines.join('\n')),
  async run(input) {
    const [head = '', payload = ''] = input.split('\n')
    const token = signed(head, payload)
    for (const revokes of ['session', 'subject'] as const) {
      const asLogout = await take((options) => receiveLogout({ ...options, clientId: 'client' }), {
        revokes,
        type: 'application/x-www-form-urlencoded',
        body: `logout_token=${token}`,
      })
      const asEvent = await take(
        (options) => receiveEvents({ ...options, audience: 'client', authorize: null }),
        { revokes, type: 'application/secevent+jwt', body: token },
      )
      hold(
        asLogout === undefined || asEvent === undefined,
        'no token is both a log-out and a pushed event',
      )
      if (!asLogout && !asEvent) continue
      const claims = parseJson(payload)
      hold(isJsonObject(claims) && claims['iss'] === ISSUER, 'it is of this issuer')
      hold([claims['aud']].flat().includes('client'), 'it is for this client')
      hold(!asLogout || !isThere(claims, 'nonce'), 'a log-out is no ID token')
      hold(!asEvent || !isThere(claims, 'exp'), 'an event is no access token')
      const isForeign = payload.includes(`"iss":"${OTHER}"`)
      hold(!(asEvent === 'recorded' && isForeign), 'it revokes nothing of another issuer')
    }
  },
}

/** JSON `null` is absent. */
function isThere(claims: JsonObject, name: string): boolean {
  return Object.hasOwn(claims, name) && claims[name] !== null
}

/** A longer one is refused before there is an event in it. */
const LONGEST_BODY = 65_536

interface Sent {
  readonly revokes: 'session' | 'subject'
  readonly type: string
  readonly body: string
}

/** What becomes of the event; `undefined` if it is refused. What it revokes must then be recorded, of this issuer, and of what it says. */
async function take(
  create: (options: EventOptions) => EventReceiver,
  { revokes, type, body }: Sent,
): Promise<'recorded' | 'accepted' | undefined> {
  const revocations = localRevocations({ clock })
  const messages: EventMessage[] = []
  const onEvent = (message: EventMessage) => void messages.push(message)
  const receiver = create({ keys, issuer: ISSUER, revocations, revokes, clock, onEvent })
  const { status } = await receiver.answer({ headers: { 'content-type': type }, body })
  hold([200, 202, 400].includes(status), `it is recorded or refused, and not answered ${status}`)
  const { entries } = revocations.toSnapshot()
  hold(status < 300 || entries.length === 0, 'what is refused revokes nothing')
  const outcomes = messages.map(({ outcome }) => outcome)
  hold(outcomes.length === 1 || body.length > LONGEST_BODY, 'the application is told once')
  hold(outcomes.includes('recorded') === entries.length > 0, 'and whether it is recorded')
  for (const entry of entries) {
    hold(entry.iss === ISSUER, 'it revokes tokens of this issuer alone')
    const isOfUser = Object.hasOwn(entry, 'sub')
    const isOfSession = revokes === 'session' && Object.hasOwn(entry, 'sid')
    hold(entry.type === 'token' || isOfUser || isOfSession, 'or those of one user or session')
    hold(entry.type !== 'issued_before' || entry.time <= NOW + 66, 'and none of the future')
  }
  if (status >= 300) return undefined
  return entries.length > 0 ? 'recorded' : 'accepted'
}
