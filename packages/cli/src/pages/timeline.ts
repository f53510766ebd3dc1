import type { Endpoint, KeyPhases } from '@portcullis/testing'

import type { LoggedEvent } from '../serve/event-log.ts'

// Works out where on the time line each key, fetch and mark is. It makes no HTML.

/** What is drawn of the keys and of their fetches. Places are in percent of the width. */
export interface Timeline {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly from: number
  readonly to: number
  readonly keys: readonly KeyRow[]
  /** Keys that were not in use in all that time. */
  readonly hiddenKeys: number
  readonly clients: readonly ClientRow[]
  readonly ticks: readonly Tick[]
  /** Where another key began to sign, or to be published. */
  readonly changes: readonly number[]
}

interface KeyRow {
  readonly key: KeyPhases
  readonly published: readonly Bar[]
  readonly signing: readonly Bar[]
}

export interface Bar {
  readonly at: number
  readonly width: number
}

/** The requests of one client to one endpoint. */
interface ClientRow {
  readonly name: string
  readonly endpoint: Endpoint
  readonly marks: readonly Mark[]
  readonly last: Mark
}

export interface Mark {
  readonly at: number
  readonly time: number
  readonly status: number | undefined
}

interface Tick {
  readonly at: number
  readonly time: number
}

const MAX_KEYS = 8
const MAX_CLIENTS = 6
/** Of one row: the newest. */
const MAX_MARKS = 150
const MAX_CHANGES = 20
/** Seconds. */
const SHORTEST = 60
const STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400, 604_800]
const MAX_TICKS = 6

/** @param span Seconds until now; `undefined` for all. */
export function timelineOf(
  now: number,
  keys: readonly KeyPhases[],
  events: readonly LoggedEvent[],
  span: number | undefined,
): Timeline {
  const first = Math.min(now, ...keys.flatMap(({ published }) => published.map(({ from }) => from)))
  const from = now - Math.max(SHORTEST, span ?? now - first)
  const place = (time: number) => rounded(((time - from) / (now - from)) * 100)
  const bars = (phases: KeyPhases['published']) =>
    phases.flatMap((phase) => {
      const until = phase.until ?? now
      if (until < from) return []
      const at = place(Math.max(phase.from, from))
      return [{ at, width: rounded(place(until) - at) }]
    })
  const rows = keys
    .map((key) => ({ key, published: bars(key.published), signing: bars(key.signing) }))
    .filter(({ published, signing }) => published.length + signing.length > 0)
  const shown = rows.slice(-MAX_KEYS).toReversed()
  return {
    from,
    to: now,
    keys: shown,
    hiddenKeys: keys.length - shown.length,
    clients: clientRows(events, from, place),
    ticks: ticksOf(from, now, place),
    changes: changesOf(shown.flatMap(({ key }) => key.published.concat(key.signing)))
      .filter((time) => time > first && time > from)
      .map(place),
  }
}

function clientRows(
  events: readonly LoggedEvent[],
  from: number,
  place: (time: number) => number,
): readonly ClientRow[] {
  const rows = new Map<string, ClientRow & { marks: Mark[] }>()
  for (const event of events) {
    if (event.type !== 'request' || event.endpoint === undefined || event.time < from) continue
    const { endpoint, time, status, userAgent = 'a client without a name' } = event
    const mark = { at: place(time), time, status }
    const id = `${endpoint} ${userAgent}`
    const row = rows.get(id) ?? { name: userAgent, endpoint, marks: [], last: mark }
    rows.delete(id) // so that the newest is at the end
    rows.set(id, { ...row, marks: [...row.marks.slice(1 - MAX_MARKS), mark], last: mark })
  }
  return [...rows.values()].slice(-MAX_CLIENTS).toReversed()
}

function changesOf(phases: KeyPhases['published']): readonly number[] {
  return [...new Set(phases.flatMap(({ from, until }) => [from, until ?? from]))].slice(
    -MAX_CHANGES,
  )
}

function ticksOf(from: number, to: number, place: (time: number) => number): readonly Tick[] {
  const step = STEPS.find((each) => (to - from) / each <= MAX_TICKS) ?? (to - from) / MAX_TICKS
  const first = Math.ceil(from / step) * step
  const ticks: Tick[] = []
  for (let time = first; time < to; time += step) ticks.push({ at: place(time), time })
  // The end of the axis says `now`, and its beginning has no room for a text around it.
  return ticks.filter(({ at }) => at > 4 && at < 92)
}

function rounded(percent: number): number {
  return Math.round(percent * 100) / 100
}
