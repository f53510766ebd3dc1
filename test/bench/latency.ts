import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { createSigner, forgeries, type Signer } from './inputs.ts'
import { type KeyServer, listenForKeys } from './key-server.ts'
import { printLoops } from './loops.ts'
import { describeMachine } from './machine.ts'
import { median, quantile } from './measure.ts'
import { RS512 } from './signature-kinds.ts'
import { portcullis, type Subject } from './subjects.ts'
import { type Column, printTable } from './table.ts'

// How long verifications take through rotations and floods, without a server and a load that would wait for each other:
//
//   pnpm bench latency           all of it: two minutes
//   pnpm bench latency --loops   only the loops that await each token: half a minute
//   pnpm bench latency --quick   to see whether it runs
//
// 6,000 verifications a second, nine in ten of a token that came before. With a rotation, new tokens are of a new key from the
// middle on; in a flood one forged token comes for each ten others. Then loops that await each of 8,000 new tokens, beside jose.

const { values: flags } = parseArgs({
  options: { loops: { type: 'boolean' }, quick: { type: 'boolean' } },
})

const PHASES = ['calm', 'rotation', 'flood', 'rotation in a flood'] as const
type Phase = (typeof PHASES)[number]

const PER_MILLISECOND = 6
const PHASE = flags.quick ? 200 : 2000
const ROUNDS = flags.quick ? 1 : 5
const KNOWN = 50
const ROTATION_TRIP = 20
const IN_LOOPS = flags.quick ? 2000 : 8000

/** New tokens, and forged ones, of one key. */
interface Pool {
  readonly fresh: () => string
  readonly forged: () => string
}

function poolOf(signer: Signer): Pool {
  const count = (PER_MILLISECOND * PHASE) / 10
  const tokens = Array.from({ length: count }, (_, index) => signer.token(KNOWN + index))
  return { fresh: inTurn(tokens), forged: inTurn(forgeries(tokens)) }
}

function inTurn(tokens: readonly string[]): () => string {
  let next = 0
  return () => tokens[next++ % tokens.length] ?? ''
}

interface Waits {
  /** Milliseconds, of genuine tokens that were accepted. */
  readonly accepted: readonly number[]
  readonly refused: number
  readonly longestTurn: number
}

async function play(phase: Phase, subject: Subject, known: () => string, pools: readonly Pool[]) {
  const [pool, nextPool = pool] = pools
  if (pool === undefined || nextPool === undefined) throw new RangeError('there is no pool')
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const accepted: number[] = []
  const running: Promise<void>[] = []
  let refused = 0
  const time = async (token: string) => {
    const before = performance.now()
    try {
      await subject.verification(token)()
      accepted.push(performance.now() - before)
    } catch {
      refused += 1
    }
  }
  const forge = async () => {
    await Promise.resolve(subject.verification(pool.forged())()).catch(() => undefined)
  }
  loop.enable()
  const start = performance.now()
  for (let count = 0; count < PER_MILLISECOND * PHASE;) {
    const elapsed = performance.now() - start
    for (; count < Math.min(elapsed, PHASE) * PER_MILLISECOND; count += 1) {
      const isNew = count % 10 === 0
      const fresh =
        phase.startsWith('rotation') && elapsed > PHASE / 2 ? nextPool.fresh : pool.fresh
      running.push(time(isNew ? fresh() : known()))
      if (isNew && phase.endsWith('flood')) running.push(forge())
    }
    await nextTurn()
  }
  await Promise.all(running)
  loop.disable()
  return { accepted, refused, longestTurn: loop.max / 1e6 } satisfies Waits
}

async function followRotations(): Promise<ReadonlyMap<Phase, readonly Waits[]>> {
  const signers = Array.from({ length: 2 * ROUNDS + 1 }, (_, at) =>
    createSigner(RS512, `key-${at}`),
  )
  const [first] = signers
  if (first === undefined) throw new RangeError('there is no signer')
  const keyServer: KeyServer = await listenForKeys(first.jwk)
  const urls = { ...keyServer.urls, bare: keyServer.urls.set }
  const subject = portcullis({ jwk: first.jwk, urls })
  const known = inTurn(Array.from({ length: KNOWN }, (_, index) => first.token(index)))
  for (let count = 0; count < 20 * KNOWN; count += 1) await subject.verification(known())()
  keyServer.answerAfter(ROTATION_TRIP)
  const pools = signers.map(poolOf)
  const waits = new Map<Phase, Waits[]>(PHASES.map((phase) => [phase, []]))
  let current = 0
  // A flood delays the rotations after it, by up to 15 seconds: so floods come last.
  for (const phases of [PHASES.slice(0, 2), PHASES.slice(2)]) {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const phase of phases) {
        if (phase.startsWith('rotation')) {
          current += 1
          keyServer.publish(signers.slice(0, current + 1).map(({ jwk }) => jwk))
        }
        const used = phase.startsWith('rotation') ? [current - 1, current] : [current]
        const own = pools.filter((_, at) => used.includes(at))
        waits.get(phase)?.push(await play(phase, subject, known, own))
        // Until the tokens of the newest key are accepted: the next phase has others of it.
        if (phase === 'rotation in a flood') await healed(subject, signers[current])
      }
    }
  }
  keyServer.close()
  return waits
}

async function healed(subject: Subject, signer: Signer | undefined): Promise<void> {
  for (let index = 0; ; index += 1) {
    const verification = subject.verification(signer?.token(1_000_000 + index) ?? '')
    const isAccepted = await Promise.resolve(verification()).then(
      () => true,
      () => false,
    )
    if (isAccepted) return
    await sleep(1000)
  }
}

const share = (title: string, of: number): Column<[Phase, readonly Waits[]]> => [
  title,
  ([, rounds]) => median(rounds.map(({ accepted }) => quantile(accepted, of))),
]

async function printRotations(): Promise<void> {
  const waits = await followRotations()
  printTable(
    `Milliseconds; medians of ${ROUNDS} rounds of ${PHASE / 1000} s, ${PER_MILLISECOND * 1000} verifications a second; the endpoint takes ${ROTATION_TRIP} ms.`,
    [
      ['Portcullis', ([phase]) => phase],
      share('p50', 0.5),
      share('p99', 0.99),
      share('p999', 0.999),
      share('longest', 1),
      [
        'longest turn of the event loop',
        ([, rounds]) => median(rounds.map((each) => each.longestTurn)),
        1,
      ],
      ['refused', ([, rounds]) => rounds.reduce((total, each) => total + each.refused, 0), 0],
    ],
    waits,
  )
}

console.log(`${describeMachine()}\n`)
if (flags.loops !== true) await printRotations()
await printLoops(IN_LOOPS, ROUNDS)
