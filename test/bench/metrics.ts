import { parseArgs } from 'node:util'

import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { authenticateRequest, createVerifier } from '@portcullis/core'
import { checkGuardOptions } from '@portcullis/core/adapter'
import { collectMetrics as collectForOpenTelemetry } from '@portcullis/metrics/opentelemetry'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { createTestIssuer } from '@portcullis/testing'
import { Registry } from 'prom-client'

import { checkFloors, printGoals } from './check-floors.ts'
import { type Figures, METRICS_FLOORS } from './floors.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { writeFigures } from './results.ts'
import { markdownTable } from './table.ts'

// What metrics cost a guarded request whose token is remembered: the guard alone, beside the guard whose verdicts are counted.
//
//   pnpm bench metrics           ten seconds
//   pnpm bench metrics --check   ratios alone, against floors.ts
//   pnpm bench metrics --write   keeps them for the table of goals in README.md
//   pnpm bench metrics --quick   to see whether it runs; its figures mean nothing

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean' },
    write: { type: 'boolean' },
    quick: { type: 'boolean' },
  },
})
const REQUESTS = flags.quick ? 1000 : 100_000
const ROUNDS = flags.quick ? 3 : 15

/** Reads nothing by itself: what an exporter does, it does once in a minute. */
class IdleReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const issuer = await createTestIssuer({ algorithm: 'ES256', lifetime: 86_400 })
const verifier = createVerifier(issuer.verifierOptions)
const guard = checkGuardOptions(verifier, {})
const token = await issuer.token()
await verifier.verify(token)
const request = { headers: { authorization: `Bearer ${token}` } }
const sources = { verifiers: { main: verifier } }
const meter = new MeterProvider({ readers: [new IdleReader()] }).getMeter('portcullis')

let register = new Registry()
const prometheus = () => {
  register = new Registry()
  return collectMetrics(register, sources)
}

/** What is not counted costs nothing, so this makes sure. */
async function expectCounted(): Promise<void> {
  if ((await register.metrics()).includes(`remembered="true"} ${REQUESTS}\n`)) return
  throw new Error('the requests were not counted')
}

/** Each begins, and returns what ends it: listeners hear the whole process. */
const CASES: Readonly<Record<string, () => () => void>> = {
  'nobody listens': () => () => {},
  'the entry `prometheus`': prometheus,
  'the entry `opentelemetry`': () => collectForOpenTelemetry(meter, sources),
}

/** CPU time for one request, of all threads: others may use the machine. Nanoseconds. */
async function cost(begin: () => () => void): Promise<number> {
  const end = begin()
  const start = process.cpuUsage()
  for (let count = 0; count < REQUESTS; count++) {
    const answer = authenticateRequest(verifier, request, guard, request)
    if (answer instanceof Promise) await answer
  }
  const { user, system } = process.cpuUsage(start)
  const took = ((user + system) * 1000) / REQUESTS
  if (begin === prometheus) await expectCounted()
  end()
  return took
}

/** Of each case, the nanoseconds of every round; rounds of different cases alternate. */
async function measureAll(): Promise<ReadonlyMap<string, readonly number[]>> {
  const costs = new Map(Object.keys(CASES).map((name) => [name, [] as number[]]))
  // One round that does not count: what is compiled then.
  for (const begin of Object.values(CASES)) await cost(begin)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, begin] of Object.entries(CASES)) costs.get(name)?.push(await cost(begin))
  }
  return costs
}

/** Of a case beside the guard alone, in each round. */
function beside(
  costs: ReadonlyMap<string, readonly number[]>,
  name: string,
  compare: (counted: number, alone: number) => number,
): number {
  const [alone = []] = costs.values()
  return median((costs.get(name) ?? []).map((one, round) => compare(one, alone[round] ?? NaN)))
}

const microsecondsMore = (counted: number, alone: number) => (counted - alone) / 1000

function figuresOf(costs: ReadonlyMap<string, readonly number[]>): Figures {
  const rows = ['prometheus', 'opentelemetry'].flatMap((entry): [string, number][] => {
    const name = `the entry \`${entry}\``
    return [
      [
        `metrics: what \`${entry}\` adds to a guarded request, µs`,
        beside(costs, name, microsecondsMore),
      ],
      [
        `metrics: guard with \`${entry}\` / guard`,
        beside(costs, name, (counted, alone) => counted / alone),
      ],
    ]
  })
  return new Map(rows)
}

console.log(`${describeMachine()}\n`)
if (flags.check) {
  checkFloors(METRICS_FLOORS, figuresOf(await measureAll()))
} else {
  const costs = await measureAll()
  const rows = [...costs].map(([name, each]) => [
    name,
    (median(each) / 1000).toFixed(2),
    beside(costs, name, microsecondsMore).toFixed(2),
  ])
  console.log(markdownTable(['A guard while', 'µs', 'more than alone'], rows))
  printGoals(METRICS_FLOORS, figuresOf(costs))
  if (flags.write) writeFigures('bench metrics', describeMachine(), figuresOf(costs))
}
