import { spawnSync } from 'node:child_process'

import { createTestIssuer, tokenService } from '@portcullis/testing'

import { seededRandom } from '../../bench/random.ts'
import { start } from '../flow/processes.ts'
import { STREAM } from '../redis/scene.ts'
import type { Measured } from './child.ts'
import { disturb, type Scene } from './disturb.ts'
import { createChronicle } from './history.ts'
import { watchMachine } from './machine.ts'
import { bundlePrograms } from './programs.ts'
import { CALM, type Disturbance, scheduleOf, TRACKS } from './schedule.ts'
import { startStore } from './store.ts'
import { createTally, type Growth, type Tally } from './tally.ts'
import { AUDIENCE, CLIENT, createTokens, ISSUER } from './tokens.ts'
import { callAsClient, callWorker, flood, type Traffic } from './traffic.ts'
import { afterSeconds, startWorkers, type Worker } from './workers.ts'

// The soak: starts everything, disturbs it by the schedule, and judges every answer until the time is over.

export interface SoakOptions {
  readonly seconds: number
  readonly seed: number
  readonly node: string
}

export interface SoakResult extends SoakOptions {
  readonly version: string
  readonly schedule: readonly Disturbance[]
  readonly tally: Tally
  /** Of the processes that stayed. */
  readonly growth: readonly Growth[]
  /** How often the key endpoint was asked in all, and for how many processes. */
  readonly keyRequests: number
  readonly processes: number
  /** Seconds in which others kept the machine too busy. */
  readonly busy: number
  readonly isSound: boolean
}

/** Seconds from which on nothing may grow; in a short run a quarter of it. */
const WARM_UP = 600
const SAMPLE_PAUSE = 10
const TOKEN_PAUSE = 2
const LOGOUT_PAUSE = 3

const now = () => Date.now() / 1000

export async function soak({ seconds, seed, node }: SoakOptions): Promise<SoakResult> {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  const random = seededRandom(seed)

  const issuer = await createTestIssuer({ issuer: ISSUER, audience: AUDIENCE, maxRequests: 100 })
  const logins = { caller: { password: 'secret', claims: { scope: 'read' } } }
  await using service = await tokenService(issuer, { logins }).listen()
  let keyRequests = 0
  issuer.watchRequests(({ endpoint }) => {
    if (endpoint === 'keys') keyRequests += 1
  })
  await using store = await startStore()
  using programs = await bundlePrograms()

  const common = { keyUrl: service.keyUrl, issuer: ISSUER, audience: AUDIENCE, clientId: CLIENT }
  const settings = { ...common, redis: store.url, stream: STREAM }
  await using fleet = await startWorkers({ programs, node, settings })
  const { workers } = fleet
  const residents = workers.filter(({ isResident }) => isResident)
  const origins = residents.map(({ url }) => new URL(url).origin)
  const env = { AUTH_URL: service.authUrl, ORIGINS: JSON.stringify(origins) }
  const flags = ['--expose-gc']
  await using caller = await start(programs.file('caller'), env, { node, flags })

  const tally = createTally()
  const chronicle = createChronicle(now)
  const tokens = await createTokens(issuer, now)
  for (let count = 0; count < 20; count++) await tokens.add()
  const traffic: Traffic = { tokens, tally, chronicle, now, random }
  const scene: Scene = {
    issuer,
    store,
    workers,
    chronicle,
    flood: async (worker, until) => {
      await flood(worker, until, traffic)
    },
  }

  const schedule = scheduleOf(seed, seconds)
  const began = now()
  const elapsed = () => now() - began
  const over = AbortSignal.timeout(Math.round(seconds * 1000))
  const machine = watchMachine(store, chronicle, now, over)
  const every = async (pause: number, act: () => Promise<void>) => {
    while (!over.aborted) {
      await act()
      await afterSeconds(pause)
    }
  }
  const measured: readonly (readonly [string, () => Promise<Measured>])[] = [
    ...residents.map((worker) => [worker.name, async () => await worker.measure()] as const),
    ['client', async () => await caller.ask<Measured>('measure')],
  ]
  await Promise.all([
    ...workers.map(async (worker) => {
      await callWorker(worker, over, traffic)
    }),
    callAsClient(caller, residents, over, traffic),
    followSchedule(schedule, scene, elapsed),
    every(TOKEN_PAUSE, async () => {
      await tokens.add()
    }),
    every(LOGOUT_PAUSE, async () => {
      await tokens.endSession(
        random(),
        async (logoutToken) => await tellLogout(logoutToken, workers, random()),
      )
    }),
    every(SAMPLE_PAUSE, async () => {
      for (const [process, measure] of measured) {
        tally.sampled(process, { at: elapsed(), ...(await measure()) })
      }
    }),
  ])
  const growth = tally.growth(Math.min(WARM_UP, seconds / 4))
  const isSound =
    tally.wrong === 0 && (seconds < 2 * WARM_UP || growth.every(({ isFlat }) => isFlat))
  return {
    seconds,
    seed,
    node,
    version,
    schedule,
    tally,
    growth,
    keyRequests,
    processes: workers.length,
    busy: machine.busy,
    isSound,
  }
}

/** Each track does one thing after the other. A worker that still starts makes the next one of its track late. */
async function followSchedule(
  schedule: readonly Disturbance[],
  scene: Scene,
  elapsed: () => number,
): Promise<void> {
  await Promise.all(
    Object.keys(TRACKS).map(async (name) => {
      for (const disturbance of schedule.filter(({ track }) => track === name)) {
        await afterSeconds(Math.max(0, disturbance.begins - elapsed()))
        await disturb(disturbance, scene)
      }
    }),
  )
}

/** Whether one of them has acknowledged. */
async function tellLogout(
  logoutToken: string,
  workers: readonly Worker[],
  draw: number,
): Promise<boolean> {
  const worker = workers[Math.floor(draw * workers.length)]
  if (worker === undefined) return false
  const body = new URLSearchParams({ logout_token: logoutToken })
  try {
    const signal = AbortSignal.timeout(CALM * 1000)
    const response = await fetch(worker.inbox, { method: 'POST', body, signal })
    await response.body?.cancel()
    if (response.ok) return true
  } catch {
    // It was just killed, or it hangs with the store.
  }
  await afterSeconds(0.5)
  return false
}
