import { channel } from 'node:diagnostics_channel'

import { createVerifier, remoteKeys } from '@portcullis/core'
import type { RedisRevocationsStatus } from '@portcullis/redis'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'

// A day of a service, whose metrics are looked at.

/** What `redisRevocations` says after an outage of its store. */
export const replica = { status: () => STATUS }
const STATUS: RedisRevocationsStatus = {
  state: 'stale',
  age: 12,
  stream: 'portcullis:revocations',
  identity: 'canary',
  foundIdentity: 'canary',
  position: '1-0',
  entries: 3,
  unreadable: 0,
  restoration: undefined,
  writtenBack: 0,
  writeBackFailure: undefined,
  firstUnreadable: undefined,
  foreign: 0,
  failures: 4,
  lastFailure: { reason: 'timeout', detail: 'canary', age: 1 },
}

const poll = { status: () => ({ state: 'failing', failures: 2 }) }
const receiver = async () => {}
const client = { status: () => ({ isLoggingIn: false }) }
const replays = {}

/** Of each channel that needs more than a key source: a message of a source with a name, and one that means ill. */
const MESSAGES: readonly [channel: string, message: object][] = [
  ['portcullis:revocations', { source: replica, event: 'state', state: 'stale' }],
  ['portcullis:events', { source: receiver, outcome: 'refused', error: 'invalid_key' }],
  ['portcullis:login', { client, kind: 'login', outcome: 'success', duration: 0.2, requests: 1 }],
  ['portcullis:login', { client, kind: 'exchange', outcome: 'timeout', duration: 5, requests: 1 }],
  ['portcullis:login', { client, kind: 'canary', outcome: 'canary', duration: 5, requests: 1 }],
  ['portcullis:replays', { source: replays, reason: 'timeout' }],
  ['portcullis:refusal', { framework: 'koa', code: 'missing_token', reason: 'missing_header' }],
  ['portcullis:refusal', { framework: 'canary', code: 'canary', reason: 'canary' }],
  ['portcullis:introspection', { verifier: 'canary', outcome: 'canary', duration: 0.3 }],
]

/** A key source that has not fetched yet, and a day: accepted, remembered, refused, rotated, and an outage. */
export async function setUp() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const rules = { issuer: null, audience: null, algorithms: ['ES256'] } as const
  const verifier = createVerifier({ keys, ...rules, clock })
  async function day(): Promise<void> {
    const token = await issuer.token({ claims: { sub: 'canary' } })
    const expired = await issuer.token({ claims: { sub: 'canary' }, expiresIn: -60 })
    for (const each of [token, token, expired, 'canary'])
      await verifier.verify(each).catch(() => {})
    await clock.advance(2)
    await issuer.rotate()
    await verifier.verify(await issuer.token())
    await clock.advance(2)
    issuer.outage(503)
    await keys.refresh().catch(() => {})
    for (const [name, message] of MESSAGES) channel(name).publish(message)
  }
  const sources = {
    keys: { main: keys },
    revocations: { redis: replica },
    polls: { hub: poll },
    clients: { orders: client },
    verifiers: { api: verifier },
    receivers: { logouts: receiver },
    replays: { proofs: replays },
  }
  return { clock, day, keys, sources }
}
