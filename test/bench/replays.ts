import { createHash } from 'node:crypto'

import { type DpopProof, type LocalReplays, localReplays } from '@portcullis/core'
import { redisReplays } from '@portcullis/redis'

import { startRedis } from '../simulation/redis/redis-server.ts'
import { describeMachine } from './machine.ts'
import { median, quantile } from './measure.ts'
import { flags } from './report.ts'
import { markdownTable } from './table.ts'

// What it costs to remember used proofs, of whose number a flood decides:
//
//   pnpm bench replays           a million proofs in the process, 20,000 in Redis: half a minute
//   pnpm bench replays --quick   to see whether it runs; its figures mean nothing
//
// The second part needs redis-server.

const PROOFS = flags.quick ? 20_000 : 1_000_000
const ASKED = flags.quick ? 500 : 20_000
const AT_ONCE = 64
/** Seconds: that of a proof which was made now, by default. */
const WINDOW = 65

const NOW = Math.floor(Date.now() / 1000)
const thumbprints = Array.from({ length: 1000 }, (_, index) => hashOf(`key ${index}`))

/** As `dpopProofs` hands it on: two hashes, and a time. Made all at once, since that is not measured. */
function proofOf(index: number, keys: number): DpopProof {
  const jkt = thumbprints[index % keys] ?? ''
  return { jkt, jti: hashOf(`proof ${index}`), expires: NOW + (index % WINDOW) }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Octets of the heap, when all that is not needed has been given back. */
function heap(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

interface Flood {
  readonly memory: LocalReplays
  readonly keys: number
  readonly what: string
}

/** A flood of distinct proofs, in parts: first those that there is room for, then as many again. */
function flooded({ memory, keys, what }: Flood): readonly (readonly string[])[] {
  const answers = new Map<string, number>()
  const before = heap()
  const costOf = (first: number): number => {
    const proofs = Array.from({ length: PROOFS }, (_, index) => proofOf(first + index, keys))
    const start = process.hrtime.bigint()
    for (const proof of proofs) {
      const answer = memory.remember(proof, NOW)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    return Number(process.hrtime.bigint() - start) / PROOFS
  }
  const said = () => {
    const text = [...answers].map(([answer, count]) => `${count} ${answer}`).join(', ')
    answers.clear()
    return text
  }
  const row = (part: string, cost: number) => {
    const octets = heap() - before
    return [what, part, said(), cost.toFixed(0), (octets / 2 ** 20).toFixed(1)]
  }
  return [
    row(`${PROOFS} proofs`, costOf(0)),
    row('as many others', costOf(PROOFS)),
    row('the first ones again', costOf(0)),
  ]
}

function printFloods(): void {
  const floods: readonly Flood[] = [
    {
      memory: localReplays({ max: PROOFS, maxPerKey: PROOFS }),
      keys: thumbprints.length,
      what: `room for ${PROOFS}, ${thumbprints.length} keys`,
    },
    { memory: localReplays(), keys: 1, what: 'by default, one key' },
  ]
  const header = [
    '`localReplays`',
    'is asked for',
    'answers',
    'ns each',
    'MiB of heap since its start',
  ]
  console.log(`${markdownTable(header, floods.flatMap(flooded))}\n`)
}

/** How long each answer takes, so many being asked for at once. */
async function printRedis(): Promise<void> {
  await using server = await startRedis()
  await using memory = redisReplays({ url: server.url })
  await memory.ready()
  const rows: string[][] = []
  let next = 0
  for (const atOnce of [1, AT_ONCE]) {
    const times: number[] = []
    const before = process.cpuUsage()
    const start = performance.now()
    for (let done = 0; done < ASKED; done += atOnce) {
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          const proof = proofOf(next++, thumbprints.length)
          const sent = performance.now()
          const answer = await memory.remember({ ...proof, expires: NOW + 600 }, Date.now() / 1000)
          times.push(performance.now() - sent)
          if (answer !== 'new') throw new Error(`a new proof was ${answer}`)
        }),
      )
    }
    const wall = performance.now() - start
    const { user, system } = process.cpuUsage(before)
    rows.push([
      String(atOnce),
      median(times).toFixed(2),
      quantile(times, 0.99).toFixed(2),
      ((1000 * times.length) / wall).toFixed(0),
      ((user + system) / times.length).toFixed(1),
    ])
  }
  const header = [
    'Asked at once',
    'median, ms',
    'p99, ms',
    'proofs a second',
    'CPU of the process, µs each',
  ]
  console.log(`\`redisReplays\`, with a server of this machine, ${ASKED} proofs each:\n`)
  console.log(`${markdownTable(header, rows)}\n`)
}

console.log(`${describeMachine()}\n`)
printFloods()
await printRedis()
