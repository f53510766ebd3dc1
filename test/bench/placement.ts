import { parseArgs } from 'node:util'

import autocannon from 'autocannon'

import { type GuardedServer, type Placement, startServer } from './guarded-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { ED_DSA, ES256, ES512, RS512, RS512_4096, type SignatureKind } from './signature-kinds.ts'
import { markdownTable } from './table.ts'

// Whether the rule that says where a signature is checked is right for each algorithm:
//
//   pnpm bench placement                           minutes
//   pnpm bench placement --algorithm ES256         one of them: RS512, ES256, EdDSA, RS512-4096, ES512
//   pnpm bench placement --quick                   to see whether it runs
//
// A guarded Koa route with tokens that are all new, three times: with the rule, with all checks on the main thread, and with
// all of them on the thread pool. Needs a Node with `module.registerHooks`.

const KINDS: Readonly<Record<string, SignatureKind>> = {
  RS512,
  ES256,
  EdDSA: ED_DSA,
  'RS512-4096': RS512_4096,
  ES512,
}

const { values: flags } = parseArgs({
  options: {
    algorithm: { type: 'string', multiple: true, default: Object.keys(KINDS) },
    quick: { type: 'boolean' },
    rounds: { type: 'string', default: '7' },
  },
})
const ROUNDS = flags.quick ? 1 : Number(flags.rounds)
const SECONDS = flags.quick ? 0.5 : 1.5
const CONNECTIONS = 50
const TOKENS = flags.quick ? 1100 : 3000

const RULES: Readonly<Record<string, Placement>> = {
  'the rule': {},
  'all on the main thread': { preload: './placement-hook.ts?main' },
  'all on the pool': { preload: './placement-hook.ts?pool' },
}

interface Round {
  /** Requests a second. */
  readonly rate: number
  /** Microseconds of CPU time for each. */
  readonly cpu: number
}

async function load(server: GuardedServer, tokens: readonly string[]): Promise<Round> {
  await server.usage()
  const size = Math.floor(tokens.length / CONNECTIONS)
  let connection = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}/`,
    connections: CONNECTIONS,
    duration: SECONDS,
    setupClient(client) {
      const own = tokens.slice(connection * size, (connection + 1) * size)
      connection += 1
      client.setRequests(own.map((token) => ({ headers: { authorization: `Bearer ${token}` } })))
    },
  })
  const { cpu } = await server.usage()
  const answered = result['2xx']
  if (result.non2xx > 0 || result.errors > 0 || answered === 0) {
    throw new Error(`${result.non2xx} refusals, ${result.errors} errors`)
  }
  return { rate: answered / result.duration, cpu: cpu / answered }
}

async function compare(kind: SignatureKind, cores: string | undefined): Promise<string[][]> {
  const signer = createSigner(kind)
  const keyServer = await listenForKeys(signer.jwk)
  const keys = { jwk: signer.jwk, urls: keyServer.urls }
  const tokens = Array.from({ length: TOKENS }, (_, index) => signer.token(index))
  const rounds = new Map<GuardedServer, Round[]>()
  const open = await startServer('Koa', 'open', keys, { cores })
  rounds.set(open, [])
  for (const placement of Object.values(RULES)) {
    rounds.set(await startServer('Koa', 'Portcullis', keys, { ...placement, cores }), [])
  }
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [server, measured] of rounds) {
      const result = await load(server, tokens)
      if (round >= 0) measured.push(result)
    }
  }
  for (const server of rounds.keys()) server.stop()
  keyServer.close()
  const [ofOpen = [], ...others] = [...rounds.values()]
  return Object.keys(RULES).map((rule, index) => {
    const own = others[index] ?? []
    const rate = own.map((each, round) => each.rate / (ofOpen[round]?.rate ?? Number.NaN))
    return [
      kind.name,
      cores === undefined ? 'all' : '1',
      rule,
      median(own.map((each) => each.rate)).toFixed(0),
      median(rate).toFixed(3),
      median(own.map(({ cpu }) => cpu)).toFixed(0),
    ]
  })
}

console.log(describeMachine())
console.log(
  `Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s; ${CONNECTIONS} connections.\n`,
)
const rows: string[][] = []
for (const name of flags.algorithm) {
  const kind = KINDS[name]
  if (kind === undefined) throw new TypeError(`known are ${Object.keys(KINDS).join(', ')}`)
  rows.push(...(await compare(kind, undefined)), ...(await compare(kind, '0')))
}
const header = ['Tokens', 'cores', 'checked', 'requests/s', 'of the open route', 'CPU µs/request']
console.log(markdownTable(header, rows))
