import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import type { Claims, Revocations } from '@portcullis/core'
import { redisRevocations } from '@portcullis/redis'

import { type RedisServer, startRedis } from '../simulation/redis/redis-server.ts'
import { bearersOf, type GuardedServer, loadServer, serverOf } from './guarded-server.ts'
import { claims, createSigner, ISSUER } from './inputs.ts'
import { describeMachine } from './machine.ts'
import { beside, inTurn, median, medianRatio, quantile } from './measure.ts'
import { flags } from './report.ts'
import { type Heard, WAY_NAMES } from './revocations-child.ts'
import { printTable } from './table.ts'

// What it costs to ask whether a token was revoked, and how soon everybody knows of it, with a server of its own:
//
//   pnpm bench revocations           all of it: a minute
//   pnpm bench revocations --quick   to see whether it runs
//
// It needs redis-server. The servers with the route are processes of their own, and this one is the load: so CPU time counts.

const ENTRIES = flags.quick ? 1000 : 100_000
const LOOK_UPS = flags.quick ? 1000 : 1_000_000
const ROUNDS = flags.quick ? 1 : 5
const SECONDS = 1
const REVOCATIONS = flags.quick ? 20 : 500
const TOKENS = 50
const STREAM = 'portcullis:revocations'

const signer = createSigner()
const tokens = Array.from({ length: TOKENS }, (_, index) => signer.token(index))

const SCRIPT = `
for index = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  redis.call('XADD', KEYS[1], '*', 'v', '1', 'type', 'token', 'iss', ARGV[3], 'jti', index .. '-9f0c3f5e8b7a', 'exp', ARGV[4])
end`

async function fill(server: RedisServer): Promise<void> {
  await server.command('XADD', STREAM, '0-1', 'v', 1, 'type', 'identity', 'id', 'bench')
  const exp = Math.floor(Date.now() / 1000) + 86_400
  const batch = 20_000
  for (let first = 1; first <= ENTRIES; first += batch) {
    const last = Math.min(ENTRIES, first + batch - 1)
    await server.command('EVAL', SCRIPT, 1, STREAM, first, last, ISSUER, exp)
  }
}

/** Octets of the heap, when all that is not needed has been given back. */
function heap(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** Nanoseconds a look-up, without the loop. */
function costOfLookUp(revocations: Revocations, asked: readonly Claims[]): number {
  const now = Date.now() / 1000
  const timeOf = (ask: (each: Claims) => unknown) => {
    let found = 0
    const before = process.hrtime.bigint()
    for (let index = 0; index < LOOK_UPS; index += 1) {
      const each = asked[index % asked.length]
      if (each !== undefined && ask(each) === 'revoked') found += 1
    }
    if (found !== 0) throw new Error('a valid token was refused')
    return Number(process.hrtime.bigint() - before) / LOOK_UPS
  }
  const rounds = Array.from({ length: 7 }, () => {
    const loop = timeOf(() => 'valid')
    return timeOf((each) => revocations.statusOf(each, now, 'of no token')) - loop
  })
  return median(rounds)
}

async function printReplica(server: RedisServer): Promise<void> {
  const before = heap()
  const start = performance.now()
  const revocations = redisRevocations({ url: server.url })
  await revocations.ready()
  const loaded = performance.now() - start
  const size = heap() - before
  const asked = Array.from({ length: 64 }, (_, index) => claims(index) as Claims)
  const figures = [
    ['look-up of a token that is not revoked, ns', costOfLookUp(revocations, asked), 0],
    [`snapshot of ${ENTRIES} entries, until ready, ms`, loaded, 0],
    [`heap for ${ENTRIES} entries, MiB`, size / 2 ** 20, 1],
  ] as const
  printTable(
    '',
    [
      ['A replica', ([name]) => name],
      ['', ([, value, digits]) => value.toFixed(digits)],
    ],
    figures,
  )
  await revocations.close()
}

async function startServer(way: string, url: string): Promise<GuardedServer> {
  const path = fileURLToPath(new URL('revocations-child.ts', import.meta.url))
  const env = { ...process.env, NODE_ENV: 'production' }
  return await serverOf(way, fork(path, [way, url, JSON.stringify(signer.jwk)], { env }))
}

async function printRoutes(server: RedisServer): Promise<void> {
  const servers: GuardedServer[] = []
  for (const way of WAY_NAMES) servers.push(await startServer(way, server.url))
  const limit = { duration: SECONDS }
  const load = { connections: TOKENS, limit, headersFor: () => bearersOf(tokens) }
  const rounds = await inTurn(servers, ROUNDS, async (each) => await loadServer(each, load))
  const [, guarded] = [...rounds.values()]
  printTable(
    `Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s, ${TOKENS} tokens:`,
    [
      ['Express route', ([{ guard }]) => guard],
      ['CPU µs/request', ([, own]) => median(own.map(({ cpu }) => cpu)), 1],
      ['more than the guard alone', ([, own]) => beside(own, guarded, (a, b) => a.cpu - b.cpu), 1],
      ['times', ([, own]) => medianRatio(own, guarded, ({ cpu }) => cpu)],
    ],
    rounds,
  )
  for (const each of servers) each.stop()
}

/** From the call until the listener of another process was called, which refuses from then on. */
async function printDelays(server: RedisServer): Promise<void> {
  const reader = await startServer('a replica', server.url)
  const writer = redisRevocations({ url: server.url })
  await writer.ready()
  const recorded: number[] = []
  const heard: number[] = []
  for (let index = 0; index < REVOCATIONS; index += 1) {
    const told = once(reader.child, 'message') as Promise<[Heard]>
    const before = process.hrtime.bigint()
    await writer.revoke({ iss: ISSUER, jti: `delay ${index}`, exp: 4_102_444_800 })
    recorded.push(Number(process.hrtime.bigint() - before) / 1e6)
    const [{ heardAt }] = await told
    heard.push(Number(BigInt(heardAt) - before) / 1e6)
  }
  printTable(
    `Milliseconds from the call of revoke, ${REVOCATIONS} times:`,
    [
      ['', ([name]) => name],
      ['median', ([, values]) => median(values)],
      ['p99', ([, values]) => quantile(values, 0.99)],
      ['longest', ([, values]) => Math.max(...values)],
    ],
    Object.entries({ recorded, 'refused by another process': heard }),
  )
  await writer.close()
  reader.stop()
}

console.log(`${describeMachine()}\n`)
await using server = await startRedis()
await fill(server)
await printReplica(server)
await printRoutes(server)
await printDelays(server)
