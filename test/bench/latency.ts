import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { createSigner, forgeries, type Signer, turnsThrough } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { printLoops } from './loops.ts'
import { median, quantile } from './measure.ts'
import { describeMachine } from './report.ts'
import { RS512 } from './signature-kinds.ts'
import * as subjects from './subjects.ts'
import { type Column, printTable } from './table.ts'

// How long verifications take, without a server and a load that would wait for each other.
// `pnpm bench latency` takes some four minutes, with `--refresh` two, with `--loops` half a one; `--quick` shows whether it runs.
//
// Through rotations and floods: 6,000 verifications a second, nine in ten of a token that came before. With a rotation, new tokens are
// of a new key from the middle on; in a flood one forged token comes for each ten others. While keys are fetched again, from an endpoint
// that needs half a second: only those who let fetched keys grow old are here, told to use them for two seconds, so that a run has many
// refreshes; new tokens come one every 5 ms. Then loops that await each of 8,000 new tokens, beside jose.

const { values: flags } = parseArgs({
  options: { loops: { type: 'boolean' }, quick: { type: 'boolean' }, refresh: { type: 'boolean' } },
})

const PHASES = ['calm', 'rotation', 'flood', 'rotation in a flood'] as const
type Phase = (typeof PHASES)[number]

const PER_MILLISECOND = 6
const PHASE = flags.quick ? 200 : 2000
const ROUNDS = flags.quick ? 1 : 5
const ROTATION_TRIP = 20
const REFRESH_TRIP = 500

type Next = () => string
const nextOf = (tokens: readonly string[]): Next => {
  const take = turnsThrough(tokens)()
  return () => take(1)[0] ?? ''
}

type Verify = (token: string) => Promise<unknown>

const isAccepted = async (verify: Verify, token: string) =>
  await verify(token).then(
    () => true,
    () => false,
  )

interface Waits {
  /** Milliseconds, of genuine tokens that were accepted. */
  readonly accepted: readonly number[]
  readonly refused: number
  readonly longestTurn: number
}

/** Sends tokens at that rate, whether those before have been verified or not: known ones, new ones, and forged ones in a flood. */
async function play(
  verify: Verify,
  freshAt: (elapsed: number) => Next,
  known: Next,
  forged: Next | undefined,
): Promise<Waits> {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const accepted: number[] = []
  const running: Promise<void>[] = []
  let refused = 0
  const time = async (token: string) => {
    const before = performance.now()
    if (await isAccepted(verify, token)) accepted.push(performance.now() - before)
    else refused += 1
  }
  loop.enable()
  const start = performance.now()
  for (let count = 0; count < PER_MILLISECOND * PHASE;) {
    const elapsed = performance.now() - start
    for (; count < Math.min(elapsed, PHASE) * PER_MILLISECOND; count += 1) {
      const isNew = count % 10 === 0
      running.push(time(isNew ? freshAt(elapsed)() : known()))
      if (isNew && forged !== undefined) running.push(isAccepted(verify, forged()).then(() => {}))
    }
    await nextTurn()
  }
  await Promise.all(running)
  loop.disable()
  return { accepted, refused, longestTurn: loop.max / 1e6 }
}

