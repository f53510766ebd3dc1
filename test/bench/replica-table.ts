import { createEventQueue } from './event-queue.ts'
import { seededRandom } from './random.ts'
import {
  BANDWIDTH,
  HEARTBEAT,
  octetsOfOneRevocation,
  runDeploy,
  runReplicas,
  SERVICE,
} from './simulated-replicas.ts'
import { markdownTable } from './table.ts'

const DEPLOY = 10
const FEW = 10_000
const MANY = 100_000

const HEADER = [
  'Processes',
  'Quiet: commands/s',
  'Quiet: sent, KB/s',
  '1 revocation/s: commands/s',
  'One revocation: sent to the fleet, KB',
  'The last process knows it after, ms',
  `Deploy, ${FEW} entries: MB, last ready after s`,
  `Deploy, ${MANY} entries: MB, last ready after s`,
]

/** What fleets ask of the Redis that has their revocations. */
export function revocationTable(sizes: readonly number[], seed: number): string {
  const assumed = `Redis: ${SERVICE * 1e6} µs a command, ${BANDWIDTH / 1e6} MB/s. Heartbeat ${HEARTBEAT} s. Deploy within ${DEPLOY} s.`
  return `${assumed}\n\n${markdownTable(
    HEADER,
    sizes.map((size) => row(size, seed)),
  )}`
}

function row(size: number, seed: number): string[] {
  const { quiet, busy, lastKnows } = runReplicas(createEventQueue(), seededRandom(seed), size)
  const deploys = [FEW, MANY].map((entries) => {
    const options = { size, entries, within: DEPLOY }
    const { octets, lastReady } = runDeploy(createEventQueue(), seededRandom(seed), options)
    return `${(octets / 1e6).toFixed(1)}, ${lastReady.toFixed(1)}`
  })
  return [
    String(size),
    quiet.commands.toFixed(1),
    (quiet.octets / 1e3).toFixed(1),
    busy.commands.toFixed(0),
    (octetsOfOneRevocation(size) / 1e3).toFixed(1),
    (lastKnows * 1e3).toFixed(1),
    ...deploys,
  ]
}
