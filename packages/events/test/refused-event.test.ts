import { AuthError, type AuthErrorReasons } from '@portcullis/core'
import { expect, test } from 'vitest'

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
