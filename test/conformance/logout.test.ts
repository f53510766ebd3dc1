import { AuthError, createVerifier, localKeys, localRevocations } from '@portcullis/core'
import { receiveLogout } from '@portcullis/events'
import { createTestIssuer, eventTransmitter } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { serve } from '../bound-tokens/serve.ts'

// OpenID Connect Back-Channel Logout 1.0: what the modules of the OpenID Foundation's suite send to a relying party. They are named; the
// cases are our own.

const options = { issuer: 'https://login.example.com', audience: 'me', algorithm: 'PS256' } as const
const issuer = await createTestIssuer(options)
const transmitter = eventTransmitter(issuer, { audience: 'me' })
/** The same issuer has a key of another algorithm as well, and the receiver knows both. */
const other = await createTestIssuer({ ...options, algorithm: 'RS256' })
const byOther = eventTransmitter(other, { audience: 'me' })
const keys = localKeys({ keys: [issuer.publicJwk, other.publicJwk] })
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

const sound = { sub: 'ada', sid: 's1' }
const saying = (claims: Readonly<Record<string, unknown>>) => async () =>
  await transmitter.logoutToken({ ...sound, claims })

const MODULES: Readonly<Record<string, readonly [status: number, token: () => Promise<string>]>> = {
  OIDCCClientTestBackChannelLogout: [200, async () => await transmitter.logoutToken(sound)],
  OIDCCClientTestBackChannelLogoutAlgNone: [400, withoutSignature],
  OIDCCClientTestBackChannelLogoutWrongAlg: [400, async () => await byOther.logoutToken(sound)],
  OIDCCClientTestBackChannelLogoutWrongAud: [400, saying({ aud: 'somebody else' })],
  OIDCCClientTestBackChannelLogoutWrongIssuer: [400, saying({ iss: 'https://other.example.com' })],
  OIDCCClientTestBackChannelLogoutNoEvent: [
    400,
    async () => await transmitter.logoutToken({ ...sound, omit: ['events'] }),
  ],
  OIDCCClientTestBackChannelLogoutWrongEvent: [400, saying({ events: { [`${EVENT}x`]: {} } })],
  OIDCCClientTestBackChannelLogoutWithNonce: [400, saying({ nonce: 'n' })],
}

async function withoutSignature(): Promise<string> {
  const [, payload = ''] = (await transmitter.logoutToken(sound)).split('.')
  const header = Buffer.from('{"alg":"none","typ":"logout+jwt"}').toString('base64url')
  return `${header}.${payload}.`
}

describe.each(Object.entries(MODULES))('%s', (_module, [status, token]) => {
  test(`is answered ${status}, and the session of the user is ${status === 200 ? 'over' : 'as before'}`, async () => {
    const revocations = localRevocations()
    const receiver = receiveLogout({
      keys,
      issuer: options.issuer,
      clientId: 'me',
      profile: 'fapi2',
      algorithms: ['PS256'],
      revokes: 'session',
      revocations,
    })
    const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
    const access = await issuer.token({ claims: sound })
    await using app = await serve(() => (request, response) => {
      void receiver(request, response)
    })
    const answer = await transmitter.sendLogout(app.url, await token())
    expect(answer.status).toBe(status)
    expect(answer.headers.get('cache-control')).toContain('no-store')
    const verdict = await reasonOf(verifier.verify(access))
    expect(verdict).toBe(status === 200 ? 'revoked' : 'accepted')
  })
})

async function reasonOf(verdict: Promise<unknown>): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}
