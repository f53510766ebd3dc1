import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

import { barChart } from './chart.ts'
import { type Generator, limitOf, startGenerator } from './generator.ts'
import { type GuardedServer, type Placement, startServer } from './guarded-server.ts'
import { guardsOf } from './http-server.ts'
import { createSigner, forgeries, type Signer } from './inputs.ts'
import { type KeyServer, listenForKeys } from './key-server.ts'
import type { Order, Pool, Report } from './load-generator.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { writeResult } from './results.ts'
import { RS512 } from './signature-kinds.ts'
import { markdownTable } from './table.ts'

// How long requests wait on a guarded route at 70 % of what it can do, of which nine in ten bring a token that came before:
//
//   pnpm bench load                                       all of it: minutes
//   pnpm bench load --framework Koa --cores 1 --rounds 1  some of it; cores: 1, all, cluster
//   pnpm bench load --write                               and the chart
//   pnpm bench load --quick                               to see whether it runs
//
// What a server can do is found before each round. Then requests become due at a constant rate, and each is measured from
// the time at which it was due: a server that answers late does not make the load wait for it.

const { values: flags } = parseArgs({
  options: {
    cores: { type: 'string', multiple: true, default: ['1', 'all', 'cluster'] },
    framework: { type: 'string', multiple: true, default: ['Koa', 'Fastify', 'Express'] },
    quick: { type: 'boolean' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    write: { type: 'boolean' },
  },
})
const ROUNDS = flags.quick ? 1 : Number(flags.rounds)
const SECONDS = flags.quick ? 0.5 : Number(flags.seconds)
const REPEATED = 50
const FRESH = flags.quick ? 1100 : 2000
const SHARE_OF_CAPACITY = 0.7
/** Forged tokens beside the others, in parts of their rate. */
const FLOOD = 0.1
/** Of the key endpoint. Milliseconds. */
const ROUND_TRIP = 20

interface Machine {
  readonly name: string
  readonly placement: Placement
  readonly ofGenerator: string | undefined
}

const MACHINES: Readonly<Record<string, Machine>> = {
  1: { name: '1 core', placement: { cores: '0' }, ofGenerator: '1' },
  all: {
    name: `${availableParallelism()} cores, one process`,
    placement: {},
    ofGenerator: undefined,
  },
  cluster: {
    name: `${availableParallelism()} cores, a process for each`,
    placement: { isCluster: true },
    ofGenerator: undefined,
  },
}

const PHASES = ['calm', 'rotation', 'flood', 'rotation in a flood'] as const
type Phase = (typeof PHASES)[number]

interface Contender {
  readonly server: GuardedServer
  readonly keyServer: KeyServer
  /** Requests a second, in each round. */
  readonly capacities: number[]
  readonly reports: Readonly<Record<Phase, Report[]>>
}

/** One for each rotation, and the first. */
const signers = Array.from({ length: 2 * ROUNDS + 1 }, (_, index) =>
  createSigner(RS512, `key-${index}`),
)

function poolOf(signer: Signer): Pool {
  const tokens = Array.from({ length: REPEATED + FRESH }, (_, index) => signer.token(index))
  const fresh = tokens.slice(REPEATED)
  return { repeated: tokens.slice(0, REPEATED), fresh, forged: forgeries(fresh) }
}

const pools = signers.map(poolOf)

async function startContender(
  framework: string,
  guard: string,
  placement: Placement,
): Promise<Contender> {
  const [first] = signers
  if (first === undefined) throw new Error('there is no signer')
  const keyServer = await listenForKeys(first.jwk)
  keyServer.answerAfter(ROUND_TRIP)
  // A set for everyone: what was signed before a rotation stays valid.
  const urls = { ...keyServer.urls, bare: keyServer.urls.set }
  const server = await startServer(framework, guard, { jwk: first.jwk, urls }, placement)
  const reports = { calm: [], rotation: [], flood: [], 'rotation in a flood': [] }
  return { server, keyServer, capacities: [], reports }
}

async function runPhases(
  { server, keyServer, capacities, reports }: Contender,
  phases: readonly Phase[],
  round: number,
  run: (order: Omit<Order, 'hasOwnCore'>) => Promise<Report>,
): Promise<void> {
  const pool = phases.includes('flood') ? ROUNDS + round : round
  const isOpen = server.guard === 'open'
  const order = { port: server.port, seconds: SECONDS, isOpen, pool }
  if (capacities.length === 0) await run(order)
  const { rate: capacity } = await run(order)
  capacities.push(capacity)
  const rate = SHARE_OF_CAPACITY * capacity
  for (const phase of phases) {
    const rotates = phase.startsWith('rotation')
    if (rotates) keyServer.publish(signers.slice(0, pool + 2).map(({ jwk }) => jwk))
    const report = await run({
      ...order,
      rate,
      ...(phase.endsWith('flood') ? { forgedRate: FLOOD * rate } : {}),
      ...(rotates ? { nextPool: pool + 1 } : {}),
    })
    reports[phase].push(report)
  }
}

async function compare(
  framework: string,
  machine: Machine,
  generator: Generator,
): Promise<readonly Contender[]> {
  const contenders: Contender[] = []
  // The open route, ours, and the usual pair.
  for (const guard of guardsOf(framework).slice(0, 3)) {
    contenders.push(await startContender(framework, guard, machine.placement))
  }
  const hasOwnCore = machine.ofGenerator !== undefined
  const run = async (order: Omit<Order, 'hasOwnCore'>) =>
    await generator.run({ ...order, hasOwnCore })
  // A flood delays the rotations after it, by up to 15 seconds of ours: so floods come last.
  for (const phases of [
    ['calm', 'rotation'],
    ['flood', 'rotation in a flood'],
  ] as const) {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const contender of contenders) await runPhases(contender, phases, round, run)
    }
  }
  for (const { server, keyServer } of contenders) {
    server.stop()
    keyServer.close()
  }
  return contenders
}

