import { createHash } from 'node:crypto'

import { type DpopProof, type LocalReplays, localReplays } from '@portcullis/core'
import { redisReplays } from '@portcullis/redis'

import { startRedis } from '../simulation/redis/redis-server.ts'
import { describeMachine } from './machine.ts'
import { median, quantile } from './measure.ts'
import { flags } from './report.ts'
import { printTable } from './table.ts'

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

interface Part {
  readonly what: string
  readonly asked: string
  readonly answers: string
  /** Nanoseconds. */
  readonly cost: number
  readonly octets: number
}

/** A flood of distinct proofs, in parts: first those that there is room for, then as many again. */
function flooded(what: string, memory: LocalReplays, keys: number): readonly Part[] {
  const before = heap()
  return [
    ['the first ones', 0],
    ['as many others', PROOFS],
    ['the first ones again', 0],
  ].map(([asked, first]): Part => {
    const proofs = Array.from({ length: PROOFS }, (_, index) =>
      proofOf(Number(first) + index, keys),
    )
    const answers = new Map<string, number>()
    const start = process.hrtime.bigint()
    for (const proof of proofs) {
      const answer = memory.remember(proof, NOW)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    const cost = Number(process.hrtime.bigint() - start) / PROOFS
    const said = [...answers].map(([answer, count]) => `${count} ${answer}`).join(', ')
    return { what, asked: String(asked), answers: said, cost, octets: heap() - before }
  })
}

function printFloods(): void {
  const keys = thumbprints.length
  const room = localReplays({ max: PROOFS, maxPerKey: PROOFS })
  printTable(
    `${PROOFS} proofs each:`,
    [
      ['`localReplays`', ({ what }) => what],
      ['is asked for', ({ asked }) => asked],
      ['answers', ({ answers }) => answers],
      ['ns each', ({ cost }) => cost, 0],
      ['MiB of heap since its start', ({ octets }) => octets / 2 ** 20, 1],
    ],
    [
      ...flooded(`room for them, ${keys} keys`, room, keys),
      ...flooded('by default, one key', localReplays(), 1),
    ],
  )
}

/** How long each answer takes, so many being asked for at once. */
async function printRedis(): Promise<void> {
  await using server = await startRedis()
  await using memory = redisReplays({ url: server.url })
  await memory.ready()
  const rows: (readonly [atOnce: number, times: readonly number[], wall: number, cpu: number])[] =
    []
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
    rows.push([atOnce, times, wall, user + system])
  }
  printTable(
    `\`redisReplays\`, with a server of this machine, ${ASKED} proofs each:`,
    [
      ['Asked at once', ([atOnce]) => atOnce, 0],
      ['median, ms', ([, times]) => median(times)],
      ['p99, ms', ([, times]) => quantile(times, 0.99)],
      ['proofs a second', ([, times, wall]) => (1000 * times.length) / wall, 0],
      ['CPU of the process, µs each', ([, times, , cpu]) => cpu / times.length, 1],
    ],
    rows,
  )
}

console.log(`${describeMachine()}\n`)
printFloods()
await printRedis()
