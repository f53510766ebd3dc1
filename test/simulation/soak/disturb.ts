import type { OutageKind, RotateOptions, TestIssuer } from '@portcullis/testing'

import type { Chronicle } from './history.ts'
import type { Disturbance } from './schedule.ts'
import type { Store } from './store.ts'
import { afterSeconds, type Worker } from './workers.ts'

// Does what the schedule says.

export interface Scene {
  readonly issuer: TestIssuer
  readonly store: Store
  readonly workers: readonly Worker[]
  readonly chronicle: Chronicle
  /** Sends forged tokens to a worker until the signal. */
  flood(worker: Worker, signal: AbortSignal): Promise<void>
}

/** Seconds by which clocks are set. Tokens are issued and sent so that nothing may depend on it. */
const STEP = 30

/** Disturbs, and resolves when that is over. */
export async function disturb(disturbance: Disturbance, scene: Scene): Promise<void> {
  const { track, kind, draw } = disturbance
  const seconds = disturbance.ends - disturbance.begins
  const { issuer, store, workers, chronicle } = scene
  const among = (some: readonly Worker[]) => some[Math.floor(draw * some.length)]
  const worker = among(workers)
  const replaceable = among(workers.filter(({ isResident }) => !isResident))
  if (worker === undefined || replaceable === undefined) throw new Error('no workers')

  const acts: Readonly<Record<Disturbance['track'], () => Promise<void>>> = {
    async keys() {
      await changeKeys(kind, seconds, issuer)
    },
    async issuer() {
      const outage = issuer.outage(kindOf(kind), { endpoint: 'keys' })
      await afterSeconds(seconds)
      outage.restore()
    },
    async logins() {
      const outage = issuer.outage(kindOf(kind), { endpoint: 'token' })
      await afterSeconds(seconds)
      outage.restore()
    },
    async store() {
      if (kind === 'hang') await store.hang(seconds)
      else if (kind === 'kill') await store.crash(seconds)
      else await store.failOver(seconds)
    },
    async clock() {
      await worker.setClock(kind === 'forward' ? STEP : -STEP)
      await afterSeconds(seconds)
      await worker.setClock(0)
    },
    async load() {
      await scene.flood(worker, AbortSignal.timeout(Math.round(seconds * 1000)))
    },
    async fleet() {
      if (kind === 'deploy') await replaceable.replace()
      else await replaceable.crash()
    },
  }
  const at = { clock: worker.name, fleet: replaceable.name }
  const end = chronicle.begin(track, track === 'clock' || track === 'fleet' ? at[track] : undefined)
  try {
    await acts[track]()
  } finally {
    end()
  }
}

function kindOf(kind: string): OutageKind {
  return /^\d+$/.test(kind) ? Number(kind) : (kind as OutageKind) // schedule.ts has no others
}

async function changeKeys(kind: string, seconds: number, issuer: TestIssuer): Promise<void> {
  if (kind === 'roll back') {
    try {
      issuer.rollBack()
    } catch {
      // There was no rotation yet.
    }
    return
  }
  const [kid, publish] = kind.split(' ')
  const rotation = await issuer.rotate({ kid, publish } as RotateOptions) // as schedule.ts has them
  await afterSeconds(seconds)
  rotation.complete()
}
