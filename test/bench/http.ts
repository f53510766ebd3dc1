import { parseArgs } from 'node:util'

import autocannon from 'autocannon'

import { createBoundClient, headersOf } from './bound-client.ts'
import { type GuardedServer, startServer } from './guarded-server.ts'
import { BOUND, FRAMEWORKS, guardsOf } from './http-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { ES256, RS256 } from './signature-kinds.ts'
import { markdownTable } from './table.ts'

// Guarded routes against the open route of the same framework:
//
//   pnpm bench http                                       all of it: minutes
//   pnpm bench http --framework Koa --rounds 3 --seconds 1   some of it
//   pnpm bench http --few                                 without the part in which all tokens are new
//   pnpm bench http --dpop                                bound tokens instead, with a new proof for each request
//   pnpm bench http --quick                               to see whether it runs
//
// Each server is a process of its own; this one is the load. With few tokens, 50 are sent over and over; with many, more
// than any cache holds are sent in turn, each by one connection, so that one is always new when its turn comes. If a
// server was not busy all the time, its throughput says more about the load than about the server: then its CPU time
// counts.

const { values: flags } = parseArgs({
  options: {
    dpop: { type: 'boolean' },
    few: { type: 'boolean' },
    framework: { type: 'string', multiple: true, default: FRAMEWORKS },
    quick: { type: 'boolean' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
  },
})
const ROUNDS = flags.quick ? 1 : Number(flags.rounds)
const SECONDS = flags.quick ? 1 : Number(flags.seconds)
const CONNECTIONS = 50
const FEW = 50
const MANY = flags.quick ? 1600 : 8000
/** In a round with proofs: a proof takes longer to make than to check, so there are only so many. */
const PROVEN = flags.quick ? 500 : 4000
/** Clients with a key of their own. */
const CLIENTS = 10

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

type Headers = Readonly<Record<string, string>>

/** @param limit How long, or how many requests. */
async function load(
  server: GuardedServer,
  headersFor: (connection: number) => readonly Headers[],
  limit: { readonly duration: number } | { readonly amount: number },
): Promise<Round> {
  const headers = Array.from({ length: CONNECTIONS }, (_, connection) => headersFor(connection))
  await server.usage()
  let connection = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}/`,
    connections: CONNECTIONS,
    ...limit,
    setupClient(client) {
      client.setRequests((headers[connection] ?? []).map((each) => ({ headers: { ...each } })))
      connection += 1
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
type Load = (server: GuardedServer) => Promise<Round>

async function compare(framework: string, tokens: readonly string[]): Promise<void> {
  const bearer: Load = async (server) =>
    await load(server, (connection) => bearersOf(shareOf(tokens, connection)), {
      duration: SECONDS,
    })
  const servers = new Map<GuardedServer, Load>()
  for (const guard of guardsOf(framework)) {
    servers.set(await startServer(framework, guard, keys), bearer)
  }
  print(await measureInTurn(servers))
}

/** What a bound token with a proof costs beside a bearer token, with as many requests for each. */
async function compareBound(framework: string): Promise<void> {
  const amount = PROVEN
  const few = many.slice(0, FEW)
  const bearer: Load = async (server) => await load(server, () => bearersOf(few), { amount })
  const servers = new Map<GuardedServer, Load>()
  for (const guard of ['open', 'Portcullis']) {
    servers.set(await startServer(framework, guard, keys), bearer)
  }
  const both = await startServer(framework, BOUND, keys)
  servers.set({ ...both, guard: `${BOUND}: a bearer token` }, bearer)
  for (const kind of [ES256, RS256]) {
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, index) =>
        createBoundClient(signer, MANY + index, kind),
      ),
    )
    const headersFor = (connection: number) => {
      const client = clients[connection % CLIENTS]
      return Array.from({ length: Math.ceil(amount / CONNECTIONS) }, () =>
        client === undefined ? {} : headersOf(client),
      )
    }
    const server = await startServer(framework, BOUND, keys)
    servers.set({ ...server, guard: `${BOUND}: a proof of ${kind.alg}` }, async (each) =>
      load(each, headersFor, { amount }),
    )
  }
  printCosts(await measureInTurn(servers))
}

function bearersOf(tokens: readonly string[]): readonly Headers[] {
  return tokens.map((token) => ({ authorization: `Bearer ${token}` }))
}

async function measureInTurn(servers: ReadonlyMap<GuardedServer, Load>): Promise<Rounds> {
  const rounds = new Map<GuardedServer, Round[]>()
  try {
    for (const [server, loadOnce] of servers) {
      await loadOnce(server)
      rounds.set(server, [])
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [server, loadOnce] of servers) {
        const measured = await loadOnce(server)
        rounds.get(server)?.push(measured)
      }
    }
  } finally {
    for (const server of servers.keys()) server.stop()
  }
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

/** Of a number of requests nobody knows how soon they could have been answered. */
function printCosts(rounds: Rounds): void {
  const [open = [], bearer = []] = [...rounds.values()]
  const rows = [...rounds].map(([{ guard }, own]) => [
    guard,
    median(own.map(({ cpu }) => cpu)).toFixed(1),
    median(costsBeyond(own, open)).toFixed(1),
    median(costsBeyond(own, bearer)).toFixed(1),
    ratioOf(own, bearer, 'cpu').toFixed(2),
  ])
  const header = [
    'Guard, and what is sent',
    'CPU µs/request',
    'more than the open route',
    'more than a bearer token',
    'times a bearer token',
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

console.log(describeMachine())
const length = flags.dpop ? `${PROVEN} requests` : `${SECONDS} s`
console.log(`Medians of ${ROUNDS} interleaved rounds of ${length}; ${CONNECTIONS} connections.\n`)
for (const framework of flags.framework) {
  if (flags.dpop) {
    console.log(`${framework}, ${FEW} bearer tokens, or ${CLIENTS} bound ones:\n`)
    await compareBound(framework)
    continue
  }
  console.log(`${framework}, ${FEW} tokens:\n`)
  await compare(framework, many.slice(0, FEW))
  if (flags.few) continue
  console.log(`${framework}, all tokens new (${MANY} in turn):\n`)
  await compare(framework, many)
}
keyServer.close()
