import { until } from '../redis/waiting.ts'
import { SPEED } from './fast-clock.ts'
import { startPrometheus } from './prometheus.ts'
import { createScene } from './scene.ts'

// A calm stretch, then faults, then a repair, as a real Prometheus sees a cluster of two.

/** From when until when an alarm has fired: seconds of the clock since the faults began. */
export interface Fired {
  readonly alarm: string
  readonly from: number
  readonly until: number
}

export interface Told {
  /** Those that have fired before the faults began: there should be none. */
  readonly calm: readonly string[]
  /** How long the calm stretch was: seconds of the clock. */
  readonly calmFor: number
  readonly fired: readonly Fired[]
  /** When everything worked again. */
  readonly repairedAt: number
}

/** Seconds of real time. */
const PAUSE = 0.1
/** An alarm takes ten minutes of the clock, and the machine may be busy. */
const LIMIT = 90

/**
 * @param calmFor How long the calm stretch is: seconds of the clock. A key is rotated in it, and a worker replaced.
 * @param expected What the faults must cause. It ends when all of them have fired and none fires any more.
 */
export async function tellAlarms(calmFor: number, expected: readonly string[]): Promise<Told> {
  await using scene = await createScene()
  await using prometheus = await startPrometheus(scene.metrics, SPEED)
  const seen = new Map<string, { from: number; until: number }>()
  let origin = performance.now()
  let firing: ReadonlySet<string> = new Set()
  const now = () => ((performance.now() - origin) / 1000) * SPEED
  /** Calls the API as clients would, or as a flood, and notes which alarms fire. */
  const watch = async (isFlood: boolean) => {
    await scene.call(isFlood)
    firing = await prometheus.firing()
    for (const alarm of firing) {
      const known = seen.get(alarm) ?? { from: now(), until: NaN }
      seen.set(alarm, { ...known, until: NaN })
    }
    for (const [alarm, times] of seen) {
      if (!firing.has(alarm) && Number.isNaN(times.until)) {
        seen.set(alarm, { ...times, until: now() })
      }
    }
    await new Promise((resolve) => void setTimeout(resolve, PAUSE * 1000))
  }
  const watchUntil = async (end: number) => {
    while (now() < end) await watch(false)
  }

  await watchUntil(calmFor / 3)
  await scene.rotateKey()
  await watchUntil(calmFor / 2)
  scene.replaceWorker()
  await watchUntil(calmFor)
  const calm = [...seen.keys()]
  seen.clear()
  origin = performance.now()
  scene.breakAll()
  const hasFired = async () => {
    await watch(!seen.has('PortcullisFlood'))
    return expected.every((alarm) => seen.has(alarm))
  }
  const fired = () =>
    [...seen].map(([alarm, { from, until: end }]) => ({ alarm, from, until: end }))
  await until('all alarms have fired', hasFired, LIMIT).catch((error: unknown) => {
    throw new Error(`there have fired ${[...seen.keys()].join(', ')}`, { cause: error })
  })
  const repairedAt = now()
  scene.repairAll()
  const isClear = async () => {
    await watch(false)
    return firing.size === 0
  }
  await until('all alarms are clear', isClear, LIMIT).catch((error: unknown) => {
    throw new Error(`there still fire ${[...firing].join(', ')}`, { cause: error })
  })
  return { calm, calmFor, fired: fired(), repairedAt }
}
