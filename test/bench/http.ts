import { parseArgs } from 'node:util'

import { createBoundClient, headersOf } from './bound-client.ts'
import {
  bearersOf,
  type GuardedServer,
  type Load,
  loadServer,
  type Round,
  shareOf,
  startServer,
} from './guarded-server.ts'
import { BOUND, FRAMEWORKS, guardsOf } from './http-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { beside, inTurn, median, medianRatio } from './measure.ts'
import { ES256, RS256 } from './signature-kinds.ts'
import { type Column, printTable } from './table.ts'

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

const signer = createSigner()
const many = Array.from({ length: MANY }, (_, index) => signer.token(index))
const keyServer = await listenForKeys(signer.jwk)
const keys = { jwk: signer.jwk, urls: keyServer.urls }

type Loads = Map<GuardedServer, Load>

const loadOf = (limit: Load['limit'], headersFor: Load['headersFor']): Load => ({
  connections: CONNECTIONS,
  limit,
  headersFor,
})

/** Few tokens are everybody's. */
async function compare(framework: string, tokens: readonly string[]): Promise<void> {
  const load = loadOf({ duration: SECONDS }, (connection) =>
    bearersOf(tokens.length <= FEW ? tokens : shareOf(tokens, connection, CONNECTIONS)),
  )
  const servers: Loads = new Map()
  for (const guard of guardsOf(framework)) {
    servers.set(await startServer(framework, guard, keys), load)
  }
  await print(servers, (open, ours) => [
    ['Guard', ([{ guard }]) => guard],
    ['requests/s', ([, own]) => median(own.map(({ rate }) => rate)), 0],
    ['of the open route', ([, own]) => medianRatio(own, open, ({ rate }) => rate)],
    ['Portcullis is times as fast', ([, own]) => medianRatio(ours, own, ({ rate }) => rate)],
    ['CPU µs/request', ([, own]) => median(own.map(({ cpu }) => cpu)), 1],
    ['more than the open route', ([, own]) => beyond(own, open), 1],
    ['of the open route, by CPU', ([, own]) => medianRatio(open, own, ({ cpu }) => cpu)],
    ['Portcullis is times as fast, by CPU', ([, own]) => medianRatio(own, ours, ({ cpu }) => cpu)],
    ['event loop busy, %', ([, own]) => 100 * median(own.map(({ busy }) => busy)), 0],
  ])
}

/** What a bound token with a proof costs beside a bearer token, with as many requests for each. */
async function compareBound(framework: string): Promise<void> {
  const limit = { amount: PROVEN }
  const bearer = loadOf(limit, () => bearersOf(many.slice(0, FEW)))
  const servers: Loads = new Map()
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
    const server = await startServer(framework, BOUND, keys)
    const load = loadOf(limit, (connection) =>
      Array.from({ length: Math.ceil(PROVEN / CONNECTIONS) }, () => {
        const client = clients[connection % CLIENTS]
        return client === undefined ? {} : headersOf(client)
      }),
    )
    servers.set({ ...server, guard: `${BOUND}: a proof of ${kind.alg}` }, load)
  }
  // Of a number of requests nobody knows how soon they could have been answered.
  await print(servers, (open, plain) => [
    ['Guard, and what is sent', ([{ guard }]) => guard],
    ['CPU µs/request', ([, own]) => median(own.map(({ cpu }) => cpu)), 1],
    ['more than the open route', ([, own]) => beyond(own, open), 1],
    ['more than a bearer token', ([, own]) => beyond(own, plain), 1],
    ['times a bearer token', ([, own]) => medianRatio(own, plain, ({ cpu }) => cpu)],
  ])
}

/** The first two servers are the open route and ours. */
async function print(
  servers: Loads,
  columnsOf: (
    open: readonly Round[],
    ours: readonly Round[],
  ) => readonly Column<[GuardedServer, readonly Round[]]>[],
): Promise<void> {
  try {
    const rounds = await inTurn(servers.entries(), ROUNDS, async ([server, load]) =>
      loadServer(server, load),
    )
    const rows = [...rounds].map(([[server], own]) => [server, own] as [GuardedServer, Round[]])
    const [open = [], ours = []] = [...rounds.values()]
    printTable('', columnsOf(open, ours), rows)
  } finally {
    for (const server of servers.keys()) server.stop()
  }
}

/** What a guard adds, round by round: steadier than a ratio of throughputs where others want the cores as well. */
function beyond(own: readonly Round[], open: readonly Round[]): number {
  return beside(own, open, (one, other) => one.cpu - other.cpu)
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
