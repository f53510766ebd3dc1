import { parseArgs } from 'node:util'

import autocannon from 'autocannon'

import { type GuardedServer, startServer } from './guarded-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { markdownTable } from './table.ts'

// A guarded route of Express beside the open one, with 1 and with 2 workers of node:cluster:
//
//   pnpm bench cluster                         in half a minute
//   pnpm bench cluster --rounds 7 --seconds 3
//
// The load is a process of its own and wants a core as well. Throughput shows what one gets on this machine; CPU time for a
// request shows whether a second worker makes a request dearer.

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
})
const SECONDS = Number(flags.seconds)
const CONNECTIONS = 50
const TOKENS = 50

const signer = createSigner()
const tokens = Array.from({ length: TOKENS }, (_, index) => signer.token(index))
const keyServer = await listenForKeys(signer.jwk)
const keys = { jwk: signer.jwk, urls: keyServer.urls }

interface Subject {
  readonly workers: number
  readonly server: GuardedServer
  readonly rates: number[]
  readonly cpus: number[]
}

async function load(server: GuardedServer): Promise<{ rate: number; cpu: number }> {
  await server.usage()
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}/`,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: tokens.map((token) => ({ headers: { authorization: `Bearer ${token}` } })),
  })
  const { cpu } = await server.usage()
  const answered = result['2xx']
  if (result.non2xx > 0 || answered === 0) throw new Error(`${server.guard}: refusals`)
  return { rate: answered / result.duration, cpu: cpu / answered }
}

const subjects: Subject[] = []
for (const guard of ['open', 'Portcullis']) {
  for (const workers of [1, 2]) {
    const server = await startServer('Express', guard, keys, { isCluster: true, workers })
    subjects.push({ workers, server, rates: [], cpus: [] })
  }
}
try {
  for (const { server } of subjects) await load(server)
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    for (const { server, rates, cpus } of subjects) {
      const { rate, cpu } = await load(server)
      rates.push(rate)
      cpus.push(cpu)
    }
  }
} finally {
  for (const { server } of subjects) server.stop()
  keyServer.close()
}
console.log(`${describeMachine()}\n`)
const header = ['Route', 'Workers', 'requests/s', 'best round', 'CPU µs/request']
const rows = subjects.map(({ server: { guard }, workers, rates, cpus }) => [
  guard,
  String(workers),
  median(rates).toFixed(0),
  Math.max(...rates).toFixed(0),
  median(cpus).toFixed(1),
])
console.log(markdownTable(header, rows))
