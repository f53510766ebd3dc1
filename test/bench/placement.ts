import { parseArgs } from 'node:util'

import { CONNECTIONS, type Placement, startServer } from './guarded-server.ts'
import { beside, inTurn, median } from './measure.ts'
import { describeMachine } from './report.ts'
import { KINDS, type SignatureKind } from './signature-kinds.ts'
import { createSetting } from './subjects.ts'
import { printTable } from './table.ts'

// Whether the rule that says where a signature is checked is right for each algorithm: `pnpm bench placement` takes minutes, with
// `--algorithm ES256` less, and with `--quick` it shows whether it runs.
//
// A guarded Koa route with tokens that are all new, three times: with the rule, with all checks on the main thread, and with
// all of them on the thread pool. Needs a Node with `module.registerHooks`.

/** Those between which the rule distinguishes. */
const ALGORITHMS = ['RS512', 'ES256', 'EdDSA', 'RS512-4096', 'ES512']

const { values: flags } = parseArgs({
  options: {
    algorithm: { type: 'string', multiple: true, default: ALGORITHMS },
    quick: { type: 'boolean' },
    rounds: { type: 'string', default: '7' },
  },
})
const ROUNDS = flags.quick ? 1 : Number(flags.rounds)
const SECONDS = flags.quick ? 0.5 : 1.5

const RULES: Readonly<Record<string, Placement>> = {
  'the rule': {},
  'all on the main thread': { preload: './placement-hook.ts?main' },
  'all on the pool': { preload: './placement-hook.ts?pool' },
}

async function compare(kind: SignatureKind, cores: string | undefined) {
  const setting = await createSetting(kind)
  const tokens = setting.signer.tokens(flags.quick ? 1100 : 3000)
  const open = await startServer('Koa', 'open', setting, { cores })
  const servers = [open]
  for (const placement of Object.values(RULES))
    servers.push(await startServer('Koa', 'Portcullis', setting, { ...placement, cores }))
  const load = { seconds: SECONDS, tokens }
  const rounds = await inTurn(servers, ROUNDS, async (server) => await server.load(load))
  for (const server of servers) server.stop()
  setting.keyServer.close()
  return Object.keys(RULES).map((rule, index) => {
    const own = [...rounds.values()][index + 1] ?? []
    return {
      tokens: kind.name,
      cores: cores === undefined ? 'all' : '1',
      rule,
      rate: median(own.map(({ rate }) => rate)),
      ofOpen: beside(own, rounds.get(open), (a, b) => a.rate / b.rate),
      cpu: median(own.map(({ cpu }) => cpu)),
    }
  })
}

console.log(describeMachine())
const rows: Awaited<ReturnType<typeof compare>> = []
for (const name of flags.algorithm) {
  const kind = KINDS[name]
  if (kind === undefined) throw new TypeError(`known are ${Object.keys(KINDS).join(', ')}`)
  rows.push(...(await compare(kind, undefined)), ...(await compare(kind, '0')))
}
printTable(
  `Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s; ${CONNECTIONS} connections.`,
  [
    ['Tokens', (row) => row.tokens],
    ['cores', (row) => row.cores],
    ['checked', (row) => row.rule],
    ['requests/s', (row) => row.rate, 0],
    ['of the open route', (row) => row.ofOpen, 3],
    ['CPU µs/request', (row) => row.cpu, 0],
  ],
  rows,
)
