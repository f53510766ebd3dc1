import { deepEqual, equal } from 'node:assert/strict'
import { setInterval } from 'node:timers/promises'

import type { AuthError } from '@portcullis/core'
import type { RedisRevocations } from '@portcullis/redis'

import type { RedisServer } from '../../simulation/redis/redis-server.ts'
import { mustRun } from '../packed/report.ts'
import { importedFrom, installed } from '../packed/session.ts'

// Processes of two versions that follow one Redis stream, as in every upgrade: what each makes of what the other writes.

/** A folder that has core, redis and testing of one version. */
export type Home = string

type Redis = typeof import('@portcullis/redis')
type Core = typeof import('@portcullis/core')
type Testing = typeof import('@portcullis/testing')

const ISS = 'https://issuer.example.com'
const PATIENCE = 60_000

/** @returns What was seen, one line for each. */
export async function besideEachOther(
  former: Home,
  next: Home,
  redis: RedisServer,
): Promise<readonly string[]> {
  await redis.command('FLUSHALL')
  await program(former, redis, 'create')
  await using old = await following(former, redis)
  await using now = await following(next, redis)
  await old.revoke({ iss: ISS, jti: 'by the former', exp: soon() })
  await now.revoke({ iss: ISS, jti: 'by the next', exp: soon() })
  for (const each of [old, now]) {
    await becomes('revoked', () => statusOf(each, 'by the former'))
    await becomes('revoked', () => statusOf(each, 'by the next'))
    equal(statusOf(each, 'of nobody'), 'valid')
  }
  const [refused, meanwhile] = await revokedByDigest(old, now, next)
  const restored = await restoredFrom(now, next, redis)
  return [
    'what one version revokes by its jti, the other refuses',
    `a token without jti that the next one has revoked: ${refused}; the former one says of every other token: ${meanwhile}`,
    `a stream that replaces a lost one, to a new process: ${restored.join(', then ')}`,
  ]
}

/** The former version calls the record unreadable: it must not go on as if nothing was revoked. */
async function revokedByDigest(old: RedisRevocations, now: RedisRevocations, next: Home) {
  const { createVerifier } = (await importedFrom(next, '@portcullis/core')) as Core
  const { createTestIssuer } = (await importedFrom(next, '@portcullis/testing')) as Testing
  const issuer = await createTestIssuer()
  const verifier = createVerifier({ ...issuer.verifierOptions, revocations: now })
  const token = await issuer.token({ omit: ['jti'] })
  await now.revoke(await verifier.verify(token))
  const refused = await verifier.verify(token).then(
    () => 'accepted',
    (error: unknown) => (error as AuthError).reason, // verify throws no other
  )
  await becomes('unknown', () => statusOf(old, 'of nobody'))
  deepEqual([refused, statusOf(now, 'of nobody')], ['revoked', 'valid'])
  return [refused, statusOf(old, 'of nobody')] as const
}

/** What a process that has not read the lost stream says of what was revoked in it. */
async function restoredFrom(now: RedisRevocations, next: Home, redis: RedisServer) {
  const { identity = '', stream } = now.status()
  await redis.command('DEL', stream)
  await program(next, redis, 'create', '--replaces', identity)
  await using late = ofVersion((await importedFrom(next, '@portcullis/redis')) as Redis, redis)
  await becomes('restoring', () => late.status().state)
  const before = statusOf(late, 'of nobody')
  // Whoever has read the lost one writes back what it knows.
  await becomes('revoked', () => statusOf(late, 'by the next'))
  const after = statusOf(late, 'of nobody')
  deepEqual([before, after], ['unknown', 'unknown'])
  equal(statusOf(now, 'by the former'), 'revoked')
  return [before, statusOf(late, 'by the next')]
}

function statusOf(revocations: RedisRevocations, jti: string): string {
  const claims = { iss: ISS, sub: 'ada', jti, iat: soon() - 600, exp: soon() }
  return revocations.statusOf(claims, Date.now() / 1000, `digest of ${jti}`)
}

function soon(): number {
  return Math.floor(Date.now() / 1000) + 600
}

async function following(home: Home, redis: RedisServer): Promise<RedisRevocations> {
  const revocations = ofVersion((await importedFrom(home, '@portcullis/redis')) as Redis, redis)
  await revocations.ready()
  return revocations
}

function ofVersion({ redisRevocations }: Redis, { url }: RedisServer): RedisRevocations {
  return redisRevocations({ url })
}

async function program(home: Home, { url }: RedisServer, ...words: string[]): Promise<void> {
  const command = [installed(home, 'portcullis-revocations'), ...words]
  await mustRun(command, home, { ...process.env, REDIS_URL: url })
}

async function becomes(expected: string, ask: () => string): Promise<void> {
  for await (const _ of setInterval(50, undefined, { signal: AbortSignal.timeout(PATIENCE) })) {
    if (ask() === expected) return
  }
}
