import { seededRandom } from '../../bench/random.ts'

// What goes wrong, and when: one list for a seed and a duration, so that a run can be repeated.

/** What can go wrong, by its track. Disturbances of one track follow each other; those of several tracks overlap. */
export const TRACKS = {
  /** The issuer changes its key: `KID PUBLISH`, or takes the last change back. */
  keys: ['new now', 'none now', 'same now', 'new first', 'new later', 'new both', 'roll back'],
  /** The key endpoint fails. */
  issuer: ['503', '500', 'hang', 'reset', 'truncated', 'html', 'empty', 'slow'],
  /** Log-ins fail. */
  logins: ['503', 'hang', 'reset'],
  /** The Redis server hangs, is killed and comes back, or is killed and its replica takes its place. */
  store: ['hang', 'kill', 'fail over'],
  /** The wall clock of some workers is wrong. */
  clock: ['forward', 'back'],
  /** Forged tokens, hundreds each second. */
  load: ['flood'],
  /** A worker is replaced by a new one, or dies. */
  fleet: ['deploy', 'kill'],
} as const

export type Track = keyof typeof TRACKS

export interface Disturbance {
  readonly track: Track
  readonly kind: string
  /** Seconds since the start. */
  readonly begins: number
  readonly ends: number
  /** From 0 to 1: what else is chosen, such as the worker. */
  readonly draw: number
}

/** Seconds at the beginning and at the end in which nothing is disturbed. */
export const CALM = 8
/** How long a disturbance lasts. Seconds. */
const DURATION = [2, 15] as const
/**
 * Between two of a track: in an hour long enough for minutes in which nothing can be excused by anything, and in a minute so short that
 * each track has one.
 */
const PAUSE = { short: [2, 10], long: [60, 240] } as const
const LONG = 600

/** In the order in which they begin. Each track has at least one, if there are 60 seconds. */
export function scheduleOf(seed: number, seconds: number): readonly Disturbance[] {
  const tracks = Object.keys(TRACKS) as readonly Track[] // its own keys
  return tracks
    .flatMap((track, at) => disturbancesOf(track, seed + at, seconds))
    .toSorted((one, other) => one.begins - other.begins)
}

function disturbancesOf(track: Track, seed: number, seconds: number): readonly Disturbance[] {
  const random = seededRandom(seed)
  const between = ([least, most]: readonly [number, number]) =>
    Math.round((least + random() * (most - least)) * 1000) / 1000
  const pause = seconds < LONG ? PAUSE.short : PAUSE.long
  const kinds = TRACKS[track]
  const disturbances: Disturbance[] = []
  let begins = CALM + between(pause)
  for (;;) {
    const ends = begins + between(DURATION)
    if (ends > seconds - CALM) return disturbances
    const kind = kinds[Math.floor(random() * kinds.length)] ?? kinds[0]
    disturbances.push({ track, kind, begins, ends, draw: random() })
    begins = ends + between(pause)
  }
}