async function followRotations(): Promise<ReadonlyMap<Phase, readonly Waits[]>> {
  const perPhase = (PER_MILLISECOND * PHASE) / 10
  const pools = Array.from({ length: 2 * ROUNDS + 1 }, (_, at) => {
    const signer = createSigner(RS512, `key-${at}`)
    const tokens = signer.tokens(perPhase, 50)
    return { signer, fresh: nextOf(tokens), forged: nextOf(forgeries(tokens)) }
  })
  const [first] = pools
  if (first === undefined) throw new RangeError('there is no pool')
  const { jwk } = first.signer
  const keyServer = await listenForKeys(jwk)
  const urls = { ...keyServer.urls, bare: keyServer.urls.set }
  const subject = subjects.portcullis({ jwk, urls })
  const verify = async (token: string) => await subject.verification(token)()
  const known = nextOf(first.signer.tokens(50))
  for (let count = 0; count < 1000; count += 1) await verify(known())
  keyServer.answerAfter(ROTATION_TRIP)
  const waits = new Map<Phase, Waits[]>(PHASES.map((phase) => [phase, []]))
  let current = 0
  // A flood delays the rotations after it, by up to 15 seconds: so floods come last.
  for (const phases of [PHASES.slice(0, 2), PHASES.slice(2)]) {
    for (const phase of Array.from({ length: ROUNDS }, () => phases).flat()) {
      const old = pools[current] ?? first
      if (phase.startsWith('rotation')) {
        current += 1
        keyServer.publish(pools.slice(0, current + 1).map(({ signer }) => signer.jwk))
      }
      const { fresh, signer } = pools[current] ?? first
      const freshAt = (elapsed: number) => (elapsed > PHASE / 2 ? fresh : old.fresh)
      const forged = phase.endsWith('flood') ? old.forged : undefined
      waits.get(phase)?.push(await play(verify, freshAt, known, forged))
      // Until the tokens of the newest key are accepted: the next phase has others of it.
      if (phase !== 'rotation in a flood') continue
      for (let index = 1_000_000; !(await isAccepted(verify, signer.token(index))); index += 1)
        await sleep(1000)
    }
  }
  keyServer.close()
  return waits
}

const share = (title: string, of: number): Column<[Phase, readonly Waits[]]> => [
  title,
  ([, rounds]) => median(rounds.map(({ accepted }) => quantile(accepted, of))),
]
const longest = (rounds: readonly Waits[]) => median(rounds.map((each) => each.longestTurn))

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
      ['longest turn of the event loop', ([, rounds]) => longest(rounds), 1],
      ['refused', ([, rounds]) => rounds.reduce((total, each) => total + each.refused, 0), 0],
    ],
    waits,
  )
}

/** Milliseconds, of those that came while no request for keys was under way, and of the others. */
async function refresh(factory: subjects.Factory, tokens: readonly string[], signer: Signer) {
  const keyServer = await listenForKeys(signer.jwk)
  const subject = factory({ jwk: signer.jwk, urls: keyServer.urls, lifetime: 2 })
  const next = nextOf(tokens)
  for (let count = 0; count < 1000; count += 1) await subject.verification(next())()
  keyServer.answerAfter(REFRESH_TRIP)
  const idle: number[] = []
  const refreshing: number[] = []
  const running: Promise<void>[] = []
  const time = async (token: string) => {
    const before = performance.now()
    const isRefreshing = keyServer.pending() > 0
    await subject.verification(token)()
    const took = performance.now() - before
    // The one that finds the keys too old asks for new ones: what it takes is a matter of the refresh as well.
    const waits = isRefreshing || took > REFRESH_TRIP / 2 ? refreshing : idle
    waits.push(took)
  }
  const end = performance.now() + (flags.quick ? 4000 : 20_000)
  while (performance.now() < end) {
    running.push(time(next()))
    await sleep(5)
  }
  await Promise.all(running)
  keyServer.close()
  return { name: subject.name, idle, refreshing }
}

async function printRefreshes(): Promise<void> {
  const signer = createSigner()
  const tokens = signer.tokens(2048)
  const { portcullis, jose, expressOauth2, jsonwebtokenWithJwksRsa } = subjects
  const rows: Awaited<ReturnType<typeof refresh>>[] = []
  for (const factory of [portcullis, jose, expressOauth2, jsonwebtokenWithJwksRsa])
    rows.push(await refresh(factory, tokens, signer))
  printTable(
    `Milliseconds; keys are used for 2 s, the endpoint takes ${REFRESH_TRIP} ms.`,
    [
      ['Verifier', ({ name }) => name],
      ['tokens during a refresh', ({ refreshing }) => refreshing.length, 0],
      ['p99 idle', ({ idle }) => quantile(idle, 0.99), 1],
      ['p99 then', ({ refreshing }) => quantile(refreshing, 0.99), 1],
      ['longest', ({ refreshing }) => Math.max(...refreshing), 1],
    ],
    rows,
  )
}

console.log(`${describeMachine()}\n`)
const isAll = flags.loops !== true && flags.refresh !== true
if (isAll) await printRotations()
if (isAll || flags.refresh === true) await printRefreshes()
if (isAll || flags.loops === true) await printLoops(flags.quick ? 2000 : 8000, ROUNDS)
