import { redisRevocations } from '@portcullis/redis'

import { startRedis } from '../simulation/redis/redis-server.ts'
import {
  CONNECTIONS,
  type GuardedServer,
  nextMessage,
  type Round,
  startServer,
} from './guarded-server.ts'
import { ASKING_GUARDS, type Keys } from './http-server.ts'
import { EXPIRES_AT, ISSUER } from './inputs.ts'
import { beside, inTurn, median, quantile } from './measure.ts'
import { describeMachine, flags } from './report.ts'
import { createSetting } from './subjects.ts'
import { printTable } from './table.ts'

// What it costs to ask whether a token was revoked, and how soon everybody knows of it, with a server of its own: `pnpm bench
// revocations` takes a minute.
//
// It needs redis-server. The servers with the route are processes of their own, and this one is the load: so CPU time counts.

const ENTRIES = flags.quick ? 1000 : 100_000
const ROUNDS = flags.quick ? 1 : 5
const REVOCATIONS = flags.quick ? 20 : 500
const BATCH = 20_000
const STREAM = 'portcullis:revocations'

const SCRIPT = `
for index = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  redis.call('XADD', KEYS[1], '*', 'v', '1', 'type', 'token', 'iss', ARGV[3], 'jti', index .. '-9f0c3f5e8b7a', 'exp', ARGV[4])
end`

/** Octets of the heap, when all that is not needed has been given back. */
function heap(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

async function printReplica(): Promise<void> {
  const before = heap()
  const start = performance.now()
  const revocations = redisRevocations({ url: server.url })
  await revocations.ready()
  const loaded = performance.now() - start
  const size = (heap() - before) / 2 ** 20
  console.log(
    `A replica of ${ENTRIES} entries is ready after ${loaded.toFixed(0)} ms and takes ${size.toFixed(1)} MiB of heap.\n`,
  )
  await revocations.close()
}

async function printRoutes(keys: Keys): Promise<void> {
  const servers: GuardedServer[] = []
  for (const guard of ['Portcullis', ...ASKING_GUARDS])
    servers.push(await startServer('Express', guard, keys))
  const load = { seconds: 1, tokens: setting.signer.tokens(CONNECTIONS) }
  const rounds = await inTurn(servers, ROUNDS, async (each) => await each.load(load))
  for (const each of servers) each.stop()
  const [alone] = rounds.values()
  printTable<[GuardedServer, readonly Round[]]>(
    `Medians of ${ROUNDS} interleaved rounds of 1 s, ${CONNECTIONS} tokens:`,
    [
      ['Express route', ([{ guard }]) => guard],
      ['CPU µs/request', ([, own]) => median(own.map(({ cpu }) => cpu)), 1],
      ['more than the guard alone', ([, own]) => beside(own, alone, (a, b) => a.cpu - b.cpu), 1],
    ],
    rounds,
  )
}

/** From the call until the listener of another process was called, which refuses from then on. */
async function printDelays(keys: Keys): Promise<void> {
  const reader = await startServer('Express', ASKING_GUARDS[0] ?? '', keys)
  const writer = redisRevocations({ url: server.url })
  await writer.ready()
  const recorded: number[] = []
  const heard: number[] = []
  for (let index = 0; index < REVOCATIONS; index += 1) {
    const told = nextMessage(reader.child)
    const before = process.hrtime.bigint()
    await writer.revoke({ iss: ISSUER, jti: `delay ${index}`, exp: EXPIRES_AT })
    recorded.push(Number(process.hrtime.bigint() - before) / 1e6)
    const { heardAt = '' } = await told
    heard.push(Number(BigInt(heardAt) - before) / 1e6)
  }
  printTable(
    `Milliseconds from the call of revoke, ${REVOCATIONS} times:`,
    [
      ['', ([name]) => name],
      ['median', ([, values]) => median(values)],
      ['p99', ([, values]) => quantile(values, 0.99)],
    ],
    Object.entries({ recorded, 'refused by another process': heard }),
  )
  await writer.close()
  reader.stop()
}

console.log(`${describeMachine()}\n`)
const setting = await createSetting()
await using server = await startRedis()
await server.command('XADD', STREAM, '0-1', 'v', 1, 'type', 'identity', 'id', 'bench')
for (let first = 1; first <= ENTRIES; first += BATCH) {
  const last = Math.min(ENTRIES, first + BATCH - 1)
  await server.command('EVAL', SCRIPT, 1, STREAM, first, last, ISSUER, EXPIRES_AT)
}
await printReplica()
const keys = { ...setting, redis: server.url }
await printRoutes(keys)
await printDelays(keys)
setting.keyServer.close()
