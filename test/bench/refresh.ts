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
import { markdownTable } from './table.ts'

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
  /** Milliseconds, of those that came while no request was under way. */
  readonly idle: readonly number[]
  readonly refreshing: readonly number[]
}

async function follow(factory: typeof portcullis): Promise<[name: string, latency: Latency]> {
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
  return [subject.name, { idle, refreshing }]
}

async function ended(verification: () => unknown): Promise<number> {
  await verification()
  return performance.now()
}

const rows: string[][] = []
for (const factory of [
  portcullis,
  jose,
  expressOauth2,
  jsonwebtokenWithJwksRsa,
  fastJwtWithGetJwks,
]) {
  const [name, { idle, refreshing }] = await follow(factory)
  const [atRest, during] = [quantile(idle, 0.99), quantile(refreshing, 0.99)]
  const figures = [atRest, during, during - atRest, Math.max(...refreshing)]
  rows.push([name, String(refreshing.length), ...figures.map((figure) => figure.toFixed(1))])
}
console.log(`${describeMachine()}\n`)
console.log(`Milliseconds; keys are used for ${LIFETIME} s, the endpoint takes ${ROUND_TRIP} ms.\n`)
const header = ['Verifier', 'tokens during a refresh', 'p99 idle', 'p99 then', 'more', 'longest']
console.log(markdownTable(header, rows))
