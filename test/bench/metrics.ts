import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { authenticateRequest, createVerifier } from '@portcullis/core'
import { checkGuardOptions } from '@portcullis/core/adapter'
import { collectMetrics as collectForOpenTelemetry } from '@portcullis/metrics/opentelemetry'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { createTestIssuer } from '@portcullis/testing'
import { Registry } from 'prom-client'

import { METRICS_FLOORS } from './floors.ts'
import { beside, inTurn, median } from './measure.ts'
import { flags, report } from './report.ts'
import { type Column, printTable } from './table.ts'

// What metrics cost a guarded request whose token is remembered: the guard alone, beside the guard whose verdicts are counted.
//
//   pnpm bench metrics           ten seconds
//   pnpm bench metrics --check   ratios alone, against floors.ts
//   pnpm bench metrics --write   keeps them for the table of goals in README.md
//   pnpm bench metrics --quick   to see whether it runs; its figures mean nothing

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

type Results = ReadonlyMap<string, readonly number[]>

async function measureAll(): Promise<Results> {
  return await inTurn(
    Object.keys(CASES),
    ROUNDS,
    async (name) => await cost(CASES[name] ?? prometheus),
  )
}

/** Of a case beside the guard alone, in each round. */
function besideAlone(
  results: Results,
  name: string,
  compare: (counted: number, alone: number) => number,
) {
  const [alone] = results.values()
  return beside(results.get(name), alone, compare)
}

const microsecondsMore = (counted: number, alone: number) => (counted - alone) / 1000

await report('bench metrics', METRICS_FLOORS, measureAll, {
  figuresOf: (results) =>
    new Map(
      ['prometheus', 'opentelemetry'].flatMap((entry): [string, number][] => {
        const more = (compare: (counted: number, alone: number) => number) =>
          besideAlone(results, `the entry \`${entry}\``, compare)
        return [
          [`metrics: what \`${entry}\` adds to a guarded request, µs`, more(microsecondsMore)],
          [`metrics: guard with \`${entry}\` / guard`, more((counted, alone) => counted / alone)],
        ]
      }),
    ),
  print(results) {
    const columns: readonly Column<[string, readonly number[]]>[] = [
      ['A guard while', ([name]) => name],
      ['µs', ([, each]) => median(each) / 1000],
      ['more than alone', ([name]) => besideAlone(results, name, microsecondsMore)],
    ]
    printTable('', columns, results)
  },
})
