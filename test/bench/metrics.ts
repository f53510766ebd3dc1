import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { createVerifier } from '@portcullis/core'
import { collectMetrics as collectForOpenTelemetry } from '@portcullis/metrics/opentelemetry'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { createTestIssuer } from '@portcullis/testing'
import { Registry } from 'prom-client'

import { beside, inTurn, median } from './measure.ts'
import { flags, report } from './report.ts'
import { guardOf } from './subjects.ts'

// What metrics cost a guarded request whose token is remembered: the guard alone, beside the guard whose verdicts are counted.
// `pnpm bench metrics` takes ten seconds.

const REQUESTS = flags.quick ? 1000 : 100_000
const ROUNDS = flags.quick ? 3 : 15

/** Reads nothing by itself: what an exporter does, it does once in a minute. */
class IdleReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const issuer = await createTestIssuer({ algorithm: 'ES256', lifetime: 86_400 })
const verifier = createVerifier(issuer.verifierOptions)
const ask = (await guardOf(verifier, await issuer.token())).verification('')
const sources = { verifiers: { main: verifier } }
const meter = new MeterProvider({ readers: [new IdleReader()] }).getMeter('portcullis')
let register = new Registry()

/** Each begins, and returns what ends it: listeners hear the whole process. */
const CASES: Readonly<Record<string, () => () => void>> = {
  'nobody listens': () => () => {},
  prometheus() {
    register = new Registry()
    return collectMetrics(register, sources)
  },
  opentelemetry: () => collectForOpenTelemetry(meter, sources),
}
const [ALONE = '', ...ENTRIES] = Object.keys(CASES)

/** CPU time for one request, of all threads: others may use the machine. Microseconds. */
async function cost(name: string): Promise<number> {
  const end = CASES[name]?.()
  const start = process.cpuUsage()
  for (let count = 0; count < REQUESTS; count += 1) ask()
  const { user, system } = process.cpuUsage(start)
  // What is not counted costs nothing.
  const counted = `remembered="true"} ${REQUESTS}\n`
  if (name === 'prometheus' && !(await register.metrics()).includes(counted))
    throw new Error('the requests were not counted')
  end?.()
  return (user + system) / REQUESTS
}

type Results = ReadonlyMap<string, readonly number[]>

/** Of each entry, beside the guard alone. */
const figuresOf = (results: Results) =>
  Object.fromEntries(
    ENTRIES.map((name) => [
      `metrics: guard with \`${name}\` / guard`,
      beside(results.get(name), results.get(ALONE), (a, b) => a / b),
    ]),
  )

await report(
  'metrics',
  async (): Promise<Results> => await inTurn(Object.keys(CASES), ROUNDS, cost),
  (results) => {
    for (const [name, each] of results) console.log(`${name}: ${median(each).toFixed(3)} µs`)
  },
  figuresOf,
)
