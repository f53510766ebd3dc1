import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import autocannon from 'autocannon'

import { FRAMEWORKS, guardsOf, type Message, type Usage } from './http-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { markdownTable } from './table.ts'

// Guarded routes against the open route of the same framework:
//
//   pnpm bench:http           all of it: minutes
//   pnpm bench:http --quick   to see whether it runs
//
// Each server is a process of its own; this one is the load. With few tokens, 50 are sent over and over; with many, more
// than any cache holds are sent in turn, each by one connection, so that one is always new when its turn comes. If a
// server was not busy all the time, its throughput says more about the load than about the server: then its CPU time
// counts.

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' } } })
const ROUNDS = flags.quick ? 1 : 7
const SECONDS = flags.quick ? 1 : 3
const CONNECTIONS = 50
const FEW = 50
const MANY = flags.quick ? 1600 : 8000

interface Guarded {
  readonly guard: string
  readonly process: ChildProcess
  readonly url: string
}

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
const keys = JSON.stringify({ jwk: signer.jwk, urls: keyServer.urls })

async function start(framework: string, guard: string): Promise<Guarded> {
  const path = fileURLToPath(new URL('./http-server.ts', import.meta.url))
  const child = fork(path, [framework, guard, keys])
  const { port } = await nextMessage(child)
  return { guard, process: child, url: `http://127.0.0.1:${port}/` }
}

async function nextMessage(child: ChildProcess): Promise<Message> {
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('a server has ended')
    }),
  ])) as [Message] /* http-server.ts sends nothing else */
  return message
}

async function usageOf({ process: child }: Guarded): Promise<Usage> {
  child.send('usage')
  const { usage } = await nextMessage(child)
  if (usage === undefined) throw new Error('a server did not say what it used')
  return usage
}

async function load(server: Guarded, tokens: readonly string[], seconds: number): Promise<Round> {
  await usageOf(server)
  let connection = 0
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient(client) {
      const own = shareOf(tokens, connection)
      connection += 1
      client.setRequests(own.map((token) => ({ headers: { authorization: `Bearer ${token}` } })))
    },
  })
  const { cpu, busy } = await usageOf(server)
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

async function compare(framework: string, tokens: readonly string[]): Promise<void> {
  const servers: Guarded[] = []
  for (const guard of guardsOf(framework)) servers.push(await start(framework, guard))
  const rounds = new Map(servers.map((server): [Guarded, Round[]] => [server, []]))
  try {
    for (const server of servers) await load(server, tokens, SECONDS)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of servers) {
        const measured = await load(server, tokens, SECONDS)
        rounds.get(server)?.push(measured)
      }
    }
  } finally {
    for (const server of servers) server.process.disconnect()
  }
  print(rounds)
}

function print(rounds: ReadonlyMap<Guarded, readonly Round[]>): void {
  const [open = [], ours = []] = [...rounds.values()]
  const ratio = (of: readonly Round[], to: readonly Round[], part: 'rate' | 'cpu') =>
    median(of.map((each, round) => each[part] / (to[round]?.[part] ?? Number.NaN))).toFixed(2)
  const rows = [...rounds].map(([{ guard }, own]) => [
    guard,
    median(own.map(({ rate }) => rate)).toFixed(0),
    ratio(own, open, 'rate'),
    ratio(ours, own, 'rate'),
    median(own.map(({ cpu }) => cpu)).toFixed(1),
    ratio(open, own, 'cpu'),
    ratio(own, ours, 'cpu'),
    `${(100 * median(own.map(({ busy }) => busy))).toFixed(0)} %`,
  ])
  const header = [
    'Guard',
    'requests/s',
    'of the open route',
    'Portcullis is times as fast',
    'CPU µs/request',
    'of the open route, by CPU',
    'Portcullis is times as fast, by CPU',
    'event loop busy',
  ]
  console.log(`${markdownTable(header, rows)}\n`)
}

console.log(describeMachine())
console.log(
  `Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s; ${CONNECTIONS} connections.\n`,
)
for (const framework of FRAMEWORKS) {
  console.log(`${framework}, ${FEW} tokens:\n`)
  await compare(framework, many.slice(0, FEW))
  console.log(`${framework}, all tokens new (${MANY} in turn):\n`)
  await compare(framework, many)
}
keyServer.close()