/** The median over the rounds. */
function middle(reports: readonly Report[], part: 'p50' | 'p99' | 'p999' | 'lateness'): number {
  return median(reports.map((report) => report[part]))
}

function print(contenders: readonly Contender[]): void {
  const [open] = contenders
  const rows = contenders.map(({ server, capacities, reports }) => [
    server.guard,
    median(capacities).toFixed(0),
    ...PHASES.map((phase) =>
      (['p50', 'p99', 'p999'] as const)
        .map((part) => middle(reports[phase], part).toFixed(1))
        .join(' / '),
    ),
    PHASES.map((phase) => leastP99(reports[phase]).toFixed(1)).join(' / '),
    ...PHASES.map((phase) =>
      (leastP99(reports[phase]) / leastP99(open?.reports[phase] ?? [])).toFixed(2),
    ),
    PHASES.map((phase) => reports[phase].reduce((total, { wrong }) => total + wrong, 0)).join(
      ' / ',
    ),
    middle(reports.calm, 'lateness').toFixed(2),
  ])
  const header = [
    'Guard',
    'capacity, requests/s',
    'calm: p50 / p99 / p999, ms',
    ...PHASES.slice(1),
    'least p99 of the four, ms',
    'of the open one: calm',
    ...PHASES.slice(1),
    // In a flood, tokens of a new key are refused until a suspicion may ask again: within 15 seconds.
    'other statuses than expected in the four',
    'load late, p99, ms',
  ]
  console.log(`${markdownTable(header, rows)}\n`)
}

/** The least p99 of all rounds: in that round other processes wanted the cores least. */
function leastP99(reports: readonly Report[]): number {
  return Math.min(...reports.map(({ p99 }) => p99))
}

function groupOf(name: string, contenders: readonly Contender[]) {
  const bars = contenders.map(({ server, reports }) => ({
    name: server.guard,
    value: leastP99(reports.flood),
    isOurs: server.guard === 'Portcullis',
  }))
  return { name, bars }
}

console.log(describeMachine())
console.log(
  `Medians of ${ROUNDS} interleaved rounds, each phase ${SECONDS} s; ${100 * SHARE_OF_CAPACITY} % of each one's capacity.\n`,
)
const groups: ReturnType<typeof groupOf>[] = []
for (const cores of flags.cores) {
  const machine = MACHINES[cores]
  if (machine === undefined) throw new TypeError(`--cores ${cores}: known are 1, all, cluster`)
  const generator = await startGenerator(pools, machine.ofGenerator)
  const limit = await limitOf(generator, machine.placement.cores, SECONDS)
  console.log(`${machine.name}; the load can make ${limit.toFixed(0)} requests/s.\n`)
  for (const framework of flags.framework) {
    console.log(`${framework}, ${machine.name}:\n`)
    const contenders = await compare(framework, machine, generator)
    print(contenders)
    groups.push(groupOf(`${framework}, ${machine.name}`, contenders))
  }
  generator.stop()
}
if (flags.write) {
  const title = 'p99 at 70 % of capacity, in a flood of forged tokens: milliseconds, best round'
  const subtitle = `From the time at which a request was due; shorter is better. ${describeMachine()}`
  writeResult('load.svg', barChart({ title, subtitle, groups, digits: 1 }))
}
