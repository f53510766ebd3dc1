import { createEventQueue } from './event-queue.ts'
import { seededRandom } from './random.ts'
import {
  BANDWIDTH,
  HEARTBEAT,
  octetsOfOneRevocation,
  type ReplicaFigures,
  runDeploy,
  runReplicas,
  SERVICE,
} from './simulated-replicas.ts'
import { type Column, printTable } from './table.ts'

const DEPLOY = 10

/** What fleets ask of the Redis that has their revocations. */
export function printRevocations(sizes: readonly number[], seed: number): void {
  const deploy = (entries: number): Column<readonly [number, ReplicaFigures]> => [
    `Deploy, ${entries} entries: MB, last ready after s`,
    ([size]) => {
      const options = { size, entries, within: DEPLOY }
      const { octets, lastReady } = runDeploy(createEventQueue(), seededRandom(seed), options)
      return `${(octets / 1e6).toFixed(1)}, ${lastReady.toFixed(1)}`
    },
  ]
  printTable(
    `Redis: ${SERVICE * 1e6} µs a command, ${BANDWIDTH / 1e6} MB/s. Heartbeat ${HEARTBEAT} s. Deploy within ${DEPLOY} s.`,
    [
      ['Processes', ([size]) => size, 0],
      ['Quiet: commands/s', ([, { quiet }]) => quiet.commands, 1],
      ['Quiet: sent, KB/s', ([, { quiet }]) => quiet.octets / 1e3, 1],
      ['1 revocation/s: commands/s', ([, { busy }]) => busy.commands, 0],
      ['One revocation: sent to the fleet, KB', ([size]) => octetsOfOneRevocation(size) / 1e3, 1],
      ['The last process knows it after, ms', ([, { lastKnows }]) => lastKnows * 1e3, 1],
      deploy(10_000),
      deploy(100_000),
    ],
    sizes.map((size) => [size, runReplicas(createEventQueue(), seededRandom(seed), size)] as const),
  )
}
