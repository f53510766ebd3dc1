import { parseArgs } from 'node:util'

import { CONNECTIONS, type GuardedServer, type Round, startServer } from './guarded-server.ts'
import { FRAMEWORKS, guardsOf } from './http-server.ts'
import { beside, inTurn, median } from './measure.ts'
import { describeMachine } from './report.ts'
import { createSetting } from './subjects.ts'
import { printTable } from './table.ts'

// Guarded routes against the open route of the same framework: `pnpm bench http` takes minutes, with `--framework Koa --rounds 3
// --seconds 1` less, and with `--quick` it shows whether it runs.
//
// Each server is a process of its own; this one is the load. With few tokens, 50 are sent over and over; with many, more
// than any cache holds are sent in turn, each by one connection, so that one is always new when its turn comes. If a
// server was not busy all the time, its throughput says more about the load than about the server: then its CPU time
// counts.

const { values: flags } = parseArgs({
  options: {
    framework: { type: 'string', multiple: true, default: [...FRAMEWORKS] },
    quick: { type: 'boolean' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
  },
})
const ROUNDS = flags.quick ? 1 : Number(flags.rounds)
const SECONDS = flags.quick ? 1 : Number(flags.seconds)

const setting = await createSetting()
const many = setting.signer.tokens(flags.quick ? 1600 : 8000)

async function compare(framework: string, tokens: readonly string[]): Promise<void> {
  const servers: GuardedServer[] = []
  for (const guard of guardsOf(framework))
    servers.push(await startServer(framework, guard, setting))
  const load = { seconds: SECONDS, tokens }
  const rounds = await inTurn(servers, ROUNDS, async (server) => await server.load(load))
  for (const server of servers) server.stop()
  const [open] = rounds.values()
  printTable<[GuardedServer, readonly Round[]]>(
    `${framework}, ${tokens.length === CONNECTIONS ? 'the same' : 'all new'}, ${tokens.length} tokens:`,
    [
      ['Guard', ([{ guard }]) => guard],
      ['requests/s', ([, own]) => median(own.map(({ rate }) => rate)), 0],
      ['of the open route', ([, own]) => beside(own, open, (a, b) => a.rate / b.rate)],
      ['CPU µs/request', ([, own]) => median(own.map(({ cpu }) => cpu)), 1],
      ['CPU µs more', ([, own]) => beside(own, open, (a, b) => a.cpu - b.cpu), 1],
    ],
    rounds,
  )
}

console.log(describeMachine())
console.log(
  `Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s; ${CONNECTIONS} connections.\n`,
)
for (const framework of flags.framework) {
  await compare(framework, many.slice(0, CONNECTIONS))
  await compare(framework, many)
}
setting.keyServer.close()
