import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import type { Claims, Revocations } from '@portcullis/core'
import { redisRevocations } from '@portcullis/redis'
import autocannon from 'autocannon'

import { type RedisServer, startRedis } from '../simulation/redis/redis-server.ts'
import type { Message } from './http-server.ts'
import { claims, createSigner, ISSUER } from './inputs.ts'
import { describeMachine } from './machine.ts'
import { median, quantile } from './measure.ts'
import { type Heard, WAY_NAMES } from './revocations-child.ts'
import { markdownTable } from './table.ts'

// What it costs to ask whether a token was revoked, and how soon everybody knows of it, with a server of its own:
//
//   pnpm bench revocations           all of it: a minute
//   pnpm bench revocations --quick   to see whether it runs
//
// It needs redis-server. The servers with the route are processes of their own, and this one is the load: so CPU time counts.

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' } } })
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
  const rows = [
    ['look-up of a token that is not revoked, ns', costOfLookUp(revocations, asked).toFixed(0)],
    [`snapshot of ${ENTRIES} entries, until ready, ms`, loaded.toFixed(0)],
    [`heap for ${ENTRIES} entries, MiB`, (size / 2 ** 20).toFixed(1)],
  ]
  console.log(`${markdownTable(['A replica', ''], rows)}\n`)
  await revocations.close()
}

interface Server {
  readonly way: string
  readonly child: ChildProcess
  readonly port: number
  /** Microseconds of CPU time for each request, round by round. */
  readonly costs: number[]
}

async function startServer(way: string, url: string): Promise<Server> {
  const path = fileURLToPath(new URL('revocations-child.ts', import.meta.url))
  const child = fork(path, [way, url, JSON.stringify(signer.jwk)], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const { port } = await messageOf(child)
  if (port === undefined) throw new Error(`${way}: it did not say where it listens`)
  return { way, child, port, costs: [] }
}

async function messageOf(child: ChildProcess): Promise<Message> {
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('a server has ended')
    }),
  ])) as [Message] /* revocations-child.ts sends nothing else while nothing is revoked */
  return message
}

async function load({ way, child, port, costs }: Server, isMeasured: boolean): Promise<void> {
  const before = messageOf(child)
  child.send('usage')
  await before
  const result = await autocannon({
    url: `http://127.0.0.1:${port}/`,
    connections: TOKENS,
    duration: SECONDS,
    requests: tokens.map((token) => ({ headers: { authorization: `Bearer ${token}` } })),
  })
  const after = messageOf(child)
  child.send('usage')
  const { usage } = await after
  const answered = result['2xx']
  if (usage === undefined || result.non2xx > 0 || answered === 0) {
    throw new Error(`${way}: ${result.non2xx} refusals, ${result.errors} errors`)
  }
  if (isMeasured) costs.push(usage.cpu / answered)
}

async function printRoutes(server: RedisServer): Promise<void> {
  const servers: Server[] = []
  for (const way of WAY_NAMES) servers.push(await startServer(way, server.url))
  for (const each of servers) await load(each, false)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const each of servers) await load(each, true)
  }
  const guarded = servers.find(({ way }) => way === 'guard alone')?.costs ?? []
  const rows = servers.map(({ way, costs }) => [
    way,
    median(costs).toFixed(1),
    median(costs.map((cost, round) => cost - (guarded[round] ?? Number.NaN))).toFixed(1),
    median(costs.map((cost, round) => cost / (guarded[round] ?? Number.NaN))).toFixed(2),
  ])
  const header = ['Express route', 'CPU µs/request', 'more than the guard alone', 'times']
  console.log(`Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s, ${TOKENS} tokens:\n`)
  console.log(`${markdownTable(header, rows)}\n`)
  for (const { child } of servers) child.disconnect()
}

/** From the call until the listener of another process was called, which refuses from then on. */
async function printDelays(server: RedisServer): Promise<void> {
  const { child } = await startServer('a replica', server.url)
  const writer = redisRevocations({ url: server.url })
  await writer.ready()
  const recorded: number[] = []
  const heard: number[] = []
  for (let index = 0; index < REVOCATIONS; index += 1) {
    const told = once(child, 'message') as Promise<[Heard]>
    const before = process.hrtime.bigint()
    await writer.revoke({ iss: ISSUER, jti: `delay ${index}`, exp: 4_102_444_800 })
    recorded.push(Number(process.hrtime.bigint() - before) / 1e6)
    const [{ heardAt }] = await told
    heard.push(Number(BigInt(heardAt) - before) / 1e6)
  }
  const measured = { recorded, 'refused by another process': heard }
  const rows = Object.entries(measured).map(([name, values]) => [
    name,
    median(values).toFixed(2),
    quantile(values, 0.99).toFixed(2),
    Math.max(...values).toFixed(2),
  ])
  console.log(`Milliseconds from the call of revoke, ${REVOCATIONS} times:\n`)
  console.log(`${markdownTable(['', 'median', 'p99', 'longest'], rows)}\n`)
  await writer.close()
  child.disconnect()
}

console.log(`${describeMachine()}\n`)
await using server = await startRedis()
await fill(server)
await printReplica(server)
await printRoutes(server)
await printDelays(server)
