import { describe, expect, test } from 'vitest'

import { AUDIENCE, ISSUER } from '../../packages/events/test/scene.ts'
import { sentBy, STATUS, VERIFICATION } from '../../packages/events/test/stream-transmitter.ts'
import { type Delivery, type Receiver, receiverOf } from './stream-receiver.ts'

// OpenID Shared Signals Framework 1.0 and the CAEP Interoperability Profile: what the modules of the OpenID Foundation's suite for receivers
// do to one. They are named; the cases are our own.

const DELIVERIES: readonly Delivery[] = ['push', 'poll']
const USER = { format: 'iss_sub', iss: ISSUER, sub: 'ada' }
const EMAIL = { format: 'email', email: 'ada@example.com' }
const revoked = { type: 'session-revoked', subject: USER, event: { reason_admin: { en: 'left' } } }

const verification = (receiver: Receiver, event: object, id = receiver.idOf()) => ({
  type: 'verification',
  subject: { format: 'opaque', id },
  event: { ...event },
})

/** Asks for a verification, which the test answers in place of the transmitter. @returns Its state. */
async function asked({ stream, faults, until }: Receiver): Promise<string> {
  let state: unknown
  faults.set(VERIFICATION, (url, init) => {
    state = sentBy(url, init).body?.['state']
    return new Response(null, { status: 204 })
  })
  void stream.verify().catch(() => undefined)
  await until(() => state !== undefined)
  return String(state)
}

