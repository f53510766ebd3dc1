import { parseArgs } from 'node:util'

import autocannon from 'autocannon'

import { barChart } from './chart.ts'
import { type GuardedServer, startServer } from './guarded-server.ts'
import { FRAMEWORKS, guardsOf } from './http-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { writeResult } from './results.ts'
import { markdownTable } from './table.ts'

// Guarded routes against the open route of the same framework:
//
//   pnpm bench:http                                       all of it: minutes
//   pnpm bench:http --framework Koa --rounds 3 --seconds 1   some of it
//   pnpm bench:http --few                                 without the part in which all tokens are new
//   pnpm bench:http --write                               and the chart
//   pnpm bench:http --quick                               to see whether it runs
//
// Each server is a process of its own; this one is the load. With few tokens, 50 are sent over and over; with many, more
// than any cache holds are sent in turn, each by one connection, so that one is always new when its turn comes. If a
// server was not busy all the time, its throughput says more about the load than about the server: then its CPU time
// counts.

const { values: flags } = parseArgs({
  options: {
    few: { type: 'boolean' },
    framework: { type: 'string', multiple: true, default: FRAMEWORKS },
    quick: { type: 'boolean' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    write: { type: 'boolean' },
  },
})
const ROUNDS = flags.quick ? 1 : Number(flags.rounds)
const SECONDS = flags.quick ? 1 : Number(flags.seconds)
const CONNECTIONS = 50
const FEW = 50
const MANY = flags.quick ? 1600 : 8000

/** One round of one server. */
interface Round {
  /** Requests a second. */
  readonly rate: number
  /** Microseconds of the server's CPU time for each request. */
  readonly cpu: number
  readonly busy: number
}

const signer = createSigner()
const many = Array.from({ length: MANY }, (_, index) => signer.token(index))
const keyServer = await listenForKeys(signer.jwk)
const keys = { jwk: signer.jwk, urls: keyServer.urls }

async function load(
  server: GuardedServer,
  tokens: readonly string[],
  seconds: number,
): Promise<Round> {
  await server.usage()
  let connection = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}/`,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient(client) {
      const own = shareOf(tokens, connection)
      connection += 1
      client.setRequests(own.map((token) => ({ headers: { authorization: `Bearer ${token}` } })))
    },
  })
  const { cpu, busy } = await server.usage()
  const answered = result['2xx']
  if (result.non2xx > 0 || result.errors > 0 || answered === 0) {
    throw new Error(`${server.guard}: ${result.non2xx} refusals, ${result.errors} errors`)
  }
  return { rate: answered / result.duration, cpu: cpu / answered, busy }
}

/** Few tokens are everybody's; of many, each connection has some of its own. */
function shareOf(tokens: readonly string[], connection: number): readonly string[] {
  if (tokens.length <= FEW) return tokens
  const size = Math.floor(tokens.length / CONNECTIONS)
  return tokens.slice(connection * size, (connection + 1) * size)
}

type Rounds = ReadonlyMap<GuardedServer, readonly Round[]>

async function compare(framework: string, tokens: readonly string[]): Promise<Rounds> {
  const servers: GuardedServer[] = []
  for (const guard of guardsOf(framework)) {
    servers.push(await startServer(framework, guard, keys))
  }
  const rounds = new Map(servers.map((server): [GuardedServer, Round[]] => [server, []]))
  try {
    for (const server of servers) await load(server, tokens, SECONDS)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of servers) {
        const measured = await load(server, tokens, SECONDS)
        rounds.get(server)?.push(measured)
      }
    }
  } finally {
    for (const server of servers) server.stop()
  }
  print(rounds)
  return rounds
}

function print(rounds: Rounds): void {
  const [open = [], ours = []] = [...rounds.values()]
  const rows = [...rounds].map(([{ guard }, own]) => [
    guard,
    median(own.map(({ rate }) => rate)).toFixed(0),
    ratioOf(own, open, 'rate').toFixed(2),
    ratioOf(ours, own, 'rate').toFixed(2),
    median(own.map(({ cpu }) => cpu)).toFixed(1),
    median(costsBeyond(own, open)).toFixed(1),
    ratioOf(open, own, 'cpu').toFixed(2),
    ratioOf(own, ours, 'cpu').toFixed(2),
    `${(100 * median(own.map(({ busy }) => busy))).toFixed(0)} %`,
  ])
  const header = [
    'Guard',
    'requests/s',
    'of the open route',
    'Portcullis is times as fast',
    'CPU µs/request',
    'more than the open route',
    'of the open route, by CPU',
    'Portcullis is times as fast, by CPU',
    'event loop busy',
  ]
  console.log(`${markdownTable(header, rows)}\n`)
}

function ratioOf(of: readonly Round[], to: readonly Round[], part: 'rate' | 'cpu'): number {
  return median(of.map((each, round) => each[part] / (to[round]?.[part] ?? Number.NaN)))
}

/** What a guard adds, round by round: steadier than a ratio of throughputs where others want the cores as well. */
function costsBeyond(own: readonly Round[], open: readonly Round[]): number[] {
  return own.map(({ cpu }, round) => cpu - (open[round]?.cpu ?? Number.NaN))
}

function groupOf(name: string, rounds: Rounds) {
  const [open = []] = rounds.values()
  const [, ...guarded] = rounds
  const bars = guarded.map(([{ guard }, own]) => ({
    name: guard,
    value: median(costsBeyond(own, open)),
    isOurs: guard === 'Portcullis',
  }))
  return { name, bars }
}

console.log(describeMachine())
console.log(
  `Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s; ${CONNECTIONS} connections.\n`,
)
const groups: ReturnType<typeof groupOf>[] = []
for (const framework of flags.framework) {
  console.log(`${framework}, ${FEW} tokens:\n`)
  groups.push(groupOf(`${framework}, ${FEW} tokens`, await compare(framework, many.slice(0, FEW))))
  if (flags.few) continue
  console.log(`${framework}, all tokens new (${MANY} in turn):\n`)
  groups.push(groupOf(`${framework}, all tokens new`, await compare(framework, many)))
}
if (flags.write) {
  const title = 'CPU time that a guard adds to a request: microseconds'
  const subtitle = `More than the same route without a guard; shorter is better. ${describeMachine()}`
  writeResult('routes.svg', barChart({ title, subtitle, groups, digits: 1 }))
}
keyServer.close()
