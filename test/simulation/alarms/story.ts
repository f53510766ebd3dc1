import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { createTestIssuer, tokenService } from '@portcullis/testing'

import { startRedis } from '../redis/redis-server.ts'
import { createStream } from '../redis/scene.ts'
import { until } from '../redis/waiting.ts'
import { fastClock, SPEED } from './fast-clock.ts'
import { startPrometheus } from './prometheus.ts'

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
  /** When the endpoint and Redis worked again. */
  readonly repairedAt: number
}

/** What the faults must cause. */
export const EXPECTED = [
  'PortcullisFlood',
  'PortcullisKeysNotFetched',
  'PortcullisNoKeys',
  'PortcullisRevocationsNotRead',
  'PortcullisRevocationsUnknown',
  'PortcullisUnavailable',
]
/** Seconds of real time. */
const CALM = 8
const PAUSE = 100

export async function tellAlarms(): Promise<Told> {
  const start = Date.now() / 1000
  const issuer = await createTestIssuer({ clock: fastClock(start), lifetime: 86_400 })
  await using service = await tokenService(issuer).listen()
  await using redis = await startRedis({ isPersistent: true })
  await createStream(redis)
  const token = await issuer.token({ claims: { jti: 'one' } })
  const settings = { KEY_URL: service.keyUrl, REDIS_URL: redis.url, START: String(start) }
  const child = fork(fileURLToPath(new URL('cluster.ts', import.meta.url)), [], {
    execArgv: ['--conditions=@portcullis/source'],
    // Express prints no errors then.
    env: { ...process.env, ...settings, NODE_ENV: 'test' },
  })
  const exited = once(child, 'exit')
  try {
    const ended = exited.then(() => {
      throw new Error('the cluster has ended')
    })
    const [ports] = (await Promise.race([once(child, 'message'), ended])) as [Ports]
    await using prometheus = await startPrometheus(ports.metrics, SPEED)
    const call = callerOf(`http://127.0.0.1:${ports.api}`, token)
    const seen = new Map<string, { from: number; until: number }>()
    let origin = performance.now()
    let firing: ReadonlySet<string> = new Set()
    const now = () => ((performance.now() - origin) / 1000) * SPEED
    /** Calls the API as a client would, or as a flood, and notes which alarms fire. */
    const watch = async (isFlood: boolean) => {
      await call(isFlood)
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
      await new Promise((resolve) => void setTimeout(resolve, PAUSE))
    }

    while (now() < CALM * SPEED) await watch(false)
    const calm = [...seen.keys()]
    seen.clear()
    origin = performance.now()
    const outage = issuer.outage('hang')
    redis.pause()
    await until('all alarms have fired', async () => {
      await watch(!seen.has('PortcullisFlood'))
      return EXPECTED.every((alarm) => seen.has(alarm))
    })
    const repairedAt = now()
    outage.restore()
    redis.resume()
    await until('all alarms are clear', async () => {
      await watch(false)
      return firing.size === 0
    })
    return {
      calm,
      calmFor: CALM * SPEED,
      fired: [...seen].map(([alarm, { from, until: end }]) => ({ alarm, from, until: end })),
      repairedAt,
    }
  } finally {
    if (child.connected) child.disconnect()
    await exited
  }
}

interface Ports {
  readonly api: number
  readonly metrics: number
}

/** Calls the API a few times; a flood calls it with tokens that are none as well. */
function callerOf(url: string, token: string): (isFlood: boolean) => Promise<void> {
  const send = async (credentials: string) => {
    const headers = { authorization: `Bearer ${credentials}` }
    await (await fetch(url, { headers })).arrayBuffer()
  }
  return async (isFlood) => {
    const forged = isFlood ? Array.from({ length: 40 }, (_, at) => `${at}.b.c`) : []
    await Promise.all([token, token, ...forged].map(send))
  }
}