describe.each(DELIVERIES)('by %s', (delivery) => {
  const open = async () => {
    const receiver = await receiverOf(delivery)
    await receiver.opened()
    return receiver
  }

  test('OIDSSFReceiverStreamCreateDeleteTest: a stream is created, and deleted', async () => {
    const { stream, calls, transmitter } = await open()
    await stream.delete()
    expect(calls()).toEqual(['GET', 'POST', 'GET', 'GET', 'DELETE'])
    expect(transmitter.streams.size).toBe(0)
  })

  test('OIDSSFReceiverHappyPathTest, without PUT: it is created, read, updated and deleted', async () => {
    const moved = { method: 'urn:ietf:rfc:8935', endpoint_url: 'https://api.test/before' }
    const receiver = await receiverOf(delivery, { older: { delivery: moved } })
    await receiver.opened()
    await receiver.stream.delete()
    expect(receiver.calls()).toEqual(['GET', 'PATCH', 'GET', 'DELETE'])
  })

  test('OIDSSFReceiverStreamStatusUpdateTest: the status of the stream is updated', async () => {
    const { stream, transmitter } = await open()
    await stream.setStatus('paused')
    await stream.setStatus('enabled')
    expect(transmitter.sent(STATUS)).toEqual(['GET', 'POST', 'POST'])
    await stream.delete()
  })

  test('OIDSSFReceiverStreamVerificationTest: a verification is asked for, and acknowledged', async () => {
    const receiver = await open()
    const state = await asked(receiver)
    expect(await receiver.tell(verification(receiver, { state }))).toBe('accepted')
  })

  test('OIDSSFReceiverUnsolicitedStreamVerificationTest: one without a state is acknowledged', async () => {
    const receiver = await open()
    expect(await receiver.tell(verification(receiver, {}))).toBe('accepted')
  })

  test('OIDSSFReceiverVerificationWrongStateTest: invalid_state, and the right one afterwards', async () => {
    const receiver = await open()
    const state = await asked(receiver)
    expect(await receiver.tell(verification(receiver, { state: `${state}-wrong` }))).toBe(
      'invalid_state',
    )
    expect(await receiver.tell(verification(receiver, { state }))).toBe('accepted')
  })

  test('OIDSSFReceiverVerificationWrongSubjectTest: one of another stream is refused', async () => {
    const receiver = await open()
    const state = await asked(receiver)
    expect(await receiver.tell(verification(receiver, { state }, 'another'))).toBe(
      'invalid_request',
    )
  })

  test('OIDSSFReceiverVerificationBehindQueuedEventsTest: events before it are acknowledged as well', async () => {
    const receiver = await open()
    const state = await asked(receiver)
    expect(await receiver.tell(revoked)).toBe('accepted')
    expect(await receiver.tell(revoked)).toBe('accepted')
    expect(await receiver.tell(verification(receiver, { state }))).toBe('accepted')
  })

  test('OIDSSFReceiverSupportedEventsTest: each event is acknowledged', async () => {
    const { tell, told } = await open()
    const types = [
      'session-revoked',
      'credential-change',
      'device-compliance-change',
      'assurance-level-change',
      'token-claims-change',
      'risk-level-change',
      'account-disabled',
      'account-enabled',
      'account-purged',
      'sessions-revoked',
    ]
    for (const type of types) {
      expect([type, await tell({ type, subject: USER })]).toEqual([type, 'accepted'])
    }
    expect(told).toHaveLength(types.length)
  })

  test.each<[string, (receiver: Receiver) => Promise<string>, string]>([
    [
      'another signature',
      async ({ signer, hand }) => {
        const token = await signer.securityEvent({ ...revoked, claims: { jti: 'x' } })
        const at = token.length - 5
        const other = token[at] === 'A' ? 'B' : 'A'
        return await hand('x', `${token.slice(0, at)}${other}${token.slice(at + 1)}`)
      },
      'invalid_key',
    ],
    ['another key', async ({ tell, forger }) => await tell(revoked, await forger()), 'invalid_key'],
    [
      'another iss',
      async ({ tell }) => await tell({ ...revoked, claims: { iss: `${ISSUER}/other` } }),
      'invalid_issuer',
    ],
    [
      'another aud',
      async ({ tell }) => await tell({ ...revoked, claims: { aud: `${AUDIENCE}-other` } }),
      'invalid_audience',
    ],
  ])(
    'OIDSSFReceiverInvalidSetRejectionTest: an event with %s is refused',
    async (_name, send, err) => {
      const receiver = await open()
      expect(await send(receiver)).toBe(err)
      expect(receiver.store.entries()).toEqual([])
    },
  )

  test('OIDSSFReceiverRedeliveredSetTest: an event that comes again is acknowledged again', async () => {
    const { tell, store } = await open()
    const event = { ...revoked, claims: { jti: 'once' } }
    const again = async () => await tell(event)
    expect([await again(), await again()]).toEqual(['accepted', 'accepted'])
    expect(store.calls).toBe(1)
  })

  test('OIDSSFReceiverStreamIssuerMismatchTest: a stream of another issuer is deleted, and not used', async () => {
    const iss = `${ISSUER}/not-this-transmitter`
    const show = (configuration: object) => ({ ...configuration, iss })
    const receiver = await receiverOf(delivery, { show })
    await receiver.until(() => receiver.stream.status().failures > 0)
    expect(receiver.stream.status().lastFailure).toBe('the stream is of another issuer')
    expect(receiver.calls()).toEqual(['GET', 'POST', 'DELETE'])
    expect(receiver.transmitter.sent(STATUS)).toEqual([])
    await expect(receiver.stream.verify()).rejects.toThrow('not open yet')
  })

  test('OIDSSFReceiverTransmitterInitiatedStatusChangeTest: stream-updated is acknowledged, and shown', async () => {
    const { tell, idOf, stream } = await open()
    const subject = { format: 'opaque', id: idOf() }
    const paused = { type: 'stream-updated', subject, event: { status: 'paused' } }
    expect(await tell(paused)).toBe('accepted')
    expect(stream.status().transmission).toBe('paused')
  })

  test('OIDSSFReceiverRemovedSubjectEventTest: nothing is added or removed, so each subject counts', async () => {
    const { tell, transmitter } = await open()
    expect(await tell(revoked)).toBe('accepted')
    expect(transmitter.requests.filter(({ url }) => url.includes('subject'))).toEqual([])
  })

  test('OIDSSFReceiverAccessTokenExpiryTest: a new token is used once the first has expired', async () => {
    const { stream, clock, tokensIssued, challenged, tell } = await open()
    await clock.advance(25)
    expect(await tell(revoked)).toBe('accepted')
    const before = tokensIssued()
    await stream.setStatus('enabled')
    await stream.delete()
    expect(before + tokensIssued()).toBeGreaterThan(2)
    expect(challenged.length).toBeLessThan(3)
  })

  test.each([
    ['iss_sub', USER, 'ada'],
    ['email', EMAIL, 'the user of ada@example.com'],
  ])(
    'OIDSSFReceiverStreamCaepInteropTest: events with %s, and all that is asked of a stream',
    async (_format, subject, sub) => {
      const receiver = await open()
      const { stream, tell, store, transmitter, calls } = receiver
      const state = await asked(receiver)
      expect(await tell(verification(receiver, { state }))).toBe('accepted')
      for (const type of ['session-revoked', 'credential-change']) {
        expect(await tell({ type, subject, event: { reason_admin: { en: 'why' } } })).toBe(
          'accepted',
        )
      }
      expect(store.entries()).toMatchObject([{ sub }])
      await stream.delete()
      expect(calls()).toEqual(['GET', 'POST', 'GET', 'GET', 'DELETE'])
      expect(transmitter.sent(STATUS)).toEqual(['GET'])
    },
  )
})

describe('CAEP Interoperability Profile', () => {
  test('2.4.1 and 2.6: RS256 with a key of 2048 bits proves events', async () => {
    const { issuer, tell, opened } = await receiverOf('push')
    await opened()
    const { kty, n } = issuer.publicJwk
    expect([kty, Buffer.from(n ?? '', 'base64url').length * 8]).toEqual(['RSA', 2048])
    expect(await tell(revoked)).toBe('accepted')
  })

  test('3.2: credential-change is told with each change_type and credential_type', async () => {
    const { tell, told, opened } = await receiverOf('push')
    await opened()
    const events = ['create', 'revoke', 'update', 'delete'].flatMap((change_type) =>
      CREDENTIALS.map((credential_type) => ({ change_type, credential_type })),
    )
    for (const event of events) {
      expect(await tell({ type: 'credential-change', subject: USER, event })).toBe('accepted')
    }
    const uri = told[0]?.types[0] ?? ''
    expect(told.map(({ claims }) => claims?.['events'])).toEqual(
      events.map((event) => ({ [uri]: event })),
    )
  })
})

const CREDENTIALS = [
  'password',
  'pin',
  'x509',
  'fido2-platform',
  'fido2-roaming',
  'fido-u2f',
  'verifiable-credential',
  'phone-voice',
  'phone-sms',
  'app',
]
