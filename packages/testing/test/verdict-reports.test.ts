import { channel } from 'node:diagnostics_channel'

import { createVerifier } from '@portcullis/core'
import { describe, expect, onTestFinished, test } from 'vitest'

import { manualClock } from '../src/clock.ts'
import { createTestIssuer } from '../src/issuer.ts'
import { reportVerdicts, type ReportVerdictsOptions } from '../src/verdict-reports.ts'

interface Sent {
  readonly api?: string
  readonly dropped?: number
  readonly verdicts: readonly Readonly<Record<string, unknown>>[]
}

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const verifier = createVerifier(issuer.verifierOptions)

/** Reports to a service that the test plays. Verdicts are of every verifier in the process. */
function setUp(options: Partial<ReportVerdictsOptions> = {}) {
  const clock = manualClock()
  const sent: Sent[] = []
  const headers: Headers[] = []
  const state = { status: 200, isHanging: false, asked: 0 }
  const reports = reportVerdicts({
    url: 'http://127.0.0.1:4010',
    clock,
    async fetch(target, init) {
      state.asked += 1
      expect(target).toEqual(new URL('http://127.0.0.1:4010/control/verdicts'))
      headers.push(new Headers(init?.headers))
      if (state.isHanging) {
        await new Promise((_, reject) => {
          init?.signal?.addEventListener('abort', () => {
            reject(new Error('aborted'))
          })
        })
      }
      if (state.status === 200) sent.push(JSON.parse(init?.body as string) as Sent)
      return new Response('{}', { status: state.status })
    },
    ...options,
  })
  onTestFinished(async () => {
    await reports.close()
  })
  return { clock, sent, headers, state, reports }
}

const publish = (message: unknown) => {
  channel('portcullis:verify').publish(message)
}

const refusal = (detail: string) => ({ code: 'invalid_token', reason: 'expired', detail })

test('accepted and refused tokens are reported together, and alike ones are counted', async () => {
  const { clock, sent, headers } = setUp({ name: 'orders', secret: 'geheim' })
  const token = await issuer.token()
  const expired = await issuer.token({ expiresIn: -60 })
  for (let times = 0; times < 3; times++) await verifier.verify(token)
  await expect(verifier.verify(expired)).rejects.toMatchObject({ reason: 'expired' })
  expect(sent).toEqual([])
  await clock.advance(0.25)
  expect(sent).toMatchObject([
    {
      api: 'orders',
      verdicts: [
        { remembered: false, count: 1 },
        { remembered: true, count: 2 },
        { code: 'invalid_token', reason: 'expired', count: 1 },
      ],
    },
  ])
  expect(headers[0]?.get('authorization')).toBe('Bearer geheim')
  for (const secret of [token, expired].flatMap((each) => each.split('.').slice(1))) {
    expect(JSON.stringify(sent)).not.toContain(secret)
  }
})

test('no verdict, no request', async () => {
  const { clock, state } = setUp()
  await clock.advance(3600)
  expect(state.asked).toBe(0)
})

test('a flood of different verdicts is bounded, and the rest is counted', async () => {
  const { clock, sent } = setUp()
  for (let number = 0; number < 1000; number++)
    publish(refusal(`${number} ${'\u{1f511}'.repeat(9000)}`))
  await clock.advance(0.25)
  expect(sent[0]?.verdicts).toHaveLength(50)
  expect(sent[0]?.dropped).toBe(950)
  expect(JSON.stringify(sent).length).toBeLessThan(64 * 1024)
})

describe('if nobody answers', () => {
  test('it asks less and less often, and tells later how many were lost', async () => {
    const { clock, sent, state } = setUp()
    state.status = 500
    for (let second = 0; second < 3600; second++) {
      publish(refusal('again'))
      await clock.advance(1)
    }
    expect(state.asked).toBeGreaterThan(60)
    expect(state.asked).toBeLessThan(150)
    state.status = 200
    publish(refusal('again'))
    await clock.advance(30)
    expect(sent).toHaveLength(1)
    expect(sent[0]?.dropped).toBeGreaterThan(3000)
    publish(refusal('once more'))
    await clock.advance(0.25)
    expect(sent).toHaveLength(2)
    expect(sent[1]?.dropped).toBeUndefined()
  })

  test('without new verdicts it does not ask again', async () => {
    const { clock, state } = setUp()
    state.status = 500
    publish(refusal('once'))
    await clock.advance(3600)
    expect(state.asked).toBe(1)
  })

  test('a request that hangs is given up after 5 seconds; one at a time', async () => {
    const { clock, state } = setUp()
    state.isHanging = true
    for (let tenths = 0; tenths < 50; tenths++) {
      publish(refusal('again'))
      await clock.advance(0.1)
      expect(state.asked).toBeLessThanOrEqual(1)
    }
    await clock.advance(10)
    expect(state.asked).toBeGreaterThan(1)
    state.isHanging = false
    await clock.advance(60)
  })
})

test('closed, it reports what waits, and nothing more', async () => {
  const { clock, sent, reports } = setUp()
  publish(refusal('before'))
  await reports.close()
  publish(refusal('after'))
  await clock.advance(3600)
  expect(sent).toMatchObject([{ verdicts: [{ detail: 'before' }] }])
})

test.each([undefined, null, 5, 'text', {}, { code: 5, detail: {}, duration: 'x' }])(
  'whatever is published on the channel (%j) does no harm',
  async (message) => {
    const { clock, sent } = setUp()
    publish(message)
    await clock.advance(0.25)
    expect(sent[0]?.verdicts).toEqual([{ remembered: false, count: 1 }])
  },
)

test.each<[said: string, options: object]>([
  ['url must be like http://127.0.0.1:4010', { url: 'https://auth.example.com' }],
  ['url must be like http://127.0.0.1:4010', { url: 'http://192.168.0.1:4010' }],
  ['url must be like http://127.0.0.1:4010', { url: 'http://localhost.evil.test' }],
  ['url must be like http://127.0.0.1:4010', { url: 'http://127.0.0.1@evil.test' }],
  ['url must be like http://127.0.0.1:4010', { url: '' }],
  ['url must not contain a user or a password', { url: 'http://ada:geheim@127.0.0.1:4010' }],
  ['state the secret of serve as `secret`', { url: 'http://geheim@localhost:4010' }],
  ['url must be stated', {}],
  ['unknown option "nmae"', { url: 'http://localhost:4010', nmae: 'x' }],
])('is refused at start-up: %s', (said, options) => {
  expect(() => reportVerdicts(options as ReportVerdictsOptions)).toThrow(TypeError)
  expect(() => reportVerdicts(options as ReportVerdictsOptions)).toThrow(said)
})
