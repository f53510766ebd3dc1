import { AuthError, type AuthErrorReasons, type JsonObject } from '@portcullis/core'
import { expect, test } from 'vitest'

import { LOGOUT_EVENT } from '../src/event-types.ts'
import { readLogout } from '../src/read-logout.ts'
import { entriesOf, readSecurityEvent } from '../src/read-security-event.ts'
import { refusedBy } from '../src/refused-event.ts'

// Senders of events are programs of others: their operators search for these words. So each stands here.

test.each<[AuthErrorReasons['invalid_token'], string, string]>([
  ['malformed', 'invalid_request', 'The token is not a signed JWT'],
  ['critical_header', 'invalid_request', 'The token is not a signed JWT'],
  ['too_large', 'invalid_request', 'The token is too large'],
  ['algorithm', 'invalid_key', 'No trusted key has signed the token'],
  ['unknown_key', 'invalid_key', 'No trusted key has signed the token'],
  ['signature', 'invalid_key', 'No trusted key has signed the token'],
  ['type', 'invalid_request', 'The token has another typ'],
  ['expired', 'invalid_request', 'The token has expired'],
  ['not_yet_valid', 'invalid_request', 'The token is not yet valid'],
  ['too_old', 'invalid_request', 'The token is older than maxTokenAge of its receiver'],
  ['issued_in_future', 'invalid_request', 'The token was issued in the future'],
  [
    'missing_claim',
    'invalid_request',
    'The token lacks iat, jti or another claim that it must have',
  ],
  ['claim', 'invalid_request', 'The token has a time that is not in seconds'],
  ['issuer', 'invalid_issuer', 'The token is from another issuer'],
  ['audience', 'invalid_audience', 'The token is for another audience'],
  ['revoked', 'invalid_request', 'The token is not valid'],
])('what a verifier refuses as %s is told as %s: %s', (reason, err, description) => {
  expect(refusedBy(new AuthError('invalid_token', reason))).toEqual({ err, description })
})

const HEAD = { iss: 'https://login.test', jti: 'j-1', iat: 100 }
const NO_LOGOUT = 'events must have the event of a back-channel log-out'
const NO_EXP = 'The token has no exp. Its receiver accepts that with requireExpiry: false'
const DISABLED = 'https://schemas.openid.net/secevent/risc/event-type/account-disabled'

test.each<[JsonObject, string]>([
  [{ iss: undefined }, 'iss and iat are required'],
  [{ iat: '100' }, 'iss and iat are required'],
  [{ iat: -1 }, 'iat must be a time'],
  [{ jti: '' }, 'jti must be a text'],
  [{ events: [] }, 'events must be an object'],
  [{ events: {} }, 'events must have a member'],
  [{ events: { [DISABLED]: {} } }, NO_LOGOUT],
  [{ events: { [LOGOUT_EVENT]: true, [DISABLED]: {} } }, NO_LOGOUT],
  [{ nonce: 'n' }, 'nonce is forbidden'],
  [{ sub: 7 }, 'sub and sid must be texts'],
])('a log-out with %j: %s', (claims, description) => {
  const all = { ...HEAD, exp: 200, events: { [LOGOUT_EVENT]: {} }, sid: 's-1', ...claims }
  const rules = { revokes: 'session', maxTokenLifetime: undefined, requireExpiry: true } as const
  expect(readLogout(all, rules)).toEqual({ err: 'invalid_request', description })
})

test('a log-out without an end, where one is required', () => {
  const rules = { revokes: 'session', maxTokenLifetime: undefined, requireExpiry: true } as const
  const all = { ...HEAD, events: { [LOGOUT_EVENT]: {} }, sid: 's-1' }
  expect(readLogout(all, rules)).toEqual({ err: 'invalid_request', description: NO_EXP })
})

const NO_SUB = "The log-out has no sub. Its receiver ends sessions by sid with revokes: 'session'"

test.each([
  ['session', {}, 'The log-out must have sub or sid'],
  ['subject', {}, 'The log-out must have sub or sid'],
  ['subject', { sid: 's-1' }, NO_SUB],
] as const)('revokes: %s, a log-out that names %j: %s', (revokes, whose, description) => {
  const all = { ...HEAD, events: { [LOGOUT_EVENT]: {} }, ...whose }
  const rules = { revokes, maxTokenLifetime: undefined, requireExpiry: false }
  expect(readLogout(all, rules)).toEqual({ err: 'invalid_request', description })
})

test.each<[JsonObject, string]>([
  [{ exp: 200 }, 'exp is forbidden'],
  [{ sub: 'ada' }, 'sub is forbidden: use sub_id'],
  [{ iat: -1 }, 'iat must be a time'],
  [{ events: { [DISABLED]: 'text' } }, 'An event that revokes must be an object'],
  [{ sub_id: 'ada' }, 'sub_id must be an object'],
])('a security event with %j: %s', (claims, description) => {
  const all = { ...HEAD, events: { [DISABLED]: {} }, sub_id: {}, ...claims }
  expect(readSecurityEvent(all, ['account-disabled'])).toEqual({
    err: 'invalid_request',
    description,
  })
})

test.each([
  ['session', 'The subject names no session and no user that is known here'],
  ['subject', 'The subject names no user that is known here'],
] as const)('a security event of nobody, revokes: %s: %s', (revokes, description) => {
  const all = { ...HEAD, events: { [DISABLED]: {} }, sub_id: {} }
  const event = readSecurityEvent(all, ['account-disabled'])
  if (event.err !== undefined) throw new TypeError(event.description)
  const rules = { revokes, maxTokenLifetime: undefined }
  expect(entriesOf(event, rules, new Map())).toEqual({ err: 'invalid_request', description })
})
