import { createEventQueue } from './event-queue.ts'
import { createEndpoint } from './simulated-endpoint.ts'
import { createKey, createProcess, type Verdict } from './simulated-process.ts'
import type { Span } from './timeline.ts'

// What happens in one process, as it is told in KEYS.md of core: by the policy itself, in virtual time. Times are seconds
// before and after something has happened, which is at 0.

type KeyName = 'A' | 'B'

/** What happens when, and from when to when it is shown. */
export interface Story extends Span {
  /** When the token service changes from key A to key B. */
  readonly rotatesAt: number
  readonly outage?: Span
  /** The time between two tokens of each key; those of B begin with the rotation. */
  readonly interval: number
  /** How many tokens a shown one stands for. */
  readonly shownEvery?: number
  /** Forged tokens in a second, for as long as the story lasts. */
  readonly forged?: number
}

export interface Told {
  /** When the key endpoint was asked. */
  readonly requests: readonly number[]
  readonly tokens: readonly { key: KeyName; at: number; verdict: Verdict }[]
  /** Between which times a token of a key would have been accepted at once. */
  readonly trusted: Readonly<Record<KeyName, readonly Span[]>>
}

const KEYS = { A: createKey('A'), B: createKey('B') }
export const NAMES = ['A', 'B'] as const
/** When the process starts: long enough before, and so that no keys become too old in the middle of a picture. */
const START = 1350
/** What is drawn for each process is in the middle: keys are fresh for 300 seconds. */
const middle = () => 0.5

/** What becomes of a story. The same each time. */
export function tell(story: Story): Told {
  const { from, until, rotatesAt, outage, interval, shownEvery = 1, forged = 0 } = story
  const queue = createEventQueue()
  const endpoint = createEndpoint(queue, KEYS.A)
  const process = createProcess(queue, endpoint, middle, () => {})
  const tokens: { key: KeyName; at: number; verdict: Verdict }[] = []
  const trusted: Record<KeyName, Span[]> = { A: [], B: [] }
  const toldAt = (time: number, run: () => void) => {
    queue.at(START + time, run)
  }
  const each = (first: number, pause: number, run: (at: number) => void) => {
    for (let count = 0, at = first; at <= until; count += 1, at = first + count * pause)
      toldAt(at, run.bind(undefined, at))
  }
  const send = (key: KeyName) => (at: number) => {
    process.verify({ signer: KEYS[key], arrived: () => START + at }, (verdict) => {
      tokens.push({ key, at, verdict })
    })
  }
  toldAt(rotatesAt, () => {
    endpoint.rotate(KEYS.B)
  })
  for (const [at, isDown] of [
    [outage?.from, true],
    [outage?.until, false],
  ] as const) {
    if (at === undefined) continue
    toldAt(at, () => {
      endpoint.setDown(isDown)
    })
  }
  each(interval / 2 - START, interval, send('A'))
  // Not at the moment of the tokens of A: nothing is to depend on an order.
  each(rotatesAt + interval * 0.75, interval, send('B'))
  const forge = (at: number) => {
    process.verify({ signer: undefined, arrived: () => START + at }, () => {})
  }
  if (forged > 0) each(from - 300, 1 / forged, forge)
  // Looks at the process often enough for a picture.
  const step = (until - from) / 2000
  each(from, step, (at) => {
    for (const name of NAMES.filter((key) => process.trusts(KEYS[key]))) {
      const last = trusted[name].at(-1)
      const isGoingOn = last !== undefined && at - last.until < step * 1.5
      if (isGoingOn) trusted[name].pop()
      trusted[name].push({ from: isGoingOn ? last.from : at, until: at })
    }
  })
  queue.runUntil(START + until)
  const isShown = (at: number) => at >= from && at <= until
  return {
    requests: endpoint.requests.map((at) => at - START).filter(isShown),
    tokens: NAMES.flatMap((name) =>
      tokens
        .filter(({ key, at }) => key === name && isShown(at))
        .toSorted((one, other) => one.at - other.at)
        .filter((_, index) => index % shownEvery === 0),
    ),
    trusted,
  }
}
