import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { createSigner, octetsOf, takeInTurn } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { quantile } from './measure.ts'
import { flags } from './report.ts'
import {
  expressOauth2,
  fastJwtWithGetJwks,
  jose,
  jsonwebtokenWithJwksRsa,
  portcullis,
} from './subjects.ts'
import { printTable } from './table.ts'

// How long verifications take while keys are fetched again from an endpoint that needs half a second:
//
//   pnpm bench refresh           all of it: some two minutes
//   pnpm bench refresh --quick   to see whether it runs
//
// Only those who let fetched keys grow old are here. All are told to use them for two seconds, so that a run has many
// refreshes. New tokens come one every 5 ms, whether those before have been verified or not.

const LIFETIME = 2
const ROUND_TRIP = 500
const INTERVAL = 5
const SECONDS = flags.quick ? 4 : 20

const signer = createSigner()
const octets = octetsOf(Array.from({ length: 2048 }, (_, index) => signer.token(index)))

interface Latency {
  readonly name: string
  /** Milliseconds, of those that came while no request was under way. */
  readonly idle: readonly number[]
  readonly refreshing: readonly number[]
}

async function follow(factory: typeof portcullis): Promise<Latency> {
  const keyServer = await listenForKeys(signer.jwk)
  const subject = factory({ jwk: signer.jwk, urls: keyServer.urls, lifetime: LIFETIME })
  const take = takeInTurn(octets)
  const nextVerification = () => subject.verification(take(1)[0] ?? '')
  for (let count = 0; count < 1000; count += 1) await nextVerification()()
  keyServer.answerAfter(ROUND_TRIP)

  const idle: number[] = []
  const refreshing: number[] = []
  const running: Promise<void>[] = []
  const time = async (verification: () => unknown) => {
    const before = performance.now()
    const isRefreshing = keyServer.pending() > 0
    const after = await ended(verification)
    // The one that finds the keys too old asks for new ones: what it takes is a matter of the refresh as well.
    const latencies = isRefreshing || after - before > ROUND_TRIP / 2 ? refreshing : idle
    latencies.push(after - before)
  }
  const end = performance.now() + SECONDS * 1000
  while (performance.now() < end) {
    running.push(time(nextVerification()))
    await sleep(INTERVAL)
  }
  await Promise.all(running)
  keyServer.close()
  return { name: subject.name, idle, refreshing }
}

async function ended(verification: () => unknown): Promise<number> {
  await verification()
  return performance.now()
}

const rows: Latency[] = []
for (const factory of [
  portcullis,
  jose,
  expressOauth2,
  jsonwebtokenWithJwksRsa,
  fastJwtWithGetJwks,
])
  rows.push(await follow(factory))
console.log(`${describeMachine()}\n`)
printTable(
  `Milliseconds; keys are used for ${LIFETIME} s, the endpoint takes ${ROUND_TRIP} ms.`,
  [
    ['Verifier', ({ name }) => name],
    ['tokens during a refresh', ({ refreshing }) => refreshing.length, 0],
    ['p99 idle', ({ idle }) => quantile(idle, 0.99), 1],
    ['p99 then', ({ refreshing }) => quantile(refreshing, 0.99), 1],
    ['longest', ({ refreshing }) => Math.max(...refreshing), 1],
  ],
  rows,
)
